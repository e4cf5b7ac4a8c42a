"""`turntide resume`: go on with a run from its folder."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..spec import Spec, checked
from .run import add_settings, given_settings

if TYPE_CHECKING:
    from ..benchmark import Subparsers


def add_parser(commands: Subparsers, words: Sequence[str]) -> None:
    """Add `resume`."""
    parser = commands.add_parser(
        "resume",
        help="go on with a run from its folder",
        description="Go on with a run as it was asked for. No call that was answered is paid again.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the run's folder")
    add_settings(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Go on with the run; return its exit code."""
    from .launch import launch

    return launch(specification(args), as_json=args.json, until=args.until)


def specification(args: argparse.Namespace) -> Spec:
    """Return what the folder's run was asked for, with the settings that the command line changes.

    Raises ConfigurationError when the folder holds no run.
    """
    from ...results.reading import open_run

    asked: dict[str, Any] = open_run(args.folder).manifest.settings["spec"]
    settings = {**asked.get("settings", {}), **given_settings(args)}
    return checked(
        {**asked, "settings": settings, "out": str(args.folder)}, Spec, f"{args.folder}: the run's own settings"
    )
