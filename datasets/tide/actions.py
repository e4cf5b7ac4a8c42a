"""An agent's turn: one JSON object that asks or answers (§4.1, Appendix D).

    {"action": "clarify", "question": "..."}
    {"action": "sql", "sql": "..."}

Reading is strict about what a turn is and lenient about what does not change it. The whole answer must be one such
object, alone or as the only content of one Markdown fence; nothing is salvaged from prose, and no action is guessed.
Further fields (a model's own reasoning) are passed over, the name of the action may be in any case, and line breaks may
stand unescaped inside strings, as models write them in SQL.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from ...adapters.base import Json
from ..fences import unfenced


@dataclass(frozen=True, slots=True)
class Clarify:
    """The agent asks the user something."""

    question: str

    def to_json(self) -> str:
        """Return the action as the history shows it."""
        return _written({"action": "clarify", "question": self.question})


@dataclass(frozen=True, slots=True)
class Query:
    """The agent gives its query."""

    sql: str

    def to_json(self) -> str:
        """Return the action as the history shows it."""
        return _written({"action": "sql", "sql": self.sql})


Action: TypeAlias = Clarify | Query


class Malformed(ValueError):
    """The answer is no action; the message says why, in a few words."""


SCHEMA: Final[Mapping[str, Json]] = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"action": {"const": "clarify"}, "question": {"type": "string", "minLength": 1}},
            "required": ["action", "question"],
        },
        {
            "type": "object",
            "properties": {"action": {"const": "sql"}, "sql": {"type": "string", "minLength": 1}},
            "required": ["action", "sql"],
        },
    ]
}
"""The JSON Schema of an action."""


def read_action(answer: str) -> Action:
    """Return the action that an answer is. Raises Malformed."""
    fields = read_object(answer)
    match fields.get("action"):
        case str(name) if name.strip().lower() == "clarify":
            return Clarify(_text(fields, "question"))
        case str(name) if name.strip().lower() == "sql":
            return Query(_text(fields, "sql"))
        case None:
            raise Malformed("it has no action")
        case other:
            raise Malformed(f"its action is {str(other)[:40]!r}")


def read_object(answer: str) -> dict[str, Any]:
    """Return the one JSON object that an answer is, out of its fence if it has one. Raises Malformed."""
    fenced = unfenced(answer, ("json",))
    text = (answer if fenced is None else fenced).strip()
    if not text:
        raise Malformed("it is empty")
    try:
        found: object = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        raise Malformed("it is not one JSON object") from None
    if not isinstance(found, dict):
        raise Malformed("it is not one JSON object")
    return cast("dict[str, Any]", found)


def _text(fields: Mapping[str, Any], name: str) -> str:
    match fields.get(name):
        case str(text) if text.strip():
            return text.strip()
        case _:
            raise Malformed(f"its {name} is missing, empty or no text")


def _written(fields: Mapping[str, str]) -> str:
    return json.dumps(fields, ensure_ascii=False)
