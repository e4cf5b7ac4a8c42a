"""`turntide data build enterprisemem` and `turntide data check enterprisemem`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING

from ...adapters.base import ConfigurationError, Json
from .places import builtins, lines_of, located, show, some
from .working import Working

if TYPE_CHECKING:
    from ...datasets.enterprisemem.check import CheckReport


def build_sessions(args: argparse.Namespace) -> int:
    """Generate sessions over the databases that the options name, and write them."""
    from ...datasets.enterprisemem.generator import generate
    from ...datasets.enterprisemem.sessions import DATABASES, write_sessions
    from ...datasets.gold import GoldRunner
    from ..folder.outputs import require_output_file

    if args.out is None:
        raise ConfigurationError("sessions over given databases or of another seed need a place: --out FILE")
    databases = located(args, list(DATABASES.values()))
    paths = {name: database.path for name, database in databases.items()}
    require_output_file(args.out, paths.values())
    with Working("building and verifying 300 sessions"), GoldRunner(paths) as runner:
        sessions, verification = generate(runner, args.seed)
    try:
        write_sessions(args.out, sessions)
    except OSError as error:
        raise ConfigurationError(f"cannot write {args.out}: {error.strerror}") from None
    facts = {"out": str(args.out), **builtins(verification)}
    text = (
        f"{verification.sessions} sessions and {verification.turns} turns, all verified; on "
        f"{len(verification.fallback_same)} of them the fallback's result is the gold's\n{args.out}"
    )
    show(facts, args.json, text)
    return 0


def check_sessions(args: argparse.Namespace) -> int:
    """Check a session file and print what was found; return 2 when a gold query fails."""
    from ...datasets.enterprisemem.check import check
    from ...datasets.enterprisemem.embedded import embedded_sessions
    from ...datasets.enterprisemem.sessions import load_sessions

    if args.sessions is None and (args.data or args.database):
        raise ConfigurationError(
            "the embedded sessions are about the synthetic databases; name yours with --sessions FILE"
        )
    with Working("opening sessions and databases") as working:
        sessions = load_sessions(args.sessions or embedded_sessions())
        report = check(sessions, located(args, sorted({session.database for session in sessions})), working.on)
        scored, missed = (0, []) if report.gold_failed else _gold_as_predictions(args, report.turns, working.on)
    facts, text = builtins(report), _check_text(report)
    if not report.gold_failed:
        facts |= {"gold_as_prediction": scored, "gold_as_prediction_missed": missed}
        text += f"\ngold as prediction: {scored} of {report.turns} correct" + (
            f", not {some(missed)}" if missed else ""
        )
    show(facts, args.json, text)
    if report.gold_failed:
        turn = report.gold_failed[0]
        advice = " Check that the databases are the ones that the sessions were written for."
        print(
            f"turntide: {len(report.gold_failed)} gold queries fail, the first at {turn}: {report.errors[turn]}."
            f"{advice if turn in report.of_databases else ''}",
            file=sys.stderr,
        )
    return 2 if report.gold_failed else 0


def _gold_as_predictions(args: argparse.Namespace, turns: int, told: Callable[[str], None]) -> tuple[int, list[str]]:
    """Return on how many turns gold scores as correct, and the ids of the others."""
    from ...datasets.enterprisemem.benchmark import benchmark
    from ..system.loop import run_loop
    from .selfcheck import gold_as_predictions

    options: dict[str, Json] = {
        "sessions": str(args.sessions or ""),
        "data": str(args.data or ""),
        "databases": dict[str, Json](args.database),
        "conditions": ["A"],
    }
    asked = count()

    def heard(*_: object) -> None:
        told(f"gold as prediction: {next(asked):,} of {turns:,}")

    records = run_loop(gold_as_predictions(benchmark, options, heard))
    missed = [f"{unit.item}:{record['turn']}" for unit, record in records if record["category"] != "correct"]
    return len(records) - len(missed), missed


def _check_text(report: CheckReport) -> str:
    lines = [
        f"sessions {report.sessions} ({report.distinct_content} distinct in content), turns {report.turns}, "
        f"memory-critical {report.memory_critical}",
        f"gold: {report.gold_ok} return rows, {len(report.gold_empty)} are empty, {len(report.gold_failed)} fail",
        f"fallback: {len(report.fallback_same)} coincide with gold, {len(report.fallback_failed)} fail",
        "tiers: " + ", ".join(f"T{tier} {count}" for tier, count in report.tiers.items()),
        "sources: " + ", ".join(f"{source} {count}" for source, count in report.sources.items()),
    ]
    lines += lines_of(report.databases)
    lines += [f"{rule}: {len(ids)} ({some(ids)})" for rule, ids in report.quirks.items() if ids]
    return "\n".join(lines)
