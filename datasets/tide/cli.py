"""`turntide tide commitments` and `turntide tide drift`."""

from __future__ import annotations

import argparse
import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ...adapters.base import ConfigurationError
from .commitments import commitments
from .drift import Drift, drift
from .parsing import UnparsableSql
from .schema import Schema, schema_of
from .units import Commitment

if TYPE_CHECKING:
    from ...engine.benchmark import Subparsers


def add_commands(commands: Subparsers) -> None:
    """Add the commands that need no run."""
    listing = commands.add_parser("commitments", help="list what a query commits to (Algorithm 2)")
    listing.add_argument("sql", metavar="SQL", help="one SELECT query of SQLite's dialect")
    listing.set_defaults(run=list_commitments)
    comparing = commands.add_parser("drift", help="say whether and how one query drifts from another (Algorithm 1)")
    comparing.add_argument("--pre", metavar="SQL", required=True, help="the query before the drift")
    comparing.add_argument("--post", metavar="SQL", required=True, help="the query after it")
    comparing.set_defaults(run=compare_queries)
    for command in (listing, comparing):
        command.add_argument("--database", metavar="DB", type=Path, help="SQLite file whose schema qualifies the names")
        command.add_argument("--json", action="store_true", help="print JSON")


def list_commitments(args: argparse.Namespace) -> int:
    """Print the commitments of a query; raises ConfigurationError when it does not parse."""
    schema = _schema(args.database)
    try:
        found = _in_order(commitments(args.sql, schema))
    except UnparsableSql as error:
        raise _not_parsed(error) from error
    _print({"commitments": [_fields(unit) for unit in found]} if args.json else _lines(found))
    return 0


def compare_queries(args: argparse.Namespace) -> int:
    """Print the verdict on two queries and what was lost and added; raises ConfigurationError if one does not parse."""
    schema = _schema(args.database)
    try:
        outcome = drift(args.pre, args.post, schema)
    except UnparsableSql as error:
        raise _not_parsed(error) from error
    _print(_outcome_fields(outcome) if args.json else _outcome_lines(outcome))
    return 0


def _schema(database: Path | None) -> Schema | None:
    try:
        return schema_of(database) if database else None
    except (FileNotFoundError, sqlite3.DatabaseError) as error:
        raise ConfigurationError(f"--database {database}: {error}") from error


def _not_parsed(error: UnparsableSql) -> ConfigurationError:
    return ConfigurationError(f"{error}\n  {error.sql}")


def _in_order(units: Iterable[Commitment]) -> list[Commitment]:
    return sorted(units, key=lambda unit: (unit.side, unit))


def _lines(units: Iterable[Commitment]) -> list[str]:
    return [f"{unit.side}  {unit}" for unit in units]


def _outcome_lines(outcome: Drift) -> list[str]:
    detail = ", ".join((outcome.reason, *outcome.fine_subtypes))
    lost = [f"- {line}" for line in _lines(_in_order(outcome.retracted))]
    gained = [f"+ {line}" for line in _lines(_in_order(outcome.added))]
    return [f"{outcome.verdict} ({detail})", *lost, *gained]


def _outcome_fields(outcome: Drift) -> dict[str, object]:
    return {
        "verdict": outcome.verdict,
        "reason": outcome.reason,
        "fine_subtype": outcome.fine_subtype,
        "retracted": [_fields(unit) for unit in _in_order(outcome.retracted)],
        "added": [_fields(unit) for unit in _in_order(outcome.added)],
    }


def _fields(unit: Commitment) -> dict[str, object]:
    names = ("side", "path", "clause", "value", "structure")
    return {name: getattr(unit, name) for name in names}


def _print(output: dict[str, object] | list[str]) -> None:
    """Print lines as they are, and a document as JSON."""
    print("\n".join(output) if isinstance(output, list) else json.dumps(output, indent=2))
