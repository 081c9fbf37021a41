"""Admission as the design defines it, and the parameters of a reservation."""
