"""The fault matrix: what may go wrong around the scheduler, and what is promised then."""
