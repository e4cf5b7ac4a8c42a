"""`turntide compare`: paired differences between runs, or between the models or conditions of one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from ...adapters.base import ConfigurationError
from .. import registry
from .arguments import not_negative
from .output import add_output, put, require_output
from .unfinished import saying_why

if TYPE_CHECKING:
    from ...results.compare import Judged
    from ...results.contrasts import By, Side
    from ...results.measures import Measurer, Measures
    from ...results.reading import RunFolder
    from ..benchmark import Subparsers

WORSE: Final = 5
INCOMPLETE: Final = 3


def add_parser(commands: Subparsers, words: Sequence[str]) -> None:
    """Add `compare`."""
    parser = commands.add_parser(
        "compare",
        help="paired differences between runs, models or conditions",
        description=(
            "Compare runs with the first, or, of one run, its models or conditions with the first of them: observation "
            "by observation, with tests that are corrected for their number, what flipped, and what a point costs."
        ),
    )
    parser.add_argument(
        "folders", nargs="+", type=Path, metavar="DIR", help="a run's folder; the first is the baseline"
    )
    parser.add_argument(
        "--by", choices=("run", "model", "part"), help="what to compare; part: conditions, or protocols and sets"
    )
    parser.add_argument("--baseline", metavar="NAME", help="what to compare with (default: the first)")
    parser.add_argument(
        "--metric", dest="metrics", action="append", metavar="NAME", help="default: the first that is there"
    )
    parser.add_argument(
        "--fail-if-worse",
        nargs="?",
        type=not_negative,
        const=0.0,
        metavar="POINTS",
        help="exit with 5 when a difference is below -POINTS (default 0) with p at most 0.05, with 3 when pairs are "
        "missing",
    )
    parser.add_argument("--table", dest="tables", action="append", metavar="KEY", help="only this table, in full")
    add_output(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the comparison; return 0, or with `--fail-if-worse` 5 for worse and 3 for incomplete."""
    from ...results.compare import comparison, judged
    from ...results.contrasts import contrasts, left_out, metrics_of
    from ...results.reading import differing, open_run
    from .report import only

    runs = [open_run(folder) for folder in args.folders]
    require_output(args, [path for run in runs for path in run.inputs])
    with saying_why():
        sides, measured = _sides(runs, args.by)
    pairs = contrasts(sides, args.baseline)
    found = judged(pairs, metrics_of(sides, pairs, measured[0].metrics, args.metrics))
    marks = {word: meaning for measures in measured for word, meaning in measures.marks.items()}
    lacking = [f"not compared: {each}" for each in left_out(sides, args.baseline)]
    facts = {side.name: side.covers for side in sides} if len(measured) > 1 else None
    put(only(comparison(found, marks, facts, [*lacking, *differing(runs)]), args.tables), args)
    return 0 if args.fail_if_worse is None else _verdict(found, lacking, args.fail_if_worse)


def _sides(runs: Sequence[RunFolder], by: By | None) -> tuple[list[Side], list[Measures]]:
    """Return the sides by what the user chose, or by what there is: runs, else models, else parts."""
    from ...results.contrasts import sides_of_runs, sides_within

    measurer = measurer_of(runs)
    if by == "run" or (by is None and len(runs) > 1):
        each = [(str(run.folder), measurer([run])) for run in runs]
        return sides_of_runs(each), [measures for _, measures in each]
    measures = measurer(runs)
    return sides_within(measures, by or ("model" if len(measures.models) > 1 else "part")), [measures]


def measurer_of(runs: Sequence[RunFolder]) -> Measurer:
    """Return the measurer of the benchmark that all these are runs of."""
    from .report import benchmark_of

    name = benchmark_of(runs)
    measurer = registry.load("measures", name)
    if not callable(measurer):
        raise ConfigurationError(f"the measures of {name!r} are installed but are no function (results/measures.py)")
    return cast("Measurer", measurer)


def _verdict(found: Sequence[Judged], lacking: Sequence[str], points: float) -> int:
    """Say on stderr what is worse, or missing, and return the exit code."""
    worse = [each for each in found if each.worse(points)]
    for each in worse:
        shown = each.difference.shown().text()
        print(f"worse: {each.contrast.other}, {each.metric} {each.contrast.name}: {shown} points", file=sys.stderr)
    if worse:
        return WORSE
    if missing := sum(not each.complete for each in found) + len(lacking):
        print(f"incomplete: {missing:,} comparisons lack pairs; nothing else is worse", file=sys.stderr)
        return INCOMPLETE
    return 0
