"""The user as a language model plays it: two questions of its own to an auxiliary model, journalled like any."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from ....adapters.base import Answer, Message
from ....engine.unit import Context
from ..actions import Malformed, read_object
from ..words import words
from .annotation import annotation
from .situation import LOC, UNA, Rejected, Said, SimulatorFault, Situation, Target

LABEL: Final = "user"
"""The label of the auxiliary model that plays the user."""

NONE: Final = "(none)"


class ModelRouter:
    """Stage 1 by the model of label `model`: a JSON object, with one retry when it is none."""

    def __init__(self, model: str = LABEL) -> None:
        self._model = model

    async def route(self, ctx: Context, situation: Situation) -> Target:
        """Ask for the target. Raises SimulatorFault after two unusable answers."""
        prompt = router_prompt(situation)
        answer = await ctx.ask(self._model, prompt)
        try:
            return read_target(answer, situation)
        except Malformed:
            bad = Message("assistant", answer.text.strip() or words().agent.unusable)
            again = await ctx.ask(self._model, [*prompt, bad, Message("user", words().router.note.strip())])
        try:
            return read_target(again, situation)
        except Malformed as error:
            raise SimulatorFault(f"the router's answer is no decision: {error}") from None


class ModelGenerator:
    """Stage 2 by the model of label `model`."""

    def __init__(self, model: str = LABEL) -> None:
        self._model = model

    async def say(self, ctx: Context, situation: Situation, target: Target, rejected: Sequence[Rejected]) -> str:
        """Ask for the answer, with those that did not pass and why. A refusal counts as an empty one."""
        answer = await ctx.ask(self._model, generator_prompt(situation, target, rejected))
        return "" if answer.finish == "refused" else answer.text.strip()


def router_prompt(situation: Situation) -> list[Message]:
    """Return the messages of stage 1: the conversation, the layers with their state, the details, the question."""
    headings = words().headings
    points = [_point(situation, place) for place in range(len(situation.layers))]
    details = [f"{number}. {node.words}" for number, node in enumerate(situation.nodes, 1)]
    sections = {
        headings.conversation: _conversation(situation.conversation),
        headings.points: "\n".join(points) or NONE,
        headings.details: "\n".join(details) or NONE,
        headings.question: situation.question,
    }
    return [Message("system", words().router.system.strip()), Message("user", _sections(sections))]


def generator_prompt(situation: Situation, target: Target, rejected: Sequence[Rejected]) -> list[Message]:
    """Return the messages of stage 2, which hold one annotation and nothing else of the gold query."""
    headings, phrases = words().headings, words().generator
    nothing = phrases.refusal if target.aim == UNA else phrases.withheld if target.withheld else phrases.nothing
    sections = {
        headings.conversation: _conversation(situation.conversation),
        headings.question: situation.question,
        headings.say: annotation(situation, target) or nothing,
    }
    messages = [Message("system", phrases.system.strip()), Message("user", _sections(sections))]
    for each in rejected:
        messages.append(Message("assistant", each.text.strip() or words().agent.unusable))
        messages.append(Message("user", phrases.again.strip().format(problem=each.problem)))
    return messages


def read_target(answer: Answer, situation: Situation) -> Target:
    """Return the decision that a router's answer is. Raises Malformed.

    A detail that is out of range is none; a target must be a layer of the situation, Loc or Una, in any case.
    """
    if answer.finish == "refused":
        raise Malformed("it is a refusal")
    fields = read_object(answer.text)
    aims = {aim.lower(): aim for aim in (*(layer.label for layer in situation.layers), LOC, UNA)}
    match fields.get("target"):
        case str(name) if name.strip().lower() in aims:
            return Target(aims[name.strip().lower()], _detail(fields.get("detail"), situation))
        case other:
            raise Malformed(f"its target is {str(other)[:40]!r}")


def _detail(value: Any, situation: Situation) -> str:  # noqa: ANN401 - whatever the model wrote
    match value:
        case bool():
            return ""
        case int() if 1 <= value <= len(situation.nodes):
            return situation.nodes[value - 1].label
        case _:
            return ""


def _point(situation: Situation, place: int) -> str:
    layer = situation.layers[place]
    fields = {
        "point": layer.label,
        "state": "answered" if layer.label in situation.resolved else "open",
        "about": layer.term,
        "question": layer.question,
        "the user means": layer.answer,
        "and not": layer.alternative,
    }
    return json.dumps(fields, ensure_ascii=False)


def _conversation(turns: Sequence[Said]) -> str:
    return "\n".join(f"{turn.speaker}: {_one_line(turn.text)}" for turn in turns)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _sections(sections: dict[str, str]) -> str:
    return "\n\n".join(f"## {title}\n{text}" for title, text in sections.items())
