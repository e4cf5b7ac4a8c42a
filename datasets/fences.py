"""The one Markdown fence around a model's whole answer."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

_FENCE: Final = "```"


def unfenced(answer: str, languages: Collection[str]) -> str | None:
    """Return what stands in the one fence that `answer` is, or None when it is no such fence.

    The fence may name one of `languages`, in any case. The time is linear in the answer, whatever it holds.
    """
    text = answer.strip()
    if not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return None
    language, newline, inside = text[len(_FENCE) : -len(_FENCE)].partition("\n")
    known = language.strip().lower() in ("", *languages)
    if not (newline and known) or _FENCE in inside:
        return None
    above, _, last = inside.rpartition("\n")
    return inside if last.strip() else above
