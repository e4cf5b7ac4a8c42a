"""`turntide export`: runs as files of other tools."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...adapters.base import ConfigurationError
from .. import registry
from .unfinished import say_why

if TYPE_CHECKING:
    from ...results.exports.export import Export
    from ...results.exports.write import Writer
    from ...results.reading import RunFolder
    from ..benchmark import Subparsers

URLS: Final = ("http://", "https://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is to be exported. `path` is where it is written first: a name beside the one that was asked for."""

    runs: Sequence[RunFolder]
    export: Export
    marks: Mapping[str, str]
    out: str

    @property
    def path(self) -> Path:
        """A file or folder that is not there yet, in a folder that is."""
        return Path(f"{self.out.rstrip('/')}.partial")


def add_parser(commands: Subparsers, words: Sequence[str]) -> None:
    """Add `export`."""
    parser = commands.add_parser(
        "export",
        help="runs as files of other tools",
        description=(
            "Write the dialogues of runs for other tools, from their journals; several folders are read as one sweep. "
            "Prompts, questions and gold are not in a journal: they are brought back where the data of the run are "
            "here."
        ),
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="a run's folder")
    parser.add_argument("--to", required=True, choices=list(WRITERS), help="what to write")
    parser.add_argument(
        "--out", required=True, metavar="PATH", help="a new folder; for otel a new file, or the URL of an OTLP endpoint"
    )
    parser.add_argument(
        "--no-prompts", action="store_true", help="only what the journal holds: no prompts, no gold, no data needed"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Export. Raises ConfigurationError when runs do not belong together, a package is missing, or PATH is taken."""
    from ...adapters.printable import printable
    from ...results.reading import open_run

    _require_free(args.out, args.to)
    runs = [open_run(folder) for folder in args.folders]
    export = _export(runs)
    job = Job(runs=runs, export=export, marks=export.marks(runs), out=args.out)
    try:
        warnings = _write(job, args.to, prompts=not args.no_prompts and args.to != "otel")
    except OSError as error:
        raise ConfigurationError(f"{args.out} cannot be written: {error}") from error
    for mark, meaning in job.marks.items():
        print(printable(f"{mark}: {meaning}"), file=sys.stderr)
    if "INCOMPLETE" in job.marks:
        say_why(runs)
    for warning in warnings:
        print(printable(f"warning: {warning}"), file=sys.stderr)
    print(printable(args.out))
    return 0


def _write(job: Job, to: str, *, prompts: bool) -> list[str]:
    """Write under another name, and give it its own when it is whole: a failed export leaves nothing behind."""
    from ...results.exports.write import write
    from ..system.loop import run_loop

    _remove(job.path)
    if not job.out.startswith(URLS):
        job.path.parent.mkdir(parents=True, exist_ok=True)
    writer = WRITERS[to](job)
    try:
        warnings = run_loop(write(job.runs, job.export, job.marks, writer, prompts=prompts))
        writer.close()
    except BaseException:
        with suppress(Exception):
            writer.close()
        _remove(job.path)
        raise
    if job.path.exists():
        job.path.replace(job.out)
    return warnings


def _require_free(out: str, to: str) -> None:
    """Refuse a place that holds something: no file of an older export may stay among the new."""
    from ..folder.outputs import require_output_file, require_output_folder

    if not out:
        raise ConfigurationError("--out is empty: say where.")
    if out.startswith(URLS):
        if to != "otel":
            raise ConfigurationError(f"--to {to} writes files: name a new folder with --out, not a URL.")
        return
    place = Path(out)
    (require_output_file if to == "otel" else require_output_folder)(place)
    if place.exists() and (to == "otel" or not place.is_dir() or any(place.iterdir())):
        raise ConfigurationError(f"{place} is there already. Name another place with --out, or remove it first.")


def _remove(place: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def _export(runs: Sequence[RunFolder]) -> Export:
    from ...results.exports.export import Export

    benchmarks = sorted({run.identity["benchmark"] for run in runs})
    if len(benchmarks) > 1:
        raise ConfigurationError(
            f"these are runs of different benchmarks ({', '.join(benchmarks)}): export them apart."
        )
    export = registry.load("exports", benchmarks[0])
    if not isinstance(export, Export):
        raise ConfigurationError(f"the export {benchmarks[0]!r} is installed but is none (results/exports/export.py)")
    return export


def _csv(job: Job) -> Writer:
    from ...results.exports.csv_files import CsvFiles

    return CsvFiles(job.path, job.export)


def _parquet(job: Job) -> Writer:
    _require("pyarrow", "Parquet", "export")
    from ...results.exports.parquet_files import ParquetFiles

    return ParquetFiles(job.path, job.export, job.marks)


def _huggingface(job: Job) -> Writer:
    _require("pyarrow", "a data set folder", "export")
    from ...results.exports.huggingface import HuggingFaceFolder

    models = dict.fromkeys(model.id for run in job.runs for model in run.models)
    return HuggingFaceFolder(job.path, job.export, job.marks, list(models))


def _inspect(job: Job) -> Writer:
    from ...results.exports.inspect_logs import InspectLogs

    return InspectLogs(job.path, job.export, job.marks)


def _otel(job: Job) -> Writer:
    _require("opentelemetry.exporter.otlp.proto.http", "OpenTelemetry's spans", "otel")
    from ...results.exports.otel import OtelSpans
    from ...results.exports.otel_sinks import Endpoint, JsonFile

    sink = Endpoint(job.out) if job.out.startswith(URLS) else JsonFile(job.path)
    return OtelSpans(sink, job.export, job.marks)


def _require(module: str, what: str, extra: str) -> None:
    try:
        import_module(module)
    except ImportError:
        raise ConfigurationError(f"{what} needs {module}: pip install 'turntide[{extra}]'") from None


WRITERS: Final[Mapping[str, Callable[[Job], Writer]]] = {
    "parquet": _parquet,
    "csv": _csv,
    "huggingface": _huggingface,
    "inspect": _inspect,
    "otel": _otel,
}
