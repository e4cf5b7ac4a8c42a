"""The cap on money, held by reservation: cap >= known + exposed + reserved, always."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

ZERO = Decimal(0)


@dataclass(slots=True)
class Budget:
    """What a run has spent and might have spent, in USD.

    `known` is the cost of settled calls, `exposed` the worst case of calls that were sent and whose price nobody
    will ever know (drops, time-outs, crashes), `reserved` the worst case of calls on the wire now.
    """

    cap: Decimal | None = None
    known: Decimal = ZERO
    exposed: Decimal = ZERO
    reserved: Decimal = ZERO

    @property
    def committed(self) -> Decimal:
        """The most that the run can have cost so far."""
        return self.known + self.exposed + self.reserved

    def fits(self, amount: Decimal) -> bool:
        """Whether a call of at most `amount` may be sent."""
        return self.cap is None or self.committed + amount <= self.cap

    def reserve(self, amount: Decimal) -> None:
        """A call of at most `amount` goes out."""
        self.reserved += amount

    def reopen(self, amount: Decimal) -> None:
        """A call that counted as exposed is still under way, in a batch: it may come back."""
        self.exposed -= amount
        self.reserved += amount

    def settle(self, amount: Decimal, cost: Decimal | None) -> None:
        """A call that had reserved `amount` came back at `cost`; None: unknown for ever, so it stays exposed."""
        self.reserved -= amount
        if cost is None:
            self.exposed += amount
        else:
            self.known += cost
