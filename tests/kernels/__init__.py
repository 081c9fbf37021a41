"""All kernels that the README names: built for, booted and tested, as docs/testing.md shows."""
