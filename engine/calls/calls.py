"""A call, step by step: journal -> grant (permit, reservation, durable intent) -> adapter -> journal -> settle."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Final, NamedTuple, Protocol

from ...adapters.base import Answer, Fatal, Fault, Json, Question, Reply, WireRequest
from ..errors import Diverged, Unfinished
from ..journal import Journal, Key, Line
from ..progress import Progress
from ..system.moments import unix_now
from .exchange import exchange
from .ledger import Ledger, answer_line, answer_of, fail_line, sent_line
from .limits.clock import Clock
from .pace import Pace
from .retries import PUSH_BACKS, Again, Attempt, Retries, Sleep, carry_on
from .route import Route, cost_of

CUT: Final = Fault(kind="network", message="cancelled while on the wire", paid=True)
NEVER_SENT: Final = Fault(kind="network", message="never sent: stopped before the send")


class Reservation(NamedTuple):
    """What one attempt holds while it is on the wire."""

    tokens: float
    usd: Decimal


@dataclass(slots=True)
class Call:
    """One question at one place of one dialogue, and the bytes that ask it."""

    key: Key
    route: Route
    question: Question
    wire: WireRequest
    digest: str
    sends: int
    queued: float = 0.0


class Batches(Protocol):
    """What sends calls in batches (`engine.calls.batching`)."""

    def carries(self, call: Call) -> bool:
        """Whether `call` travels in a batch, or is in one already."""
        ...

    async def reply(self, call: Call) -> Reply:
        """Return what its batch brought for `call`, journalled and settled."""
        ...


class Earlier(Protocol):
    """Where an older run's answers are found (`engine.again.seeding`)."""

    def answer(self, key: Key, digest: str) -> Line | None:
        """Return the answer of the same request at the same place as a line of this run, or None."""
        ...


class Calls:
    """Asks questions. One place, one retry layer; every attempt passes through `_attempt`.

    An attempt may take `attempt_timeout` seconds, or what is `left()` of the run's time where that is less.
    """

    def __init__(
        self,
        journal: Journal,
        ledger: Ledger,
        *,
        run: str,
        retries: Retries,
        attempt_timeout: float,
        clock: Clock,
        progress: Progress,
        sleep: Sleep,
        left: Callable[[], float] | None = None,
        seed: Earlier | None = None,
        batches: Batches | None = None,
    ) -> None:
        self._journal = journal
        self._ledger = ledger
        self._run = run
        self._retries = retries
        self._timeout = attempt_timeout
        self._clock = clock
        self._progress = progress
        self._sleep = sleep
        self._left = left
        self._seed = seed
        self._batches = batches
        self._jitter = random.Random()
        self._pace = Pace()

    async def ask(self, key: Key, route: Route, question: Question, repeat: int) -> Answer:
        """Return the answer to `question` at `key`: the journalled one, or a new one, paid once.

        Raises Diverged when the journal holds another question there, and Unfinished when no answer is to be had now.
        """
        wire = route.provider.wire.build(question)
        digest = request_digest(route, wire, repeat)
        line = self._journal.find(key)
        if line is not None:
            return self._replayed(key, line, digest, route.label)
        if self._seed and (old := self._seed.answer(key, digest)):
            self._journal.append(sent_line(key, 1, digest, Decimal(0), route.label))
            self._journal.append(old)
            return answer_of(old)
        call = Call(key, route, question, wire, digest, sends=self._ledger.sends(key))
        attempt = partial(self._attempt, call)
        try:
            return await attempt()
        except Again as first:
            return await self._again(call, attempt, first)

    def _replayed(self, key: Key, line: Mapping[str, Json], digest: str, label: str) -> Answer:
        if line["k"] != "answer":
            raise Diverged(*key, "another step was taken here")
        if line["h"] != digest:
            raise Diverged(*key, "the question is not the one that was answered here")
        self._progress.replayed[label] += 1
        return answer_of(line)

    async def _again(self, call: Call, attempt: Attempt, first: Again) -> Answer:
        with self._progress.backing_off(call.route.label):
            try:
                return await carry_on(attempt, first, self._retries, self._jitter, self._sleep)
            except Again as last:
                fault = last.fault
                raise Unfinished(
                    "provider", f"{call.route.label}: {fault.kind} after {call.sends} sends: {fault.message}"
                ) from None

    async def _attempt(self, call: Call) -> Answer:
        route = call.route
        if route.stopped:
            raise Unfinished(route.stopped.why, route.stopped.message)
        if self._batches and self._batches.carries(call):
            return self._opened(call, await self._batches.reply(call))
        size, options = len(call.wire.body), call.question.options
        hold = Reservation(route.tokens(size, options), route.worst_case(size, options))
        asked = self._clock()
        await route.turnstile.enter(route.label, *hold, again=call.sends > 0)
        call.queued += self._clock() - asked
        call.sends += 1
        try:
            await self._journal.commit(sent_line(call.key, call.sends, call.digest, hold.usd, route.label))
        except BaseException:
            self._settle(call, hold, NEVER_SENT, 0.0)
            raise
        return await self._send(call, hold)

    async def _send(self, call: Call, hold: Reservation) -> Answer:
        """Send once. From here to the journal's buffer nothing awaits but the wire itself."""
        reply: Reply = CUT
        counts = self._progress.of(call.route.label)
        counts.departs()
        started = self._clock()
        try:
            reply = await self._exchange(call)
        finally:
            counts.lands()
            self._settle(call, hold, reply, self._clock() - started)
        if isinstance(reply, Answer):
            await self._journal.durable()
        return self._opened(call, reply)

    def _opened(self, call: Call, reply: Reply) -> Answer:
        """Return the answer that a reply is, or raise what follows from any other."""
        if isinstance(reply, Answer):
            return reply
        if isinstance(reply, Fatal):
            raise self._stop(call, reply)
        raise self._push_back(call.route, reply)

    async def _exchange(self, call: Call) -> Reply:
        route = call.route
        repeatable = (("idempotency-key", idempotency_key(self._run, call.key, call.digest)),)
        deadline = self._deadline()
        reply, hints = await exchange(
            route.transport, route.provider, route.account, call.question, call.wire, deadline, repeatable, self._pace
        )
        route.turnstile.limits.hinted(hints)
        return reply

    def _deadline(self) -> float:
        """Return the seconds that an attempt may take from now; less than usual when the run must end before."""
        return self._timeout if self._left is None else max(0.0, min(self._timeout, self._left()))

    def _settle(self, call: Call, hold: Reservation, reply: Reply, seconds: float) -> None:
        """Put what came into the journal's buffer and close the reservation. Never awaits."""
        route = call.route
        if isinstance(reply, Answer):
            cost = cost_of(route.price, reply.usage)
            self._journal.append(
                answer_line(call.key, call.sends, call.digest, reply, cost, call.queued, seconds, unix_now())
            )
            used = None if reply.usage is None else float(reply.usage.input_tokens + reply.usage.output_tokens)
            route.turnstile.leave(hold.tokens, used, hold.usd, cost)
            route.turnstile.limits.answered()
            route.answers += 1
            self._progress.answered(route.label, seconds)
        else:
            paid = isinstance(reply, Fault) and reply.paid
            self._journal.append(fail_line(call.key, call.sends, reply))
            route.turnstile.leave(hold.tokens, None if paid else 0.0, hold.usd, None if paid else Decimal(0))
            self._progress.failed(route.label, reply)

    def _stop(self, call: Call, fatal: Fatal) -> Unfinished:
        """A bad request stops a model that never answered; one that did answer loses this dialogue only."""
        route = call.route
        if fatal.kind == "bad_request" and route.answers:
            return Unfinished("provider", f"{route.label}: {fatal.message}")
        return route.stop(fatal.message)

    def _push_back(self, route: Route, fault: Fault) -> Exception | Unfinished:
        if fault.retry_after is not None and fault.retry_after > self._retries.ceiling:
            return route.stop(f"the server asks to wait {fault.retry_after:.0f} s ({fault.message})", "parked")
        if fault.kind in PUSH_BACKS:
            route.turnstile.limits.pushed_back(fault, self._retries.first * 2)
        return Again(fault)


def request_digest(route: Route, wire: WireRequest, repeat: int) -> str:
    """Return the hash of all that decides an answer: the bytes, who is asked, by which account, and the repeat.

    Host and port stay out: a simulated provider may move between two parts of a run.
    """
    parts = (route.provider.name, route.account.alias, str(repeat), wire.path, "")
    # Half of a SHA-256, not BLAKE2: bodies are long, and processors have instructions for the one.
    return hashlib.sha256("\0".join(parts).encode() + wire.body).hexdigest()[:32]


def idempotency_key(run: str, key: Key, digest: str) -> str:
    """Return the key that a call carries through its retries and its re-send after a crash."""
    parts = "\0".join((run, key.unit, key.branch, str(key.seq), digest))
    return hashlib.blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
