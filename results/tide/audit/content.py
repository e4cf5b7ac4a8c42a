"""What an annotator sees of a sample or of a dialogue: what was said, what is open, and the gold SQL.

No verdict of the construction is among it, and nothing that would give one away: neither the counterfactual question,
which only a transformed layer has, nor subtype, tier or provenance; of a dialogue, not what the router made of the
question (Appendix C.1).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

import msgspec

from ....adapters.printable import printable
from ....datasets.tide.samples import Layer, Sample
from ....datasets.tide.state import DialogueState

Speaker: TypeAlias = Literal["user", "assistant"]

_WORDS = re.compile(r"\w+|\s+|.", re.DOTALL)


class Said(msgspec.Struct, frozen=True, tag_field="form", tag="said"):
    """What one of the two says; `judged` is the question that is to be labelled."""

    heading: str
    text: str
    by: Speaker
    judged: bool = False


class Point(msgspec.Struct, frozen=True, tag_field="form", tag="point"):
    """One layer: what is left open, the clarification, the user's choice, and the other option."""

    label: str
    term: str
    question: str
    chosen: str
    other: str
    state: str = ""


class Sql(msgspec.Struct, frozen=True, tag_field="form", tag="sql"):
    """A gold query in pieces, each with whether it differs from the query that it is read beside."""

    heading: str
    pieces: tuple[tuple[str, bool], ...]


class Aside(msgspec.Struct, frozen=True, tag_field="form", tag="aside"):
    """What can be looked up, folded at first."""

    heading: str
    text: str


Part: TypeAlias = Said | Point | Sql | Aside


def sample_parts(sample: Sample) -> Iterator[Part]:
    """Yield a sample stage by stage: what the user says, the layers if they are open, and the gold."""
    golds = sample.golds
    for number, (stage, utterance) in enumerate(zip(sample.stages, sample.utterances, strict=True)):
        yield Said("The user changes the request" if number else "The user asks", plain(utterance), "user")
        if sample.ambiguous:
            yield from (_point(layer) for layer in stage.layers)
        beside = golds[number - 1] if number else golds[min(1, len(golds) - 1)]
        yield Sql("SQL after the change" if number else "SQL", marked(golds[number], beside))
    if evidence := sample.triplet.rewritten_evidence:
        yield Aside("Evidence", plain(evidence))


def decision_parts(state: DialogueState) -> Iterator[Part]:
    """Yield a dialogue in which a question waits for the user, as the router saw it, without what it decided."""
    *before, asked = state.conversation
    for said in before:
        user = said.speaker == "user"
        yield Said("User" if user else "Agent", plain(said.text), "user" if user else "assistant")
    yield Said("The question to label", plain(asked.text), "assistant", judged=True)
    yield from (_point(layer, state.resolved) for layer in state.layers)
    yield Sql("SQL that is right at this moment", ((plain(state.current.sql), False),))


def plain(text: str) -> str:
    """Return `text` with every sign that would not be seen, or would turn others around, escaped."""
    return "\n".join(map(printable, text.expandtabs(4).split("\n")))


def marked(sql: str, beside: str) -> tuple[tuple[str, bool], ...]:
    """Return `sql` in pieces: those that `beside` has too, and those that it has not."""
    ours, theirs = _WORDS.findall(plain(sql)), _WORDS.findall(plain(beside))
    steps = SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes()
    return tuple(("".join(ours[start:end]), kind != "equal") for kind, _, _, start, end in steps if start < end)


def _point(layer: Layer, resolved: Collection[str] | None = None) -> Point:
    term, question, chosen, other = map(plain, (layer.term, layer.question, layer.answer, layer.alternative))
    state = "" if resolved is None else "answered" if layer.label in resolved else "still open"
    return Point(layer.label, term, question, chosen, other, state)
