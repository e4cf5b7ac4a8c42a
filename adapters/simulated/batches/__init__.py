"""The batch APIs of the simulated provider: `jobs` runs batches, `openai` and `anthropic` speak of them."""

from __future__ import annotations

from ..exchange import Simulation
from .anthropic import AnthropicDesk
from .desk import Desk
from .openai import OpenAIDesk

__all__ = ["Desk", "desks"]


def desks(simulation: Simulation) -> tuple[Desk, ...]:
    """Return what takes requests about batches, one for each provider."""
    return AnthropicDesk(simulation), OpenAIDesk(simulation)
