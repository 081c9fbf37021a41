"""Deliberate mistakes, each with the test that catches it."""
