"""The journal's lines about batches, and the batches that earlier parts of a run left open.

    batch    made:   a batch is about to be submitted: token, model, number of calls, moment. Its `sent` lines follow,
                     and each of them, like the `answer` or `fail` that settles it, names the token
             id:     the provider has it under this id
             ended:  everything that it brought is in the journal

A batch without its end is open. Its calls are on the provider's side, answered or not, and must not be sent again
before that is known. The order of the lines makes every crash harmless: nothing leaves before `made` is on disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from ....adapters.base import Fault, Json, Reply
from ...errors import RunError, Unfinished
from ...journal import Key, Line, key_of
from ...system.moments import written_now
from ..calls import idempotency_key

BATCH: Final = "batch"
"""The kind of these lines, and the field by which other lines name a token."""


@dataclass(slots=True, eq=False)
class BatchedCall:
    """One call in a batch: `id` names it there, `usd` is what it reserved, `queued` its seconds before it was sent."""

    id: str
    key: Key
    attempt: int
    digest: str
    usd: Decimal
    queued: float = 0.0
    waiter: asyncio.Future[Reply] | None = None

    def wait(self) -> asyncio.Future[Reply]:
        """Return what will hold its reply, for the one dialogue that waits for it."""
        if self.waiter is None:
            self.waiter = asyncio.get_running_loop().create_future()
        return self.waiter

    @property
    def gone(self) -> bool:
        """Whether the dialogue that waited does so no more."""
        return self.waiter is not None and self.waiter.done()

    def resolve(self, reply: Reply) -> None:
        """Give the reply to the dialogue that waits, if one does."""
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(reply)

    def reject(self, reason: BaseException) -> None:
        """Give the dialogue that waits, if one does, a reason of its own to stop."""
        if self.waiter is not None and not self.waiter.done():
            own = Unfinished(reason.why, reason.message) if isinstance(reason, Unfinished) else reason
            self.waiter.set_exception(own)


@dataclass(slots=True, eq=False)
class OpenBatch:
    """A batch that has not ended: made at `since` (Unix seconds), `id` is "" until the provider gave one.

    `given_up` is why this process looks after it no more.
    """

    token: str
    model: str
    since: float
    size: int
    id: str = ""
    calls: dict[Key, BatchedCall] = field(default_factory=dict[Key, BatchedCall])
    given_up: BaseException | None = None


class OpenBatches:
    """A visitor of the journal's opening scan: what is open, by token, and the ids that the run knows."""

    def __init__(self, run: str) -> None:
        self.by_token: dict[str, OpenBatch] = {}
        self.ids: set[str] = set()
        self._run = run

    def visit(self, line: Mapping[str, Any]) -> None:
        """Take in one line of the journal, in order."""
        token = line.get(BATCH)
        if token is None:
            return
        if token not in self.by_token and "made" not in line:
            raise unmade(token)
        match line["k"]:
            case "batch":
                self._batch(token, line)
            case "sent":
                key, digest = key_of(line), line["h"]
                call = BatchedCall(
                    idempotency_key(self._run, key, digest), key, line["n"], digest, Decimal(line["usd"])
                )
                self.by_token[token].calls[key] = call
            case "answer" | "fail":
                self.by_token[token].calls.pop(key_of(line), None)
            case _:
                pass

    def _batch(self, token: str, line: Mapping[str, Any]) -> None:
        if "made" in line:
            self.by_token[token] = OpenBatch(token, line["m"], moment(line["made"]), line["calls"])
        elif "id" in line:
            self.by_token[token].id = line["id"]
            self.ids.add(line["id"])
        else:
            del self.by_token[token]


def unmade(token: str) -> RunError:
    """Return the error of a journal that speaks of a batch that is not open."""
    return RunError(
        f"the journal speaks of the batch {token}, which it never said was made, or said had ended: a line is missing. "
        "Restore the journal from a copy."
    )


def made_line(batch: OpenBatch) -> Line:
    """Return the durable intent of a batch."""
    at = datetime.fromtimestamp(batch.since, UTC).isoformat(timespec="milliseconds")
    return {"k": BATCH, BATCH: batch.token, "made": at, "m": batch.model, "calls": batch.size}


def id_line(batch: OpenBatch) -> Line:
    """Return the line that makes a submitted batch findable."""
    return {"k": BATCH, BATCH: batch.token, "id": batch.id, "at": written_now()}


def ended_line(batch: OpenBatch, how: str, answers: int) -> Line:
    """Return the line after all that a batch brought; `how` is the provider's word for its end."""
    return {"k": BATCH, BATCH: batch.token, "ended": written_now(), "how": how, "answers": answers}


def named(line: Line, batch: OpenBatch) -> Line:
    """Return a line about a call with the batch that it travelled in."""
    return {**line, BATCH: batch.token}


def lost(message: str, *, paid: bool) -> Fault:
    """Return the fault of a call whose batch brought nothing for it."""
    return Fault(kind="network", message=message, paid=paid)


def moment(text: Json) -> float:
    """Return the Unix seconds of a moment in a line."""
    return datetime.fromisoformat(str(text)).timestamp()
