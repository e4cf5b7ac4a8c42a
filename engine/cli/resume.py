"""`turntide resume`: go on with a run from its folder."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...adapters.base import ConfigurationError
from ..spec import Spec, checked, texts
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

    spec = specification(args)
    try:
        return launch(spec, as_json=args.json, until=args.until, redis=args.shard_redis)
    except ConfigurationError as error:
        if lost := _left_behind(args.folder, spec):
            raise ConfigurationError(f"{error}\n{lost}") from None
        raise


def _left_behind(folder: Path, spec: Spec) -> str:
    """Return which of the run's relative paths are not here but where it was started, and what to do; else nothing."""
    from ...results.reading import open_run

    began = Path(open_run(folder, 0).manifest.settings.get("cwd", "."))
    named = [*texts(spec.options), *filter(None, (spec.settings.prices, spec.settings.seed_from))]
    lost = [each for each in named if (began / each).exists() and not Path(each).exists()]
    if not lost:
        return ""
    return f"The run's own paths ({', '.join(lost)}) are relative to {began}, where it was started: resume it there."


def specification(args: argparse.Namespace) -> Spec:
    """Return what the folder's run was asked for, with the settings that the command line changes.

    Raises ConfigurationError when the folder holds no run.
    """
    from ...results.reading import open_run

    run = open_run(args.folder, 0)
    if "shard" in run.identity:
        raise ConfigurationError(f"{args.folder} is one shard of a run: resume {args.folder.parent}.")
    asked: dict[str, Any] = run.manifest.settings["spec"]
    settings = {**asked.get("settings", {}), **given_settings(args)}
    return checked(
        {**asked, "settings": settings, "out": str(args.folder)}, Spec, f"{args.folder}: the run's own settings"
    )
