"""The benchmark as it was run: sources and sessions (Tables 2 and 3), counted from the plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..table import Cell, Number, Table
from .turns import Kind, Turns


def sources(turns: Turns, databases: Mapping[str, str]) -> Table:
    """What each source database contributes (Table 2); `databases` says of what kind each source's is."""
    rows: list[list[Cell]] = []
    for name, kind in {**{source: Kind(source=source) for source in turns.sources}, "all": Kind()}.items():
        planned = kind.count(turns.plan.turns)
        evaluations = planned * len(turns.cells) * turns.plan.repeats
        rows.append(
            [name, databases.get(name, ""), _sessions(turns, kind), planned, _critical(turns, kind), evaluations]
        )
    return Table(
        key="sources",
        title="Source databases",
        source="EnterpriseMem-Bench, Table 2",
        columns=("source", "database", "sessions", "turns", "memory-critical turns", "evaluations"),
        rows=rows,
        note="evaluations: turns times the cells (a model at a condition) and repeats that are planned.",
    )


def sessions(turns: Turns) -> Table:
    """How sessions and turns fall on tiers (Table 3)."""
    tiers = sorted({planned.tier for planned in turns.plan.turns})
    return Table(
        key="sessions",
        title="Sessions and turns by tier",
        source="EnterpriseMem-Bench, Table 3",
        columns=(
            "source",
            *(f"T{tier} {what}" for tier in tiers for what in ("sessions", "turns")),
            "all sessions",
            "all turns",
            "memory-critical turns",
            "memory-critical %",
        ),
        rows=[[source or "all", *_tiers(turns, source, tiers)] for source in (*turns.sources, None)],
        note="A turn is memory-critical when its question cannot be answered without an earlier one (section 4.5).",
    )


def _tiers(turns: Turns, source: str | None, tiers: list[int]) -> Iterator[Cell]:
    for tier in (*tiers, None):
        kind = Kind(source=source, tier=tier)
        yield from (_sessions(turns, kind), kind.count(turns.plan.turns))
    critical, planned = _critical(turns, Kind(source=source)), Kind(source=source).count(turns.plan.turns)
    yield from (critical, Number(100 * critical / planned, 2) if planned else None)


def _sessions(turns: Turns, kind: Kind) -> int:
    """Every session has one first turn."""
    return Kind(source=kind.source, tier=kind.tier, turn=1).count(turns.plan.turns)


def _critical(turns: Turns, kind: Kind) -> int:
    return sum(planned.critical for planned in turns.plan.turns if kind.holds(planned))
