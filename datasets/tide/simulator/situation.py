"""What a simulated user is asked and knows, and what a question can be about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from ....engine.unit import Context
from ..nodes import Node
from ..samples import Layer

Speaker = Literal["user", "analyst"]

LOC: Final = "Loc"
UNA: Final = "Una"
OTHER: Final = "Other"
"""ρ of every decision that does not resolve a layer (§4.3)."""

LONGEST: Final = 4_000
"""Characters of a question that the user takes in: no one reads on, and neither do router, generator and validator."""


def taken_in(question: str) -> str:
    """Return as much of a question as the user takes in."""
    return question[:LONGEST]


@dataclass(frozen=True, slots=True)
class Said:
    """One turn of the conversation as the user has heard it."""

    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A clarification and what the user knows when it comes.

    `layers` are those of the stages played so far, outermost first, and `resolved` the labels of those that were
    answered. `nodes` are the atomic nodes of the query that is right at present, before or after a drift.
    """

    question: str
    conversation: Sequence[Said]
    layers: Sequence[Layer]
    resolved: frozenset[str]
    nodes: Sequence[Node]

    def layer(self, label: str) -> Layer | None:
        """Return the layer of that label."""
        return next((layer for layer in self.layers if layer.label == label), None)

    def node(self, label: str) -> Node | None:
        """Return the atomic node of that label."""
        return next((node for node in self.nodes if node.label == label), None)


@dataclass(frozen=True, slots=True)
class Target:
    """What a question is about: `aim` is the label of a layer, `Loc` or `Una`; `node` the one atomic node it may touch.

    The paper's action `Amb` is an aim at a layer. `withheld` says that the answer would give away an open layer, so
    that the user stays with what they have said.
    """

    aim: str
    node: str = ""
    withheld: bool = False

    @property
    def rho(self) -> str:
        """The router decision ρ that the metrics see: the layer, or `Other`."""
        return OTHER if self.aim in (LOC, UNA) else self.aim


def admitted(target: Target, situation: Situation) -> Target:
    """Return what the simulator acts on: a layer counts only once all before it are resolved, and is `Loc` until then.

    Appendix E's first adaptation, for chains of any depth. What an open layer settles is told by asking for that layer
    in its turn and in no other way: as a detail it is withheld.
    """
    unresolved = [layer for layer in situation.layers if layer.label not in situation.resolved]
    early = situation.layer(target.aim) in unresolved[1:]
    settles = target.aim == LOC and any(target.node in layer.nodes for layer in unresolved)
    return Target(LOC, withheld=True) if early or settles else target


class SimulatorFault(Exception):
    """The simulator failed at its own task: no fault of the agent, and not scored (its dialogue ends here)."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """An answer that the validator did not pass, with what is wrong about it."""

    text: str
    problem: str


class Router(Protocol):
    """Stage 1: decides what a question is about."""

    async def route(self, ctx: Context, situation: Situation) -> Target:
        """Return the target. Raises SimulatorFault when there is no telling."""
        ...


class Generator(Protocol):
    """Stage 2: puts one annotation into words."""

    async def say(self, ctx: Context, situation: Situation, target: Target, rejected: Sequence[Rejected]) -> str:
        """Return an answer for `target`; `rejected` are those that were tried before. Raises SimulatorFault."""
        ...


Parts: TypeAlias = "tuple[Router, Generator]"
