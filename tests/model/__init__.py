"""Admission as the design states it, and what a reservation promises."""
