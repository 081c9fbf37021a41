"""Coverage-guided fuzzing of the pure rooms."""
