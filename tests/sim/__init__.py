"""The policy in front of the simulated disk, in virtual time."""
