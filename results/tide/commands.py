"""`turntide tide check-simulator`: the accuracy of a router on labelled probes; and `turntide tide audit`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from ...datasets.tide.simulator.rules import NAME
from ...engine.calls.choices import resolved
from ...engine.cli.arguments import model_id
from ...engine.cli.run import add_settings, given_settings
from ...engine.spec import Spec, checked
from .audit.commands import add_commands as add_audit

if TYPE_CHECKING:
    from ...adapters.base import Json
    from ...engine.benchmark import Subparsers


def add_commands(commands: Subparsers) -> None:
    """Add `check-simulator` and `audit`."""
    add_audit(commands)
    parser = commands.add_parser(
        "check-simulator",
        help="score the user simulator's router on labelled probes (Table 11)",
        description=(
            "Score a router on labelled questions: which it refuses (Una), which ask about a layer (Amb), which about "
            "another detail (Loc). With a model this is a run, journalled and resumable: the same command goes on."
        ),
    )
    parser.add_argument("--user-model", type=_router, default=NAME, metavar="P/ID", help="the router (default: rules)")
    parser.add_argument("--temperature", type=float, metavar="T", help="sent with every question")
    parser.add_argument("--out", default="", metavar="DIR", help="the run's folder (default runs/NAME)")
    add_settings(parser)
    parser.set_defaults(run=check_simulator)


def check_simulator(args: argparse.Namespace) -> int:
    """Print accuracy and confusion; return the exit code of the run, if the router is a model."""
    if args.user_model == NAME:
        print(_rules(as_json=args.json))
        return 0
    from ...engine.cli.launch import launch

    return launch(_spec(args), say=lambda summary: _report(summary.folder, as_json=args.json), until=args.until)


def _rules(*, as_json: bool) -> str:
    from ...datasets.tide.simulator.probes import probes
    from ...datasets.tide.simulator.rules import route
    from ..text import render
    from .simulator import Decisions, tables

    found = [Decisions(NAME, {probe.id: route(probe.situation).aim for probe in probes()})]
    shown: Json = {"tables": [table.to_json() for table in tables(found)]}
    return json.dumps(shown) if as_json else render(tables(found)).rstrip("\n")


def _report(folder: Path, *, as_json: bool) -> str:
    from ..reading import open_run
    from ..text import report_text
    from .simulator import simulator_report

    report = simulator_report([open_run(folder)])
    return json.dumps(report.to_json()) if as_json else report_text(report).rstrip("\n")


def _spec(args: argparse.Namespace) -> Spec:
    options = {} if args.temperature is None else {"temperature": args.temperature}
    asked = {
        "benchmark": "tide",
        "models": [{"id": args.user_model, "options": options}],
        "options": {"probes": True},
        "settings": given_settings(args),
        "out": args.out,
    }
    return resolved(checked(asked, Spec, "check-simulator"))


def _router(text: str) -> str:
    return text if text == NAME else model_id(text)
