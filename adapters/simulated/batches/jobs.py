"""Batches at work: items answered one by one by the same models as single calls, with faults of their own."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from ...base import Json
from ..chance import digest, fraction
from ..exchange import Simulation
from ..failure import Failure
from ..latency import latency
from ..wire import Wire

End: TypeAlias = Literal["succeeded", "errored", "expired", "canceled"]

_STRIDE: Final = 50
"""Items that are answered in one tick of the loop."""
_SHORTEST: Final = 0.001


@dataclass(frozen=True, slots=True)
class Item:
    """One request of a batch."""

    id: str
    path: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Result:
    """What one item came to; `body` is the reply that a single call would have got, empty where it never ran."""

    item: Item
    end: End
    status: int = 0
    body: bytes = b""


@dataclass(slots=True, eq=False)
class Job:
    """One batch. `told` is what its provider repeats of the request that made it; times are in Unix s."""

    name: str
    number: int
    items: Sequence[Item]
    told: dict[str, Json]
    created: float
    results: list[Result] = field(default_factory=list[Result])
    ended: float | None = None
    canceled: float | None = None
    worker: asyncio.Task[None] | None = None

    def count(self, end: End) -> int:
        """Return how many items came to `end`."""
        return sum(result.end == end for result in self.results)


class Jobs:
    """All batches of one wire format, newest last. They live as long as the server."""

    def __init__(self, simulation: Simulation, wire_of: Callable[[str], Wire]) -> None:
        self.all: dict[str, Job] = {}
        self._simulation = simulation
        self._wire_of = wire_of
        self._config = simulation.config.batches
        self._seconds = latency(self._config.seconds)
        self._tries: Counter[str] = Counter()

    def add(self, items: Sequence[Item], told: dict[str, Json], credentials: dict[str, str]) -> Job:
        """Make a batch and begin to work on it; `credentials` are the headers that carry the key."""
        number = len(self.all)
        name = digest(b"%d" % number, self._simulation.run, purpose=b"job").hex()
        job = self.all[name] = Job(name, number, items, told, time.time())
        self._simulation.tally.batches["made"] += 1
        self._simulation.tally.batches["items"] += len(items)
        job.worker = asyncio.get_running_loop().create_task(self._work(job, credentials))
        return job

    def find(self, name: str) -> Job:
        """Return a batch by its name, or raise the Failure that there is none."""
        if name not in self.all:
            raise Failure("not_found", f"No batch is called {name!r}.")
        return self.all[name]

    def cancel(self, job: Job) -> None:
        """Stop working on a batch: what is answered stays answered."""
        if job.ended is None and job.canceled is None:
            job.canceled = time.time()

    def loses_reply(self, job: Job) -> bool:
        """Draw whether the reply to the request that made `job` is lost."""
        lost = self._draw(str(job.number), b"lost") < self._config.lost
        self._simulation.tally.batches["replies_lost"] += lost
        return lost

    def close(self) -> None:
        """Stop all work."""
        for job in self.all.values():
            if job.worker is not None:
                job.worker.cancel()

    async def _work(self, job: Job, credentials: dict[str, str]) -> None:
        """Answer the items, evenly over the time that the batch takes."""
        seconds = self._seconds(self._draw(str(job.number), b"seconds"))
        began = time.monotonic()
        for place, item in enumerate(job.items, 1):
            wait = began + seconds * place / len(job.items) - time.monotonic()
            if wait > _SHORTEST or place % _STRIDE == 0:
                await asyncio.sleep(max(0.0, wait))
            job.results.append(Result(item, "canceled") if job.canceled else self._result(item, credentials))
        self._simulation.tally.batches["expired_items"] += job.count("expired")
        job.ended = time.time()

    def _result(self, item: Item, credentials: dict[str, str]) -> Result:
        """Return what an item comes to; drawn anew when it comes in another batch."""
        self._tries[item.id] += 1
        draw = self._draw(item.id, b"%d" % self._tries[item.id])
        if draw < self._config.expire:
            return Result(item, "expired")
        wire = self._wire_of(item.path)
        if draw < self._config.expire + self._config.error:
            return Result(item, "errored", 500, wire.error(Failure("server", "Simulated error of one item.")))
        with self._simulation.call(wire, item.path, {**credentials, "idempotency-key": item.id}, limited=False) as call:
            plan = call.plan(item.body)
            call.sent(plan)
        if plan.status == 200 and not plan.answers:  # a fault of the connection, which an item does not have
            return Result(item, "errored", 500, wire.error(Failure("server", "Simulated fault of one item.")))
        return Result(item, "succeeded" if plan.status == 200 else "errored", plan.status, plan.body)

    def _draw(self, name: str, purpose: bytes) -> float:
        return fraction(digest(name.encode(), purpose, b"%d" % (self._simulation.config.seed or 0), purpose=b"batch"))
