"""`turntide tide-build anchors`."""

from __future__ import annotations

import argparse
import json
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ....adapters.base import ConfigurationError
from ...arguments import add_places
from ..design import design_of
from .anchors import AnchorFile, Selection, dump_anchors

if TYPE_CHECKING:
    from ....engine.benchmark import Subparsers
    from ...databases import SourceDatabase
    from ..structure import Subtype
    from .questions import Question


def add_commands(commands: Subparsers) -> None:
    """Add `anchors`."""
    parser = commands.add_parser(
        "anchors",
        help="select anchors from question files",
        description=(
            "Keep the questions whose SQL runs on a database that is here, holds enough for two layers, and admits a "
            "drift; draw from them evenly over tiers and splits; assign each a drift. Says what was dropped and why."
        ),
    )
    parser.add_argument(
        "--questions", action="append", required=True, metavar="[SPLIT=]FILE",
        help="BIRD's, Spider's or SParC's questions (JSON or JSON lines, gzipped or not), or a file of triplets; once "
        "for each file",
    )  # fmt: skip
    add_places(parser, data="folder with the databases", kind=Path)
    parser.add_argument("--depth", type=int, default=2, metavar="N", help="layers of each chain (default 2)")
    parser.add_argument("--drifts", type=int, default=1, metavar="K", help="drifts of each triplet (default 1)")
    parser.add_argument(
        "--chain-at", dest="opens", type=int, default=0, metavar="S",
        help="the turn that opens the chain: 0 the question, 1 the first drift, and so on (default 0)",
    )  # fmt: skip
    parser.add_argument("--count", type=int, metavar="N", help="how many to draw (default: all; the paper: 830)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the draw (default 0)")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where to write the anchors")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=build_anchors)


def build_anchors(args: argparse.Namespace) -> int:
    """Write the anchors and print how they came. Raises ConfigurationError."""
    from ....engine.folder.outputs import require_output_file
    from ....engine.system.digests import file_digest
    from .questions import load_questions
    from .selection import select

    if args.count is not None and args.count < 1:
        raise ConfigurationError("--count must be at least 1")
    design = design_of(args.depth, args.drifts, args.opens)
    files = _files(args.questions)
    questions = [question for path, split in files.items() for question in load_questions(path, split)]
    databases = _databases(questions, args.data, args.databases or {})
    places = {name: each.path for name, each in databases.items()}
    require_output_file(args.out, [*files, *places.values()])
    anchors, selection = select(questions, places, args.count, args.seed, design)
    file = AnchorFile(
        format="turntide-tide-anchors-1",
        design=design,
        seed=args.seed,
        sources={path.name: file_digest(path) for path in files},
        databases={name: file_digest(path) for name, path in places.items()},
        selection=selection,
        anchors=anchors,
    )
    if not anchors:
        raise ConfigurationError("no question became an anchor:\n" + "\n".join(_lines(selection)))
    try:
        args.out.write_bytes(dump_anchors(file))
    except OSError as error:
        raise ConfigurationError(f"cannot write {args.out}: {error.strerror}") from None
    synthetic = [name for name, each in databases.items() if each.synthetic]
    if args.json:
        print(json.dumps({"out": str(args.out), "synthetic": synthetic, **msgspec.to_builtins(selection)}))
    else:
        mark = [f"SYNTHETIC: generated look-alikes stand in for {', '.join(synthetic)}"] if synthetic else []
        print("\n".join([*mark, *_lines(selection), str(args.out)]))
    return 0


def _files(named: list[str]) -> dict[Path, str]:
    """Return the split of each file of questions. Raises ConfigurationError for one that is named twice."""
    files: dict[Path, str] = {}
    for path, split in map(_split_and_file, named):
        if path in files:
            raise ConfigurationError(f"--questions names {path} twice: each of its questions is of one split")
        files[path] = split
    return files


def _split_and_file(text: str) -> tuple[Path, str]:
    split, equals, path = text.partition("=")
    return (Path(path), split) if equals and not Path(text).is_file() else (Path(text), "")


def _databases(questions: list[Question], data: Path | None, named: Mapping[str, str]) -> dict[str, SourceDatabase]:
    """Return those of the questions' databases that are here; without a place for any, the synthetic ones.

    Raises ConfigurationError for a file that is here and no whole database.
    """
    from ...databases import Absent, locate
    from ...synthetic import NAMES

    if data and not data.is_dir():
        raise ConfigurationError(f"the data folder {data} does not exist")
    found: dict[str, SourceDatabase] = {}
    overrides = {name: Path(path) for name, path in named.items()}
    for name in filter(None, dict.fromkeys(question.database for question in questions)):
        if not data and name not in (overrides or NAMES):
            continue
        with suppress(Absent):
            found |= locate([name], data, {name: overrides[name]} if name in overrides else {})
            _check_whole(found[name])
    if not found:
        raise ConfigurationError("none of the questions' databases is here; say where with --data DIR")
    return found


def _check_whole(database: SourceDatabase) -> None:
    from ...databases import schema_text

    try:
        schema_text(database.path)
    except sqlite3.Error as error:
        raise ConfigurationError(f"database {database.name}: {database.path} cannot be read: {error}") from None


def _lines(selection: Selection) -> list[str]:
    lines = [f"candidates {selection.candidates:,}"]
    lines += [f"  dropped, {reason}: {count:,}" for reason, count in selection.dropped.items() if count]
    lines.append(f"kept {selection.kept:,}, drawn {selection.drawn:,}")
    lines += [f"  {each.tier}, {each.split}: {each.drawn:,} of {each.kept:,}" for each in selection.strata]
    fine = ", ".join(f"{name} {count:,}" for name, count in sorted(selection.fine_yields.items()))
    passing = f"tree edits that pass the eight checks and have a fixed result: {_shares(selection, selection.yields)}"
    lines.append(f"of {selection.executable:,} that run, {passing}")
    lines.append(f"  projections: {fine or 'none'}")
    if selection.open_results:
        lines.append(
            f"  passed over, since a tie or the order of rows decides their results: {selection.open_results:,}"
        )
    if selection.sequences:
        lines.append(f"  first of as many drifts as the design has: {_shares(selection, selection.sequences)}")
    return lines


def _shares(selection: Selection, counts: Mapping[Subtype, int]) -> str:
    whole = selection.executable or 1
    return ", ".join(f"{name} {count:,} ({count / whole:.1%})" for name, count in counts.items())
