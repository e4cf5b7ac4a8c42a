"""The seven metrics (Table 2) as functions of one record: each says whether the dialogue counts as a success.

A rate is their mean over a set of scored dialogues. What a dialogue lacks counts against it, so that no rate rewards
giving up (decisions 26 and 27):

                            DEA   AR, IR              DRR, DRA
    no query for a stage    0     as asked until then 0
    a query that fails      0     as asked            by its commitments; DRA 0 when it is the one after the drift
    a query without a tree  by its result   as asked  0
    a simulator's fault     not scored, in any metric
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from .record import DialogueRecord, Protocol
from .samples import Kind
from .scoring import HEADLINE

Holds: TypeAlias = Callable[[DialogueRecord], bool]


def scored(record: DialogueRecord) -> bool:
    """Return whether the dialogue counts at all: a fault of the user simulator is not the agent's."""
    return record.ending != "simulator_error"


def depth(record: DialogueRecord) -> int:
    """How many layers the triplet's chain has: 2 in the paper's design."""
    return sum(record.shape)


def right_at(record: DialogueRecord, stage: int, comparison: str = HEADLINE) -> bool:
    """EX of the query for a stage (0 is the first); false when there is none."""
    return any(query.agree.get(comparison, False) for query in record.queried if query.stage == stage)


def all_right(record: DialogueRecord, comparison: str = HEADLINE) -> bool:
    """DEA: every query of the sample was given and matches; their number is fixed by the sample's type."""
    return all(right_at(record, stage, comparison) for stage in range(record.golds))


def right_up_to(record: DialogueRecord, stage: int) -> bool:
    """DEA up to a stage: the queries for it and for all before it match."""
    return all(right_at(record, before) for before in range(stage + 1))


def asks(record: DialogueRecord, times: int = 1) -> bool:
    """AR: the agent asked at least once, of whatever layer, before or after the drift; or so many times."""
    return len(record.asked) >= times


def identifies(record: DialogueRecord, layer: str) -> bool:
    """L1-IR, L2-IR: some question was routed to the layer."""
    return any(asked.rho == layer for asked in record.asked)


def identifies_up_to(record: DialogueRecord, layer: int) -> bool:
    """JIR up to a layer: that one (1 is the outermost) and all before it within one trajectory."""
    return all(identifies(record, f"L{each}") for each in range(1, layer + 1))


def identifies_all(record: DialogueRecord) -> bool:
    """JIR: every layer of the chain within one trajectory, both of the paper's."""
    return identifies_up_to(record, depth(record))


def paired(record: DialogueRecord) -> bool:
    """Whether commitments before and after every drift can be compared: both queries are there and parse."""
    steps = [query.step for query in record.queried if query.step is not None]
    return len(steps) == record.golds - 1 and "unparsable" not in steps


def recognises_at(record: DialogueRecord, drift: int) -> bool:
    """Rec of one drift (1 is the first): the agent's own commitments before and after it; false without a pair."""
    steps = (query.step for query in record.queried if query.stage == drift)
    return any(step not in (None, "not_drift", "unparsable") for step in steps)


def resolves_at(record: DialogueRecord, drift: int) -> bool:
    """Rec of one drift and a right query after it; the query before need not be right."""
    return recognises_at(record, drift) and right_at(record, drift)


def recognises(record: DialogueRecord) -> bool:
    """DRR: Rec, non-monotonicity of the agent's own commitments across every drift; false without a pair."""
    return all(recognises_at(record, drift) for drift in range(1, record.golds))


def resolves(record: DialogueRecord) -> bool:
    """DRA: Rec, and a right query after every drift; the first query need not be right."""
    return all(resolves_at(record, drift) for drift in range(1, record.golds))


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: over which sample sets and under which protocol the paper takes it (§4.3)."""

    name: str
    full: str
    protocol: Protocol
    kinds: tuple[Kind, ...]
    holds: Holds


METRICS: Final[tuple[Metric, ...]] = (
    Metric("DEA", "Dialogue Execution Accuracy", "f", ("chain", "drift", "joint"), all_right),
    Metric("AR", "Ask Rate", "f", ("chain", "drift", "joint"), asks),
    Metric("L1-IR", "L1 Identification Rate", "f", ("chain", "joint"), lambda record: identifies(record, "L1")),
    Metric("L2-IRp", "L2 Identification Rate", "p", ("chain", "joint"), lambda record: identifies(record, "L2")),
    Metric("JIR", "Joint Identification Rate", "f", ("chain", "joint"), identifies_all),
    Metric("DRR", "Drift Recognition Rate", "f", ("drift", "joint"), recognises),
    Metric("DRA", "Drift Resolution Accuracy", "f", ("drift", "joint"), resolves),
)
"""In the order of Table 2."""
