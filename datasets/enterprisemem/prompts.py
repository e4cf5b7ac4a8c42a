"""The prompt of a turn: one template for all models and conditions (paper §5.6, Appendix A).

The words stand in `prompts.toml`. The user message is made of sections, each a `## Heading` and its text, with an empty
line between sections; a section without content is left out. Only headings begin a line with `## `: whatever a model
wrote is indented where it runs over several lines.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from ...adapters.base import Json, Message
from .memory.episode import Episode, StateValue
from .memory.text import bounded

Requirement = Literal["single_figure", "value", "rows"]

SQL_LIMIT = 4_000
"""Characters of generated SQL that a prompt shows of one turn: about ten times the longest gold query."""

BREAKDOWN = re.compile(
    r"\b(by|per|each|every|which|list|top|compare|breakdown|monthly|quarterly|yearly)\b", re.IGNORECASE
)
SALES = re.compile(r"\bsales\b", re.IGNORECASE)
METRIC = re.compile(r"\b(revenue|net income|cash|total assets|total liabilities)\b", re.IGNORECASE)
WHICH = re.compile(r"\b(which|when|who)\b", re.IGNORECASE)


class Headings(msgspec.Struct, frozen=True):
    """The section headings, in the order of the prompt."""

    source: str
    schema: str
    guidance: str
    recent: str
    episodes: str
    resolved: str
    hints: str
    question: str
    requirements: str


class Prompts(msgspec.Struct, frozen=True):
    """`prompts.toml` as values; `guidance` and `hints` are by source."""

    system: str
    reminder: str
    guidance: dict[str, tuple[str, ...]]
    hints: dict[str, tuple[str, ...]]
    requirements: dict[Requirement, str]
    headings: Headings


@cache
def prompts() -> Prompts:
    """Return the words of every prompt."""
    return msgspec.convert(tomllib.loads(_resource().decode()), Prompts)


def identity() -> dict[str, Json]:
    """Return the sha256 of the prompt file: part of the manifest."""
    return {"prompts_sha256": hashlib.sha256(_resource()).hexdigest()}


def requirement(source: str, question: str) -> Requirement:
    """Return which of the three output requirements goes with a question, by its words and its source alone.

    `single_figure`: Northwind sales that are not broken down; `value`: SEC questions for a metric's values (not for
    which year or company); `rows`: everything else.
    """
    if source == "northwind" and SALES.search(question) and not BREAKDOWN.search(question):
        return "single_figure"
    if source == "sec_edgar" and METRIC.search(question) and not WHICH.search(question):
        return "value"
    return "rows"


def compose(
    source: str,
    schema: str,
    recent: Sequence[Episode],
    episodes: Sequence[Episode],
    resolved: Iterable[tuple[str, StateValue]],
    hints: Sequence[str],
    question: str,
) -> tuple[Message, Message]:
    """Return system and user message.

    `source` is `northwind`, `sec_edgar` or `bird`; `schema` its DDL. `recent` goes from the oldest turn to the newest,
    `episodes` from the most similar to the least.
    """
    words = prompts()
    heading = words.headings
    sections = (
        (heading.source, source),
        (heading.schema, schema.strip()),
        (heading.guidance, _bullets(words.guidance[source])),
        (heading.recent, _turns("Turn", ((episode.turn, episode) for episode in recent))),
        (heading.episodes, _turns("Episode", enumerate(episodes, 1))),
        (heading.resolved, "\n".join(_pairs(resolved))),
        (heading.hints, _bullets(hints)),
        (heading.question, question),
        (heading.requirements, words.requirements[requirement(source, question)]),
    )
    parts = [f"## {title}\n{text}" for title, text in sections if text]
    return Message("system", words.system), Message("user", "\n\n".join((*parts, words.reminder)))


def schema_text(ddl: Iterable[tuple[str, str, str | None]]) -> str:
    """Return the schema section for rows of (type, name, sql) from sqlite_master: tables and views, by type and name.

    SQLite's own tables and entries without SQL are left out.
    """
    kept = sorted((kind, name, sql) for kind, name, sql in ddl if kind in ("table", "view") and sql)
    return "\n\n".join(f"{sql.strip()};" for _, name, sql in kept if not name.startswith("sqlite_"))


def _turns(label: str, numbered: Iterable[tuple[int, Episode]]) -> str:
    return "\n".join(line for number, episode in numbered for line in _turn(f"{label} {number}", episode))


def _turn(title: str, episode: Episode) -> Iterator[str]:
    yield f"{title}:"
    yield f"  question: {_indented(episode.question)}"
    yield f"  sql: {_indented(bounded(episode.sql, SQL_LIMIT)) or '(none)'}"
    yield f"  result: {_indented(episode.result)}"
    if episode.state:
        yield f"  state: {'; '.join(_pairs(episode.state.items()))}"


def _pairs(values: Iterable[tuple[str, StateValue]]) -> Iterator[str]:
    return (f"{key}={_indented(str(value))}" for key, value in values)


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")


def _resource() -> bytes:
    return files(__name__.rpartition(".")[0]).joinpath("prompts.toml").read_bytes()
