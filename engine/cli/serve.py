"""`turntide serve`: the simulated provider on its own."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...adapters.simulated.config import Config


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],  # pyright: ignore[reportPrivateUsage]
) -> None:
    """Add the command's options."""
    parser = subparsers.add_parser(
        "serve", help="run the simulated provider on its own", description="Run the simulated provider until Ctrl-C."
    )
    parser.add_argument("--host", help="address to bind (default 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to bind; 0 takes a free one (default 8377)")
    parser.add_argument("--allow-remote", action="store_true", default=None, help="allow a host that is not loopback")
    parser.add_argument("--config", type=Path, metavar="FILE", help="TOML or JSON; the options here override it")
    parser.add_argument("--seed", type=int, help="seeds mistakes, faults and latencies (default 0)")
    parser.add_argument("--latency", metavar="SPEC", help="seconds, uniform:LOW:HIGH or lognormal:MEDIAN:SIGMA")
    parser.add_argument("--rpm", type=int, help="requests per minute")
    parser.add_argument("--tpm", type=int, help="tokens per minute")
    parser.add_argument("--concurrent", type=int, help="calls in flight")
    for name, example in (("fault", "429=0.05"), ("mistake", "wrong=0.1")):
        parser.add_argument(
            f"--{name}", action="append", default=[], metavar="KIND=RATE", help=f"such as {example}; may be repeated"
        )


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
        "seed": args.seed,
        "latency": args.latency,
        "limits": _over(base.limits, limits),
        "faults": _over(base.faults, _rates("fault", args.fault)),
        "mistakes": _over(base.mistakes, _rates("mistake", args.mistake)),
    }
    return configured(_over(base, given) or {})


def _over(base: object, given: Mapping[str, object]) -> dict[str, object] | None:
    """Return `base` as plain data with whatever is given laid over it, or None when nothing is set at all."""
    import msgspec

    plain: dict[str, object] = {} if base is None else msgspec.to_builtins(base)
    return {**plain, **{name: value for name, value in given.items() if value is not None}} or None


def _rates(option: str, values: Iterable[str]) -> dict[str, object]:
    from ...adapters.base import ConfigurationError

    rates: dict[str, object] = {}
    for value in values:
        kind, equals, rate = value.partition("=")
        if not equals:
            raise ConfigurationError(f"--{option} {value}: give KIND=RATE, such as --{option} {kind}=0.05.")
        rates[kind] = rate
    return rates
