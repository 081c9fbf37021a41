"""Coverage-guided fuzzing of the core library."""
