"""All kernels that the README names: HTBS is built for them and tested, see docs/testing.md."""
