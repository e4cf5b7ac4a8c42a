"""`python -m bench [--only NAME,…] [--quick] [--json FILE] [--record]`: measure, print a table, compare.

Exit code 1 when a claim is missed, or a ratio is more than 20 % over the recorded one.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from . import recorded
from .figures import Figure, human
from .folders import BUILD

BENCHES: Final = ("startup", "calls", "storm", "statements", "sweep", "resume", "memory", "rate", "scale")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what `arguments` ask for and return the exit code."""
    asked = _parser().parse_args(arguments)
    known, figures, bad = recorded.load(), dict[str, Figure](), list[str]()
    print(*recorded.circumstances().values(), sep=" · ")
    if asked.quick:
        print("QUICK: smaller and shorter than what the claims are about; not to be quoted, and nothing is judged.")
    for name in asked.only:
        began = time.perf_counter()
        print(f"\n{name}", flush=True)
        for figure in import_module(f".{name}", __package__).measure(asked.quick):
            label = f"{name}/{figure.name}"
            figures[label] = figure
            before = known.get(label)
            worse = recorded.regressed(figure, before)
            if figure.verdict == "MISSED" or worse:
                bad.append(label)
            print(_line(figure, before, worse), flush=True)
        print(f"  ({time.perf_counter() - began:,.0f} s)", flush=True)
    _write(asked.json, figures, asked.quick)
    print(f"\nThe figures are in {asked.json}.", *(f"Missed or worse: {label}" for label in bad), sep="\n")
    if asked.record:
        recorded.save(figures)
    return 1 if bad and not asked.quick else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measures turntide; see docs/benchmarks.md.")
    parser.add_argument(
        "--only", type=_names, default=BENCHES, metavar="NAME,...", help=f"some of {', '.join(BENCHES)}; else all"
    )
    parser.add_argument("--quick", action="store_true", help="smaller and shorter: to see that it works")
    parser.add_argument("--json", type=Path, default=BUILD / "bench.json", metavar="FILE", help="default %(default)s")
    parser.add_argument("--record", action="store_true", help="keep the ratios for later comparisons")
    return parser


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in BENCHES]:
        raise argparse.ArgumentTypeError(f"there is no bench {unknown[0]!r}; there are {', '.join(BENCHES)}")
    return names


def _line(figure: Figure, before: float | None, worse: bool) -> str:
    """Return a figure as a line of the table: name, value, claim, verdict, what was recorded."""
    past = f"recorded {human(before, figure.unit)}" if before is not None else ""
    cells = f"  {figure.name:56} {human(figure.value, figure.unit):>10}  {figure.bound:9} {figure.verdict:7} {past}"
    return f"{cells.rstrip()}{' WORSE' if worse else ''}"


def _write(path: Path, figures: Mapping[str, Figure], quick: bool) -> None:
    rows = [
        {"bench": label.partition("/")[0], **dataclasses.asdict(figure), "verdict": figure.verdict}
        for label, figure in figures.items()
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**recorded.circumstances(), "quick": quick, "figures": rows}, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
