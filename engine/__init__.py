"""Runs things: plan, scheduler, context, journal, calls, limits, budget, SQL and the command line."""
