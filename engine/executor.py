"""A run's databases: opened, hashed at the start, checked at the end, and asked through the guarded workers."""
