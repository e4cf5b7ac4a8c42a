"""A run's journal, followed across kills, and counted by its lines alone: none of the engine's counts is used here."""

from __future__ import annotations

import tomllib
from collections import Counter
from decimal import Decimal
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from turntide.engine.journal import Tail

from .trial import Trial

PRICES: Final = Path(__file__).with_name("prices.toml")
_MILLION: Final = Decimal(1_000_000)

Question: TypeAlias = tuple[str, str, int]
Attempt: TypeAlias = tuple[Question, int]


class Audit:
    """What a journal's lines add up to. `follow` takes in those that are new.

    Every attempt is on the wire from its `sent` line to its `answer` or `fail`. Those on which a process died are
    `lost` and count at their worst case for ever.
    """

    def __init__(self, journal: Path) -> None:
        self._tail = Tail(journal)
        self.answers: Counter[Question] = Counter()
        self.ends: Counter[str] = Counter()
        self.records: dict[Question, dict[str, Any]] = {}
        self.wire: dict[Attempt, Decimal] = {}
        self.asked: dict[Attempt, str] = {}
        self.sent = self.failed = self.lost = self.mispriced = 0
        self.known = self.exposed = Decimal(0)

    @property
    def answered(self) -> int:
        """Questions that have their answer."""
        return len(self.answers)

    @property
    def committed(self) -> Decimal:
        """The most that the run can have cost so far."""
        return self.known + self.exposed + sum(self.wire.values())

    def follow(self) -> None:
        """Take in the lines that are new. Raises DamagedJournal when one is not as it was written."""
        for line in self._tail.lines():
            match line["k"]:
                case "sent":
                    self.sent += 1
                    self.wire[_attempt(line)] = Decimal(line["usd"])
                    self.asked[_attempt(line)] = line["m"]
                case "answer":
                    self._answer(line)
                case "fail":
                    self.failed += 1
                    reserved = self.wire.pop(_attempt(line))
                    self.exposed += reserved if line["paid"] else 0
                case "record":
                    self.records[_question(line)] = line["fields"]
                case "end":
                    self.ends[line["u"]] += 1
                case _:
                    pass

    def died(self) -> int:
        """The process died: what was on the wire is lost. Return how many calls that were."""
        found = len(self.wire)
        self.lost += found
        self.exposed += sum(self.wire.values())
        self.wire.clear()
        return found

    def _answer(self, line: dict[str, Any]) -> None:
        attempt = _attempt(line)
        del self.wire[attempt]
        self.answers[attempt[0]] += 1
        cost = Decimal(line["usd"])
        self.known += cost
        self.mispriced += cost != price_of(self.asked.pop(attempt), line["usage"])

    def check(self, trial: Trial, cap: Decimal | None = None) -> None:
        """Check what must hold of a journal at any time."""
        again = [unit for unit, ends in self.ends.items() if ends > 1]
        trial.check("every dialogue has at most one end", not again, again[:3])
        twice = [question for question, answers in self.answers.items() if answers > 1]
        trial.check("no question has two answers", not twice, twice[:3])
        trial.check("each answer is settled at its own price", not self.mispriced, f"{self.mispriced} are not")
        if cap is not None:
            said = f"{self.known} + {self.exposed} of {cap}"
            trial.check("what is known plus what is exposed stays under the cap", self.committed <= cap, said)

    def check_provider(self, trial: Trial, stats: dict[str, Any]) -> None:
        """Check the journal against what the provider saw."""
        trial.check(
            "the provider saw no more repeats than attempts failed and calls died on the wire",
            stats["repeats"] <= self.failed + self.lost,
            f"{stats['repeats']} repeats, {self.failed} failed attempts, {self.lost} calls in flight at the kills",
        )
        bill = billed(stats)
        within = bill <= self.committed
        trial.check("what it would bill is within known plus exposed", within, f"{bill} of {self.committed}")


def billed(stats: dict[str, Any]) -> Decimal:
    """Return what the provider would bill by its own counts: all that it answered, whether anybody heard it or not."""
    models = stats["by_model"].items()
    return sum((price_of(f"sim/{name}", _used(model["tokens"])) for name, model in models), Decimal(0))


def price_of(model: str, usage: dict[str, int]) -> Decimal:
    """Return what an answer costs, in USD, by the trial's own price list."""
    name = model.partition("@")[0]
    rates = next(price for price in _prices() if any(fnmatch(name, pattern) for pattern in price["models"]))
    spent = Decimal(rates["input"]) * usage["input_tokens"] + Decimal(rates["output"]) * usage["output_tokens"]
    return spent / _MILLION


def _used(tokens: dict[str, int]) -> dict[str, int]:
    return {"input_tokens": tokens["input"], "output_tokens": tokens["output"]}


@cache
def _prices() -> list[dict[str, Any]]:
    return tomllib.loads(PRICES.read_text())["price"]


def _attempt(line: dict[str, Any]) -> Attempt:
    return _question(line), line["n"]


def _question(line: dict[str, Any]) -> Question:
    return line["u"], line["b"], line["s"]
