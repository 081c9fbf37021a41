"""Tests of the core library on the host."""
