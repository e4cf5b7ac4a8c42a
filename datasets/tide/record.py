"""What a dialogue leaves in the journal for the reports, and what a run plans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, cast

import msgspec

from ...adapters.base import Json
from ...engine.sql.outcome import Status
from .drift import FineSubtype, Verdict
from .samples import PAPERS_SHAPE, Kind, Shape, plan_in_words
from .statistics import SubtypeChange
from .structure import CounterfactualVerdict, Subtype, Tier

Protocol: TypeAlias = Literal["f", "p"]
"""`f` starts from the question, `p` with the first layer resolved (§4.1)."""

PROTOCOLS: tuple[Protocol, ...] = ("f", "p")

Ending: TypeAlias = Literal["complete", "abstained", "cut", "refused", "turn_limit", "simulator_error"]
"""How a dialogue ends, exactly one way: every query was given; or two answers in one turn were no action (`cut` and
`refused` when the second was cut at the token limit or declined by the provider); or the agent used up its turns; or
the user simulator failed at its own task, which alone leaves the dialogue unscored."""

ENDINGS: tuple[Ending, ...] = ("complete", "abstained", "cut", "refused", "turn_limit", "simulator_error")

Step: TypeAlias = Verdict | Literal["unparsable"]
"""Algorithm 1's verdict on an agent's query and the one before it, unless one of them cannot be read."""


class Asked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One clarification and its answer.

    `decided` is the router's word (a layer, `Loc` or `Una`), `acted` what code made of it, and `rho` the router
    decision ρ of §4.3 (the layer, or `Other`). `node` is the atomic node that the answer was bound to. `rejected`
    counts answers that the validator did not pass; `neutral` says that a template stands in their place.
    """

    turn: int
    stage: int
    question: str
    reply: str
    decided: str
    acted: str
    rho: str
    node: str = ""
    rejected: int = 0
    neutral: bool = False


class Queried(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One query of the agent. `agree` holds every named comparison with the gold result, false where it did not run.

    `step` is how its commitments stand to those of the query before; None for the first.
    """

    turn: int
    stage: int
    sql: str
    status: Status
    message: str = ""
    agree: dict[str, bool] = {}
    step: Step | None = None


class DialogueRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One dialogue that came to an end.

    `cluster` is equal for triplets of equal content. `golds` is n of §4.3: the queries that the sample asks for.
    `tier`, `verdict`, `subtype` and `shape` are the triplet's, whichever of its patterns the sample activates. `turns`
    counts the agent's turns, `retries` those among them whose first answer was no action.
    """

    model: str
    protocol: Protocol
    sample: str
    triplet: str
    cluster: str
    kind: Kind
    database: str
    split: str
    tier: Tier
    verdict: CounterfactualVerdict | None = None
    subtype: Subtype | None = None
    fine_subtype: FineSubtype | None = None
    shape: Shape = PAPERS_SHAPE
    golds: Annotated[int, msgspec.Meta(ge=1, le=1000)]  # reports count them through, and a record may be forged
    repeat: int = 0
    ending: Ending
    detail: str = ""
    turns: int
    retries: int = 0
    asked: tuple[Asked, ...] = ()
    queried: tuple[Queried, ...] = ()

    @property
    def plan(self) -> str:
        """The order of chain and drifts, in words."""
        return plan_in_words(self.shape)

    def fields(self) -> dict[str, Json]:
        """Return the record as a journal line holds it."""
        return cast("dict[str, Json]", msgspec.to_builtins(self))


def read_record(fields: Mapping[str, Any]) -> DialogueRecord:
    """Return the record that a journal line holds."""
    return msgspec.convert(fields, DialogueRecord)


class PlannedSamples(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many samples of one kind each model is to talk through under one protocol."""

    protocol: Protocol
    kind: Kind
    tier: Tier
    verdict: CounterfactualVerdict | None = None
    subtype: Subtype | None = None
    shape: Shape = PAPERS_SHAPE
    count: int

    @property
    def plan(self) -> str:
        """The order of chain and drifts, in words."""
        return plan_in_words(self.shape)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a run plans, as its manifest says it: the denominators of `scored / planned`, and the data set's shape."""

    samples: tuple[PlannedSamples, ...]
    changes: tuple[SubtypeChange, ...]
    triplets: int
    synthetic: bool
