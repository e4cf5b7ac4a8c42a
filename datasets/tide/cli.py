"""`turntide tide commitments` and `turntide tide drift`."""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import orjson

from .commitments import commitments
from .drift import Drift, drift
from .parsing import UnparsableSql
from .schema import Schema, schema_of
from .units import Commitment

if TYPE_CHECKING:
    Subparsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]  # pyright: ignore[reportPrivateUsage]

USAGE_ERROR = 2


def add_parser(subparsers: Subparsers) -> None:
    """Add the command `tide` and its own commands."""
    tide = subparsers.add_parser("tide", help="TIDE-Bench's own tools: commitments and drift of SQL")
    commands = tide.add_subparsers(dest="tide_command", required=True, metavar="COMMAND")
    listing = commands.add_parser("commitments", help="list what a query commits to (Algorithm 2)")
    listing.add_argument("sql", metavar="SQL", help="one SELECT query of SQLite's dialect")
    comparing = commands.add_parser("drift", help="say whether and how one query drifts from another (Algorithm 1)")
    comparing.add_argument("--pre", metavar="SQL", required=True, help="the query before the drift")
    comparing.add_argument("--post", metavar="SQL", required=True, help="the query after it")
    for command in (listing, comparing):
        command.add_argument("--database", metavar="DB", type=Path, help="SQLite file whose schema qualifies the names")
        command.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Run the parsed command; return 0, or 2 when a query does not parse or the database cannot be read."""
    try:
        schema = schema_of(args.database) if args.database else None
        output = _commitments(args, schema) if args.tide_command == "commitments" else _drift(args, schema)
    except UnparsableSql as error:
        return _usage_error(f"{error}\n  {error.sql}")
    except (FileNotFoundError, sqlite3.DatabaseError) as error:
        return _usage_error(f"--database {args.database}: {error}")
    print(output)
    return 0


def _commitments(args: argparse.Namespace, schema: Schema | None) -> str:
    found = _in_order(commitments(args.sql, schema))
    return _json({"commitments": [_fields(unit) for unit in found]}) if args.json else "\n".join(_lines(found))


def _drift(args: argparse.Namespace, schema: Schema | None) -> str:
    outcome = drift(args.pre, args.post, schema)
    return _json(_drift_fields(outcome)) if args.json else _drift_text(outcome)


def _drift_fields(outcome: Drift) -> dict[str, object]:
    return {
        "verdict": outcome.verdict,
        "reason": outcome.reason,
        "fine_subtype": outcome.fine_subtype,
        "retracted": [_fields(unit) for unit in _in_order(outcome.retracted)],
        "added": [_fields(unit) for unit in _in_order(outcome.added)],
    }


def _drift_text(outcome: Drift) -> str:
    detail = ", ".join((outcome.reason, *outcome.fine_subtypes))
    lost = (f"- {line}" for line in _lines(_in_order(outcome.retracted)))
    gained = (f"+ {line}" for line in _lines(_in_order(outcome.added)))
    return "\n".join((f"{outcome.verdict} ({detail})", *lost, *gained))


def _in_order(units: Iterable[Commitment]) -> list[Commitment]:
    return sorted(units, key=lambda unit: (unit.side, unit))


def _lines(units: Iterable[Commitment]) -> list[str]:
    return [f"{unit.side}  {unit}" for unit in units]


def _fields(unit: Commitment) -> dict[str, object]:
    return {
        "side": unit.side,
        "path": unit.path,
        "clause": unit.clause,
        "value": unit.value,
        "structure": unit.structure,
    }


def _json(document: Mapping[str, object]) -> str:
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()


def _usage_error(message: str) -> int:
    print(f"turntide: {message}", file=sys.stderr)
    return USAGE_ERROR
