"""`turntide tide-build assemble`: the file of triplets that construction runs came to."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from ...adapters.base import ConfigurationError

if TYPE_CHECKING:
    from ...engine.benchmark import Subparsers


def add_commands(commands: Subparsers) -> None:
    """Add `assemble`."""
    parser = commands.add_parser(
        "assemble",
        help="write the triplets that a construction came to",
        description="Write the triplets of one or more construction runs, with where each part comes from.",
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="a construction's run folder")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where to write them (.json, .json.gz)")
    parser.add_argument("--name", default="turntide built", metavar="NAME", help="the name of the set")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=assemble)


def assemble(args: argparse.Namespace) -> int:
    """Write the file and say what is in it. Raises ConfigurationError."""
    from ...datasets.tide.construction.assembly import assembled
    from ...datasets.tide.files import write_triplets
    from ...engine.folder.outputs import require_output_file
    from ..reading import open_run
    from .construction import read_build

    runs = [open_run(folder) for folder in args.folders]
    require_output_file(args.out, [path for run in runs for path in run.inputs])
    if any(run.identity["benchmark"] != "tide-build" for run in runs):
        raise ConfigurationError("only runs of tide-build hold triplets (`turntide run tide-build`)")
    build = read_build(runs)
    file = assembled(build.records, args.name)
    if not file.triplets:
        raise ConfigurationError("no anchor became a triplet yet; `turntide report` says where they ended")
    try:
        write_triplets(args.out, file)
    except OSError as error:
        raise ConfigurationError(f"cannot write {args.out}: {error.strerror}") from None
    through = f"{len(build.records)} of {build.planned} anchors are through"
    shown = {"out": str(args.out), "triplets": len(file.triplets), "through": len(build.records),
             "planned": build.planned}  # fmt: skip
    print(json.dumps(shown) if args.json else f"{len(file.triplets)} triplets; {through}\n{args.out}")
    return 0
