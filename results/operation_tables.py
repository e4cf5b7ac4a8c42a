"""Operations as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from .operations import ModelOperations, Operations, Part, Spread
from .table import Cell, Table


def operation_tables(operations: Operations) -> Iterator[Table]:
    """Yield what there is to say of how a run went."""
    yield _calls(operations)
    yield _latency(operations.models)
    yield _money(operations)
    if operations.limits:
        yield _limits(operations)
    if operations.batches:
        yield _batches(operations)
    if operations.parts:
        yield _parts(operations.parts)


def failures_text(failures: Counter[str]) -> str:
    """Return failed attempts by class in words, the commonest first."""
    ordered = sorted(failures.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{kind} {count:,}" for kind, count in ordered) or "-"


def ids_text(returned: Iterable[str]) -> str:
    """Return the ids that answered; what named none is unknown and not among them."""
    return ", ".join(sorted(filter(None, returned)))


def _calls(operations: Operations) -> Table:
    return Table(
        key="calls",
        title="Operations: dialogues and calls",
        columns=("model", "done", "planned", "answers", "sends", "failed attempts by class", "answered by"),
        rows=[
            [label, m.done, m.planned, m.answers, m.sends, failures_text(m.failures), ids_text(m.returned)]
            for label, m in operations.models.items()
        ],
        note=f"{operations.open:,} sends have no reply on record: on the wire now, or lost with a process."
        if operations.open
        else "",
    )


def _latency(models: Mapping[str, ModelOperations]) -> Table:
    def spread(durations: Spread) -> list[Cell]:
        return [*(durations.quantile(share) for share in (0.5, 0.9, 0.99)), durations.total]

    return Table(
        key="latency",
        title="Operations: seconds per answer",
        columns=(
            "model",
            *(f"{where} {what}" for where in ("queue", "model") for what in ("p50", "p90", "p99", "sum")),
        ),
        rows=[[label, *spread(m.queued), *spread(m.took)] for label, m in models.items()],
        note="queue: waiting for limits and money, all attempts; model: the answered attempt on the wire. Within 1 %.",
    )


def _money(operations: Operations) -> Table:
    known, exposed = operations.budget.known, operations.budget.exposed
    row: list[Decimal] = [known, exposed, known + exposed]
    return Table(
        key="money",
        title="Operations: money",
        columns=("known USD", "exposed USD", "at most USD"),
        labels=0,
        rows=[row],
        note="exposed: calls that were sent and whose price nobody knows, at their worst case.",
    )


def _limits(operations: Operations) -> Table:
    return Table(
        key="limits",
        title="Operations: changes of limits",
        columns=("account", "limit", "why", "changes", "latest"),
        labels=3,
        rows=[[*key, changes.count, changes.latest] for key, changes in operations.limits.items()],
    )


def _batches(operations: Operations) -> Table:
    return Table(
        key="batches",
        title="Operations: batches",
        columns=("model", "id", "made", "calls", "answers", "ended"),
        labels=3,
        rows=[
            [batch.model, batch.id or "not known", batch.made, batch.calls, batch.answers, batch.how or "open"]
            for batch in operations.batches.values()
        ],
        excerpt=20,
    )


def _parts(parts: list[Part]) -> Table:
    return Table(
        key="parts",
        title="Operations: processes that worked on the run",
        columns=("began", "wall seconds", "ended", "because"),
        labels=1,
        rows=[[part.began, part.wall, part.state or "no end on record", "; ".join(_because(part))] for part in parts],
    )


def _because(part: Part) -> Iterator[str]:
    return (reason.splitlines()[-1] for reason in part.reasons if reason)
