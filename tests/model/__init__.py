"""The algorithm as an executable specification."""
