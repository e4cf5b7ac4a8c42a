"""`turntide serve`: the simulated provider on its own."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...adapters.misuse import ConfigurationError
from .arguments import assignment, at_least

if TYPE_CHECKING:
    from ...adapters.simulated.config import Config
    from ..benchmark import Subparsers


def add_parser(commands: Subparsers, words: Sequence[str]) -> None:
    """Add `serve`."""
    parser = commands.add_parser(
        "serve",
        help="the simulated provider on its own",
        description="Serve simulated models on loopback until Ctrl-C. docs/simulated-provider.md has all settings.",
    )
    parser.add_argument("--host", help="address to bind (default 127.0.0.1)")
    parser.add_argument("--port", type=at_least(0), help="port to bind; 0 takes a free one (default 8377)")
    parser.add_argument("--allow-remote", action="store_true", default=None, help="allow a host that is not loopback")
    parser.add_argument("--key", help="the key that requests must carry (default: any); TURNTIDE_SIM_API_KEY sends it")
    parser.add_argument("--config", type=Path, metavar="FILE", help="TOML or JSON; the options here override it")
    parser.add_argument("--seed", type=int, help="seeds mistakes, faults and latencies (default 0)")
    parser.add_argument("--latency", metavar="SPEC", help="seconds, uniform:LOW:HIGH or lognormal:MEDIAN:SIGMA")
    parser.add_argument("--rpm", type=at_least(1), metavar="N", help="requests per minute")
    parser.add_argument("--tpm", type=at_least(1), metavar="N", help="tokens per minute")
    parser.add_argument("--concurrent", type=at_least(1), metavar="N", help="calls in flight")
    for name, example in (("fault", "429=0.05"), ("mistake", "wrong=0.1")):
        parser.add_argument(
            f"--{name}",
            dest=f"{name}s",
            action="append",
            type=assignment,
            default=[],
            metavar="KIND=RATE",
            help=f"such as {example}; may be repeated",
        )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serve until SIGINT or SIGTERM; one line on stdout when ready. Raises ConfigurationError."""
    from ...adapters.simulated.process import run as serve_forever

    serve_forever(configuration(args), lambda base_url: print(f"SIMULATED provider ready at {base_url}", flush=True))
    return 0


def configuration(args: argparse.Namespace) -> Config:
    """Return what file and options ask for together, the options winning. Raises ConfigurationError."""
    from ...adapters.simulated.config import DEFAULT_PORT, Config, configured, load

    base = load(args.config) if args.config else Config(port=DEFAULT_PORT)
    limits = {"requests_per_minute": args.rpm, "tokens_per_minute": args.tpm, "concurrent": args.concurrent}
    given: dict[str, object] = {
        "host": args.host,
        "port": args.port,
        "allow_remote": args.allow_remote,
        "key": args.key,
        "seed": args.seed,
        "latency": args.latency,
        "limits": _over(base.limits, limits),
        "faults": _over(base.faults, _once("--fault", args.faults)),
        "mistakes": _over(base.mistakes, _once("--mistake", args.mistakes)),
    }
    return configured(_over(base, given) or {})


def _once(option: str, given: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return rates by kind; raises ConfigurationError when a kind is given two."""
    kinds = [kind for kind, _ in given]
    if twice := [kind for kind in kinds if kinds.count(kind) > 1]:
        raise ConfigurationError(f"{option} {twice[0]} is given twice: say one rate.")
    return dict(given)


def _over(base: object, given: Mapping[str, object]) -> dict[str, object] | None:
    """Return `base` as plain data with whatever is given laid over it, or None when nothing is set at all."""
    import msgspec

    plain: dict[str, object] = {} if base is None else msgspec.to_builtins(base)
    return {**plain, **{name: value for name, value in given.items() if value is not None}} or None
