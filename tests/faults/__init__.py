"""The fault matrix: faults around the scheduler, and what holds meanwhile."""
