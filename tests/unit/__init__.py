"""Tests of the pure rooms on the host."""
