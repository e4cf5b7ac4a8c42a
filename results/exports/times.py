"""When things happened, as the journal knows it; always the same moment for the same journal."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from ...engine.again.replay import Asked
from ...engine.folder.parts import PART
from ..reading import RunFolder


def began(run: RunFolder) -> datetime:
    """Return when the first process on the run began; the Unix epoch where the journal does not say."""
    for line in run.lines():
        if line["k"] == PART and "began" in line:
            return datetime.fromisoformat(line["began"])
    return datetime.fromtimestamp(0, UTC)


def came(asked: Asked, otherwise: datetime) -> datetime:
    """Return when an answer came; journals of early versions do not say it of each one."""
    return datetime.fromtimestamp(asked.line["at"], UTC) if "at" in asked.line else otherwise


def sent(asked: Asked, otherwise: datetime) -> datetime:
    """Return when the attempt that brought the answer was sent."""
    when = came(asked, otherwise).timestamp() - asked.line.get("took", 0.0)
    return datetime.fromtimestamp(round(when, 3), UTC)


def span(answers: Iterable[Asked], otherwise: datetime) -> tuple[datetime, datetime]:
    """Return from when to when the answers were on their way."""
    known = list(answers)
    first = min((sent(each, otherwise) for each in known), default=otherwise)
    return first, max((came(each, otherwise) for each in known), default=first)
