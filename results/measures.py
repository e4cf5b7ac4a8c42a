"""What was measured, one observation at a time, in a form that every benchmark shares: comparisons rest on it.

A benchmark brings a function from run folders to `Measures` under its name in the group `turntide.measures`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias

from .reading import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One scored turn or dialogue.

    `item` is what another model, or the same one at another time, is observed on too; `part` the condition or the
    protocol and set; `cluster` is equal for observations that depend on each other. `metrics` says of each metric that
    applies whether it holds; `outcome` tells in a word what came. `unit` is the dialogue that paid for it. `match` is
    what stands for `item` between parts whose items are not the same: samples of one triplet, for instance.
    """

    unit: str
    model: str
    part: str
    item: str
    cluster: str
    outcome: str
    metrics: Mapping[str, bool]
    match: str = ""


@dataclass(slots=True)
class Measures:
    """All observations of some runs.

    `metrics` begins with the headline; `planned` counts observations by model, part and metric; `marks` are what no
    reader may miss; `usd` is what each unit's answers cost, None where that is not known. Where parts have different
    items, `shared` counts what each two have in common by plan; parts that are not in it are not compared.
    """

    metrics: tuple[str, ...]
    observations: list[Observation]
    planned: Counter[tuple[str, str, str]]
    marks: Mapping[str, str] = field(default_factory=dict[str, str])
    usd: defaultdict[str, Decimal | None] = field(default_factory=lambda: defaultdict(Decimal))
    shared: Mapping[tuple[str, str], int] | None = None

    @property
    def models(self) -> list[str]:
        """The models that were planned, in their order."""
        return list(dict.fromkeys(model for model, _, _ in self.planned))

    @property
    def parts(self) -> list[str]:
        """The parts that were planned, in their order."""
        return list(dict.fromkeys(part for _, part, _ in self.planned))

    def pay(self, unit: str, answer: Mapping[str, object]) -> None:
        """Add the cost of an answer's line to its unit's."""
        spent = self.usd[unit]
        self.usd[unit] = spent + Decimal(str(answer["usd"])) if spent is not None and "usd" in answer else None


Measurer: TypeAlias = Callable[[Sequence[RunFolder]], Measures]
"""What an entry point in `turntide.measures` loads to. It raises ConfigurationError when runs cannot be read as one,
NothingScored when they hold no observation yet."""
