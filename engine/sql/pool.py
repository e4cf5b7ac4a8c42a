"""Executes hostile SQL in a few worker processes that can be killed."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

import orjson

from ...adapters.base import ConfigurationError
from .bounds import SqlLimits
from .guards import refuse_text
from .outcome import Execution, Outcome
from .processes import ForkServer, SqlPoolError, Worker, WorkerDied
from .sharing import Shared
from .verdict import died, timed_out

GRACE = 0.25
"""Seconds beyond the deadline that a worker has to stop a statement by itself before it is killed."""

SERVERS = 3
"""Fork servers that are started in place of lost ones: more losses than that are no accident of one process."""

REMEMBERED = 4_096
"""Outcomes that are kept to be shared, of about 1 KB each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolStatistics:
    """What the pool is doing (`queued`, `busy`, process ids of `workers`) and has done since it was opened.

    `executed` counts statements that went to a worker, `shared` those answered by another's execution, `killed`
    workers that overran their grace, `lost` workers that died or ran out of memory.
    """

    queued: int
    busy: int
    workers: tuple[int, ...]
    executed: int
    shared: int
    killed: int
    lost: int


@dataclass(slots=True)
class _Job:
    database: Path
    sql: str
    deadline: float
    done: asyncio.Future[Execution]

    def settle(self, result: Execution | Exception) -> None:
        """Answer who waits, unless the pool has failed them meanwhile."""
        if self.done.done():
            return
        if isinstance(result, Exception):
            self.done.set_exception(result)
        else:
            self.done.set_result(result)


class SqlPool:
    """A queue of statements, first come first served, before a fixed number of workers.

    A statement is answered within its deadline + `grace` + 50 ms of reaching a worker, whatever it does: the worker
    stops it, or is killed and replaced. Use it as an async context manager.
    """

    def __init__(self, *, workers: int | None = None, limits: SqlLimits | None = None, grace: float = GRACE) -> None:
        self.limits = limits or SqlLimits()
        self._size = workers or os.cpu_count() or 1
        self._grace = grace
        self._jobs: asyncio.Queue[_Job] = asyncio.Queue()
        self._unfinished: set[asyncio.Future[Execution]] = set()
        self._shared = Shared(REMEMBERED)
        self._workers: list[Worker] = []
        self._slots: list[asyncio.Task[None]] = []
        self._failure: SqlPoolError | None = SqlPoolError("the SQL pool is not open")
        self._busy = self._executed = self._killed = self._lost = self._servers_lost = 0

    async def __aenter__(self) -> Self:
        self._server = ForkServer(self.limits, lost=self._lose_server)
        try:
            self._workers = await asyncio.gather(*(Worker.start(self._server) for _ in range(self._size)))
        except BaseException:
            self._server.close()
            raise
        self._failure = None
        self._slots = [asyncio.create_task(self._serve(slot)) for slot in range(self._size)]
        for task in self._slots:
            task.add_done_callback(self._slot_ended)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._fail(SqlPoolError("the SQL pool is closed"))
        for task in self._slots:
            task.cancel()
        await asyncio.gather(*self._slots, return_exceptions=True)
        for worker in self._workers:
            worker.close()
        self._server.close()

    async def execute(self, database: Path, sql: str, *, deadline: float) -> Execution:
        """Execute `sql` on `database`, at most `deadline` seconds long; no statement makes this raise.

        Raises ConfigurationError when the database cannot be read, and SqlPoolError when the pool is at fault.
        """
        if refusal := refuse_text(sql, self.limits):
            return Execution(outcome=refusal, seconds=0.0)
        key = blake2b(f"{deadline}\0{_uri(database)}\0{sql}".encode(), digest_size=16).digest()
        return await self._shared.execute(key, lambda: self._submit(database, sql, deadline))

    def statistics(self) -> PoolStatistics:
        """Return what the pool is doing and has done."""
        return PoolStatistics(
            queued=self._jobs.qsize(),
            busy=self._busy,
            workers=tuple(worker.pid for worker in self._workers if worker.alive),
            executed=self._executed,
            shared=self._shared.shared,
            killed=self._killed,
            lost=self._lost,
        )

    def _submit(self, database: Path, sql: str, deadline: float) -> asyncio.Future[Execution]:
        done: asyncio.Future[Execution] = asyncio.get_running_loop().create_future()
        if self._failure is not None:
            done.set_exception(self._failure)
            return done
        self._unfinished.add(done)
        done.add_done_callback(self._unfinished.discard)
        self._jobs.put_nowait(_Job(database, sql, deadline, done))
        return done

    async def _serve(self, slot: int) -> None:
        """Execute one job after another on the worker of `slot`, which is replaced when it is spent."""
        while True:
            job = await self._jobs.get()
            if not self._workers[slot].alive:  # died while it was idle
                await self._replace(slot)
            self._busy += 1
            try:
                while (execution := await self._run(self._workers[slot], job)) is None:
                    await self._replace(slot)
                job.settle(execution)
            except (ConfigurationError, SqlPoolError) as error:
                job.settle(error)
            finally:
                self._busy -= 1
            if not self._workers[slot].alive:
                await self._replace(slot)

    async def _replace(self, slot: int) -> None:
        while True:
            server = self._server
            try:
                self._workers[slot] = await Worker.start(server)
            except SqlPoolError:
                if server is self._server:
                    raise
            else:
                return

    async def _run(self, worker: Worker, job: _Job) -> Execution | None:
        """Return what the job's statement came to, or None when the worker was lost together with its fork server."""
        self._executed += 1
        start = time.perf_counter()
        request = {"uri": _uri(job.database), "sql": job.sql, "deadline": job.deadline}
        try:
            reply = await worker.ask(orjson.dumps(request), job.deadline + self._grace)
        except TimeoutError:
            worker.kill()
            self._killed += 1
            outcome = timed_out(job.deadline)
        except WorkerDied:
            fate = "" if worker.server is not self._server else await worker.fate()
            if worker.server is not self._server:  # no doing of the statement's, which is executed again
                return None
            self._lost += 1
            outcome = died(fate)
        else:
            return self._read(worker, job, reply)
        return Execution(outcome=outcome, seconds=time.perf_counter() - start, worker=worker.pid, doubtful=True)

    def _read(self, worker: Worker, job: _Job, reply: Mapping[str, Any]) -> Execution:
        if "broken" in reply:
            raise ConfigurationError(f"{job.database}: cannot be read as a SQLite database: {reply['broken']}")
        if "error" in reply:
            worker.kill()
            raise SqlPoolError(f"an SQL worker failed:\n{reply['error']}")
        outcome = Outcome.from_json(reply["outcome"])
        if outcome.status == "memory":  # what it holds now is anyone's guess
            worker.kill()
            self._lost += 1
        doubtful = outcome.status in ("timeout", "memory")
        return Execution(outcome=outcome, seconds=reply["seconds"], worker=worker.pid, doubtful=doubtful)

    def _slot_ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self._fail(error if isinstance(error, SqlPoolError) else SqlPoolError(f"the SQL pool failed: {error!r}"))

    def _lose_server(self) -> None:
        """Start another fork server: workers are replaced, and what they were busy with is executed again."""
        self._servers_lost += 1
        for worker in self._workers:
            worker.close()
        if self._servers_lost > SERVERS:
            self._fail(SqlPoolError(f"the fork server of the SQL workers was lost {self._servers_lost} times"))
            return
        self._server.close()
        self._server = ForkServer(self.limits, lost=self._lose_server)

    def _fail(self, failure: SqlPoolError) -> None:
        """Refuse what comes and fail what waits: nobody is left hanging."""
        self._failure = failure
        for done in list(self._unfinished):
            if not done.done():
                done.set_exception(failure)


@lru_cache(256)
def _uri(database: Path) -> str:
    """Return the URI under which SQLite opens a file that nobody, itself included, will change."""
    return f"{database.absolute().as_uri()}?mode=ro&immutable=1"
