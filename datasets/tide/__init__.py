"""TIDE-Bench: chain ambiguity and intent drift over SQL."""
