"""Labelled questions that a router is scored on: ours, after the three splits of UserSim-Guard (Table 11)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Final, Literal, TypeAlias

import msgspec

from ..nodes import Node
from ..samples import Layer
from ..units import Clause, Commitment
from .situation import LOC, UNA, Said, Situation, Target

Split: TypeAlias = Literal["Una", "Amb", "Loc"]
"""Refusal, labelled ambiguity, unlabelled detail."""

SPLITS: Final[tuple[Split, ...]] = ("Una", "Amb", "Loc")
AIMS: Final = ("L1", "L2", LOC, UNA)
"""What a probe is about, and what a router can say: with the layers apart."""


class Detail(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One atomic node of a scenario, in the user's words."""

    clause: Clause
    words: str


class Point(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One layer of a scenario."""

    term: str
    question: str
    answer: str
    alternative: str

    def layer(self, label: str) -> Layer:
        """Return the layer that this is."""
        return Layer(
            label=label, term=self.term, question=self.question, answer=self.answer, alternative=self.alternative
        )


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request with what it leaves open, its details, and questions about it by what they are about."""

    name: str
    request: str
    details: tuple[Detail, ...]
    L1: Point
    L2: Point
    probes: dict[Literal["L1", "L2", "Loc", "Una"], tuple[str, ...]]

    def situation(self, question: str, aim: str) -> Situation:
        """Return what the router sees. The second layer is asked about once the first is answered."""
        said = [Said("user", self.request)]
        if aim == "L2":
            said += [Said("analyst", self.L1.question), Said("user", self.L1.answer)]
        return Situation(
            question=question,
            conversation=said,
            layers=(self.L1.layer("L1"), self.L2.layer("L2")),
            resolved=frozenset({"L1"} if aim == "L2" else ()),
            nodes=tuple(
                Node(d.words, Commitment((), d.clause, d.words, d.words, (), d.clause), d.words) for d in self.details
            ),
        )


class Probe(msgspec.Struct, frozen=True):
    """One question with its label; `id` is stable."""

    id: str
    aim: str
    situation: Situation

    @property
    def split(self) -> Split:
        """The split that it belongs to."""
        return split_of(self.aim)


def split_of(aim: str) -> Split:
    """Return the paper's action for an aim: `Amb` for every layer."""
    return "Loc" if aim == LOC else "Una" if aim == UNA else "Amb"


@cache
def probes() -> tuple[Probe, ...]:
    """Return all probes, scenario by scenario."""
    file = tomllib.loads(files(__name__.rpartition(".")[0]).joinpath("probes.toml").read_text(encoding="utf-8"))
    return tuple(_probes(msgspec.convert(file["scenarios"], tuple[Scenario, ...])))


def _probes(scenarios: tuple[Scenario, ...]) -> Iterator[Probe]:
    for scenario in scenarios:
        for aim in AIMS:
            for number, question in enumerate(scenario.probes[aim], 1):
                yield Probe(f"{scenario.name}/{aim}/{number}", aim, scenario.situation(question, aim))


def right(probe: Probe, said: Target) -> bool:
    """Return whether a router's decision is the probe's: for a layer, that very layer."""
    return said.aim == probe.aim
