"""The reference is complete: whatever can be set, happens, or is counted stands in it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from turntide.adapters.simulated.config import Behaviour, Config, Fault, Limits, Mistake, ModelConfig, Storm
from turntide.adapters.simulated.limits import Clock
from turntide.adapters.simulated.tally import Tally

TEXT = (Path(__file__).parents[3] / "docs" / "simulated-provider.md").read_text()


@pytest.mark.parametrize("struct", [Behaviour, Config, Limits, ModelConfig, Storm])
def test_every_setting_is_documented(struct: type[Config]) -> None:
    assert [name for name in struct.__struct_fields__ if f"`{name}`" not in TEXT] == []


def test_every_mistake_and_fault_is_documented() -> None:
    assert [kind for kind in (*get_args(Mistake), *get_args(Fault)) if f"`{kind}`" not in TEXT] == []


def test_every_count_is_documented() -> None:
    clock: Clock = float
    assert [name for name in Tally(clock).snapshot() if name != "simulated" and f"`{name}`" not in TEXT] == []
