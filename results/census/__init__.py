"""The census: what HTBS and others keep on drives drawn at random, in guests."""
