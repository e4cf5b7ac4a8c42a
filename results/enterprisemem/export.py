"""EnterpriseMem-Bench's dialogues as rows and samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ...adapters.base import Message
from ...datasets.enterprisemem.prompts import prompts
from ...datasets.enterprisemem.record import TurnRecord, read_record
from ...datasets.enterprisemem.scoring import HEADLINE
from ...datasets.enterprisemem.taxonomy import Category
from ...engine.again.replay import Executed
from ..exports import common
from ..exports.columns import Column, Table
from ..exports.dialogue import Dialogue, spent_on
from ..exports.export import Export
from ..exports.samples import Sample, Scored
from ..exports.types import ListOf
from ..reading import RunFolder
from ..spending import Spent
from ..transcripts import Turn
from .reading import reading
from .report import marks_of
from .sweep import read_sweep


@dataclass(frozen=True)
class TurnRow:
    """A scored turn."""

    dialogue: Dialogue
    turn: Turn
    record: TurnRecord

    @property
    def ran(self) -> Executed | None:
        """Its statement, if it gave one that could be run."""
        return self.turn.ran[0] if self.turn.ran else None

    @property
    def gold(self) -> Executed | None:
        """The turn's gold statement: it is asked for first; None without the data."""
        return self.turn.gold[0] if self.turn.gold else None

    @property
    def gold_sql(self) -> str | None:
        """The gold statement's text; None without the data."""
        return self.gold.sql if self.gold else None

    @cached_property
    def spent(self) -> Spent:
        """What its answer cost."""
        return spent_on([self.turn.asked])

    @cached_property
    def question(self) -> str | None:
        """The turn's question as the prompt has it; None without the data."""
        return None if self.turn.asked.messages is None else _question(self.turn.asked.messages)


def turns(dialogue: Dialogue) -> Iterator[TurnRow]:
    """Yield the dialogue's scored turns, in order."""
    for turn in dialogue.turns:
        for recorded in turn.records:
            yield TurnRow(dialogue, turn, read_record(recorded.fields))


def _question(told: Sequence[Message]) -> str:
    _, _, after = told[-1].content.partition(f"## {prompts().headings.question}\n")
    return after.partition("\n\n## ")[0]


TURNS: Final = Table(
    "turns",
    "one row per scored turn",
    [
        *common.place(lambda row: row.dialogue, "condition", "session"),
        Column("cluster", "string", "equal for sessions of equal content", lambda row: row.record.cluster),
        Column("source", "string", "`northwind`, `sec_edgar` or `bird`", lambda row: row.record.source),
        Column("tier", "int64", "tier of the session, 1 to 3", lambda row: row.record.tier),
        Column("turn", "int64", "number of the turn in its session, from 1", lambda row: row.record.turn),
        Column("critical", "bool", "whether the turn needs earlier ones", lambda row: row.record.critical),
        Column("question", "string", "the turn's question; null without the data", lambda row: row.question),
        common.messages(lambda row: row.turn.asked.messages, "the whole prompt, memory in it"),
        *common.answer(lambda row: row.turn.asked),
        Column("sql", "string", "the statement in the answer; empty where there is none", lambda row: row.record.sql),
        Column(
            "outcome",
            "string",
            "`correct`, `wrong_result`, `syntax`, `runtime`, `preamble`, `empty`; apart `cut`, `refused`",
            lambda row: row.record.category,
        ),
        Column("detail", "string", "finer label of a failure", lambda row: row.record.detail or None),
        Column("correct", "bool", "strict execution accuracy", lambda row: row.record.correct),
        *common.agreement(lambda row: row.record.agree, HEADLINE),
        *common.result(lambda row: row.ran, "result", "the statement's result"),
        Column("gold_sql", "string", "the gold statement; null without the data", lambda row: row.gold_sql),
        *common.result(lambda row: row.gold, "gold", "the gold result (null without the data)"),
        Column(
            "fallback",
            "string",
            "how it stands to the neighbouring profile's answer: `same` (cannot be told from gold), `matched`, `other`",
            lambda row: row.record.fallback or None,
        ),
        Column("context_wanted", "int64", "context keys that the question refers to", lambda row: row.record.wanted),
        Column("context_resolved", "int64", "of them found in memory", lambda row: row.record.resolved),
        Column("episodes_shown", ListOf("int64"), "plan positions of the episodes shown", lambda row: row.record.shown),
        Column(
            "episode_echoed", "int64", "the shown episode whose values give the result", lambda row: row.record.echoed
        ),
        *common.usage(lambda row: row.spent),
    ],
    turns,
)


@dataclass(frozen=True)
class SessionRow:
    """A session that was begun; `records` are those of its scored turns."""

    dialogue: Dialogue
    records: tuple[TurnRecord, ...]

    def of(self, name: str) -> object:
        """Return what is alike in every record of the session; None before there is one."""
        return getattr(self.records[0], name) if self.records else None

    def count(self, category: Category) -> int:
        """Return how many turns came to that."""
        return sum(record.category == category for record in self.records)


def sessions(dialogue: Dialogue) -> Iterator[SessionRow]:
    """Yield the dialogue as one row."""
    yield SessionRow(dialogue, tuple(map(read_record, dialogue.records)))


DIALOGUES: Final = Table(
    "dialogues",
    "one row per session that was begun, under one condition, by one model",
    [
        *common.place(lambda row: row.dialogue, "condition", "session"),
        Column("cluster", "string", "equal for sessions of equal content", lambda row: row.of("cluster")),
        Column("source", "string", "`northwind`, `sec_edgar` or `bird`", lambda row: row.of("source")),
        Column("tier", "int64", "tier of the session, 1 to 3", lambda row: row.of("tier")),
        Column("ended", "bool", "false while turns are still to come", lambda row: row.dialogue.transcript.ended),
        Column("scored", "int64", "turns that are scored", lambda row: len(row.records), "turns"),
        Column("correct", "int64", "of them right", lambda row: row.count("correct"), "turns"),
        Column("wrong_result", "int64", "of them with a wrong result", lambda row: row.count("wrong_result"), "turns"),
        *common.usage(lambda row: row.dialogue.spent),
    ],
    sessions,
)


def samples(dialogue: Dialogue) -> Iterator[Sample]:
    """Yield a sample per scored turn: turns are scored apart (section 3.3)."""
    for row in turns(dialogue):
        record = row.record
        yield Sample(
            id=f"{record.session}:{record.turn}",
            question=row.question or "",
            target=[row.gold_sql] if row.gold_sql else [],
            asked=[row.turn.asked],
            last=row.turn.asked,
            scores={
                "execution_accuracy": Scored(
                    holds=record.correct,
                    answer=record.sql,
                    why=" ".join(filter(None, (record.category, record.detail))),
                    details={"agree": dict[str, object](record.agree)},  # type: ignore[dict-item]
                )
            },
            metadata={
                "session": record.session,
                "source": record.source,
                "tier": record.tier,
                "turn": record.turn,
                "critical": record.critical,
                "outcome": record.category,
                "result": record.result,
            },
        )


def _marks(runs: Sequence[RunFolder]) -> Mapping[str, str]:
    return dict(marks_of(runs, read_sweep(runs)))


export = Export(
    title="EnterpriseMem-Bench",
    tables=[TURNS, DIALOGUES],
    samples=samples,
    marks=_marks,
    headline="execution_accuracy",
    data=(
        "Questions and gold queries are EnterpriseMem-Bench's (arXiv 2605.26394) or, where the runs are marked "
        "`SYNTHETIC`, ours. Results hold values of the databases Northwind, SEC EDGAR and BIRD's financial: their "
        "licences, and the benchmark's, go with this data set."
    ),
    servers=reading().servers,
)
"""What the entry point loads to."""
