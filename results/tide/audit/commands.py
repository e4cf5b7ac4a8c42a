"""`turntide tide audit serve` and `turntide tide audit report`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ....adapters.base import ConfigurationError
from ....adapters.printable import printable
from ....engine.cli.arguments import at_least
from ....engine.cli.output import add_output, put, require_output
from ....engine.cli.working import Working

if TYPE_CHECKING:
    from ....engine.benchmark import Subparsers
    from .store import Store

PORT: Final = 8378
_HIGHEST_PORT: Final = 65535


def add_commands(commands: Subparsers) -> None:
    """Add `audit` with its two commands."""
    parser = commands.add_parser("audit", help="let annotators check samples or router decisions (Tables 1 and 9)")
    under = parser.add_subparsers(metavar="COMMAND", title="commands", required=True)
    _add_serve(under)
    _add_report(under)


def _add_serve(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "serve",
        help="the page on which annotators answer",
        description=(
            "Serve the page of an audit until Ctrl-C and print one address for each annotator. The file holds what was "
            "drawn and every answer; the same command goes on with it, and options of the draw may be left out then."
        ),
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the audit's SQLite file; begun where there is none")
    parser.add_argument("--annotator", dest="annotators", action="append", default=[], type=_name, metavar="NAME",
                        help="who annotates; once for each, and later for more")  # fmt: skip
    parser.add_argument("--samples", type=Path, metavar="FILE", help="a file of triplets (default: ours)")
    parser.add_argument("--run", dest="runs", action="append", default=[], type=Path, metavar="DIR",
                        help="audit the router decisions in this run's dialogues instead; may be repeated")  # fmt: skip
    parser.add_argument("--count", type=at_least(1), metavar="N", help="triplets (default 250), or decisions (200)")
    parser.add_argument("--calibration", type=at_least(0), metavar="N", help="others, that all see first (default 10)")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the draw and of the orders (default 0)")
    parser.add_argument("--port", type=_port, default=PORT, metavar="N", help=f"0: a free one (default {PORT})")
    parser.add_argument("--host", default="127.0.0.1", metavar="H", help="address to bind (default 127.0.0.1)")
    parser.add_argument("--allow-remote", action="store_true", help="allow a host that is not loopback")
    parser.set_defaults(run=serve_page)


def _add_report(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "report",
        help="acceptance, agreement and reasons for rejection",
        description="Print what the annotators said, while they annotate too. Equal answers give equal bytes.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the audit's file")
    parser.add_argument("--table", dest="tables", action="append", metavar="KEY", help="only this table, in full")
    parser.add_argument("--without", action="append", default=[], metavar="NAME", help="leave out an annotator")
    parser.add_argument("--with-published", action="store_true", help="add the paper's own values beside ours")
    add_output(parser)
    parser.set_defaults(run=print_report)


def serve_page(args: argparse.Namespace) -> int:
    """Serve until a signal; print an address per annotator when ready. Raises ConfigurationError."""
    from ....adapters.listening import is_loopback
    from .opening import Request, opened

    if not is_loopback(args.host):
        if not args.allow_remote:
            raise ConfigurationError(f"{args.host} is not a loopback address; if that is meant, add --allow-remote")
        print("warning: others can reach this page, and samples, answers and tokens go there unencrypted. An SSH "
              "tunnel to a loopback address is safer.", file=sys.stderr)  # fmt: skip
    names = ("runs", "samples", "count", "calibration", "seed")
    with Working("opening the audit"):
        store = opened(args.file, Request(**{name: getattr(args, name) for name in names}), args.annotators)
    with store:
        asyncio.run(_serve(store, args.host, args.port))
    return 0


async def _serve(store: Store, host: str, port: int) -> None:
    from ....adapters.listening import stop_signals
    from .server import serve

    stop = stop_signals()
    async with serve(store, host, port) as origin:
        for annotator in store.annotators():
            print(f"{printable(annotator.name)}  {origin}/#{annotator.token}", flush=True)
        await stop.wait()


def print_report(args: argparse.Namespace) -> int:
    """Print the report. Raises ConfigurationError when there is none."""
    from dataclasses import replace

    from ....engine.cli.report import only
    from ...published import with_published
    from .report import audit_report
    from .store import Store

    require_output(args)
    with Store(args.file, reading=True) as store, Working("reading answers and computing tables"):
        report = audit_report(store, args.without)
    if args.with_published and report.published:
        report = replace(report, tables=with_published(report.tables, report.published()))
    put(only(report, args.tables), args)
    return 0


def _port(text: str) -> int:
    if (number := at_least(0)(text)) > _HIGHEST_PORT:
        raise argparse.ArgumentTypeError(f"{number} is no port: they end at {_HIGHEST_PORT}")
    return number


def _name(text: str) -> str:
    if not text.strip() or not text.isprintable() or len(text) > 60:
        raise argparse.ArgumentTypeError(f"{text!r} is no name: 1 to 60 signs that can be printed")
    return text.strip()
