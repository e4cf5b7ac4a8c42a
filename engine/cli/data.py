"""`turntide data`: source databases and the benchmarks' files, built, listed and checked."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...adapters.base import ConfigurationError
from ...adapters.printable import printable
from .. import registry
from .arguments import at_least
from .data_tide import add_design, asks_for_a_design
from .places import add_places, overrides, show
from .working import Working

if TYPE_CHECKING:
    from ..benchmark import Subparsers

_BENCHMARKS = ("enterprisemem", "tide")


def add_parser(commands: Subparsers, words: Sequence[str] = ()) -> None:
    """Add `data` with its three actions."""
    parser = commands.add_parser("data", help="build, list and check databases and benchmarks")
    actions = parser.add_subparsers(metavar="ACTION", title="actions", required=True)

    listing = actions.add_parser(
        "list", help="known databases and benchmarks: where, how large, which hash; plugins that are broken"
    )
    add_places(listing)
    listing.set_defaults(run=_list)

    build = actions.add_parser(
        "build",
        help="build the synthetic databases, or a benchmark over given ones",
        description="Without --data, --database or --out: the synthetic look-alikes and the benchmarks over them.",
    )
    build.add_argument("benchmark", nargs="?", choices=_BENCHMARKS, help="build its sessions or triplets")
    build.add_argument("--out", type=Path, metavar="FILE", help="where to write them (.json or .json.gz)")
    build.add_argument("--seed", type=at_least(0), default=0, metavar="N", help="which ones are drawn (default 0)")
    add_places(build)
    add_design(build)
    build.set_defaults(run=_build)

    check = actions.add_parser("check", help="run every gold query of a benchmark's file, and list what is odd")
    check.add_argument("benchmark", choices=_BENCHMARKS)
    check.add_argument("--sessions", type=Path, metavar="FILE", help="sessions (default: the embedded ones)")
    check.add_argument("--samples", type=Path, metavar="FILE", help="triplets (default: the embedded ones)")
    add_places(check)
    check.set_defaults(run=_check)


def run(args: argparse.Namespace) -> int:
    """Run the action that was named; return the exit code."""
    return args.run(args)


def _list(args: argparse.Namespace) -> int:
    from ...datasets import databases, synthetic
    from ...datasets.enterprisemem import embedded as enterprisemem
    from ...datasets.tide import embedded as tide

    found: list[dict[str, Any]] = []
    named = overrides(args)
    given = args.data is not None or bool(named)
    for name in databases.FILES:
        if not given:
            found.append(_entry("database", name, synthetic.place(name), synthetic=True))
            continue
        try:
            database = databases.locate([name], args.data, named)[name]
        except ConfigurationError as error:
            found.append({"kind": "database", "name": name, "path": None, "problem": str(error)})
        else:
            found.append(_entry("database", name, database.path, synthetic=database.synthetic))
    found.append(_entry("benchmark", "enterprisemem", enterprisemem.embedded_place(), synthetic=True))
    found.append(_entry("benchmark", "tide", tide.embedded_place(), synthetic=True))
    found.extend(
        {"kind": each.group, "name": each.name, "path": None, "problem": f"{each.target} is broken: {each.error}"}
        for each in registry.broken()
    )
    show(found, args.json, "\n".join(map(_line, found)))
    return 0


def _entry(kind: str, name: str, path: Path, *, synthetic: bool) -> dict[str, Any]:
    from ..system.digests import file_digest

    entry: dict[str, Any] = {"kind": kind, "name": name, "path": str(path), "synthetic": synthetic}
    if not path.is_file():
        return entry | {"problem": "not built yet; `turntide data build` builds it, and so does the first use"}
    return entry | {"bytes": path.stat().st_size, "sha256": file_digest(path)}


def _line(entry: dict[str, Any]) -> str:
    head = f"{entry['kind']:<10}{entry['name']:<15}"
    if "problem" in entry:
        return f"{head}{printable(entry['problem'])}"
    origin = "synthetic" if entry["synthetic"] else "real"
    return f"{head}{origin:<11}{entry['bytes'] / 1e6:>7.1f} MB  {entry['sha256'][:16]}  {entry['path']}"


def _build(args: argparse.Namespace) -> int:
    designed = asks_for_a_design(args)
    if not (args.data or args.database or args.out or args.seed or designed):
        return _build_embedded(args)
    if designed and args.benchmark != "tide":
        raise ConfigurationError("--count, --depth, --drifts and --chain-at are for `turntide data build tide`")
    match args.benchmark:
        case "enterprisemem":
            from .data_enterprisemem import build_sessions

            return build_sessions(args)
        case "tide":
            from .data_tide import build_triplets

            return build_triplets(args)
        case _:
            raise ConfigurationError(f"for which benchmark? Say `turntide data build {'|'.join(_BENCHMARKS)} ...`")


def _build_embedded(args: argparse.Namespace) -> int:
    from ...datasets import synthetic
    from ...datasets.enterprisemem.embedded import embedded_sessions
    from ...datasets.tide.embedded import embedded_triplets

    embedded = {"enterprisemem": embedded_sessions, "tide": embedded_triplets}
    chosen = [args.benchmark] if args.benchmark else list(embedded)
    with Working("building databases") as working:
        built = {} if args.benchmark else {name: str(synthetic.ensure(name)) for name in synthetic.NAMES}
        for name in chosen:
            working.on(f"building {name}")
            built[name] = str(embedded[name]())
    show(built, args.json, "\n".join(f"{name:<15}{path}" for name, path in built.items()))
    return 0


def _check(args: argparse.Namespace) -> int:
    other = "samples" if args.benchmark == "enterprisemem" else "sessions"
    if getattr(args, other):
        raise ConfigurationError(f"--{other} is not for {args.benchmark}")
    if args.benchmark == "enterprisemem":
        from .data_enterprisemem import check_sessions

        return check_sessions(args)
    from .data_tide import check_triplets

    return check_triplets(args)
