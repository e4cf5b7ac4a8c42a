"""What the tests of the statistics share: published examples, and clustered outcomes with a known truth."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "statistics"

Clustered = Callable[..., tuple[NDArray[np.float64], NDArray[np.int64]]]


@pytest.fixture(scope="session")
def published() -> dict[str, Any]:
    """Worked examples by name, each with its source."""
    return json.loads((FIXTURES / "published.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def clustered() -> Clustered:
    """Draw 0/1 outcomes in sessions of 1, 4 or 10 turns whose own rates vary (beta-binomial) around `rate`."""

    def draw(
        rng: np.random.Generator, groups: int, rate: float, correlation: float
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        sizes = rng.choice([1, 4, 10], groups)
        weight = 1 / correlation - 1
        rates = rng.beta(rate * weight, (1 - rate) * weight, groups)
        labels = np.repeat(np.arange(groups), sizes)
        return (rng.random(len(labels)) < rates[labels]).astype(np.float64), labels

    return draw
