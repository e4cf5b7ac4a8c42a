"""A table as values, before anyone decides how it looks (`results.text` does, for terminals)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from ..adapters.base import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """`hits` of `scored` with a confidence interval, shown in percent; `planned` says how many there should be."""

    hits: int
    scored: int
    planned: int
    low: float
    high: float

    @property
    def value(self) -> float | None:
        """The share, in [0, 1]; None when nothing was scored."""
        return self.hits / self.scored if self.scored else None

    def text(self, *, brief: bool = False) -> str:
        """Return `85.5 [83.6, 87.2]`, in percent, and how many of the planned were scored unless all were."""
        if not self.scored:
            return "-"
        shown = f"{100 * self.hits / self.scored:.1f}"
        if not brief:
            shown += f" [{100 * self.low:.1f}, {100 * self.high:.1f}]"
        return shown + _part(self.scored, self.planned)

    def to_json(self) -> dict[str, Json]:
        """Return every number raw."""
        return {
            "value": self.value,
            "hits": self.hits,
            "scored": self.scored,
            "planned": self.planned,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference of two rates in percentage points over `n` of `planned` pairs; None where there is no pair.

    `p` is that of the test of no difference, adjusted for the family that the table's note names.
    """

    points: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    planned: int = 0
    p: float | None = None

    def text(self, *, brief: bool = False) -> str:
        """Return `+4.5 [+1.2, +7.8]*`, in percentage points; the star means p ≤ 0.05."""
        if self.points is None:
            return "-"
        shown = f"{_zero(self.points):+.1f}"
        if not brief and self.low is not None and self.high is not None:
            shown += f" [{_zero(self.low):+.1f}, {_zero(self.high):+.1f}]"
        if self.p is not None and self.p <= 0.05:
            shown += "*"
        return shown + _part(self.n, self.planned)

    def to_json(self) -> dict[str, Json]:
        """Return every number raw."""
        return {
            "points": self.points,
            "low": self.low,
            "high": self.high,
            "n": self.n,
            "planned": self.planned,
            "p": self.p,
        }


Cell: TypeAlias = "str | int | float | Decimal | Rate | Difference | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A titled grid. `key` names it in JSON; `source` is its place in the paper; `note` stands under it.

    `labels` counts the leading columns that name the row. As text, intervals are left out from column `brief` on, and
    only the first `excerpt` rows are shown; JSON holds everything.
    """

    key: str
    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    source: str = ""
    note: str = ""
    labels: int = 1
    brief: int | None = None
    excerpt: int | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the table with every number raw."""
        return {
            "key": self.key,
            "title": self.title,
            "source": self.source,
            "note": self.note,
            "columns": list(self.columns),
            "rows": [[_cell_json(cell) for cell in row] for row in self.rows],
        }


def _cell_json(cell: Cell) -> Json:
    match cell:
        case Rate() | Difference():
            return cell.to_json()
        case Decimal():
            return str(cell)
        case _:
            return cell


def _part(done: int, planned: int) -> str:
    return "" if done == planned else f" ({done:,}/{planned:,})"


def _zero(number: float) -> float:
    """Return `number`, and 0.0 for what would be shown as -0.0."""
    return 0.0 if abs(number) < 0.05 else number
