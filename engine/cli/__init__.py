"""The command line."""

from __future__ import annotations


def main() -> int:
    """Run the `turntide` command and return its exit code."""
    raise SystemExit("turntide: no command yet")
