"""What a line of each kind holds: the one place where JSON becomes lines that the rest of turntide relies on.

A checksum says that a line is as it was written, not who wrote it. So every reader takes its lines from here, and one
that another program wrote, or that was forged, is refused with its number instead of ending a command somewhere. The
types below only check: what is read stays a dict, of exactly what was written. Kinds that are not named here are read
past, and so are fields. A field with a default may be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal, NotRequired, TypeAlias, TypedDict, cast

from msgspec import Meta, Struct, convert
from msgspec.structs import fields

from ...adapters.base import Finish, Json, Usage
from ..sql.outcome import Status, untagged

Count: TypeAlias = Annotated[int, Meta(ge=0)]
Moment: TypeAlias = Annotated[datetime, Meta(tz=True)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=1e9)]
UnixTime: TypeAlias = Annotated[float, Meta(ge=0, lt=253_402_300_800)]
"""Seconds; before the year 10000."""
Usd: TypeAlias = Annotated[str, Meta(pattern=r"\A[0-9]+(\.[0-9]+)?(E[+-]?[0-9]{1,3})?\Z")]
"""A Decimal that is finite and not negative."""
Tagged: TypeAlias = Annotated[dict[str, str], Meta(min_length=1, max_length=1)]
"""A cell of a result that JSON cannot hold (`engine.sql.outcome`)."""


class _Step(Struct):
    """The place in a dialogue: unit, branch and sequence."""

    u: str
    b: str
    s: int


class _Sent(_Step, kw_only=True):
    """See `engine.calls.ledger`, as for the next two; a call that travels in a batch names it."""

    k: Literal["sent"]
    n: int
    h: str
    m: str
    usd: Usd
    batch: str = ""


class _Answer(_Step, kw_only=True):
    k: Literal["answer"]
    n: int
    h: str
    text: str
    model: str
    usd: Usd = ""
    usage: Usage = Usage()
    finish: Finish = "stop"
    detail: str = ""
    reasoning: str = ""
    queued: Seconds
    took: Seconds
    at: UnixTime = 0
    batch: str = ""


class _Fail(_Step, kw_only=True):
    k: Literal["fail"]
    n: int
    kind: str
    message: str
    paid: bool
    batch: str = ""


class _Outcome(Struct):
    """See `engine.sql.outcome.Outcome`."""

    status: Status
    message: str = ""
    columns: list[str] = []
    rows: Count = 0
    excerpt: list[list[int | float | str | Tagged | None]] = []
    digests: dict[str, str] = {}


class _Sql(_Step):
    k: Literal["sql"]
    outcome: _Outcome
    h: str = ""


class _Record(_Step):
    """What `fields` holds is the benchmark's; `require_record` checks that where it is read."""

    k: Literal["record"]
    fields: dict[str, Any]


class _End(Struct):
    k: Literal["end"]
    u: str
    m: str
    unscored: str = ""


class _Run(Struct):
    run: str


class _Limit(Struct):
    account: str
    limit: str
    why: str
    new: float | None


class _Tainted(Struct):
    databases: list[str]


class _Finding(Struct):
    name: str
    database: str
    found: list[str]


class _Gold(Struct):
    examined: Count
    findings: list[_Finding]


class _Scoring(Struct):
    differs: list[str]
    run: str = ""


class _Pulse(Struct):
    at: Moment
    answers: Count
    flight: Count
    retries: dict[str, Count]
    limits: dict[str, tuple[float | None, float | None]]


class _Batch(Struct):
    batch: str


class _BatchMade(_Batch):
    made: Moment
    m: str
    calls: Count


class _BatchNamed(_Batch):
    id: str


class _BatchEnded(_Batch):
    ended: str
    how: str
    answers: Count


class _PartBegan(Struct):
    began: Moment
    planned: dict[str, Count]


class _PartEnded(Struct):
    ended: Moment
    state: str
    reasons: list[str]
    models: dict[str, str] = {}


_USUAL: Final[Mapping[str, type[Struct]]] = {
    "sent": _Sent,
    "answer": _Answer,
    "fail": _Fail,
    "sql": _Sql,
    "record": _Record,
    "end": _End,
}
"""The kinds of nearly all lines."""

_KINDS: Final[Mapping[str, type[Struct]]] = {
    **_USUAL,
    "run": _Run,
    "limit": _Limit,
    "tainted": _Tainted,
    "gold": _Gold,
    "scoring": _Scoring,
    "pulse": _Pulse,
}

_OPENING: Final = frozenset({"k", "u", "b", "s", "n", "h", "m", "usd", "paid", "batch", "unscored"})


def heads() -> dict[str, Any]:
    """Return, by kind, the type of what the opening of a journal takes in of a line: place, attempt and cost.

    Of a kind that is not among them it takes in all. Amounts are checked by who reads them (`codec.parse_head`).
    """
    typed = cast("Any", TypedDict)  # type checkers take only ones that are spelled out
    return {kind: typed(kind, _head(shape)) for kind, shape in _USUAL.items()}


def _head(shape: type[Struct]) -> dict[str, Any]:
    taken = ((each, str if each.type == Usd else each.type) for each in fields(shape) if each.name in _OPENING)
    return {each.name: kind if each.required else NotRequired[kind] for each, kind in taken}


def require_shape(line: Mapping[str, Any]) -> None:
    """Raise ValueError, in words, unless `line` holds what one of its kind does."""
    kind = line["k"]
    try:
        shape = _shape(kind, line)
        if shape:
            convert(line, shape)
        if shape is _Sql:
            _require_cells(line["outcome"])
    except ValueError as error:
        raise ValueError(f"it is no {kind!r} line of ours: {error}") from error


def require_record(line: Mapping[str, Any], form: type[Struct] | None) -> None:
    """Raise ValueError, in words, when `line` is a record and not one that a benchmark makes, whose `form` is given."""
    if form and line["k"] == "record":
        try:
            convert(line["fields"], form)
        except ValueError as error:
            raise ValueError(f"it is no {form.__name__} of ours: {error}") from error


def _shape(kind: object, line: Mapping[str, Any]) -> type[Struct] | None:
    """Return the type of such a line. One about a batch or a process says by its fields what it tells of it."""
    match kind:
        case "batch":
            return _BatchMade if "made" in line else _BatchNamed if "id" in line else _BatchEnded
        case "part":
            return _PartBegan if "began" in line else _PartEnded
        case str():
            return _KINDS.get(kind)
        case _:
            raise ValueError("a kind is a word")


def _require_cells(outcome: Mapping[str, Any]) -> None:
    for row in outcome.get("excerpt", ()):
        for cell in row:
            if isinstance(cell, dict):
                untagged(cast("dict[str, Json]", cell))
