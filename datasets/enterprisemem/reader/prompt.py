"""What a prompt says, read back from its text: the other side of `prompts.compose`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..prompts import prompts
from ..templates import KEYS

if TYPE_CHECKING:
    from ..sessions import Value

_HEADINGS: Final = prompts().headings
_MARK: Final = "\n## "

# A value goes on over every line that is indented deeper than a field.
_VALUE: Final = r"(.*(?:\n    .*)*)"
_ENTRY: Final = re.compile(
    rf"^(?:Turn|Episode) \d+:\n  question: {_VALUE}\n  sql: {_VALUE}\n  result: {_VALUE}(?:\n  state: {_VALUE})?$",
    re.MULTILINE,
)
_RESOLVED: Final = re.compile(rf"^(\w+)={_VALUE}$", re.MULTILINE)
_BETWEEN_PAIRS: Final = re.compile(r"; (?=\w+=)")


@dataclass(frozen=True, slots=True)
class Shown:
    """An earlier turn as a prompt shows it. Its result is left out: no question takes a value from one."""

    question: str
    sql: str
    state: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Prompt:
    """The parts of a prompt that a reader reads.

    `recent` goes from the oldest turn to the newest, `episodes` from the most similar to the least. An episode does not
    say whose it is. `hints` is the text of the semantic hints. Parts that the prompt does not have are empty.
    """

    source: str
    question: str
    recent: tuple[Shown, ...]
    episodes: tuple[Shown, ...]
    resolved: Mapping[str, Value]
    hints: str


def read(text: str) -> Prompt | None:
    """Return what the user message `text` says, or None when it is no prompt of this benchmark."""
    sections = dict(map(_section, f"\n{text}".split(_MARK)[1:]))
    if _HEADINGS.source not in sections or _HEADINGS.question not in sections:
        return None
    return Prompt(
        source=sections[_HEADINGS.source],
        question=sections[_HEADINGS.question],
        recent=_shown(sections.get(_HEADINGS.recent, "")),
        episodes=_shown(sections.get(_HEADINGS.episodes, "")),
        resolved=_values(_RESOLVED.findall(sections.get(_HEADINGS.resolved, ""))),
        hints=sections.get(_HEADINGS.hints, ""),
    )


def _section(text: str) -> tuple[str, str]:
    heading, _, body = text.partition("\n")
    return heading, body.rstrip("\n")


def _shown(section: str) -> tuple[Shown, ...]:
    return tuple(
        Shown(_joined(question), _joined(sql), _state(state)) for question, sql, _, state in _ENTRY.findall(section)
    )


def _state(text: str) -> dict[str, Value]:
    pairs = (pair.partition("=") for pair in _BETWEEN_PAIRS.split(text))
    return _values((key, value) for key, _, value in pairs)


def _values(pairs: Iterable[tuple[str, str]]) -> dict[str, Value]:
    """Return the values of the keys that questions can need, typed as their SQL wants them."""
    return {key: _typed(key, _joined(text)) for key, text in pairs if key in KEYS}


def _typed(key: str, text: str) -> Value:
    return int(text) if KEYS[key].number and text.isdecimal() else text


def _joined(text: str) -> str:
    """Take the indentation of further lines out again."""
    return text.replace("\n    ", "\n")
