"""TIDE-Bench's dialogues as rows and samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import msgspec

from ...adapters.base import ConfigurationError
from ...datasets.tide.metrics import METRICS, Metric, right_at, scored
from ...datasets.tide.record import DialogueRecord, Queried, read_record
from ...datasets.tide.scoring import HEADLINE
from ...engine.again.replay import Asked, Executed
from ..exports import common
from ..exports.columns import Column, Table
from ..exports.dialogue import Dialogue, chat
from ..exports.export import Export
from ..exports.samples import Sample, Scored
from ..exports.types import ListOf, Struct, Type
from ..reading import RunFolder
from .report import marks_of
from .simulator import is_check
from .sweep import read_sweep


@dataclass(frozen=True)
class QueryRow:
    """One query of the agent; `number` counts the dialogue's queries from 0."""

    dialogue: Dialogue
    record: DialogueRecord
    query: Queried
    number: int

    @cached_property
    def ran(self) -> Executed:
        """What it came to: every query is executed, in order."""
        return self.dialogue.executed(gold=False)[self.number]

    @cached_property
    def gold(self) -> Executed | None:
        """The gold that it was compared with; None without the data."""
        found = self.dialogue.executed(gold=True)
        return found[self.number] if found else None

    @property
    def gold_sql(self) -> str | None:
        """The gold statement's text; None without the data."""
        return self.gold.sql if self.gold else None


def queries(dialogue: Dialogue) -> Iterator[QueryRow]:
    """Yield the queries of a dialogue that ended."""
    if record := _record(dialogue):
        for number, query in enumerate(record.queried):
            yield QueryRow(dialogue, record, query, number)


def _record(dialogue: Dialogue) -> DialogueRecord | None:
    return next((read_record(fields) for fields in dialogue.records), None)


QUERIES: Final = Table(
    "queries",
    "one row per query of a dialogue that ended",
    [
        *common.place(lambda row: row.dialogue, "protocol", "sample"),
        Column("triplet", "string", "id of the triplet", lambda row: row.record.triplet),
        Column("kind", "string", "the sample set: `chain`, `drift` or `joint`", lambda row: row.record.kind),
        Column("database", "string", "the database that it ran on", lambda row: row.record.database),
        Column("turn", "int64", "the agent's turn that gave it, from 1", lambda row: row.query.turn),
        Column(
            "stage",
            "int64",
            "what it answers: 0 the question, 1 the first drift",
            lambda row: row.query.stage,
        ),
        Column("sql", "string", "the statement", lambda row: row.query.sql),
        Column("status", "string", "`ok`, or how it failed", lambda row: row.query.status),
        Column("message", "string", "why it failed", lambda row: row.query.message or None),
        Column("correct", "bool", "execution accuracy", lambda row: row.query.agree.get(HEADLINE, False)),
        *common.agreement(lambda row: row.query.agree, HEADLINE),
        Column(
            "step",
            "string",
            "how its commitments stand to those of the query before: a drift's subtype, `not_drift`, `unparsable`",
            lambda row: row.query.step,
        ),
        *common.result(lambda row: row.ran, "result", "the statement's result"),
        Column("gold_sql", "string", "the gold statement; null without the data", lambda row: row.gold_sql),
        *common.result(lambda row: row.gold, "gold", "the gold result (null without the data)"),
    ],
    queries,
)

ASKED: Final = ListOf(
    Struct(
        (
            ("turn", "int64"),
            ("stage", "int64"),
            ("question", "string"),
            ("reply", "string"),
            ("decided", "string"),
            ("acted", "string"),
            ("rho", "string"),
            ("node", "string"),
            ("rejected", "int64"),
            ("neutral", "bool"),
        )
    )
)


@dataclass(frozen=True)
class DialogueRow:
    """A dialogue; `record` is None until it has ended."""

    dialogue: Dialogue
    record: DialogueRecord | None

    @property
    def last(self) -> Asked | None:
        """The agent's last question: its prompt is the whole dialogue before its answer."""
        return self.dialogue.turns[-1].asked if self.dialogue.turns else None


def dialogues(dialogue: Dialogue) -> Iterator[DialogueRow]:
    """Yield the dialogue with its record."""
    yield DialogueRow(dialogue, _record(dialogue))


def _of(name: str, kind: Type, meaning: str) -> Column[DialogueRow]:
    return Column(name, kind, meaning, lambda row: getattr(row.record, name) if row.record else None)


def _metric(metric: Metric) -> Column[DialogueRow]:
    protocol, kinds = metric.protocol, ", ".join(metric.kinds)
    return Column(
        metric.name.lower().replace("-", "_"),
        "bool",
        f"{metric.full}; taken over {kinds} under protocol {protocol}, null elsewhere and where it is unscored",
        lambda row: metric.holds(row.record) if row.record and _takes(metric, row.record) else None,
    )


def _takes(metric: Metric, record: DialogueRecord) -> bool:
    return scored(record) and metric.protocol == record.protocol and record.kind in metric.kinds


def _exchanges(row: DialogueRow) -> list[dict[str, Any]] | None:
    if row.record is None:
        return None
    return [{name: getattr(asked, name) for name in asked.__struct_fields__} for asked in row.record.asked]


DIALOGUES: Final = Table(
    "dialogues",
    "one row per dialogue that was begun",
    [
        *common.place(lambda row: row.dialogue, "protocol", "sample"),
        _of("triplet", "string", "id of the triplet"),
        _of("cluster", "string", "equal for triplets of equal content"),
        _of("kind", "string", "the sample set: `chain`, `drift` or `joint`"),
        _of("database", "string", "the database that it ran on"),
        _of("split", "string", "where the triplet's anchor comes from"),
        _of("tier", "string", "the triplet's tier: `basic`, `intermediate` or `advanced`"),
        _of("verdict", "string", "what the counterfactual test said of its second layer"),
        _of("subtype", "string", "the drift's subtype: `value`, `constraint` or `projection`"),
        _of("fine_subtype", "string", "of a projection drift, the clause that it retracts"),
        _of("plan", "string", "the order of chain and drifts: `chain 2, drift` is the paper's"),
        _of("golds", "int64", "queries that the sample asks for"),
        Column("ended", "bool", "false while turns are still to come", lambda row: row.dialogue.transcript.ended),
        Column(
            "scored",
            "bool",
            "false when a fault of the user simulator ended it; null until it has ended",
            lambda row: scored(row.record) if row.record else None,
        ),
        _of("ending", "string", "`complete`, `abstained`, `cut`, `refused`, `turn_limit` or `simulator_error`"),
        _of("detail", "string", "why the simulator failed"),
        _of("turns", "int64", "the agent's turns"),
        _of("retries", "int64", "of them those whose first answer was no action"),
        *(_metric(metric) for metric in METRICS),
        Column("asked", ASKED, "clarifications and their answers, with the router's decisions", _exchanges),
        common.messages(lambda row: chat(row.last) if row.last else None, "the agent's whole dialogue"),
        *common.usage(lambda row: row.dialogue.spent, whose="the agent's"),
        *common.usage(lambda row: row.dialogue.spent_aside, "user_", "the simulated user's"),
    ],
    dialogues,
)


def samples(dialogue: Dialogue) -> Iterator[Sample]:
    """Yield the dialogue as one sample with every metric that is taken over its kind, if it has ended."""
    record = _record(dialogue)
    if record is None or not dialogue.turns:
        return
    last = dialogue.turns[-1].asked
    given = "\n\n".join(query.sql for query in record.queried)
    why = ", ".join("right" if right_at(record, stage) else "not right" for stage in range(record.golds))
    taken = {metric.name: metric.holds(record) for metric in METRICS if _takes(metric, record)}
    yield Sample(
        id=record.sample,
        question=_opening(dialogue.turns[0].asked),
        target=list(dict.fromkeys(each.sql for each in dialogue.executed(gold=True) if each.sql)),
        asked=list(dialogue.asked),
        last=last,
        scores={
            name: Scored(holds=holds, answer=given, why=f"{record.ending}: queries {why}")
            for name, holds in taken.items()
        },
        metadata={
            "triplet": record.triplet,
            "set": record.kind,
            "database": record.database,
            "tier": record.tier,
            "subtype": record.subtype,
            "ending": record.ending,
            "turns": record.turns,
            "asked": msgspec.to_builtins(record.asked),
        },
        fault="" if scored(record) else f"the user simulator failed: {record.detail}",
    )


def _opening(asked: Asked) -> str:
    return next((message.content for message in asked.messages or () if message.role == "user"), "")


def _marks(runs: Sequence[RunFolder]) -> Mapping[str, str]:
    if any(is_check(run) for run in runs):
        raise ConfigurationError(
            "a check of the user simulator holds no dialogues to export; `turntide report` reads it."
        )
    return dict(marks_of(runs, read_sweep(runs)))


export = Export(
    title="TIDE-Bench",
    tables=[QUERIES, DIALOGUES],
    samples=samples,
    marks=_marks,
    headline="DEA",
    data=(
        "Utterances and gold queries are those of the triplets that were run: TIDE-Bench's, built over BIRD, or, where "
        "the runs are marked `SYNTHETIC`, ours. Results hold values of their databases: the licences of these, and of "
        "the triplets, go with this data set."
    ),
)
"""What the entry point loads to."""
