"""The fault matrix: faults around the scheduler, and what holds in spite of them."""
