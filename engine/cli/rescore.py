"""`turntide rescore`: metrics and comparisons again from a run's answers, without a call."""

from __future__ import annotations

import argparse
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...adapters.base import ConfigurationError, Json
from .. import registry
from ..folder.binding import JOURNAL
from ..folder.lock import holder
from ..folder.manifest import NAME, differences
from ..folder.scorings import Draft
from ..journal import Lines
from ..sql import comparison
from ..system.loop import run_loop
from .arguments import positive
from .output import add_output, put, require_form, require_output
from .run import given_options
from .unfinished import saying_why

if TYPE_CHECKING:
    from ...results.measures import Measures
    from ...results.reading import RunFolder
    from ..benchmark import Subparsers
    from ..journal import Line
    from ..spec import Spec


def add_parser(commands: Subparsers, words: Sequence[str]) -> None:
    """Add `rescore`; the options of the benchmark whose run `words` name are among its own."""
    parser = commands.add_parser(
        "rescore",
        help="score a run again from its answers, without a call",
        description=(
            "Execute every statement of a run again, gold too, and make its records anew: after the comparisons, the "
            "taxonomy or the data changed. The run keeps its own scoring; reports read the newest."
        ),
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the run's folder")
    parser.add_argument(
        "--sql-timeout", type=positive, metavar="S", help="seconds for one predicted query (as in the run)"
    )
    parser.add_argument("--table", dest="tables", action="append", metavar="KEY", help="only this table, in full")
    add_output(parser)
    if benchmark := _benchmark_of(words):
        group = parser.add_argument_group(f"options of {benchmark}, in place of the run's own (for repaired data)")
        registry.benchmark_of(benchmark).add_arguments(group)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Score again and print what changed."""
    from ...results.reading import open_run
    from ...results.rescored import rescored
    from .compare import measurer_of
    from .report import only

    old = open_run(args.folder)
    if old.shards:
        raise ConfigurationError(
            f"{args.folder} is cut into shards: score each of them ({old.shards[0].folder}, ...); its report takes all."
        )
    require_output(args, [*old.inputs, *_given_files(old, args)])
    measurer = measurer_of([old])
    with saying_why():
        before = measurer([old])
    _require_tables(before, args)
    at_it = holder(args.folder)
    with Lines(args.folder / JOURNAL) as lines:
        seal, number = run_loop(_rescore(old, lines, args))
    new = open_run(args.folder, number)
    facts: dict[str, Json] = {
        "scored": f"{seal['records']:,} records of {seal['units']:,} dialogues, without a call",
        "before": f"scoring {old.scoring.number}" if old.scoring else "the run's own scoring",
        "data": seal["differs"] or "as in the run",
    }
    if at_it:
        facts["running"] = f"by {at_it}: what was there is scored; score again when it has ended"
    put(only(rescored(f"Scoring {number} of {args.folder}", facts, before, measurer([new])), args.tables), args)
    return 0


def _require_tables(before: Measures, args: argparse.Namespace) -> None:
    """Raise ConfigurationError, while nothing is written, for what could not be printed of any scoring."""
    from ...results.rescored import rescored
    from .report import only

    unchanged = rescored("", {}, before, before)
    everything = replace(unchanged, tables=[*unchanged.tables, *unchanged.empty], empty=[])
    require_form(only(everything, args.tables), args)


async def _rescore(run: RunFolder, lines: Lines, args: argparse.Namespace) -> tuple[dict[str, Any], int]:
    """Write the new scoring; return its seal and its number."""
    from ..again.rescoring import rescore
    from ..examination import Examination
    from ..gold import check_gold
    from ..progress import Progress
    from ..sql.executor import SqlExecutor

    spec = _spec(run, args)
    async with (
        registry.benchmark_of(spec.benchmark).open(spec.options, seed=spec.seed, limit=spec.limit) as experiment,
        SqlExecutor(experiment.databases, timeout=spec.settings.sql_timeout) as executor,
    ):
        await check_gold(tuple(experiment.references()), executor, Progress())
        with Draft(run.folder) as draft:
            records = 0

            def keep(line: Line) -> None:
                nonlocal records
                records += line["k"] == "record"
                draft.add(line)

            labels = [model.label for model in run.models]
            units = await rescore(experiment, labels, spec.repeats, spec.seed, lines, executor, keep)
            draft.add(await Examination(experiment).line())
            seal = _seal(run, experiment.identity()) | {"units": units, "records": records}
            return seal, draft.finish(seal)


def _spec(run: RunFolder, args: argparse.Namespace) -> Spec:
    """Return what the run was asked for, over the data that the command line names.

    Where it kept its memory is left out: memory is built anew from the answers, and the run's own stays untouched.
    """
    from ..spec import Spec, checked

    asked: dict[str, Any] = run.manifest.settings["spec"]
    servers = _servers(run.identity["benchmark"])
    kept = {name: value for name, value in asked.get("options", {}).items() if name not in servers}
    options = {**kept, **given_options(args, run.identity["benchmark"])}
    settings = {**asked.get("settings", {}), **({"sql_timeout": args.sql_timeout} if args.sql_timeout else {})}
    return checked({**asked, "options": options, "settings": settings}, Spec, f"{run.folder}: the run's own settings")


def _given_files(run: RunFolder, args: argparse.Namespace) -> list[Path]:
    """Return the files of data that the command line names in place of the run's own."""
    from ..spec import texts

    return [Path(text) for text in texts(given_options(args, run.identity["benchmark"]))]


def _servers(benchmark: str) -> frozenset[str]:
    from ...results.exports.export import Export

    export = registry.load("exports", benchmark) if benchmark in registry.names("exports") else None
    return export.servers if isinstance(export, Export) else frozenset()


def _seal(run: RunFolder, experiment: dict[str, Json]) -> dict[str, Any]:
    differs = [str(each) for each in differences(run.identity["experiment"], experiment, "experiment")]
    return {
        "run": run.manifest.run,
        "turntide": version("turntide"),
        "comparison": comparison.VERSION,
        "sqlite": sqlite3.sqlite_version,
        "differs": list[Json](differs),
    }


def _benchmark_of(words: Sequence[str]) -> str:
    """Return the benchmark of the run whose folder is among the words; nothing when none is."""
    from ...results.reading import open_run

    folder = next((Path(word) for word in words if (Path(word) / NAME).is_file()), None)
    name = open_run(folder, 0).identity["benchmark"] if folder else ""
    return name if name in registry.names("benchmarks") else ""
