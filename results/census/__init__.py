"""The census: which reservations HTBS and other schedulers keep on drives drawn at random."""
