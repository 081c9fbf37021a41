"""The experiments: what was asked, what came out, and the figures that show it."""
