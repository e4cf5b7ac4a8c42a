"""How many triplets of which kind: the paper's shares (§3.4, Appendix G.1), to the unit, or a design beyond them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle, product
from typing import TypeAlias

from ..samples import SUBTYPES
from ..structure import CounterfactualVerdict, Subtype, Tier

Cell: TypeAlias = "tuple[Subtype, Tier, CounterfactualVerdict]"

TRIPLETS = 514

PLAN: Mapping[Cell, int] = {
    ("value", "basic", "eliminated"): 22,
    ("value", "basic", "transformed"): 22,
    ("value", "intermediate", "eliminated"): 53,
    ("value", "intermediate", "transformed"): 54,
    ("value", "advanced", "eliminated"): 12,
    ("value", "advanced", "transformed"): 12,
    ("constraint", "basic", "eliminated"): 22,
    ("constraint", "basic", "transformed"): 22,
    ("constraint", "intermediate", "eliminated"): 52,
    ("constraint", "intermediate", "transformed"): 52,
    ("constraint", "advanced", "eliminated"): 6,
    ("constraint", "advanced", "transformed"): 7,
    ("projection", "basic", "eliminated"): 24,
    ("projection", "basic", "transformed"): 24,
    ("projection", "intermediate", "eliminated"): 51,
    ("projection", "intermediate", "transformed"): 53,
    ("projection", "advanced", "eliminated"): 12,
    ("projection", "advanced", "transformed"): 14,
}
"""Subtypes 175, 161 and 178; tiers 136, 315 and 63 before the drift, by subtype as in Appendix G.1 (projection is what
is left there); verdicts 254 and 260."""

DOUBLE_DROPS = 0.2
"""How often a constraint drift retracts two filters where two can be dropped: Table 12 has 1.11 on average."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One kind of triplet. `subtypes` are those of its drifts in order; None for a tier or a verdict takes any.

    `depth` is the number of layers, `opens` the stage that leaves them open: 0 is the question, 1 the first drift. A
    drift opens a chain by turning to another question about the same rows, so it is a projection.
    """

    subtypes: tuple[Subtype, ...]
    tier: Tier | None = None
    verdict: CounterfactualVerdict | None = None
    depth: int = 2
    opens: int = 0

    def __str__(self) -> str:
        if self.tier and self.verdict:
            return ", ".join((*self.subtypes, self.tier, self.verdict))
        return f"depth {self.depth}, {' and '.join(self.subtypes)}, chain at {self.opens}"


@dataclass(frozen=True, slots=True)
class Design:
    """A set beyond the paper's: chains of `depth` layers, `drifts` of them, the chain at each stage of `opens`."""

    count: int
    depth: int = 2
    drifts: int = 1
    opens: tuple[int, ...] = (0,)

    def __str__(self) -> str:
        return f"chains of {self.depth} at {', '.join(map(str, self.opens))}, drifts {self.drifts}"

    def cells(self) -> Mapping[Wanted, int]:
        """Return how many triplets of each kind: as even over places of the chain and subtypes as `count` allows."""
        kinds = [cycle(self._kinds(opens)) for opens in self.opens]
        return Counter(next(kinds[number % len(kinds)]) for number in range(self.count))

    def _kinds(self, opens: int) -> Iterator[Wanted]:
        """Yield what a chain at this stage allows: one projection besides the opening one, never before it."""
        for subtypes in product(SUBTYPES, repeat=self.drifts):
            others = [subtype for number, subtype in enumerate(subtypes, 1) if number != opens]
            opening = not opens or subtypes[opens - 1] == "projection"
            early = subtypes[: max(opens - 1, 0)]
            if opening and "projection" not in early and others.count("projection") <= 1:
                yield Wanted(subtypes, depth=self.depth, opens=opens)


def wanted_of(cell: Cell) -> Wanted:
    """Return the kind of triplet that a cell of the plan names."""
    subtype, tier, verdict = cell
    return Wanted((subtype,), tier, verdict)
