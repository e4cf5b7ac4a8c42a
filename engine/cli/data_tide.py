"""`turntide data build tide` and `turntide data check tide`."""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...adapters.base import ConfigurationError
from .arguments import at_least
from .places import builtins, lines_of, located, show, some
from .working import Working

if TYPE_CHECKING:
    from ...datasets.tide.check import CheckReport
    from ...datasets.tide.statistics import Statistics
    from ...datasets.tide.triplets.plan import Wanted


COUNT = 60
"""How many triplets a design has unless the options say otherwise."""


def add_design(parser: argparse.ArgumentParser) -> None:
    """Add the options of a set beyond the paper's design (docs/tide-triplets.md)."""
    group = parser.add_argument_group("tide", "another set than the 514 triplets of the paper's design")
    group.add_argument("--count", type=at_least(1), metavar="N", help=f"how many triplets (default {COUNT})")
    group.add_argument("--depth", type=at_least(2), metavar="N", help="layers of a chain (default 2)")
    group.add_argument("--drifts", type=at_least(1), metavar="K", help="drifts of a triplet (default 1)")
    group.add_argument(
        "--chain-at", dest="opens", type=_stages, metavar="S[,S]",
        help="the turn that opens the chain: 0 the question, 1 the first drift; 0,1 for half of each (default 0)",
    )  # fmt: skip


def asks_for_a_design(args: argparse.Namespace) -> bool:
    """Return whether one of its options is given."""
    return any(given is not None for given in (args.count, args.depth, args.drifts, args.opens))


def _stages(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(map(at_least(0), text.split(","))))


def _cells(args: argparse.Namespace) -> Mapping[Wanted, int] | None:
    """Return what the options ask for, None for the plan of the 514."""
    from ...datasets.tide.design import design_of
    from ...datasets.tide.triplets.library import deepest
    from ...datasets.tide.triplets.plan import spread

    if not asks_for_a_design(args):
        return None
    designs = [design_of(args.depth or 2, args.drifts or 1, opens) for opens in args.opens or (0,)]
    if designs[0].depth > deepest():
        raise ConfigurationError(
            f"templates go {deepest()} layers deep; models go deeper: `turntide tide-build anchors --depth N`"
        )
    return spread(designs, args.count or COUNT)


def build_triplets(args: argparse.Namespace) -> int:
    """Build the triplets of the templates over the databases that the options name, and write them."""
    from ...datasets.tide.files import write_triplets
    from ...datasets.tide.statistics import statistics
    from ...datasets.tide.triplets.build import PlanError, generate
    from ...datasets.tide.triplets.library import DATABASES
    from ..folder.outputs import require_output_file

    if args.out is None:
        raise ConfigurationError("triplets over given databases, of another seed or design need a place: --out FILE")
    if not args.out.parent.is_dir():
        raise ConfigurationError(f"cannot write {args.out}: there is no folder {args.out.parent}")
    databases, cells = located(args, DATABASES), _cells(args)
    require_output_file(args.out, [database.path for database in databases.values()])
    try:
        with Working("building and checking triplets"):
            file = generate({name: database.path for name, database in databases.items()}, args.seed, cells)
    except (PlanError, sqlite3.Error) as error:
        asked_for = "what is asked for" if cells else "the templates"
        raise ConfigurationError(f"these databases do not carry {asked_for}: {error}") from error
    try:
        write_triplets(args.out, file)
    except OSError as error:
        raise ConfigurationError(f"cannot write {args.out}: {error.strerror}") from None
    counted = statistics(file.triplets)
    show({"out": str(args.out), **builtins(counted)}, args.json, "\n".join([*_statistics(counted), str(args.out)]))
    return 0


def check_triplets(args: argparse.Namespace) -> int:
    """Check a file of triplets and print what was found; return 2 when a gold or a drift fails."""
    from ...datasets.tide.check import check
    from ...datasets.tide.embedded import embedded_triplets
    from ...datasets.tide.files import load_triplets

    if args.samples is None and (args.data or args.database):
        raise ConfigurationError(
            "the embedded triplets are about the synthetic databases; name yours with --samples FILE"
        )
    with Working("opening triplets and databases") as working:
        file = load_triplets(args.samples or embedded_triplets())
        report = check(file, located(args, sorted({triplet.database for triplet in file.triplets})), working.on)
    show({**builtins(report), "ok": report.ok}, args.json, "\n".join(_lines(report)))
    if not report.ok:
        place, detail = next(iter(report.errors.items()), (*report.gold_empty[:1], "it returns no row"))
        advice = " Check that the databases are the ones that the triplets were written for."
        print(
            f"turntide: not every gold and drift holds, first {place}: {detail}."
            f"{advice if place in report.of_databases else ''}",
            file=sys.stderr,
        )
    return 0 if report.ok else 2


def _lines(report: CheckReport) -> list[str]:
    failed, empty, unparsable = map(len, (report.gold_failed, report.gold_empty, report.gold_unparsable))
    drifts = report.drift_ok + sum(map(len, report.drift_failed.values()))
    return [
        f"{report.name}{' (synthetic)' if report.synthetic else ''}",
        f"gold: {report.gold_ok} return rows, {empty} are empty, {failed} fail, {unparsable} do not parse",
        f"drift: {report.drift_ok} of {drifts} pass the eight checks",
        *(f"  {signal}: {len(ids)} ({some(ids)})" for signal, ids in report.drift_failed.items()),
        *_statistics(report.statistics),
        *lines_of(report.databases),
        *(f"{rule}: {len(ids)} ({some(ids)})" for rule, ids in report.quirks.items() if ids),
    ]


def _statistics(counted: Statistics) -> list[str]:
    from ...datasets.tide.samples import PAPERS_SHAPE, plan_in_words

    kinds = ", ".join(f"{kind} {count}" for kind, count in counted.samples.items())
    lines = [
        f"triplets {counted.triplets} ({counted.distinct_content} distinct in content), "
        f"samples {sum(counted.samples.values())} ({kinds})",
        f"databases: {_counts(counted.databases)}",
        *([] if list(counted.plans) == [plan_in_words(PAPERS_SHAPE)] else [f"plans: {_plans(counted.plans)}"]),
        f"tiers: {_shares(counted.tiers)}",
        f"verdicts: {_shares(counted.verdicts)}",
        f"subtypes: {_shares(counted.subtypes)}",
        f"projections: {_counts(counted.fine_subtypes)}",
    ]
    for each in counted.changes:
        before, after = ("/".join(map(str, tiers.values())) for tiers in (each.before, each.after))
        means = ", ".join(f"{name} {value:+.2f}" for name, value in each.change.items())
        lines.append(f"{each.subtype}: tiers {before} -> {after}; {means}")
    return lines


def _plans(counts: Mapping[str, int]) -> str:
    return "; ".join(f"{plan}: {count}" for plan, count in counts.items())


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _shares(counts: Mapping[str, int]) -> str:
    total = sum(counts.values()) or 1
    return ", ".join(f"{name} {count} ({count / total:.1%})" for name, count in counts.items())
