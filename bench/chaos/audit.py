"""Journals, followed across kills, and counted by their lines alone: none of the engine's counts is used here."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass, field
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


@dataclass(slots=True, kw_only=True)
class Tally:
    """What lines of journals add up to; those of several journals are added with `+`. Amounts in USD.

    Every attempt is on the wire from its `sent` line to its `answer` or `fail`. Those on which a process died are
    `lost` and count at their worst case for ever.
    """

    answers: Counter[Question] = field(default_factory=Counter[Question])
    ends: Counter[str] = field(default_factory=Counter[str])
    records: dict[Question, dict[str, Any]] = field(default_factory=dict[Question, dict[str, Any]])
    wire: dict[Attempt, Decimal] = field(default_factory=dict[Attempt, Decimal])
    sent: int = 0
    failed: int = 0
    lost: int = 0
    mispriced: int = 0
    known: Decimal = Decimal(0)
    exposed: Decimal = Decimal(0)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            answers=self.answers + other.answers,
            ends=self.ends + other.ends,
            records=self.records | other.records,
            wire=self.wire | other.wire,
            sent=self.sent + other.sent,
            failed=self.failed + other.failed,
            lost=self.lost + other.lost,
            mispriced=self.mispriced + other.mispriced,
            known=self.known + other.known,
            exposed=self.exposed + other.exposed,
        )

    @property
    def answered(self) -> int:
        """Questions that have their answer."""
        return len(self.answers)

    @property
    def committed(self) -> Decimal:
        """The most that the run can have cost so far."""
        return self.known + self.exposed + sum(self.wire.values())

    def check(self, trial: Trial, cap: Decimal | None = None) -> None:
        """Check what must hold at any time, also of journals that were read one after another while they grew."""
        again = [unit for unit, ends in self.ends.items() if ends > 1]
        trial.check("every dialogue has at most one end", not again, again[:3])
        twice = [question for question, answers in self.answers.items() if answers > 1]
        trial.check("no question has two answers", not twice, twice[:3])
        trial.check("each answer is settled at its own price", not self.mispriced, f"{self.mispriced} are not")
        if cap is not None:
            said = f"{self.known} + {self.exposed} of {cap}"
            trial.check(
                "what is known plus what is exposed stays under the cap", self.known + self.exposed <= cap, said
            )

    def check_provider(self, trial: Trial, stats: dict[str, Any]) -> None:
        """Check the journals against what the provider had seen before they were read."""
        trial.check(
            "the provider saw no more repeats than attempts failed and calls died on the wire",
            stats["repeats"] <= self.failed + self.lost,
            f"{stats['repeats']} repeats, {self.failed} failed attempts, {self.lost} calls in flight at the kills",
        )
        bill = billed(stats)
        within = bill <= self.committed
        trial.check("what it would bill is within known plus exposed", within, f"{bill} of {self.committed}")


class Audit(Tally):
    """The tally of one journal. `follow` takes in the lines that are new.

    `at_work` tells that the last part has not written its end: a process is at it, or was killed.
    """

    def __init__(self, journal: Path) -> None:
        super().__init__()
        self.at_work = False
        self._tail = Tail(journal)
        self._asked: dict[Attempt, str] = {}

    def follow(self) -> None:
        """Take in the lines that are new. Raises DamagedJournal when one is not as it was written."""
        for line in self._tail.lines():
            match line["k"]:
                case "part":
                    self.at_work = "began" in line
                    if self.at_work:
                        self.died()  # whoever was at it before, if anything is open
                case "sent":
                    self.sent += 1
                    self.wire[_attempt(line)] = Decimal(line["usd"])
                    self._asked[_attempt(line)] = line["m"]
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
        self.mispriced += cost != price_of(self._asked.pop(attempt), line["usage"])


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
