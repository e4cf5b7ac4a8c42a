"""Run folders of EnterpriseMem-Bench without a run: the manifest, and a journal written by the real Journal."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
from turntide.adapters.base import Answer, Json, Usage
from turntide.datasets.enterprisemem.record import Plan, PlannedTurns, TurnRecord
from turntide.engine.calls.ledger import answer_line, sent_line
from turntide.engine.folder.binding import begin_journal
from turntide.engine.folder.manifest import FORMAT, Manifest
from turntide.engine.folder.parts import began, ended
from turntide.engine.journal import Journal, Key, Line, place
from turntide.engine.sql.outcome import Outcome

Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """One session of the made-up benchmark."""

    name: str
    source: str = "northwind"
    turns: int = 1
    cluster: str = ""

    @property
    def tier(self) -> int:
        return {1: 1, 4: 2}.get(self.turns, 3)


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A plan, and what every turn of it came to: `told` gives the fields of a turn's record that are its own.

    `spent` is the usage and the cost in USD of every answer, `returned` the id that came back, and `simulated` tells of
    which models the answers say that they are.
    """

    talks: Sequence[Talk]
    models: Sequence[str] = ("sim/one",)
    conditions: Sequence[str] = ("A", "B")
    repeats: int = 1
    told: Callable[[str, str, Talk, int], Fields] = lambda model, condition, talk, turn: {"category": "correct"}
    spent: Usage = field(default_factory=lambda: Usage(input_tokens=100, output_tokens=10))
    usd: Decimal | None = Decimal("0.001")
    returned: Callable[[str], str] = lambda model: model.partition("/")[2]
    simulated: Sequence[str] = ()
    options: Mapping[str, Json] = field(default_factory=dict[str, Json])
    identity: Mapping[str, Json] = field(default_factory=dict[str, Json])

    def units(self) -> Iterator[tuple[str, str, Talk, int]]:
        for model in self.models:
            for condition in self.conditions:
                for repeat in range(self.repeats):
                    for talk in self.talks:
                        yield model, condition, talk, repeat

    def manifest(self) -> Manifest:
        plan = Plan(
            models=(), conditions=tuple(self.conditions), repeats=1, turns=tuple(self._planned()), synthetic=True
        )
        experiment: dict[str, Any] = {
            "plan": msgspec.to_builtins(plan),
            "sessions_sha256": "5e55" * 16,
            "databases": {"northwind": {"sha256": "da7a" * 16, "synthetic": True}},
            "order": "sequential",
            "state": True,
            "embedder": None,
            "prompts_sha256": "9409" * 16,
        }
        identity: dict[str, Any] = {
            "format": FORMAT,
            "benchmark": "enterprisemem",
            "models": [{"label": model, "id": model, "options": dict(self.options)} for model in self.models],
            "auxiliary": [],
            "repeats": self.repeats,
            "seed": 0,
            "limit": None,
            "experiment": experiment | dict(self.identity),
        }
        spec: dict[str, Any] = {
            "benchmark": "enterprisemem",
            "models": [{"id": m} for m in self.models],
            "settings": {},
        }
        return Manifest(run="0" * 16, identity=identity, settings={"spec": spec})

    def _planned(self) -> Iterator[PlannedTurns]:
        counts = Counter((t.source, t.tier, turn) for t in self.talks for turn in range(1, t.turns + 1))
        for (source, tier, turn), count in counts.items():
            yield PlannedTurns(source, tier, turn, count, count if turn > 1 else 0)

    def lines(self, unit: tuple[str, str, Talk, int]) -> Iterator[Line]:
        """Yield the lines of one dialogue as a run would write them."""
        model, condition, talk, repeat = unit
        name = f"{model}/{condition}/{talk.name}/{repeat}"
        for turn in range(1, talk.turns + 1):
            asked, ran, told = (Key(name, "", 3 * (turn - 1) + step) for step in range(3))
            digest = f"{hash(asked) & 0xFFFFFFFF:032x}"
            answer = Answer(
                text="SELECT 1", model=self.returned(model), usage=self.spent, simulated=model in self.simulated
            )
            yield sent_line(asked, 1, digest, Decimal("0.01"), model)
            yield answer_line(asked, 1, digest, answer, self.usd, 0.001, 0.25, 1_800_000_000.0 + turn)
            outcome = Outcome(status="ok", rows=1, excerpt=((1,),))
            yield {"k": "sql", **place(ran), "h": digest, "outcome": outcome.to_json()}
            yield {"k": "record", **place(told), "fields": self.record(unit, turn).fields()}
        yield {"k": "end", "u": name, "m": model}

    def record(self, unit: tuple[str, str, Talk, int], turn: int) -> TurnRecord:
        """Return the record of one turn; a correct one agrees in every comparison, any other in none."""
        model, condition, talk, repeat = unit
        own = dict(self.told(model, condition, talk, turn))
        fields: dict[str, Any] = {
            "agree": dict.fromkeys(("strict", "multiset", "bird", "ordered"), own["category"] == "correct"),
            "sql": "SELECT 1",
            "result": "1 rows; first_row=(1,)",
            **own,
        }
        return TurnRecord(
            model=model,
            condition=condition,
            session=talk.name,
            cluster=talk.cluster or talk.name,
            source=talk.source,
            tier=talk.tier,
            turn=turn,
            repeat=repeat,
            critical=turn > 1,
            **fields,
        )


def write(folder: Path, sweep: Sweep, *, shuffled: int | None = None, dropped: int = 0) -> Path:
    """Write the run of `sweep` into `folder` and return it.

    `shuffled` seeds an order in which the dialogues' lines interleave; the last `dropped` lines are never written,
    as if the process had been killed before them.
    """
    begin(folder, sweep)
    talks = [list(sweep.lines(unit)) for unit in sweep.units()]
    lines = [line for talk in talks for line in talk] if shuffled is None else list(_interleaved(talks, shuffled))
    planned = Counter(unit[0] for unit in sweep.units())
    with Journal.open(folder / "journal.jsonl") as journal:
        journal.append(began(planned))
        for line in lines[: len(lines) - dropped]:
            journal.append(line)
        if not dropped:
            journal.append(ended("complete", []))
    return folder


def begin(folder: Path, sweep: Sweep) -> Path:
    """Make the folder of a run of `sweep` that has only begun, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = sweep.manifest()
    begin_journal(folder, manifest.run)
    manifest.save(folder)
    return folder


def _interleaved(talks: list[list[Line]], seed: int) -> Iterator[Line]:
    chance = random.Random(seed)
    left = [iter(talk) for talk in talks]
    while left:
        talk = chance.choice(left)
        line = next(talk, None)
        if line is None:
            left.remove(talk)
        else:
            yield line


def released(**parts: Any) -> Sweep:
    """Return a sweep with the released file's sessions per source and tier: 300 sessions, 1,400 turns, 25 cells."""
    shapes = [("northwind", 30, 40, 30, 7), ("sec_edgar", 30, 50, 40, 9), ("bird", 30, 30, 20, 4)]
    talks = list[Talk]()
    for source, ones, fours, long, ten in shapes:
        turns = [1] * ones + [4] * fours + [9] * (long - ten) + [10] * ten
        talks += [Talk(name=f"{source}-{i:03}", source=source, turns=count) for i, count in enumerate(turns)]
    models = [f"sim/{name}" for name in ("one", "two", "three", "four", "five")]
    return Sweep(talks=talks, models=models, conditions=("A", "B", "B_wm5", "C", "D"), **parts)
