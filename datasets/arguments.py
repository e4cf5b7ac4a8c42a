"""Options that the benchmarks share."""

from __future__ import annotations

import argparse


class DatabasePaths(argparse.Action):
    """Collects NAME=PATH, given any number of times, into a dictionary."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Add one pair."""
        name, equals, path = str(values).partition("=")
        if not equals or not name or not path:
            parser.error(f"--database takes NAME=PATH, not {values!r}")
        setattr(namespace, self.dest, {**(getattr(namespace, self.dest, None) or {}), name: path})
