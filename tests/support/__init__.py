"""Stand-ins that tests share: a clock that jumps, a provider that answers from a script."""
