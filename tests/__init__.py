"""Tests of HTBS."""
