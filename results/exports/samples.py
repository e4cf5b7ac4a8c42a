"""What is scored at once, as other evaluation tools see it: a prompt, an answer, a target, scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...adapters.base import Json
from ...engine.again.replay import Asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A verdict: whether it holds, what of the answer was judged, and why."""

    holds: bool
    answer: str
    why: str = ""
    details: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One thing that is scored: a turn where turns are scored apart, else a dialogue.

    `question` is what the user asked; `target` the gold statements, empty without the data; `asked` the questions to
    models that belong to it, the evaluated model's last one at `last`. A fault that leaves it unscored is its `fault`.
    """

    id: str
    question: str
    target: Sequence[str]
    asked: Sequence[Asked]
    last: Asked
    scores: Mapping[str, Scored]
    metadata: Mapping[str, Json]
    fault: str = ""
