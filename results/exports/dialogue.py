"""A dialogue as exports see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...adapters.base import Message
from ...engine.again.replay import Asked, Executed, Recorded, Transcript
from ..reading import ModelIdentity, RunFolder
from ..spending import Spent
from ..transcripts import Turn, turns_of


@dataclass(frozen=True)
class Dialogue:
    """A dialogue with the run that it belongs to. `marks` are the words that no reader of the run may miss."""

    run: RunFolder
    transcript: Transcript
    models: Mapping[str, ModelIdentity]
    marks: tuple[str, ...]

    @cached_property
    def place(self) -> tuple[str, str, str, int]:
        """Model, condition or protocol, session or sample, and repeat: the parts of its key (a label has slashes)."""
        model, cell, item, repeat = self.transcript.unit.rsplit("/", 3)
        return model, cell, item, int(repeat)

    @property
    def model(self) -> ModelIdentity:
        """The model that it evaluates."""
        return self.models[self.place[0]]

    @cached_property
    def turns(self) -> list[Turn]:
        """Its turns, each beginning with a question to the evaluated model."""
        return list(turns_of(self.transcript))

    @property
    def records(self) -> Iterator[Mapping[str, Any]]:
        """What it put on record."""
        return (step.fields for step in self.transcript.steps if isinstance(step, Recorded))

    @property
    def asked(self) -> Iterator[Asked]:
        """Every question, whoever was asked."""
        return (step for step in self.transcript.steps if isinstance(step, Asked))

    def executed(self, *, gold: bool) -> list[Executed]:
        """Return the model's own statements in the order of their runs, or the gold ones (none without the data)."""
        return [step for step in self.transcript.steps if isinstance(step, Executed) and step.gold == gold]

    @cached_property
    def spent(self) -> Spent:
        """What the evaluated model's answers cost."""
        return spent_on(asked for asked in self.asked if asked.model == self.place[0])

    @cached_property
    def spent_aside(self) -> Spent:
        """What the answers of the models beside it cost."""
        return spent_on(asked for asked in self.asked if asked.model != self.place[0])


def spent_on(answered: Iterable[Asked]) -> Spent:
    """Return what answers cost together."""
    spent = Spent()
    for asked in answered:
        spent.add(asked.line)
    return spent


def chat(asked: Asked) -> tuple[Message, ...] | None:
    """Return a prompt and its answer as one chat; None where the prompt cannot be brought back."""
    return None if asked.messages is None else (*asked.messages, Message("assistant", asked.answer.text))
