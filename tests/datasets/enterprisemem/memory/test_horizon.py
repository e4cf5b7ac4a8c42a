"""What a turn may see, in each session order."""

from __future__ import annotations

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.datasets.enterprisemem.memory.horizon import SessionOrder

STARTS = [0, 1, 5, 7, 10]  # sessions of 1, 4, 2, 3 turns and one more


def seen(order: str, session: int, turn: int) -> list[int]:
    horizon = SessionOrder.parse(order).horizon(STARTS, session, turn)
    return [position for position in range(20) if horizon.sees(position)]


@pytest.mark.parametrize(
    ("order", "session", "turn", "expected"),
    [
        ("sequential", 0, 1, []),
        ("sequential", 1, 1, [0]),
        ("sequential", 3, 3, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ("waves:1", 3, 3, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ("waves:2", 1, 2, [1]),
        ("waves:2", 3, 2, [0, 1, 2, 3, 4, 7]),
        ("waves:100", 3, 2, [7]),
        ("isolated", 3, 2, [7]),
        ("isolated", 3, 1, []),
    ],
)
def test_a_turn_sees_its_own_session_and_what_its_order_allows(
    order: str, session: int, turn: int, expected: list[int]
) -> None:
    assert seen(order, session, turn) == expected
    assert SessionOrder.parse(order).horizon(STARTS, session, turn).sees_anything == bool(expected)


@pytest.mark.parametrize("text", ["sequential", "waves:2", "waves:100", "isolated"])
def test_an_order_reads_as_it_was_written(text: str) -> None:
    assert str(SessionOrder.parse(text)) == text


@pytest.mark.parametrize("text", ["", "waves", "waves:", "waves:0", "waves:-1", "waves:x", "waves:²", "random"])
def test_an_unknown_order_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="Choose sequential, waves:K"):
        SessionOrder.parse(text)
