"""How long a plan takes under its limits: a model of throughput, run through in simulated time.

It is a queueing model without a formula of its own. Dialogues wait for a place in their model's window, their calls for
their account's limits, and each call then takes as long as a call is taken to; turns of one dialogue, and dialogues of
one lane, follow one another. The limits are the engine's own (`limits.account`), by a clock that jumps from event to
event, so that what is forecast is what the engine would do with a provider of constant latency. What no limit and no
latency tells is left out: retries, the time of SQL, and this machine's own.

The time is never below any of four bounds, and near the greatest of them where one rules:

    requests / rate   ·   tokens / rate   ·   seconds of all calls / calls at once   ·   the longest chain of calls
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final, NamedTuple, TypeAlias

from ..calls.limits.account import AccountLimits, Limits

ORDER: Final = "turns that follow one another"
WINDOW: Final = "dialogues at once"


class Call(NamedTuple):
    """A call as its account's limits see it: tokens reserved and used, and the seconds that it is in flight."""

    account: str
    reserved: float
    used: float
    seconds: float


Talk: TypeAlias = Sequence[Call]
"""One dialogue: its calls, one after another."""
Chain: TypeAlias = Iterable[Sequence[Talk]]
"""One lane: in each step dialogues side by side, and the next step when all have ended."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """The lanes that share one window: those of a model, in plan order, in one process."""

    window: int
    lanes: Iterable[Chain]


class Forecast(NamedTuple):
    """How long it takes, in seconds, and what it waits for most."""

    seconds: float
    bound: str


def forecast(accounts: Mapping[str, Limits], crowds: Iterable[Crowd]) -> Forecast:
    """Return how long all crowds take side by side under the limits of their accounts."""
    world = _World(accounts)
    for crowd in crowds:
        _Window(world, crowd).admit()
    world.run()
    return Forecast(world.now, _bound(world))


def _bound(world: _World) -> str:
    blocked = (entry for queue in world.queues.values() for entry in queue.blocked.items())
    reason, seconds = max(blocked, key=lambda entry: entry[1], default=("", 0.0))
    if seconds >= world.now / 2:
        return reason
    return ORDER if world.longest >= 0.8 * world.now else WINDOW


class _World:
    """Simulated time, and the queue of each account."""

    def __init__(self, accounts: Mapping[str, Limits]) -> None:
        self.now = 0.0
        self.longest = 0.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self.queues = {name: _Queue(self, limits) for name, limits in accounts.items()}

    def after(self, seconds: float, then: Callable[[], None]) -> None:
        """Do something later."""
        heapq.heappush(self._events, (self.now + seconds, next(self._order), then))

    def run(self) -> None:
        """Let time pass until nothing is left to happen."""
        while self._events:
            self.now, _, then = heapq.heappop(self._events)
            then()

    def talk(self, calls: Iterator[Call], then: Callable[[], None]) -> None:
        """Make calls one after another, then go on."""
        call = next(calls, None)
        if call is None:
            then()
        else:
            self.queues[call.account].enter(call, lambda: self.talk(calls, then))


@dataclass(slots=True)
class _Queue:
    """Calls that wait for one account, first come, first served; `blocked` sums the seconds by what they waited for."""

    world: _World
    known: Limits
    limits: AccountLimits = field(init=False)
    blocked: dict[str, float] = field(default_factory=dict[str, float])
    _waiting: deque[tuple[Call, Callable[[], None]]] = field(default_factory=deque[tuple[Call, Callable[[], None]]])
    _alarm: float = -1.0
    _since: tuple[float, str] | None = None

    def __post_init__(self) -> None:
        self.limits = AccountLimits(self.known, lambda: self.world.now, lambda change: None)

    def enter(self, call: Call, then: Callable[[], None]) -> None:
        """Send a call as soon as the limits allow; `then` is done when it has landed."""
        self._waiting.append((call, then))
        if len(self._waiting) == 1:
            self._serve()

    def _serve(self) -> None:
        if self._since:
            since, why = self._since
            self.blocked[why] = self.blocked.get(why, 0.0) + self.world.now - since
            self._since = None
        while self._waiting:
            call, then = self._waiting[0]
            wait = self.limits.wait(call.reserved)
            if wait != 0:
                self._since = self.world.now, self.limits.why(call.reserved)
                if wait is not None and self._alarm <= self.world.now:
                    self._alarm = self.world.now + wait
                    self.world.after(wait, self._serve)
                return
            self._waiting.popleft()
            self.limits.take(call.reserved)
            self.world.after(call.seconds, lambda call=call, then=then: self._land(call, then))

    def _land(self, call: Call, then: Callable[[], None]) -> None:
        self.limits.land(call.reserved, call.used)
        self.limits.answered()
        then()
        self._serve()


class _Window:
    """Admits one crowd's lanes as `scheduler` does: as many as the window is wide, and as many dialogues."""

    def __init__(self, world: _World, crowd: Crowd) -> None:
        self._world = world
        self._lanes = iter(crowd.lanes)
        self._free = crowd.window
        self._slots = crowd.window
        self._waiting: deque[tuple[Talk, Callable[[], None]]] = deque()

    def admit(self) -> None:
        """Begin lanes while there is room."""
        while self._free and (lane := next(self._lanes, None)) is not None:
            self._free -= 1
            self._go_on(iter(lane), 0.0)

    def _go_on(self, steps: Iterator[Sequence[Talk]], so_far: float) -> None:
        """Begin the next step of a lane, whose longest chain of calls took `so_far` seconds; or end the lane."""
        step = next(steps, None)
        if step is None:
            self._world.longest = max(self._world.longest, so_far)
            self._free += 1
            self._world.after(0.0, self.admit)
            return
        longest = so_far + max(sum(call.seconds for call in talk) for talk in step)
        left = len(step)

        def ended() -> None:
            nonlocal left
            left -= 1
            self._slots += 1
            if not left:
                self._go_on(steps, longest)
            self._begin()

        self._waiting.extend((talk, ended) for talk in step)
        self._begin()

    def _begin(self) -> None:
        """Begin dialogues that wait for a slot."""
        while self._slots and self._waiting:
            talk, ended = self._waiting.popleft()
            self._slots -= 1
            self._world.talk(iter(talk), ended)
