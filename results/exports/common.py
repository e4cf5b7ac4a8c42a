"""Columns that tables of every benchmark share."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TypeVar

from ...adapters.base import Message
from ...engine.again.replay import Asked, Executed
from ...engine.sql.comparison import COMPARISONS
from ...engine.sql.outcome import Outcome
from ..spending import Spent
from .columns import Column
from .dialogue import Dialogue
from .types import MESSAGES, STRINGS

T = TypeVar("T")


def place(of: Callable[[T], Dialogue], cell: str, item: str) -> list[Column[T]]:
    """Return the columns that say which dialogue a row belongs to; `cell` is a condition or a protocol."""
    return [
        Column(
            "marks",
            STRINGS,
            "what no reader of the run may miss: `SIMULATED`, `SYNTHETIC`, `RULES`, `INCOMPLETE`, `TAINTED`",
            lambda row: of(row).marks,
        ),
        Column("dialogue", "string", "key of the dialogue, unique in the run", lambda row: of(row).transcript.unit),
        Column("model", "string", "label of the evaluated model", lambda row: of(row).place[0]),
        Column("model_id", "string", "the model as `provider/model`", lambda row: of(row).model.id),
        Column(
            "model_options",
            "string",
            "options sent with every question, as JSON",
            lambda row: as_json(of(row).model.options),
        ),
        Column(cell, "string", f"{cell} under which it was asked", lambda row: of(row).place[1]),
        Column(item, "string", f"id of the {item}", lambda row: of(row).place[2]),
        Column("repeat", "int64", "which repeat, from 0", lambda row: of(row).place[3]),
    ]


def answer(of: Callable[[T], Asked]) -> list[Column[T]]:
    """Return the columns of one answer."""
    return [
        Column("answer", "string", "the model's answer, as it came", lambda row: of(row).answer.text),
        Column("reasoning", "string", "what it showed of its reasoning", lambda row: of(row).answer.reasoning or None),
        Column(
            "finish",
            "string",
            "`stop`, `length` (cut at the token limit) or `refused`",
            lambda row: of(row).answer.finish,
        ),
        Column("finish_detail", "string", "why it was refused or cut", lambda row: of(row).answer.detail or None),
        Column("answered_by", "string", "the model id that came back", lambda row: of(row).answer.model),
    ]


def agreement(of: Callable[[T], dict[str, bool]], headline: str) -> list[Column[T]]:
    """Return a column for every named comparison with the gold result."""
    return [_agreement(of, name, headline) for name in COMPARISONS]


def _agreement(of: Callable[[T], dict[str, bool]], name: str, headline: str) -> Column[T]:
    meaning = f"whether the result equals gold under `{name}`" + (", which decides" if name == headline else "")
    return Column(f"agree_{name}", "bool", f"{meaning}; null where nothing ran", lambda row: of(row).get(name))


def result(of: Callable[[T], Executed | None], prefix: str, whose: str) -> list[Column[T]]:
    """Return the columns of a statement's result."""

    def ok(row: T) -> Outcome | None:
        found = of(row)
        return found.outcome if found and found.outcome.status == "ok" else None

    return [
        Column(f"{prefix}_rows", "int64", f"size of {whose}; null when it failed", lambda row: _rows(ok(row)), "rows"),
        Column(f"{prefix}_columns", STRINGS, f"column names of {whose}", lambda row: _columns(ok(row))),
        Column(
            f"{prefix}_excerpt",
            "string",
            f"the first rows of {whose}, as a JSON list of rows; what JSON cannot hold is an object with one `$` key",
            lambda row: _excerpt(ok(row)),
        ),
    ]


def _rows(outcome: Outcome | None) -> int | None:
    return outcome.rows if outcome else None


def _columns(outcome: Outcome | None) -> Sequence[str] | None:
    return outcome.columns if outcome else None


def _excerpt(outcome: Outcome | None) -> str | None:
    return as_json(outcome.to_json().get("excerpt", [])) if outcome else None


def usage(of: Callable[[T], Spent], prefix: str = "", whose: str = "the model's") -> list[Column[T]]:
    """Return the columns of what answers cost."""

    def counted(name: str, meaning: str, read: Callable[[Spent], int]) -> Column[T]:
        return Column(f"{prefix}{name}", "int64", meaning, lambda row: read(of(row)), "tokens")

    return [
        Column(f"{prefix}answers", "int64", f"{whose} answers on record", lambda row: of(row).answers),
        counted("input_tokens", "tokens in, cached ones among them", lambda spent: spent.input),
        counted("cached_tokens", "of them read from a cache", lambda spent: spent.cached),
        counted("output_tokens", "tokens out, reasoning among them", lambda spent: spent.output),
        counted("reasoning_tokens", "of them reasoning", lambda spent: spent.reasoning),
        Column(
            f"{prefix}usd",
            "double",
            "what the answers cost; null where a price or a count is not known",
            lambda row: None if of(row).unpriced else float(of(row).usd),
            "USD",
        ),
    ]


def messages(of: Callable[[T], Sequence[Message] | None], meaning: str) -> Column[T]:
    """Return the column of a chat."""
    return Column("messages", MESSAGES, f"{meaning}; null without the data", lambda row: _listed(of(row)))


def _listed(told: Sequence[Message] | None) -> list[dict[str, str]] | None:
    return None if told is None else [{"role": each.role, "content": each.content} for each in told]


def as_json(value: object) -> str:
    """Return JSON text in which nothing is lost: lone surrogates stand as escapes."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
