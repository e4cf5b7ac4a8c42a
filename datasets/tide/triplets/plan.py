"""How many triplets of which kind: the paper's shares (§3.4, Appendix G.1), to the unit, or designs beyond them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, product
from typing import TypeAlias

from ..design import PAPERS, Design
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

    Where a drift opens the chain, it turns to another question about the same rows, and so is a projection.
    """

    subtypes: tuple[Subtype, ...]
    tier: Tier | None = None
    verdict: CounterfactualVerdict | None = None
    design: Design = PAPERS

    def __str__(self) -> str:
        if self.tier and self.verdict:
            return ", ".join((*self.subtypes, self.tier, self.verdict))
        return f"{self.design} ({' and '.join(self.subtypes)})"


def wanted_of(cell: Cell) -> Wanted:
    """Return the kind of triplet that a cell of the plan names."""
    subtype, tier, verdict = cell
    return Wanted((subtype,), tier, verdict)


def spread(designs: Sequence[Design], count: int) -> Mapping[Wanted, int]:
    """Return how many triplets of each kind: as even over designs, and subtypes within them, as `count` allows."""
    kinds = [cycle(_kinds(design)) for design in designs]
    return Counter(next(kinds[number % len(kinds)]) for number in range(count))


def _kinds(design: Design) -> Iterator[Wanted]:
    """Yield the sequences of subtypes that a design allows: one projection besides the opening one, never before it."""
    for subtypes in product(SUBTYPES, repeat=design.drifts):
        others = [subtype for number, subtype in enumerate(subtypes, 1) if number != design.opens]
        opening = not design.opens or subtypes[design.opens - 1] == "projection"
        early = subtypes[: max(design.opens - 1, 0)]
        if opening and "projection" not in early and others.count("projection") <= 1:
            yield Wanted(subtypes, design=design)
