"""The journal's lines about calls: what they hold, and what the run owes by them.

    sent     an attempt is about to leave: key, attempt, hash, model, the most it can cost
    answer   it came back: the whole answer, its usage and cost
    fail     it did not: why, and whether it may have cost money; the question is asked again on resume

A `sent` line that neither follows is a call that was on the wire when a process died: it counts at its worst case
for ever. So the cap holds across crashes: cap >= known + exposed, by the lines alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast

import msgspec

from ...adapters.base import Answer, Fatal, Fault, Json, Usage
from ..journal import Key, Line, key_of, place
from .budget import Budget


class Ledger:
    """What earlier parts of a run have spent and left open; a visitor of the journal's opening scan."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._sends: dict[Key, int] = {}
        self._open: dict[tuple[Key, int], Decimal] = {}

    def visit(self, line: Mapping[str, Json]) -> None:
        """Take in one line of the journal, in order."""
        kind = line["k"]
        if kind not in ("sent", "answer", "fail"):
            return
        key, attempt = key_of(line), cast(int, line["n"])
        if kind == "sent":
            self._sends[key] = attempt
            self._open[key, attempt] = Decimal(cast(str, line["usd"]))
            return
        reserved = self._open.pop((key, attempt), Decimal(0))
        if kind == "answer":
            self._sends.pop(key, None)
            self._count(reserved, Decimal(cast(str, line["usd"])) if "usd" in line else None)
        else:
            self._count(reserved, None if line["paid"] else Decimal(0))

    def close(self) -> int:
        """End the scan: what is still open stays exposed at its worst case. Return how many calls that are."""
        for reserved in self._open.values():
            self._budget.exposed += reserved
        left = len(self._open)
        self._open.clear()
        return left

    def sends(self, key: Key) -> int:
        """Return how often the unanswered question at `key` was sent before this process."""
        return self._sends.get(key, 0)

    def _count(self, reserved: Decimal, cost: Decimal | None) -> None:
        if cost is None:
            self._budget.exposed += reserved
        else:
            self._budget.known += cost


def sent_line(key: Key, attempt: int, digest: str, usd: Decimal, model: str) -> Line:
    """Return the durable intent of an attempt."""
    return {"k": "sent", **place(key), "n": attempt, "h": digest, "m": model, "usd": str(usd)}


def answer_line(
    key: Key, attempt: int, digest: str, answer: Answer, usd: Decimal | None, queued: float, took: float, at: float
) -> Line:
    """Return an answer's line.

    `queued` and `took` are seconds, `at` the Unix time at which it came; they are operations, never results.
    """
    line: Line = {"k": "answer", **place(key), "n": attempt, "h": digest, "text": answer.text, "model": answer.model}
    if usd is not None:
        line["usd"] = str(usd)
    if answer.usage is not None:
        line["usage"] = cast(Json, msgspec.to_builtins(answer.usage))
    if answer.finish != "stop":
        line["finish"], line["detail"] = answer.finish, answer.detail
    if answer.reasoning:
        line["reasoning"] = answer.reasoning
    if answer.simulated:
        line["simulated"] = True
    line["queued"], line["took"] = round(queued, 6), round(took, 6)
    line["at"] = round(at, 3)
    return line


def fail_line(key: Key, attempt: int, failure: Fault | Fatal) -> Line:
    """Return the diagnosis of an attempt that brought no answer: type and message, no traceback."""
    paid = isinstance(failure, Fault) and failure.paid
    line: Line = {"k": "fail", **place(key), "n": attempt, "kind": failure.kind, "message": failure.message[:500]}
    line["paid"] = paid
    if failure.status is not None:
        line["status"] = failure.status
    return line


def answer_of(line: Mapping[str, Any]) -> Answer:
    """Return the answer that a line holds."""
    return Answer(
        text=line["text"],
        model=line["model"],
        usage=msgspec.convert(line["usage"], Usage) if "usage" in line else None,
        finish=line.get("finish", "stop"),
        detail=line.get("detail", ""),
        reasoning=line.get("reasoning", ""),
        simulated="simulated" in line,
    )
