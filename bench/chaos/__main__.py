"""Hold trials and judge.

`python -m bench.chaos [--only NAME,…] [--quick] [--seed N] [--kills N] [--limit N] [--json FILE]`.
Exit code 1 when one invariant did not hold.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from ..folders import BUILD
from ..recorded import circumstances
from .trial import Asked, CannotRunError, Hold, Trial

TRIALS: Final = ("kills", "disk", "readonly", "clock", "holders", "stores", "shards")


def main(arguments: Sequence[str] | None = None) -> int:
    """Hold the trials that `arguments` ask for and return the exit code."""
    args = _parser().parse_args(arguments)
    asked = Asked(seed=args.seed, kills=args.kills, sessions=args.limit, quick=args.quick)
    print(*circumstances().values(), f"seed {asked.seed}", sep=" · ")
    trials = [hold(name, asked) for name in args.only]
    _write(args.json, asked, trials)
    failed = [f"{trial.name}: {i.claim}" for trial in trials for i in trial.invariants.values() if i.failed]
    print(f"\nThe results are in {args.json}.", *(f"Did not hold: {claim}" for claim in failed), sep="\n")
    return 1 if failed else 0


def hold(name: str, asked: Asked) -> Trial:
    """Hold the trial `name` and print how it went."""
    trial, began = Trial(name), time.perf_counter()
    print(f"\n{name}", flush=True)
    trials: Hold = import_module(f".{name}", __package__).hold
    try:
        trials(asked, trial)
    except CannotRunError as reason:
        trial.skip(str(reason))
    trial.seconds = time.perf_counter() - began
    for line in _lines(trial):
        print(line, flush=True)
    return trial


def _lines(trial: Trial) -> Iterator[str]:
    """Yield a trial's measurements, and a line for each invariant: whether it held, how often it was checked."""
    for name, value in trial.measured.items():
        yield f"  {name}: {value}"
    for invariant in trial.invariants.values():
        verdict = f"FAILED {invariant.failed:,} of" if invariant.failed else "held"
        yield f"  {invariant.claim:86} {verdict} {invariant.checked:,}"
        if invariant.failed:
            yield f"    found: {invariant.found}"
    yield f"  ({trial.seconds:,.0f} s)"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.chaos", description="Mistreats sweeps; see docs/chaos.md.")
    parser.add_argument(
        "--only", type=_names, default=TRIALS, metavar="NAME,...", help=f"some of {', '.join(TRIALS)}; else all"
    )
    parser.add_argument("--quick", action="store_true", help="short forms: to see that it works")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of all chance (default 0)")
    parser.add_argument(
        "--kills", type=_positive, metavar="N", help="kills of a long sweep (default 500; 120 for shards)"
    )
    parser.add_argument(
        "--limit", type=_positive, metavar="N", help="sessions of a long sweep (default all; 45 for shards)"
    )
    parser.add_argument("--json", type=Path, default=BUILD / "chaos.json", metavar="FILE", help="default %(default)s")
    return parser


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in TRIALS]:
        raise argparse.ArgumentTypeError(f"there is no trial {unknown[0]!r}; there are {', '.join(TRIALS)}")
    return names


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("a positive number, please")
    return number


def _write(path: Path, asked: Asked, trials: Sequence[Trial]) -> None:
    told = {"seed": asked.seed, "kills": asked.kills, "sessions": asked.sessions, "quick": asked.quick}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({**circumstances(), **told, "trials": [trial.to_json() for trial in trials]}, indent=2) + "\n"
    )


if __name__ == "__main__":
    sys.exit(main())
