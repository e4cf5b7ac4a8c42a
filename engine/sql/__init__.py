"""Runs SQL that nobody trusts: worker processes, guards, bounds, and gold results computed once."""
