"""One request to the simulated provider, from its headers to its last byte, without a socket.

In order: the key, the request's shape, the model, the prompt's length, the account's limits, the faults, the answer.
What is decided is a `Plan`; `delivery` carries it out.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from types import TracebackType
from typing import Final, Literal, TypeAlias, cast, get_args

from ..base import SIMULATED, Json, Question, Usage
from .chance import digest, fraction, ordered, pick
from .config import UNREAD, Config, Fault, Mistake
from .failure import Failure
from .limits import Clock, Gate
from .models import Model, Models, prompt_tokens
from .reader import Readers
from .tally import Count, Tally
from .weather import Weather
from .wire import Wire

Manner: TypeAlias = Literal["plain", "stall", "drip", "reset", "torn", "duplicate"]

_MANNERS: Final[dict[Fault, Manner]] = {
    "stall": "stall",
    "drip": "drip",
    "reset": "reset",
    "torn": "torn",
    "duplicate": "duplicate",
}
_WHOLE: Final[tuple[Fault | None, ...]] = (None, "late", "drip", "duplicate")
"""The faults that still bring a complete answer."""

_NO_STATUS: Final = "none"
_INTERNAL: Final = "internal"

_LOG: Final = logging.getLogger(__name__)
_GATEWAY_PAGE: Final = b"<html><head><title>%d</title></head><body><center><h1>%d</h1></center></body></html>\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to send, after how many seconds, and in what manner; `answers` when a complete answer is what is sent."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    seconds: float = 0.0
    manner: Manner = "plain"
    answers: bool = False
    usage: Usage | None = None
    mistake: Mistake | None = None


class Simulation:
    """A provider's whole state: its models, its accounts, and what it has seen."""

    def __init__(self, config: Config, *, clock: Clock = time.monotonic, readers: Readers | None = None) -> None:
        self.config = config
        self.models = Models(config, readers or Readers(), clock)
        self.tally = Tally(clock)
        self.faults = ordered(config.faults or {}, get_args(Fault))
        self.weather = Weather(config.storms, clock)
        self.run = os.urandom(8)
        """Keeps the names of batches apart from those of an earlier server."""

    def call(self, wire: Wire, path: str, headers: Mapping[str, str], *, limited: bool = True) -> Call:
        """Return the exchange for a request whose headers have come; use it as a context manager.

        What is not `limited` passes by the account's limits, as the items of a batch do.
        """
        return Call(self, wire, path, headers, limited=limited)

    def stats(self) -> dict[str, Json]:
        """Return what `GET /stats` shows."""
        return self.tally.snapshot()

    def forget(self) -> None:
        """Reset counts, accounts and remembered calls; what is in flight stays so."""
        self.tally.forget()
        self.models.forget()


class Call:
    """One request. Its identity is its `Idempotency-Key`, or its body where it has none."""

    def __init__(
        self, simulation: Simulation, wire: Wire, path: str, headers: Mapping[str, str], *, limited: bool
    ) -> None:
        self._simulation = simulation
        self._limited = limited
        self._tally = simulation.tally
        self._wire = wire
        self._path = path
        self._headers = headers
        key = headers.get("idempotency-key")
        self._keyed = key is not None
        self._id = b"" if key is None else digest(key.encode(errors="surrogateescape"), purpose=b"key")
        self._attempt, self._answered = 0, False
        self._count: Count | None = None
        self._gate: Gate | None = None
        self._admitted: Gate | None = None
        self._taken = 0
        self._status = _NO_STATUS

    def __enter__(self) -> Call:
        self._tally.all.enter()
        if self._keyed:
            self._attempt, self._answered = self._tally.ledger.arrive(self._id, keyed=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._tally.all.in_flight -= 1
        self._tally.status[self._status] += 1
        if self._count is not None:
            self._count.in_flight -= 1
        if self._admitted is not None:
            self._admitted.leave()

    def struck_unread(self) -> bool:
        """Return whether this attempt is reset before its body is read.

        Only a request with a key can be: of any other nothing is known yet that the draw could rest on.
        """
        config = self._simulation.config
        faults = self._simulation.weather.faults(self._simulation.faults)
        if not self._keyed or self._answered or not faults:
            return False
        if pick(faults, fraction(self._draws(config.seed or 0))) != UNREAD:
            return False
        self._tally.faults[UNREAD] += 1
        return True

    def plan(self, body: bytes) -> Plan:
        """Decide what the request gets. Never raises, whatever the body holds."""
        try:
            return self._decide(body)
        except Failure as failure:
            return self.refusal(failure)
        except Exception as error:
            # A reader's bug, most likely. One traceback is enough; the rest is a number in the statistics.
            if not self._tally.faults[_INTERNAL]:
                _LOG.exception("the simulated model failed")
            self._tally.faults[_INTERNAL] += 1
            return self.refusal(Failure("server", f"The simulated model failed: {type(error).__name__}: {error}"))

    def refusal(self, failure: Failure) -> Plan:
        """Return the plan that sends `failure`."""
        headers = self._reply_headers()
        if failure.retry_after is not None:
            headers["retry-after"] = str(ceil(failure.retry_after))
            headers["retry-after-ms"] = str(ceil(failure.retry_after * 1000))
            self._tally.ledger.told_to_wait(self._id, failure.retry_after)
        if failure.kind == "gateway":
            headers["content-type"] = "text/html"
            return Plan(status=failure.status, body=_GATEWAY_PAGE % (failure.status, failure.status), headers=headers)
        mistake = "filter" if failure.kind == "content_filter" else None
        status = self._wire.status(failure)
        return Plan(status=status, body=self._wire.error(failure), headers=headers, mistake=mistake)

    def sent(self, plan: Plan) -> None:
        """Book what was sent. An answer counts even when its client has gone: it was made, and would be paid for."""
        if plan.manner not in ("stall", "reset"):
            self._status = str(plan.status)
        if plan.mistake is not None and (plan.answers or plan.mistake == "filter"):
            self._tally.mistakes[plan.mistake] += 1
        if not plan.answers:
            return
        self._tally.ledger.answer(self._id, keyed=self._keyed)
        for count in filter(None, (self._tally.all, self._count)):
            count.answer(plan.usage)
        if self._gate is not None:
            used = plan.usage.input_tokens + plan.usage.output_tokens if plan.usage else self._taken
            self._gate.settle(self._taken, used)

    def _decide(self, body: bytes) -> Plan:
        if not self._keyed:
            self._id = digest(body, purpose=b"body")
            self._attempt, self._answered = self._tally.ledger.arrive(self._id, keyed=False)
        expected = self._simulation.config.key
        if expected is not None and self._wire.key(self._headers) != expected:
            raise Failure("key", "Incorrect API key provided.")
        question = self._wire.parse(self._path, body)
        model = self._simulation.models.find(question.model)
        self._count = self._tally.model(model.name)
        self._count.enter()
        input_tokens = self._admit(question, model)
        draws = self._draws(model.seed)
        faults = self._simulation.weather.faults(model.faults)
        fault = None if self._answered else pick(faults, fraction(draws))
        fault = None if fault == UNREAD else fault  # its moment was before the body
        self._raise_status(fault)
        return self._answer(question, model, input_tokens, fault, model.latency(fraction(draws[8:])))

    def _admit(self, question: Question, model: Model) -> int:
        """Pass the length check and the account's gate. Return the prompt's tokens."""
        input_tokens = prompt_tokens(question)
        wanted = input_tokens + cast("int", question.options.get("max_tokens", 0))
        if model.context_tokens is not None and wanted > model.context_tokens:
            raise Failure(
                "context_length",
                f"This model's maximum context length is {model.context_tokens} tokens. However, you requested "
                f"{wanted} tokens ({input_tokens} in the messages). Please reduce the length of the messages.",
            )
        if not self._limited:
            return input_tokens
        self._gate = model.gate
        model.gate.enter(wanted)
        self._admitted, self._taken = model.gate, wanted
        return input_tokens

    def _raise_status(self, fault: Fault | None) -> None:
        """Count a fault, and raise the Failure that it is if it is an error status."""
        if fault is None:
            return
        self._tally.faults[fault] += 1
        match fault:
            case "429":
                wait = self._simulation.config.retry_after
                raise Failure("requests", f"Simulated 429. Please try again in {wait:.3f}s.", retry_after=wait)
            case "500":
                raise Failure("server", "Simulated 500.")
            case "529":
                raise Failure("overloaded", "Simulated 529.")
            case "502" | "503":
                raise Failure("gateway", f"Simulated {fault}.", status=int(fault))
            case _:
                pass

    def _answer(self, question: Question, model: Model, input_tokens: int, fault: Fault | None, seconds: float) -> Plan:
        completion = model.complete(question, input_tokens)
        body = self._wire.answer(completion.answer, completion.name)
        return Plan(
            status=200,
            body=body[: len(body) // 2] if fault == "malformed" else body,
            headers=self._reply_headers(),
            seconds=max(seconds, self._simulation.config.late_after) if fault == "late" else seconds,
            manner=_MANNERS.get(fault, "plain") if fault else "plain",
            answers=fault in _WHOLE,
            usage=completion.answer.usage,
            mistake=completion.mistake,
        )

    def _draws(self, seed: int) -> bytes:
        """Return sixteen bytes of chance for this attempt: eight for its fault, eight for its latency."""
        return digest(self._id, b"%d %d" % (self._attempt, seed), purpose=b"attempt")

    def _reply_headers(self) -> dict[str, str]:
        headers = {"content-type": "application/json", SIMULATED: "true"}
        if self._gate is not None:
            headers |= self._wire.limits(self._gate.hints())
        return headers
