"""Every dialogue of a run, compressed for a page: blocks of a few hundred, each opened when it is looked at.

Prompts repeat each other: within a block every text stands once, and long texts that come back in later blocks (a
schema, a system prompt) move to one shared block. A block is JSON, deflated, in base64, and dialogues name texts by
number (shared ones by -1, -2, ...). What stands there is what journal and data say, cut where a single text would be
longer than `LONGEST`.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import orjson

from ...adapters.base import Json, Message
from ...engine.again.replay import Asked, Executed, Recorded, Transcript
from ...engine.sql.comparison import compare
from ...engine.sql.outcome import Outcome
from ..report import Listed, Reading
from ..transcripts import Turn, turns_of

BLOCK: Final = 1 << 20
"""Characters of distinct text after which a block is closed: little enough to be opened at once."""

SHARED: Final = 1000
"""Characters from which a text that comes back moves to the shared block."""

LONGEST: Final = 100_000


class Texts:
    """Items of JSON by number, each once."""

    def __init__(self) -> None:
        self.items: list[Json] = []
        self.size = 0
        self._numbers: dict[str, int] = {}

    def number(self, key: str, item: Json) -> int:
        """Return the number of an item; `key` is equal exactly for equal items."""
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.items)
            self.items.append(item)
            self.size += len(key)
        return found

    def find(self, key: str) -> int | None:
        """Return the number of the item under `key`, if it is here."""
        return self._numbers.get(key)


@dataclass(frozen=True, slots=True)
class Packed:
    """The list to filter, the shared texts, and the blocks that the list points to; all in base64."""

    index: str
    shared: str
    blocks: Sequence[str]
    count: int


class Packer:
    """Takes in dialogues one by one; memory holds the block that grows, and what is compressed already."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._shared = Texts()
        self._seen: set[int] = set()
        self._long: set[int] = set()
        self._texts = Texts()
        self._dialogues: list[Json] = []
        self._rows: list[tuple[tuple[int, ...], Json]] = []
        self._facets: list[str] = []
        self._words = Texts()
        self._blocks: list[str] = []
        self._gold: dict[int, tuple[Outcome, tuple[str, Json]]] = {}

    def add(self, transcript: Transcript) -> None:
        """Take in a dialogue."""
        records = [step.fields for step in transcript.steps if isinstance(step, Recorded)]
        listed = self._reading.listed(records) if records else Listed(facets={}, outcomes=())
        facets = {**transcript.labels, **listed.facets}
        self._facets += [name for name in facets if name not in self._facets]
        values = [self._word(facets[name]) if name in facets else -1 for name in self._facets]
        outcomes = [self._word(outcome) for outcome in listed.outcomes]
        place = [len(self._blocks), len(self._dialogues)]
        row: Json = cast("Json", [transcript.unit, int(transcript.ended), *place, values, outcomes])
        self._rows.append((self._rank(facets), row))
        self._dialogues.append(self._dialogue(transcript))
        if self._texts.size >= BLOCK:
            self._close()

    def finish(self) -> Packed:
        """Return everything."""
        self._close()
        words = self._words.items
        index: Json = {
            "facets": cast("Json", self._facets),
            "order": {name: list[Json](values) for name, values in self._reading.order.items()},
            "words": words,
            "kinds": [self._kind(str(word)) for word in words],
            "rows": [row for _, row in sorted(self._rows, key=lambda ranked: ranked[0])],
        }
        return Packed(_packed(index), _packed(self._shared.items), self._blocks, len(self._rows))

    def _rank(self, facets: Mapping[str, str]) -> tuple[int, ...]:
        """Return where a dialogue belongs by the facets that have an order; unknown values stand last."""
        order = self._reading.order.items()
        return tuple(
            values.index(facets[name]) if facets.get(name) in values else len(values) for name, values in order
        )

    def _kind(self, outcome: str) -> str:
        """Return how an outcome is shown."""
        reading = self._reading
        named = {"right": reading.right, "unscored": reading.unscored, "ending": reading.endings}
        return next((kind for kind, outcomes in named.items() if outcome in outcomes), "wrong")

    def _close(self) -> None:
        if self._dialogues:
            self._blocks.append(_packed({"texts": self._texts.items, "dialogues": self._dialogues}))
        self._texts, self._dialogues = Texts(), []
        self._seen |= self._long
        self._long.clear()

    def _dialogue(self, transcript: Transcript) -> Json:
        told: dict[tuple[str, str], tuple[Message, ...]] = {}
        return [self._turn(turn, told) for turn in turns_of(transcript)]

    def _turn(self, turn: Turn, told: dict[tuple[str, str], tuple[Message, ...]]) -> Json:
        found: dict[str, Json] = {"asked": self._asked(turn.asked, told)}
        if turn.aside:
            found["aside"] = [self._asked(each, told) for each in turn.aside]
        found["ran"] = [self._executed(each, "") for each in turn.ran]
        names = self._reading.references
        found["gold"] = [
            self._executed(each, names[min(place, len(names) - 1)]) for place, each in enumerate(turn.gold)
        ]
        if turn.ran and turn.gold:
            found["agree"] = cast("Json", compare(turn.gold[0].outcome, turn.ran[-1].outcome))
        found["records"] = [self._item(_shortened(dict(each.fields))) for each in turn.records]
        return found

    def _asked(self, asked: Asked, told: dict[tuple[str, str], tuple[Message, ...]]) -> Json:
        answer = asked.answer
        found: dict[str, Json] = {"model": self._text(asked.model), "answer": self._text(answer.text)}
        if asked.messages is not None:
            before = told.get((asked.branch, asked.model), ())
            found["known"] = _common(before, asked.messages)
            found["prompt"] = [[message.role, self._sections(message.content)] for message in asked.messages]
            told[asked.branch, asked.model] = asked.messages
        if answer.reasoning:
            found["reasoning"] = self._text(answer.reasoning)
        if answer.finish != "stop":
            found["finish"] = f"{answer.finish} {answer.detail}".strip()
        if answer.usage:
            found["tokens"] = [answer.usage.input_tokens, answer.usage.output_tokens]
        return found

    def _sections(self, content: str) -> list[Json]:
        """Return pairs of heading and text: the whole content under no heading, unless it begins with one."""
        if not content.startswith("## "):
            return [["", self._text(content)]]
        parts = (part.partition("\n") for part in content[3:].split("\n\n## "))
        return [[_cut(heading), self._text(text)] for heading, _, text in parts]

    def _executed(self, executed: Executed, name: str) -> Json:
        sql = None if executed.sql is None else self._text(executed.sql)
        return [name, sql, self._texts.number(*self._outcome(executed))]

    def _outcome(self, executed: Executed) -> tuple[str, Json]:
        """Return an outcome without its digests, as text and as JSON; those of gold come again and again."""
        known = self._gold.get(id(executed.outcome))
        if known is None:
            shown: Json = {key: value for key, value in executed.outcome.to_json().items() if key != "digests"}
            known = executed.outcome, (_dumped(shown).decode(), shown)
            if executed.gold:
                self._gold[id(executed.outcome)] = known
        return known[1]

    def _text(self, text: str) -> int:
        text = _cut(text)
        if len(text) < SHARED:
            return self._texts.number(text, text)
        shared = self._shared.find(text)
        if shared is None and hash(text) in self._seen:
            shared = self._shared.number(text, text)
        if shared is not None:
            return -1 - shared
        self._long.add(hash(text))
        return self._texts.number(text, text)

    def _item(self, item: Json) -> int:
        return self._texts.number(_dumped(item).decode(), item)

    def _word(self, word: str) -> int:
        return self._words.number(word, word)


def _cut(text: str) -> str:
    """Return what is shown of a text: longer ones would hold a browser up for minutes."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n... cut here; the journal has all {len(text):,} characters"


def _shortened(value: Json) -> Json:
    """Return a record with every text in it cut."""
    match value:
        case str():
            return _cut(value)
        case Mapping():
            return {name: _shortened(part) for name, part in value.items()}
        case Sequence():
            return [_shortened(part) for part in value]
        case _:
            return value


def _common(before: Sequence[Message], now: Sequence[Message]) -> int:
    """Return how many messages both begin with."""
    pairs = enumerate(zip(before, now, strict=False))
    return next((place for place, (old, new) in pairs if old != new), min(len(before), len(now)))


def _packed(value: Json) -> str:
    squeeze = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    return b64encode(squeeze.compress(_dumped(value)) + squeeze.flush()).decode("ascii")


def _dumped(value: Json) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # a lone surrogate, or a number beyond 64 bits
        return json.dumps(value).encode("ascii")
