"""`turntide data`: source databases and session files, built, listed and checked."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...adapters.base import ConfigurationError, Json
from .arguments import assignment, at_least

if TYPE_CHECKING:
    from ...datasets.databases import SourceDatabase
    from ...datasets.enterprisemem.check import CheckReport
    from ..benchmark import Subparsers

_BENCHMARKS = ("enterprisemem",)
"""What sessions can be generated and checked for."""


def add_parser(commands: Subparsers, words: Sequence[str] = ()) -> None:
    """Add `data` with its three actions."""
    parser = commands.add_parser("data", help="build, list and check databases and benchmarks")
    actions = parser.add_subparsers(metavar="ACTION", title="actions", required=True)

    listing = actions.add_parser("list", help="known databases and benchmarks: where, how large, which hash")
    _add_places(listing)
    listing.set_defaults(run=_list)

    build = actions.add_parser(
        "build",
        help="build the synthetic databases, or sessions over given ones",
        description="Without --data or --database: the synthetic look-alikes and the sessions over them, in the cache.",
    )
    build.add_argument("benchmark", nargs="?", choices=_BENCHMARKS, help="generate its sessions")
    build.add_argument("--out", type=Path, metavar="FILE", help="where to write the sessions (.json or .json.gz)")
    build.add_argument("--seed", type=at_least(0), default=0, metavar="N", help="which sessions are drawn (default 0)")
    _add_places(build)
    build.set_defaults(run=_build)

    check = actions.add_parser("check", help="run every gold query of a session file, and list what is odd about it")
    check.add_argument("benchmark", choices=_BENCHMARKS)
    check.add_argument("--sessions", type=Path, metavar="FILE", help="a session file (default: the embedded one)")
    _add_places(check)
    check.set_defaults(run=_check)


def run(args: argparse.Namespace) -> int:
    """Run the action that was named; return the exit code."""
    return args.run(args)


def _add_places(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with the source databases")
    parser.add_argument(
        "--database", type=assignment, action="append", default=[], metavar="NAME=PATH", help="one database by its file"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _overrides(args: argparse.Namespace) -> dict[str, Path]:
    return {name: Path(path) for name, path in args.database}


def _located(args: argparse.Namespace, names: Sequence[str]) -> dict[str, SourceDatabase]:
    from ...datasets.databases import locate

    return locate(names, args.data, _overrides(args))


def _list(args: argparse.Namespace) -> int:
    from ...datasets import databases, synthetic
    from ...datasets.enterprisemem.embedded import embedded_place

    found: list[dict[str, Any]] = []
    overrides = _overrides(args)
    given = args.data is not None or bool(overrides)
    for name in databases.FILES:
        if not given:
            found.append(_entry("database", name, synthetic.place(name), synthetic=True))
            continue
        try:
            database = databases.locate([name], args.data, overrides)[name]
        except ConfigurationError as error:
            found.append({"kind": "database", "name": name, "path": None, "problem": str(error)})
        else:
            found.append(_entry("database", name, database.path, synthetic=database.synthetic))
    found.append(_entry("benchmark", "enterprisemem", embedded_place(), synthetic=True))
    _print(found, args.json, "\n".join(map(_line, found)))
    return 0


def _entry(kind: str, name: str, path: Path, *, synthetic: bool) -> dict[str, Any]:
    from ...datasets.databases import sha256

    entry: dict[str, Any] = {"kind": kind, "name": name, "path": str(path), "synthetic": synthetic}
    if not path.is_file():
        return entry | {"problem": "not built yet; `turntide data build` builds it, and so does the first use"}
    return entry | {"bytes": path.stat().st_size, "sha256": sha256(path)}


def _line(entry: dict[str, Any]) -> str:
    head = f"{entry['kind']:<10}{entry['name']:<15}"
    if "problem" in entry:
        return f"{head}{entry['problem']}"
    origin = "synthetic" if entry["synthetic"] else "real"
    return f"{head}{origin:<11}{entry['bytes'] / 1e6:>7.1f} MB  {entry['sha256'][:16]}  {entry['path']}"


def _build(args: argparse.Namespace) -> int:
    from ...datasets import synthetic
    from ...datasets.enterprisemem.embedded import embedded_sessions

    if args.data or args.database or args.out or args.seed:
        return _build_sessions(args)
    names = () if args.benchmark else synthetic.NAMES
    built = {name: str(synthetic.ensure(name)) for name in names} | {"enterprisemem": str(embedded_sessions())}
    _print(built, args.json, "\n".join(f"{name:<15}{path}" for name, path in built.items()))
    return 0


def _build_sessions(args: argparse.Namespace) -> int:
    from ...datasets.enterprisemem.generator import generate
    from ...datasets.enterprisemem.sessions import DATABASES, write_sessions
    from ...datasets.gold import GoldRunner

    if args.benchmark is None:
        raise ConfigurationError("which sessions? Say `turntide data build enterprisemem ...`")
    if args.out is None:
        raise ConfigurationError("sessions over given databases or of another seed need a place: --out FILE")
    databases = _located(args, list(DATABASES.values()))
    with GoldRunner({name: database.path for name, database in databases.items()}) as runner:
        sessions, verification = generate(runner, args.seed)
    try:
        write_sessions(args.out, sessions)
    except OSError as error:
        raise ConfigurationError(f"cannot write {args.out}: {error.strerror}") from None
    facts = {"out": str(args.out), **_builtins(verification)}
    text = (
        f"{verification.sessions} sessions and {verification.turns} turns, all verified; on "
        f"{len(verification.fallback_same)} of them the fallback's result is the gold's\n{args.out}"
    )
    _print(facts, args.json, text)
    return 0


def _check(args: argparse.Namespace) -> int:
    from ...datasets.enterprisemem.check import check
    from ...datasets.enterprisemem.embedded import embedded_sessions
    from ...datasets.enterprisemem.sessions import load_sessions

    if args.sessions is None and (args.data or args.database):
        raise ConfigurationError(
            "the embedded sessions are about the synthetic databases; name yours with --sessions FILE"
        )
    sessions = load_sessions(args.sessions or embedded_sessions())
    report = check(sessions, _located(args, sorted({session.database for session in sessions})))
    facts, text = _builtins(report), _check_text(report)
    if not report.gold_failed:
        scored, missed = _gold_as_predictions(args)
        facts |= {"gold_as_prediction": scored, "gold_as_prediction_missed": missed}
        text += f"\ngold as prediction: {scored} of {report.turns} correct" + (
            f", not {_some(missed)}" if missed else ""
        )
    _print(facts, args.json, text)
    if report.gold_failed:
        turn = report.gold_failed[0]
        print(
            f"turntide: {len(report.gold_failed)} gold queries fail, the first at {turn}: {report.errors[turn]}. "
            f"Check that the databases are the ones that the sessions were written for.",
            file=sys.stderr,
        )
    return 2 if report.gold_failed else 0


def _gold_as_predictions(args: argparse.Namespace) -> tuple[int, list[str]]:
    """Return on how many turns gold scores as correct, and the ids of the others."""
    from ...datasets.enterprisemem.benchmark import benchmark
    from .launch import run_loop
    from .selfcheck import gold_as_predictions

    options: dict[str, Json] = {
        "sessions": str(args.sessions or ""),
        "data": str(args.data or ""),
        "databases": dict[str, Json](args.database),
        "conditions": ["A"],
    }
    records = run_loop(gold_as_predictions(benchmark, options))
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
    for name, facts in report.databases.items():
        lines.append(f"{name}: {'synthetic' if facts.synthetic else 'real'} {facts.sha256[:16]} {facts.path}")
    lines += [f"{rule}: {len(ids)} ({_some(ids)})" for rule, ids in report.quirks.items() if ids]
    return "\n".join(lines)


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:6]) + (", ..." if len(ids) > 6 else "")


def _builtins(value: object) -> Any:  # noqa: ANN401 - what msgspec makes of a struct
    import msgspec

    return msgspec.to_builtins(value)


def _print(result: object, as_json: bool, text: str) -> None:
    import json

    print(json.dumps(result) if as_json else text)
