"""One account's queue in one shard: it grants nothing by itself, but learns from every visit what may go."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Final

from ...adapters.base import Fault, LimitHint
from ..calls.limits.account import LONGEST_WINDOW, Limits
from ..calls.limits.clock import Clock
from ..calls.pace import BURST
from ..calls.turnstile import Purse, Ticket, Turnstile
from ..journal import Line
from .commons import Ask, Event, Given, Granted, Wish, at_most

LONGEST_HOLD: Final = 60.0
"""Seconds: how long an allowance that is used up may hold calls at most, whatever its reset says."""


POLL: Final = 0.05
"""Seconds between two visits of a shard that waits for a call to land, or for money: another shard's, perhaps."""


class SharedLimits:
    """See `limits.limiter`. What happens is noted for the next visit; `bound` and `per_minute` are from the last."""

    def __init__(self, limits: Limits) -> None:
        self.given = Given(
            rpm=limits.requests_per_minute,
            tpm=limits.tokens_per_minute,
            in_flight=limits.in_flight,
            adaptive=limits.finds_its_bound,
        )
        self.flight = 0
        self.bound: int = limits.in_flight
        self.per_minute: float | None = limits.requests_per_minute
        self._happened: list[Event] = []
        self._answers = 0
        self._unused = 0.0
        self._told: dict[str, float] = {}

    def land(self, reserved: float, used: float | None) -> None:
        """See Limiter."""
        self.flight -= 1
        if used is not None:
            self.refund(reserved - used)

    def refund(self, tokens: float) -> None:
        """Give back tokens that were granted and not used; negative where more were."""
        self._unused += tokens

    def answered(self) -> None:
        """See Limiter."""
        self._answers += 1

    def pushed_back(self, fault: Fault, fallback: float) -> None:
        """See Limiter."""
        seconds = fault.retry_after if fault.retry_after is not None else fallback
        reason = f"{fault.kind} (server asked for {seconds:.1f} s)"
        self._happened.append(Event("pushed_back", seconds, why=fault.kind, reason=reason))

    def hinted(self, hints: Iterable[LimitHint]) -> None:
        """See Limiter. Every reply says the same, so only what is new is passed on."""
        for hint in hints:
            if hint.limit and hint.window <= LONGEST_WINDOW:
                resource, per_minute = (
                    "tokens" if hint.resource == "tokens" else "requests",
                    hint.limit * 60 / hint.window,
                )
                if self._told.get(resource) != per_minute:
                    self._told[resource] = per_minute
                    self._happened.append(Event(resource, per_minute))
            if hint.remaining == 0 and hint.reset:
                reason = f"{hint.resource} used up (server resets in {hint.reset:.1f} s)"
                self._happened.append(Event("held", min(hint.reset, LONGEST_HOLD), reason=reason))

    def take_events(self) -> list[Event]:
        """Return what happened since this was asked last."""
        sums = [
            Event(kind, count) for kind, count in (("refunded", self._unused), ("answered", self._answers)) if count
        ]
        events = [*self._happened, *sums]
        self._happened, self._unused, self._answers = [], 0.0, 0
        return events

    def unheard(self, events: Iterable[Event]) -> None:
        """Tell again what a visit may not have brought: what may be said twice, but no refund and no answer."""
        self._told.clear()
        self._happened = [*(event for event in events if event.why or event.reason), *self._happened]


class SharedTurnstile(Turnstile):
    """The queue of one account; `visit_soon` is called when a visit is worth while."""

    def __init__(
        self,
        name: str,
        limits: Limits,
        purse: Purse,
        clock: Clock,
        changed: Callable[[Line], None],
        visit_soon: Callable[[], None],
    ) -> None:
        self._shared = SharedLimits(limits)
        super().__init__(self._shared, purse, clock)
        self._name = name
        self._changed = changed
        self._visit_soon = visit_soon
        self._asking: list[Ticket] = []
        self._waits_for = ""

    def wake(self) -> None:
        """Visit soon."""
        self._visit_soon()

    def _grant_now(self, tokens: float, usd: Decimal) -> bool:
        return False

    def _why(self, first: Ticket) -> str:
        return self._waits_for

    def wish(self) -> Wish:
        """Return what to visit for: the head of the queue asks, as many as may be granted in a tick."""
        while self._waiting and self._waiting[0].granted.done():
            self._waiting.popleft()
        waiting = (ticket for ticket in self._waiting if not ticket.granted.done())
        self._asking = [ticket for ticket, _ in zip(waiting, range(BURST), strict=False)]
        return Wish(
            name=self._name,
            given=self._shared.given,
            flight=self._shared.flight,
            events=self._shared.take_events(),
            asks=[Ask(ticket.tokens, at_most(ticket.usd)) for ticket in self._asking],
        )

    def unheard(self, wish: Wish) -> None:
        """A visit with this wish failed: nobody knows whether it was heard."""
        self._shared.unheard(wish.events)

    def take(self, granted: Granted, committed: Decimal) -> float | None:
        """Let go what may; return the seconds after which to visit again: None when nobody waits.

        `committed` is the most that all shards can have cost so far, in USD.
        """
        self._shared.bound, self._shared.per_minute = granted.bound, granted.per_minute
        self._waits_for = granted.why
        for change in granted.changes:
            self._changed({"limit": change.limit, "old": change.old, "new": round(change.new, 3), "why": change.why})
        for ticket in self._asking[: granted.granted]:
            self._let_go(ticket)
        if granted.broke:
            self.close(self._purse.exhausted(self._asking[granted.granted].usd, committed))
        if len(self._asking) > granted.granted:
            return granted.wait if granted.wait is not None else POLL
        return 0.0 if self._waiting else None

    def _let_go(self, ticket: Ticket) -> None:
        if ticket.granted.done():  # turned away, or cancelled, while the visit was under way
            self._shared.refund(ticket.tokens)
            return
        self._waiting.remove(ticket)  # at the head, unless a retry came before it meanwhile
        self._shared.flight += 1
        self._purse.budget.reserve(ticket.usd)
        ticket.granted.set_result(None)
