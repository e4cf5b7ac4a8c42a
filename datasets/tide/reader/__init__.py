"""Simulated models for TIDE-Bench: agents that know what their prompt says, and one that plays the user."""
