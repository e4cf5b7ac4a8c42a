"""What an annotator sees of a sample or of a dialogue: what was said, what is open, and the gold SQL.

No verdict of the construction is among it, and nothing that would give one away: neither the counterfactual question,
which only a transformed layer has, nor subtype, tier or provenance; of a dialogue, not what the router made of the
question (Appendix C.1).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from difflib import SequenceMatcher
from itertools import groupby, pairwise
from typing import Literal, TypeAlias

import msgspec

from ....adapters.printable import printable
from ....datasets.tide.samples import Layer, Sample
from ....datasets.tide.state import DialogueState

Speaker: TypeAlias = Literal["user", "assistant"]

_TOKENS = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|\s+|.""", re.DOTALL)


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


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """Some of a gold query: whether it is `new` against the query above, and whether the one below has `lost` it."""

    text: str
    new: bool = False
    lost: bool = False


class Sql(msgspec.Struct, frozen=True, tag_field="form", tag="sql"):
    """A gold query in pieces."""

    heading: str
    pieces: tuple[Piece, ...]


class Aside(msgspec.Struct, frozen=True, tag_field="form", tag="aside"):
    """What can be looked up, folded at first."""

    heading: str
    text: str


Part: TypeAlias = Said | Point | Sql | Aside


def sample_parts(sample: Sample) -> Iterator[Part]:
    """Yield a sample stage by stage: what the user says, the layers if they are open, and the gold."""
    golds = sample.golds
    neighbours = zip((None, *golds[:-1]), (*golds[1:], None), strict=True)
    stages = zip(sample.stages, sample.utterances, neighbours, strict=True)
    for number, (stage, utterance, (above, below)) in enumerate(stages):
        change = change_name(number, len(golds) - 1)
        told = f"The user changes the request{f' ({change})' if len(golds) > 2 else ''}"
        yield Said(told if number else "The user asks", plain(utterance), "user")
        if sample.ambiguous:
            yield from (_point(layer) for layer in stage.layers)
        yield Sql(f"SQL after {change}" if number else "SQL", marked(stage.sql, above, below))
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
    yield Sql("SQL that is right at this moment", marked(state.current.sql))


def change_name(number: int, count: int) -> str:
    """Return what the page calls one of `count` changes, numbered from 1."""
    return "the change" if count == 1 else f"change {number}"


def plain(text: str) -> str:
    """Return `text` with every sign that would not be seen, or would turn others around, escaped."""
    return "\n".join(map(printable, text.expandtabs(4).split("\n")))


def marked(sql: str, above: str | None = None, below: str | None = None) -> tuple[Piece, ...]:
    """Return `sql` in pieces: what `above` has not, what `below` has no more, and the rest.

    Token by token, so that neither blanks nor the case of words outside quotes make a difference.
    """
    texts = _TOKENS.findall(plain(sql))
    words = [place for place, text in enumerate(texts) if not text.isspace()]
    marks = [(False, False)] * len(texts)
    both = zip(_missing(sql, above), _missing(sql, below), strict=True)
    for place, mark in zip(words, both, strict=True):
        marks[place] = mark
    for before, after in pairwise(words):
        if marks[before] == marks[after]:
            marks[before:after] = [marks[before]] * (after - before)
    runs = groupby(zip(texts, marks, strict=True), key=lambda each: each[1])
    return tuple(Piece("".join(text for text, _ in run), *mark) for mark, run in runs)


def _missing(sql: str, other: str | None) -> list[bool]:
    """Return of each token of `sql` whether `other` lacks it; nothing is missing where there is no other."""
    ours = _compared(sql)
    found = [other is not None] * len(ours)
    for start, _, length in SequenceMatcher(None, ours, _compared(other or ""), autojunk=False).get_matching_blocks():
        found[start : start + length] = [False] * length
    return found


def _compared(sql: str) -> list[str]:
    tokens = (text for text in _TOKENS.findall(plain(sql)) if not text.isspace())
    return [text if text[0] in "'\"" else text.casefold() for text in tokens]


def _point(layer: Layer, resolved: Collection[str] | None = None) -> Point:
    term, question, chosen, other = map(plain, (layer.term, layer.question, layer.answer, layer.alternative))
    state = "" if resolved is None else "answered" if layer.label in resolved else "still open"
    return Point(layer.label, term, question, chosen, other, state)
