"""A run's folder on disk: who holds it, what it is the folder of, and what belongs together in it."""
