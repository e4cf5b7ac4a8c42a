"""`python -m bench [NAME…] [--quick] [--json FILE] [--record]`: measure, print a table, compare.

Exit code 1 when a target is missed or a ratio is more than 20 % over the recorded one.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Final

from . import recorded
from .figures import Figure

BENCHES: Final = ("startup", "calls", "sweep", "resume", "memory", "rate")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Benchmarks of turntide; all by default.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(BENCHES)}")
    parser.add_argument("--quick", action="store_true", help="smaller and shorter: to see that it works, not to quote")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file as well")
    parser.add_argument("--record", action="store_true", help="record the ratios for later comparisons")
    asked = parser.parse_args()
    if unknown := sorted(set(asked.names) - set(BENCHES)):
        parser.error(f"there is no bench {unknown[0]!r}; there are {', '.join(BENCHES)}")
    if asked.record and asked.quick:
        parser.error("quick figures are not to be recorded")
    figures, good = run(asked.names or BENCHES, quick=asked.quick)
    if asked.json:
        asked.json.write_text(json.dumps(as_json(figures, quick=asked.quick), indent=2) + "\n")
    if asked.record:
        recorded.save(figures)
        return 0
    return 0 if good else 1


def run(names: list[str] | tuple[str, ...], *, quick: bool) -> tuple[dict[str, Figure], bool]:
    """Measure the named benches and print each figure as it comes; return all, and whether all are good."""
    known, figures, good = recorded.load(), dict[str, Figure](), True
    kind = "QUICK: smaller and shorter than what the targets are meant for" if quick else "full"
    print(" · ".join(recorded.circumstances().values()), "·", kind)
    for name in names:
        print(f"\n{name}", flush=True)
        for figure in import_module(f".{name}", __package__).measure(quick):
            label = f"{name}/{figure.name}"
            figures[label] = figure
            worse = recorded.regressed(figure, known.get(label))
            good = good and figure.met is not False and not worse
            print(line(figure, known.get(label), worse), flush=True)
    return figures, good


def line(figure: Figure, before: float | None, worse: bool) -> str:
    """Return a figure as a line of the table: name, value, target, what was recorded, verdict."""
    digits = 2 if abs(figure.value) < 100 else 0
    verdict = {True: "met", False: "MISSED", None: ""}[figure.met]
    past = f"recorded {before:.2f}" if before is not None else ""
    value = f"{figure.value:,.{digits}f} {figure.unit}"
    cells = f"  {figure.name:58} {value:>14}  {figure.target:7} {verdict:7} {past}{' REGRESSED' if worse else ''}"
    return cells.rstrip()


def as_json(figures: dict[str, Figure], *, quick: bool) -> dict[str, object]:
    """Return the figures with their circumstances as plain values."""
    rows = [{"bench": label.partition("/")[0], **dataclasses.asdict(f), "met": f.met} for label, f in figures.items()]
    return {**recorded.circumstances(), "quick": quick, "figures": rows}


if __name__ == "__main__":
    sys.exit(main())
