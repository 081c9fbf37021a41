"""Simulated drives: the driver for guests, the models, their tests in guests."""
