"""What `turntide report` writes besides what it prints: a page, and figures."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from ...adapters.base import ConfigurationError
from ..folder.outputs import require_output_file, require_output_folder
from ..system.files import replace_file
from .working import Working

if TYPE_CHECKING:
    from ...results.figures.figure import Figure
    from ...results.html.markup import Markup
    from ...results.operations import Operations
    from ...results.reading import RunFolder
    from ...results.report import Report

WITHOUT = "without figures, which need matplotlib: pip install 'turntide[figures]'"


def require_files(html: Path | None, figures: Path | None, inputs: Iterable[Path]) -> None:
    """Raise ConfigurationError unless what is asked for can be written there; the report reads `inputs`."""
    if figures:
        require_output_folder(figures)
    if html:
        require_output_file(html, inputs)
        if not html.parent.is_dir():
            raise ConfigurationError(f"there is no folder {html.parent} to write {html.name} into.")


def write_files(
    runs: Sequence[RunFolder],
    report: Report,
    operations: Mapping[str, Operations],
    html: Path | None,
    figures: Path | None,
) -> None:
    """Write what is asked for, and say on stderr what was written. Raises ConfigurationError where it cannot be."""
    report = replace(report, figures=[*report.figures, *_timelines(operations)])
    try:
        if figures:
            write_figures(figures, report.figures)
        if html:
            write_page(html, runs, report, operations)
    except OSError as error:
        place = error.filename or html or figures
        raise ConfigurationError(f"cannot write the report: {error.strerror} ({place}).") from error


def _timelines(operations: Mapping[str, Operations]) -> Iterator[Figure]:
    """Yield a figure of each run's operations that has beaten."""
    from ...results.figures.timeline import timeline

    for number, (folder, each) in enumerate(operations.items(), 1):
        if drawn := timeline(each, "timeline" if len(operations) == 1 else f"timeline-{number}"):
            yield replace(drawn, source=folder)


def write_page(path: Path, runs: Sequence[RunFolder], report: Report, operations: Mapping[str, Operations]) -> None:
    """Write the report as one HTML file; without matplotlib, without its figures."""
    from ...results.html.write import write_html
    from ...results.operation_tables import operation_tables
    from ..system.loop import run_loop

    tables = [(folder, table) for folder, each in operations.items() for table in operation_tables(each)]
    with Working("replaying dialogues and drawing figures"), _drawing(report.figures) as drawn:
        size = run_loop(write_html(path, runs, report, drawn, tables))
    left_out = f", {WITHOUT}" if report.figures and not _draws() else ""
    print(f"{path}: {size / 1e6:.1f} MB{left_out}", file=sys.stderr)


def write_figures(folder: Path, figures: Sequence[Figure]) -> None:
    """Write each figure as SVG and PDF; raises ConfigurationError without matplotlib."""
    if not _draws():
        raise ConfigurationError(WITHOUT)
    from ...results.figures.draw import draw

    folder.mkdir(parents=True, exist_ok=True)
    with Working("drawing figures"):
        for figure in figures:
            for kind in ("svg", "pdf"):
                replace_file(folder / f"{figure.key}.{kind}", draw(figure, kind))
    print(f"{folder}: {len(figures)} figures as SVG and PDF", file=sys.stderr)


@contextmanager
def _drawing(figures: Sequence[Figure]) -> Generator[Callable[[], Mapping[str, Markup]]]:
    """Draw the figures in a process of their own; yield what waits for them. Without matplotlib there are none."""
    if not figures or not _draws():
        yield dict[str, "Markup"]
        return
    from ...results.html.figures import panels_markup

    # Ctrl-C is for the command, which ends the process.
    apart = ProcessPoolExecutor(1, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN))
    try:
        drawn = {figure.key: apart.submit(panels_markup, figure) for figure in figures}
        yield lambda: {key: panels.result() for key, panels in drawn.items()}
    finally:
        apart.shutdown(cancel_futures=True)


def _draws() -> bool:
    return find_spec("matplotlib") is not None
