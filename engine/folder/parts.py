"""The journal's lines about the processes that worked on a run, one after another: operations, never results.

    part     began: when, and how many units of each model are planned; or ended: when, how, and why

A part without an end was killed, could not write it (a full disk), or is still at work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ...adapters.base import Json
from ..journal import Line
from ..system.moments import written_now

PART: Final = "part"
_LONGEST = 2000


def began(planned: Mapping[str, int]) -> Line:
    """Return the line of a part that begins now; `planned` counts units by model."""
    return {"k": PART, "began": written_now(), "planned": dict[str, Json](planned)}


def ended(state: str, reasons: Iterable[str], models: Mapping[str, str] | None = None) -> Line:
    """Return the line of the part that ends now; `models` says of each that is not done why it stopped."""
    stopped: dict[str, Json] = {label: reason[:_LONGEST] for label, reason in (models or {}).items()}
    line: Line = {
        "k": PART,
        "ended": written_now(),
        "state": state,
        "reasons": [reason[:_LONGEST] for reason in reasons],
    }
    return {**line, "models": stopped} if stopped else line
