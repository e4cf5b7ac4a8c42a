"""The five memory conditions (paper §5.2, Table 4) as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Condition:
    """What a model may remember: turns of its own session, episodes of the condition-run, notes on the source.

    A condition without episodes shares nothing between sessions.
    """

    name: str
    window: int
    episodic_top_k: int = 0
    semantic_top_k: int = 0

    @property
    def stateless(self) -> bool:
        """Whether every turn is asked as if it were the first: no history, and no resolved context either."""
        return self.window == 0 and self.episodic_top_k == 0

    @property
    def shares_episodes(self) -> bool:
        """Whether a session can see what earlier sessions of the condition-run left behind."""
        return self.episodic_top_k > 0


CONDITIONS = (
    Condition("A", window=0),
    Condition("B", window=2),
    Condition("B_wm5", window=5),
    Condition("C", window=5, episodic_top_k=3),
    Condition("D", window=5, episodic_top_k=3, semantic_top_k=1),
)
"""In the paper's order. Neighbours from B on differ in one thing each: that is the three-way ablation."""

BY_NAME = {condition.name: condition for condition in CONDITIONS}
