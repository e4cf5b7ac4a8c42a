"""Where the data of a command is, and how its result is printed: what the `data` commands share."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arguments import assignment

if TYPE_CHECKING:
    from ...datasets.databases import DatabaseFacts, SourceDatabase


def add_places(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where databases are, and `--json`."""
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with the source databases")
    parser.add_argument(
        "--database", type=assignment, action="append", default=[], metavar="NAME=PATH", help="one database by its file"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def overrides(args: argparse.Namespace) -> dict[str, Path]:
    """Return the databases that are named by their files."""
    return {name: Path(path) for name, path in args.database}


def located(args: argparse.Namespace, names: Sequence[str]) -> dict[str, SourceDatabase]:
    """Return the databases of `names` where the options say they are. Raises ConfigurationError."""
    from ...datasets.databases import locate

    return locate(names, args.data, overrides(args))


def lines_of(databases: Mapping[str, DatabaseFacts]) -> list[str]:
    """Return one line for each file that something ran on."""
    return [
        f"{name}: {'synthetic' if facts.synthetic else 'real'} {facts.sha256[:16]} {facts.path}"
        for name, facts in databases.items()
    ]


def some(names: Sequence[str]) -> str:
    """Return the first few of `names`."""
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")


def builtins(value: object) -> Any:  # noqa: ANN401 - what msgspec makes of a struct
    """Return a struct as what JSON knows."""
    import msgspec

    return msgspec.to_builtins(value)


def show(result: object, as_json: bool, text: str) -> None:
    """Print a result, as JSON or as `text`."""
    import json

    print(json.dumps(result) if as_json else text)
