"""`turntide report`: the tables of one or more runs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ...adapters.base import ConfigurationError
from .. import registry
from ..system.garbage import seldom_collected
from .arguments import at_least, place
from .output import add_output, colored, page_width, put, require_output
from .unfinished import say_why, saying_why
from .working import Working

if TYPE_CHECKING:
    from ...results.operations import Operations
    from ...results.reading import RunFolder
    from ...results.report import Report, Reporter
    from ..benchmark import Subparsers


def add_parser(commands: Subparsers, words: Sequence[str]) -> None:
    """Add `report`."""
    parser = commands.add_parser(
        "report",
        help="tables of one or more runs",
        description=(
            "Print what runs came to, while they run too. Several folders are read as one sweep: shards of one run, or "
            "other models or conditions on the same data. Equal answers give equal bytes, however often a run was "
            "interrupted."
        ),
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="a run's folder")
    parser.add_argument("--table", dest="tables", action="append", metavar="KEY", help="only this table, in full")
    parser.add_argument(
        "--operations", action="store_true", help="add how the runs went: sends, retries, latency, money"
    )
    parser.add_argument(
        "--scoring", type=at_least(0), metavar="N", help="as scoring N of `rescore` has it; 0: the run's own"
    )
    parser.add_argument("--with-published", action="store_true", help="add the papers' own values beside ours")
    add_output(parser)
    parser.add_argument("--html", type=place, metavar="FILE", help="write a page with it and every dialogue instead")
    parser.add_argument("--figures", type=place, metavar="DIR", help="write the figures as SVG and PDF instead")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the report. Raises ConfigurationError when there is none, RunError when a journal is damaged."""
    from ...results.reading import open_run

    runs = [open_run(folder, args.scoring) for folder in args.folders]
    _require_places(runs, args)
    with seldom_collected():
        return _report(runs, args)


def _require_places(runs: Sequence[RunFolder], args: argparse.Namespace) -> None:
    """Raise ConfigurationError when what is to be written cannot go where it should, before anything is computed."""
    inputs = [path for run in runs for path in run.inputs]
    require_output(args, inputs)
    if not (args.html or args.figures):
        return
    from .report_files import require_files

    given = {"--table": args.tables, "--format or --json": args.format, "--out": args.out}
    if meant := [name for name, value in given.items() if value]:
        raise ConfigurationError(
            f"{' and '.join(meant)}: that is for tables that are printed, and --html and --figures write a page and "
            "figures instead. Ask for one after the other."
        )
    require_files(args.html, args.figures, inputs)


def _report(runs: Sequence[RunFolder], args: argparse.Namespace) -> int:
    """Print it, or write it into files; return 0."""
    with Working("reading journals and computing tables"), saying_why():
        report = reporter_of(runs)(runs)
        operations = _operations(runs) if args.operations else {}
    if args.with_published:
        from ...results.published import with_published

        if report.published is None:
            raise ConfigurationError("no published values are known for this benchmark.")
        report = replace(report, tables=with_published(report.tables, report.published()))
    if args.html or args.figures:
        from .report_files import write_files

        write_files(runs, report, operations, args.html, args.figures)
    else:
        after = _as_text(operations, args.width)
        put(only(report, args.tables), args, {folder: each.to_json() for folder, each in operations.items()}, after)
    if "INCOMPLETE" in report.marks:
        say_why(runs)
    return 0


def benchmark_of(runs: Sequence[RunFolder]) -> str:
    """Return the name of the benchmark that all these are runs of."""
    benchmarks = sorted({run.identity["benchmark"] for run in runs})
    if len(benchmarks) > 1:
        raise ConfigurationError(
            f"these are runs of different benchmarks ({', '.join(benchmarks)}): report them apart."
        )
    return benchmarks[0]


def reporter_of(runs: Sequence[RunFolder]) -> Reporter:
    """Return the reporter of the benchmark that all these are runs of."""
    name = benchmark_of(runs)
    reporter = registry.load("reports", name)
    if not callable(reporter):
        raise ConfigurationError(f"the report {name!r} is installed but is no function (results/report.py)")
    return cast("Reporter", reporter)


def only(report: Report, keys: Sequence[str] | None) -> Report:
    """Return the report with the tables named by `keys`, each in full; one that holds nothing says so."""
    if not keys:
        return report
    empty = [replace(table, note="Nothing to show.") for table in report.empty]
    tables = {table.key: table.whole() for table in (*report.tables, *empty)}
    if unknown := [key for key in keys if key not in tables]:
        raise ConfigurationError(f"there is no table {unknown[0]!r} in this report; there are {', '.join(tables)}.")
    return replace(report, tables=[tables[key] for key in keys])


def _operations(runs: Sequence[RunFolder]) -> dict[str, Operations]:
    from ...results.operations import Operations

    return {str(part.folder): Operations.of(part) for run in runs for part in run.parts}


def _as_text(operations: dict[str, Operations], width: int | None) -> str:
    from ...results.operation_tables import operation_tables
    from ...results.text import render

    shown = (
        f"{folder}\n{render(operation_tables(each), page_width(width), color=colored())}"
        for folder, each in operations.items()
    )
    return "".join(shown)
