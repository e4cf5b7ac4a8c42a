"""Where a command that makes tables puts them: on stdout, into a file, or into a folder."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from ...adapters.base import ConfigurationError, Json
from ..system.files import replace_file
from .arguments import at_least, place

if TYPE_CHECKING:
    from ...results.formats import Format
    from ...results.report import Report

FORMATS: Final = ("text", "markdown", "latex", "csv", "json")
"""`results.formats.Format`, spelled here so that `--help` imports no report; a test compares them."""

_NARROWEST: Final = 40


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add `--format`, `--out`, `--json` and `--width`."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=FORMATS, help="default: what the name of --out ends in, else text")
    form.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    parser.add_argument(
        "--out",
        type=place,
        metavar="PATH",
        help="a file, or a folder (no suffix) that gets a file per table for markdown, latex and csv",
    )
    parser.add_argument("--width", type=at_least(_NARROWEST), metavar="N", help="columns of the text (default 160)")


def require_output(args: argparse.Namespace, inputs: Iterable[Path] = ()) -> None:
    """Raise ConfigurationError unless `--out`, if it is given, takes a report of a command that reads `inputs`.

    Commands ask at once, before they compute anything.
    """
    from ...results.formats import SUFFIXES, format_of
    from ..folder.outputs import require_output_file, require_output_folder

    out: Path | None = args.out
    if out is None:
        return
    if is_folder(out):
        require_output_folder(out)
    elif args.format or format_of(out):
        require_output_file(out, inputs)
    else:
        raise ConfigurationError(
            f"{out}: there is no format {out.suffix}. Names of files end in {', '.join(SUFFIXES.values())}, unless "
            "--format says what to write; those of new folders have no suffix."
        )


def is_folder(out: Path) -> bool:
    """Return whether output goes into files in `out`, rather than becomes `out`."""
    return out.is_dir() or not out.suffix


def put(report: Report, args: argparse.Namespace, beside: Json = None, after: str = "") -> None:
    """Write a report to where the arguments say; `beside` joins it as JSON and `after` as text.

    Raises ConfigurationError when the form cannot hold it or the place cannot be written.
    """
    from ...results.formats import files, written

    out: Path | None = args.out
    form = _form(args)
    if out is None:
        _print(report, form, args.width, beside, after)
    elif is_folder(out):
        _write(out, files(report, form, width=page_width(args.width), beside=beside))
    else:
        text = written(report, form, width=page_width(args.width), beside=beside)
        _write(out.parent, [(out.name, text + (after if form == "text" else ""))])


def require_form(report: Report, args: argparse.Namespace) -> None:
    """Raise ConfigurationError when the form that is asked for cannot hold these tables.

    For a command that does more than print them: it asks before it does it.
    """
    from ...results.formats import written

    if args.out is None or not is_folder(args.out):
        written(report, _form(args), width=page_width(args.width))


def _form(args: argparse.Namespace) -> Format:
    from ...results.formats import format_of

    return cast("Format", args.format or (args.out and format_of(args.out)) or "text")


def page_width(asked: int | None) -> int:
    """Return the columns of the page: as asked for, else the terminal's, else 160."""
    from ...results.text import WIDTH

    return asked or (shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH)


def colored() -> bool:
    """Return whether stdout shows colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _write(folder: Path, files: Iterable[tuple[str, str]]) -> None:
    """Write texts into a folder and say on stderr which."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files:
            replace_file(folder / name, text.encode("utf-8"))
            print(folder / name, file=sys.stderr)
    except OSError as error:
        raise ConfigurationError(f"cannot write into {folder}: {error.strerror}. Name another --out.") from None


def _print(report: Report, form: Format, width: int | None, beside: Json, after: str) -> None:
    from ...results.formats import written

    sys.stdout.write(written(report, form, width=page_width(width), color=colored(), beside=beside))
    if form == "text":
        sys.stdout.write(after)
    if form == "csv":  # which has no place for them
        for word, meaning in report.marks.items():
            print(f"{word}: {meaning}", file=sys.stderr)
