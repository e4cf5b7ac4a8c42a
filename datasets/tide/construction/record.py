"""What became of one anchor: every attempt at every stage, who judged it, and the pieces that passed.

A run's record lines hold these; the triplets and the funnel are functions of them alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

import msgspec

from ....adapters.base import Json
from ..design import PAPERS, Design
from ..samples import DriftLabel, Layer
from ..structure import CounterfactualVerdict, Tier

StageName: TypeAlias = str
"""`chain`, `evidence`, or a drift (`drift`, `drift 2`, and so on)."""


def drift_stage(number: int) -> StageName:
    """Return the name of the stage that makes a drift; the first is 1."""
    return "drift" if number == 1 else f"drift {number}"


def stages_of(design: Design) -> tuple[StageName, ...]:
    """Return the stages in the order in which an anchor goes through them."""
    drifts = [drift_stage(number) for number in range(1, design.drifts + 1)]
    return (*drifts[: design.opens], "chain", "evidence", *drifts[design.opens :])


CHAIN_CRITERIA = ("plausibility", "re_ask", "counterfactuality")
DRIFT_CRITERIA = ("drift_fit", "stability")

Condition: TypeAlias = Literal["A", "B", "C"]
CONDITIONS: tuple[Condition, ...] = ("A", "B", "C")
"""Table 8: everything original; rewritten and ambiguous with the dialogue; the same without it."""


class Vote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One judge's word. `step` is the place of the call in the anchor's journal; `passed` is empty when two answers
    were no judgement; `verdict` is that of the counterfactual test on `layer`, both empty on a drift.
    """

    judge: str
    step: int
    passed: dict[str, bool] = {}
    layer: str = ""
    verdict: str = ""
    reason: str = ""
    counterfactual: str = ""

    @property
    def accepts(self) -> bool:
        """Whether every criterion passes."""
        return bool(self.passed) and all(self.passed.values())


class Attempt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One try at a piece. `step` is the call that made it, None where no model was asked; `signal` is why it does not
    do, empty when it does.
    """

    step: int | None = None
    signal: str = ""
    detail: str = ""
    votes: tuple[Vote, ...] = ()


class StageRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The attempts at one stage, by what served it: a model's label, `template`, `rules`, `tree`, `none`, or `file`."""

    source: str
    attempts: tuple[Attempt, ...]

    @property
    def last(self) -> Attempt:
        """The attempt that counts."""
        return self.attempts[-1]

    @property
    def kept(self) -> bool:
        """Whether the last attempt passed everything."""
        return not self.last.signal

    @property
    def checked(self) -> bool:
        """Whether the last attempt passed all checks that are no judgement."""
        return self.kept or self.last.signal in JUDGED


NO_JUDGEMENT = "no_judgement"
"""The signal of a candidate on which a judge's two answers were no judgement."""

JUDGED = frozenset((*CHAIN_CRITERIA, *DRIFT_CRITERIA, NO_JUDGEMENT))
"""The signals that come from judges."""


class DriftPiece(msgspec.Struct, frozen=True, kw_only=True):
    """A drift that passed: the user's words, the query after it, and its label."""

    utterance: str
    sql: str
    label: DriftLabel


class Pieces(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What passed so far."""

    ambiguous: str = ""
    layers: tuple[Layer, ...] = ()
    evidence: str = ""
    drifts: tuple[DriftPiece, ...] = ()


class BuildRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One anchor under one generator. A stage that was never reached is None.

    `rebuilt` says under which conditions of Table 8 the tester's query has the gold's result.
    """

    model: str
    anchor: str
    database: str
    split: str
    tier: Tier
    question: str
    evidence: str
    sql: str
    assigned: DriftLabel
    design: Design = PAPERS
    repeat: int = 0
    stages: dict[StageName, StageRecord]
    pieces: Pieces = Pieces()
    rebuilt: dict[Condition, bool] = {}

    @property
    def complete(self) -> bool:
        """Whether it became a triplet."""
        through = len(self.stages) == len(stages_of(self.design))
        return through and all(stage.kept for stage in self.stages.values())

    @property
    def dropped(self) -> tuple[StageName, Attempt] | None:
        """The stage at which it was dropped, with the last attempt there; None when it was not."""
        return next(((name, stage.last) for name, stage in self.stages.items() if not stage.kept), None)

    def fields(self) -> dict[str, Json]:
        """Return what a record line holds."""
        return cast("dict[str, Json]", msgspec.to_builtins(self))


def read_record(fields: Mapping[str, Any]) -> BuildRecord:
    """Return the record that a journal line holds."""
    return msgspec.convert(fields, BuildRecord)


def settled_verdict(claimed: CounterfactualVerdict, votes: Sequence[Vote]) -> CounterfactualVerdict:
    """Return what most of generator and judges say of a layer; the votes have passed, so there is no third verdict."""
    transformed = [claimed, *(vote.verdict for vote in votes)].count("transformed")
    return "transformed" if 2 * transformed > 1 + len(votes) else "eliminated"
