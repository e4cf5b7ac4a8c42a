"""`turntide sql DB SQL [--gold SQL]`: one statement under the guards of a sweep, compared with a gold one."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from ..sql.bounds import DEADLINE, GOLD_DEADLINE
from ..sql.comparison import compare, has_order_by
from ..sql.databases import refuse_unclean
from ..sql.outcome import Execution
from ..sql.pool import SqlPool
from .arguments import positive

if TYPE_CHECKING:
    from ..benchmark import Subparsers


FAILED: Final = 1


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What is printed: the execution, and with a gold statement its own and every comparison of the two."""

    predicted: Execution
    gold: Execution | None = None
    equal: dict[str, bool] = {}
    gold_is_ordered: bool = False


def add_parser(commands: Subparsers, words: Sequence[str]) -> None:
    """Add `sql`."""
    parser = commands.add_parser(
        "sql",
        help="run one SQL statement under the sweep's guards",
        description="Run one SQL statement as a sweep would (read only, bounded, in a process that can be killed) and "
        "print its outcome, first rows and digests; with --gold, every named comparison with the gold result.",
    )
    parser.add_argument("database", type=Path, metavar="DB", help="a SQLite database file; it is never written to")
    parser.add_argument("sql", metavar="SQL", help="the statement")
    parser.add_argument("--gold", metavar="SQL", help="the gold statement to compare with")
    parser.add_argument("--timeout", type=positive, default=DEADLINE, metavar="S", help="seconds it may take (30)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Execute what `args` say and print it; return 1 when a statement gave no result, else 0, equal or not.

    Raises ConfigurationError for the database.
    """
    report = asyncio.run(_execute(args.database, args.sql, args.gold, args.timeout))
    print(_json(report) if args.json else _text(report))
    ran = [each.outcome.status == "ok" for each in (report.predicted, report.gold) if each]
    return 0 if all(ran) else FAILED


async def _execute(database: Path, sql: str, gold: str | None, timeout: float) -> Report:
    refuse_unclean(database)
    async with SqlPool(workers=1) as pool:
        predicted = await pool.execute(database, sql, deadline=timeout)
        if gold is None:
            return Report(predicted=predicted)
        reference = await pool.execute(database, gold, deadline=max(timeout, GOLD_DEADLINE))
    return Report(
        predicted=predicted,
        gold=reference,
        equal=compare(reference.outcome, predicted.outcome),
        gold_is_ordered=has_order_by(gold),
    )


def _json(report: Report) -> str:
    fields = _fields(report.predicted)
    if report.gold:
        fields |= {"gold": _fields(report.gold), "equal": report.equal, "gold_is_ordered": report.gold_is_ordered}
    return msgspec.json.format(msgspec.json.encode(fields)).decode()


def _fields(execution: Execution) -> dict[str, object]:
    """Return every field, also those that an outcome in a journal leaves out when they are empty."""
    empty: dict[str, object] = {"message": "", "columns": [], "rows": 0, "excerpt": [], "digests": {}}
    return {**empty, **execution.outcome.to_json(), "seconds": round(execution.seconds, 6)}


def _text(report: Report) -> str:
    lines = _lines(report.predicted)
    if report.gold:
        lines += ["", "gold", *(f"  {line}" for line in _lines(report.gold)), "", "compared with gold"]
        unordered = "" if report.gold_is_ordered else " (the gold query does not ask for an order)"
        for name, equal in report.equal.items():
            lines.append(f"  {name:<10}{'equal' if equal else 'different'}{unordered if name == 'ordered' else ''}")
    return "\n".join(lines)


def _lines(execution: Execution) -> list[str]:
    outcome = execution.outcome
    # Names, messages and rows as Python prints them: on one line each, and nothing in them can speak to the terminal.
    status = f"{outcome.status}: {outcome.message!r}" if outcome.message else outcome.status
    lines = [f"status    {status}", f"seconds   {execution.seconds:.4f}"]
    if outcome.columns:
        lines += [f"rows      {outcome.rows:,}", f"columns   {outcome.columns!r}"]
        lines += [f"  {row!r}" for row in outcome.excerpt]
        if more := outcome.rows - len(outcome.excerpt):
            lines.append(f"  ... and {more:,} more")
    return lines + [f"{name:<10}{digest}" for name, digest in outcome.digests.items()]
