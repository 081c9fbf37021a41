"""The experiments, the census and the benchmark, with their results."""
