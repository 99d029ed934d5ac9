"""HTTP: the endpoints, their fields and their limits."""
