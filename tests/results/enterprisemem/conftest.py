"""A sweep that is small enough to be counted by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.support.sweeps import Sweep, Talk

TALKS = (
    Talk(name="NW-1", turns=1),
    Talk(name="NW-2", turns=4),
    Talk(name="SEC-2", source="sec_edgar", turns=4, cluster="twins"),
    Talk(name="SEC-3", source="sec_edgar", turns=4, cluster="twins"),
)
AT_A: Mapping[int, Mapping[str, Any]] = {
    1: {"category": "correct"},
    2: {"category": "preamble", "fallback": "other"},
    3: {"category": "wrong_result", "fallback": "matched"},
    4: {"category": "runtime", "detail": "timeout", "fallback": "same"},
}
"""Without memory the first turn is right, and each later one fails in its own way."""


def told(model: str, condition: str, talk: Talk, turn: int) -> Mapping[str, Any]:
    if condition == "A":
        return AT_A[turn]
    if (model, talk.name, turn) == ("sim/two", "SEC-3", 4):
        agree = {"strict": False, "multiset": True, "bird": True, "ordered": False}
        return {"category": "wrong_result", "agree": agree, "fallback": "other", "shown": (3,), "echoed": 3}
    return {"category": "correct", "fallback": "other" if turn > 1 else ""}


@pytest.fixture
def sweep() -> Sweep:
    """Two models, A and B, 13 turns in each cell: at A 4 are right, at B all but one of sim/two's."""
    return Sweep(talks=TALKS, models=("sim/one", "sim/two"), conditions=("A", "B"), told=told)


@pytest.fixture
def all_conditions(sweep: Sweep) -> Sweep:
    return replace(sweep, conditions=("A", "B", "B_wm5", "C", "D"))
