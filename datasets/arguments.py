"""Options that the benchmarks share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..adapters.base import ConfigurationError

if TYPE_CHECKING:
    from ..engine.benchmark import Arguments


def add_places(parser: Arguments, data: str, kind: Callable[[str], str | Path] = str) -> None:
    """Add `--data`, whose help is `data` and whose value is of that `kind`, and `--database`."""
    parser.add_argument("--data", type=kind, metavar="DIR", help=data)
    parser.add_argument(
        "--database", dest="databases", action=DatabasePaths, metavar="NAME=PATH", help="one database by its path"
    )


def require_both(what: str, option: str, file: str, *, places: bool, remedy: str) -> None:
    """Raise ConfigurationError when of a file of `what` and the places of its databases only one is given."""
    if places != bool(file):
        lacking = option if places else "--data DIR (or --database NAME=PATH)"
        raise ConfigurationError(f"{what} and databases belong together: {lacking} is missing. {remedy}")


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
