"""A table as values, before anyone decides how it looks: `text`, `markdown`, `latex` and `csvfile` write it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple, TypeAlias

from ..adapters.base import Json


class Shown(NamedTuple):
    """A number as readers see it, in parts that a writer may set apart: `+4.5`, `[+1.2, +7.8]`, `*`, `(9/10)`.

    `interval`, `star` and `rests` (what the number rests on) may be empty.
    """

    value: str
    interval: str = ""
    star: str = ""
    rests: str = ""

    def text(self, *, brief: bool = False) -> str:
        """Return the parts on one line, without the interval if `brief`."""
        interval = f" {self.interval}" if self.interval and not brief else ""
        return f"{self.value}{interval}{self.star}" + (f" {self.rests}" if self.rests else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """`hits` of `scored` with a confidence interval, shown in percent; `planned` says how many there should be.

    `apart`: what it is taken over is its own, unlike that of its neighbours, so that it is shown beside it.
    """

    hits: int
    scored: int
    planned: int
    low: float
    high: float
    apart: bool = False

    @property
    def value(self) -> float | None:
        """The share, in [0, 1]; None when nothing was scored."""
        return self.hits / self.scored if self.scored else None

    @property
    def percent(self) -> float | None:
        """The share in percent; None when nothing was scored."""
        return 100 * self.hits / self.scored if self.scored else None

    def shown(self) -> Shown:
        """Return `85.5`, `[83.6, 87.2]`, in percent, and how many of the planned were scored unless all were."""
        if not self.scored:
            return Shown("-")
        value, interval = f"{100 * self.hits / self.scored:.1f}", f"[{100 * self.low:.1f}, {100 * self.high:.1f}]"
        rests = f"(n {self.scored:,})" if self.apart else _part(self.scored, self.planned)
        return Shown(value, interval, rests=rests)

    def to_json(self) -> dict[str, Json]:
        """Return every number raw; the rate and its interval in percent, the unit of all that stands beside them."""
        return {
            "value": self.percent,
            "hits": self.hits,
            "scored": self.scored,
            "planned": self.planned,
            "low": 100 * self.low,
            "high": 100 * self.high,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference of two rates in percentage points over `n` of `planned` pairs; None where there is no pair.

    `p` is that of the test of no difference, adjusted for the family that the table's note names. `apart`: as for a
    rate.
    """

    points: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    planned: int = 0
    p: float | None = None
    apart: bool = False

    def shown(self) -> Shown:
        """Return `+4.5`, `[+1.2, +7.8]`, in percentage points, and `*`, which means p ≤ 0.05."""
        if self.points is None:
            return Shown("-")
        bounded = self.low is not None and self.high is not None
        interval = f"[{_zero(self.low or 0):+.1f}, {_zero(self.high or 0):+.1f}]" if bounded else ""
        star = "*" if self.p is not None and self.p <= 0.05 else ""
        rests = f"(n {self.n:,})" if self.apart else _part(self.n, self.planned)
        return Shown(f"{_zero(self.points):+.1f}", interval, star, rests)

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


@dataclass(frozen=True, slots=True)
class Number:
    """A number of any other kind: the digits after the point that it is shown with, and its interval if it has one.

    `signed` shows a plus too.
    """

    value: float
    digits: int = 1
    signed: bool = False
    low: float | None = None
    high: float | None = None

    def shown(self) -> Shown:
        """Return `23.10`, or `+0.00`, and `[0.31, 45.89]`; of an amount too small to be shown `<0.01`."""
        if not self.signed and 0 < self.value < 0.5 * 10**-self.digits:
            return Shown(f"<{10**-self.digits:.{self.digits}f}")
        if self.low is None or self.high is None:
            return Shown(self._text(self.value))
        return Shown(self._text(self.value), f"[{self._text(self.low)}, {self._text(self.high)}]")

    def to_json(self) -> Json:
        """Return the number, rounded far beyond what is shown, so that it says nothing of the machine."""
        ends = {"value": self.value, "low": self.low, "high": self.high}
        rounded: dict[str, Json] = {k: None if v is None else round(v, self.digits + 3) for k, v in ends.items()}
        return rounded["value"] if self.low is None else rounded

    def _text(self, number: float) -> str:
        rounded = round(number, self.digits) or 0.0  # never -0.0
        return f"{rounded:{'+' if self.signed else ''},.{self.digits}f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A number, or a range of numbers, that a paper states, in the unit of its table; without interval or n."""

    low: float
    high: float
    digits: int = 1
    signed: bool = False

    def shown(self) -> Shown:
        """Return `35.9`, or `15.0 to 19.0`."""
        ends = dict.fromkeys(Number(end, self.digits, self.signed).shown().value for end in (self.low, self.high))
        return Shown(" to ".join(ends))

    def to_json(self) -> dict[str, Json]:
        """Return the number, or both ends of the range."""
        return {"published": self.low if self.low == self.high else [self.low, self.high]}


Measured: TypeAlias = "Rate | Difference"
Cell: TypeAlias = "str | int | float | Decimal | Rate | Difference | Number | Published | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A titled grid. `key` names it in JSON; `source` is its place in the paper; `note` stands under it.

    `labels` counts the leading columns that name the row. As text among others, intervals are left out from column
    `brief` on, and only the first `excerpt` rows are shown; alone (`whole`), and in every other form, all is there.
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

    def whole(self) -> Table:
        """Return the table as it is shown alone: every row, every interval."""
        return replace(self, brief=None, excerpt=None)

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


def counted(table: Table) -> Table:
    """Return the table with a column `n` after its labels: what was planned of what a row's numbers are taken over.

    Where the numbers of one row differ in it, each shows its own.
    """
    at = table.labels
    rows = [[*row[:at], *_counted(row, at)] for row in table.rows]
    brief = None if table.brief is None else table.brief + 1
    return replace(table, columns=(*table.columns[:at], "n", *table.columns[at:]), rows=rows, brief=brief)


def _counted(row: Sequence[Cell], at: int) -> list[Cell]:
    counts = {cell.planned for cell in measured(row) if cell.planned and not cell.apart}
    if len(counts) <= 1:
        return [counts.pop() if counts else None, *row[at:]]
    return [
        "varies",
        *(replace(cell, apart=True) if isinstance(cell, Rate | Difference) else cell for cell in row[at:]),
    ]


def measured(row: Sequence[Cell]) -> Iterator[Measured]:
    """Yield the rates and the differences of a row."""
    return (cell for cell in row if isinstance(cell, Rate | Difference))


def _cell_json(cell: Cell) -> Json:
    match cell:
        case Rate() | Difference() | Number() | Published():
            return cell.to_json()
        case Decimal():
            return str(cell)
        case _:
            return cell


def _part(done: int, planned: int) -> str:
    return "" if done == planned else f"({done:,}/{planned:,})"


def _zero(number: float) -> float:
    """Return `number`, and 0.0 for what would be shown as -0.0."""
    return 0.0 if abs(number) < 0.05 else number
