"""Triplets and the samples that they spawn (§3.1), and the JSON file that carries them (docs/tide-format.md).

A triplet is an ordered plan of *stages*. Each stage is one thing that the user says and the gold query that is right
until they say the next. The paper's design is two stages: the question about the anchor, which leaves two layers open
when it is asked ambiguously, and one drift. More layers, several drifts, and a drift before the chain are other plans
of the same stages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

from .drift import FineSubtype
from .structure import CounterfactualVerdict, Subtype, Tier

Kind: TypeAlias = Literal["chain", "drift", "joint"]
"""The three sample sets: chain-only, drift-only and joint."""

KINDS: tuple[Kind, ...] = ("chain", "drift", "joint")
SUBTYPES: tuple[Subtype, ...] = ("value", "constraint", "projection")
VERDICTS: tuple[CounterfactualVerdict, ...] = ("eliminated", "transformed")
TIERS: tuple[Tier, ...] = ("basic", "intermediate", "advanced")

FORMAT = "turntide-tide-1"

Shape: TypeAlias = "tuple[int, ...]"
"""How many layers each stage of a triplet opens, stage by stage; each stage but the first is a drift."""

PAPERS_SHAPE: Shape = (2, 0)
"""A question that leaves two layers open, and one drift."""


class Layer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One layer of clarification, which may be asked for only once the layer before it is resolved.

    `label` is L1, L2, and so on through the whole triplet; `term` is what the utterance leaves open, in its own words;
    `question` is the annotated clarification, `answer` the user's choice and `alternative` the other interpretation.
    `verdict` is the outcome of the counterfactual test (§2.1) against the layer before, which the first layer lacks;
    `counterfactual` is the question that stands in this one's place under the alternative of the layer before, and is
    empty when that eliminates it. `nodes` are the labels of the gold's atomic nodes that the answer settles.
    """

    label: str
    term: str
    question: str
    answer: str
    alternative: str
    verdict: CounterfactualVerdict | None = None
    counterfactual: str = ""
    nodes: tuple[str, ...] = ()


class DriftLabel(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a stage departs from the one before it. `fine_subtype` is the output clause that a projection retracts."""

    subtype: Subtype
    fine_subtype: FineSubtype | None = None


class Stage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the user says, and the gold query of what they want from then on.

    `utterance` is complete; `ambiguous` says the same and leaves `layers` open, and is empty when there are none.
    `drift` is set on every stage but the first. `nodes` gives atomic nodes of the gold, by label, in the user's words;
    those it lacks are put into words by `nodes.atomic_nodes`.
    """

    utterance: str
    sql: str
    tier: Tier
    ambiguous: str = ""
    layers: tuple[Layer, ...] = ()
    drift: DriftLabel | None = None
    nodes: dict[str, str] = {}


class Triplet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One anchor with its chain and its drift.

    `split` is the source split of the anchor (BIRD's `dev` or `train`, `synthetic` for ours). `evidence` is as the
    source has it; `rewritten_evidence` lacks what resolves the layers (Appendix B.3), and agents see only this one.
    `provenance` says for each part (`anchor`, `chain`, `evidence`, `drift`, `checks`) where it comes from.
    """

    id: str
    database: str
    split: str
    evidence: str
    rewritten_evidence: str
    stages: tuple[Stage, ...]
    provenance: dict[str, str] = {}

    @property
    def question(self) -> str:
        """The original, unambiguous question."""
        return self.stages[0].utterance

    @property
    def ambiguous_question(self) -> str:
        """The question as a chain sample opens with it."""
        return self.stages[0].ambiguous or self.stages[0].utterance

    @property
    def shape(self) -> Shape:
        """How many layers each of the stages opens."""
        shape = tuple(len(stage.layers) for stage in self.stages)
        return PAPERS_SHAPE if shape == PAPERS_SHAPE else shape  # itself, which records leave out as their default

    @property
    def layers(self) -> tuple[Layer, ...]:
        """All layers, outermost first."""
        return tuple(layer for stage in self.stages for layer in stage.layers)

    @property
    def drifts(self) -> tuple[Stage, ...]:
        """The stages that retract something: exactly one in the paper's design."""
        return self.stages[1:]

    @property
    def verdict(self) -> CounterfactualVerdict | None:
        """The verdict of the first dependent layer, L2."""
        return next((layer.verdict for layer in self.layers if layer.verdict), None)

    @property
    def subtype(self) -> Subtype | None:
        """The subtype of the first drift."""
        return next((stage.drift.subtype for stage in self.stages if stage.drift), None)

    @property
    def content_key(self) -> str:
        """A hash of what is said and of the golds: triplets of equal content are one cluster, whatever their ids."""
        said = [(stage.utterance, stage.ambiguous, stage.layers, stage.sql) for stage in self.stages]
        return hashlib.sha256(msgspec.json.encode((self.database, said))).hexdigest()[:16]


def plan_in_words(shape: Shape) -> str:
    """Return the order of chain and drifts as reports name it: `chain 2, drift` is the paper's."""
    said = [f"{'drift, ' if stage else ''}{f'chain {layers}' if layers else ''}" for stage, layers in enumerate(shape)]
    return ", ".join(part.removesuffix(", ") for part in said if part) or "question"


@dataclass(frozen=True, slots=True)
class Sample:
    """One dialogue task: a triplet with one or both of its patterns active."""

    triplet: Triplet
    kind: Kind

    @property
    def id(self) -> str:
        """The id by which reports name the sample, such as `financial-007:joint`."""
        return f"{self.triplet.id}:{self.kind}"

    @property
    def ambiguous(self) -> bool:
        """Whether the chain is active: the layers are open at first, and utterances are the ambiguous ones."""
        return self.kind != "drift"

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages that this sample plays, in order."""
        return self.triplet.stages[:1] if self.kind == "chain" else self.triplet.stages

    @property
    def utterances(self) -> tuple[str, ...]:
        """What the user says: the question, then each drift turn, injected verbatim after the SQL before it."""
        return tuple(
            stage.ambiguous if self.ambiguous and stage.ambiguous else stage.utterance for stage in self.stages
        )

    @property
    def golds(self) -> tuple[str, ...]:
        """The gold queries, one for each utterance: their number is n of §4.3."""
        return tuple(stage.sql for stage in self.stages)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers that are open in this sample, outermost first; none when the chain is not active."""
        return tuple(layer for stage in self.stages for layer in stage.layers) if self.ambiguous else ()


def samples_of(triplet: Triplet) -> Iterator[Sample]:
    """Yield the samples of `triplet` in the order of `KINDS`.

    The paper's design gives all three. A plan without a drift has no drift-only and no joint sample, and a plan whose
    question leaves nothing open has no chain-only one; a chain that a drift opens is part of the joint sample alone.
    """
    if triplet.stages[0].layers:
        yield Sample(triplet, "chain")
    if triplet.drifts:
        yield Sample(triplet, "drift")
        if triplet.layers:
            yield Sample(triplet, "joint")


def samples(triplets: Iterable[Triplet]) -> Iterator[Sample]:
    """Yield the samples of all triplets, triplet by triplet."""
    for triplet in triplets:
        yield from samples_of(triplet)
