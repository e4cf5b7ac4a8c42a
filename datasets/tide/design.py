"""What a triplet is to hold: how deep its chain is, how many drifts there are, and which turn opens the chain."""

from __future__ import annotations

from typing import Final

import msgspec

from ...adapters.base import ConfigurationError
from .samples import Shape, plan_in_words


class Design(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A chain of `depth` layers and so many `drifts`, the paper's by default.

    `opens` is the stage whose words leave the chain open: 0 is the question, 1 the first drift.
    """

    depth: int = 2
    drifts: int = 1
    opens: int = 0

    @property
    def shape(self) -> Shape:
        """How many layers each stage opens."""
        return tuple(self.depth if stage == self.opens else 0 for stage in range(self.drifts + 1))

    def __str__(self) -> str:
        return plan_in_words(self.shape)


PAPERS: Final = Design()


def design_of(depth: int, drifts: int, opens: int) -> Design:
    """Return the design that the options `--depth`, `--drifts` and `--chain-at` ask for. Raises ConfigurationError."""
    for option, given, least in (("--depth", depth, 2), ("--drifts", drifts, 1), ("--chain-at", opens, 0)):
        if given < least:
            raise ConfigurationError(f"{option} must be at least {least}")
    if opens > drifts:
        raise ConfigurationError(f"--chain-at {opens} names a drift that --drifts {drifts} does not reach")
    return Design(depth=depth, drifts=drifts, opens=opens)
