"""What judges say of a candidate: each asked by itself, all of them always, and all must pass it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import structs

from ....adapters.base import Message
from ..actions import Malformed
from .answers import SCHEMAS, ChainOpinion, DriftOpinion
from .record import NO_JUDGEMENT, Vote
from .steps import Steps

Opinion: TypeAlias = "type[ChainOpinion] | type[DriftOpinion]"


async def judged(
    steps: Steps, judges: Sequence[str], prompt: Sequence[Message], shape: Opinion, layer: str = ""
) -> tuple[tuple[Vote, ...], tuple[str, str] | None]:
    """Return what all judges say, and the signal and detail of a rejection; None when all pass everything.

    `layer` is the label of the layer that is judged by the one before it.
    """
    votes = tuple([await _vote(steps, judge, prompt, shape, layer) for judge in judges])
    return votes, _rejection(votes)


async def _vote(steps: Steps, judge: str, prompt: Sequence[Message], shape: Opinion, layer: str) -> Vote:
    """Return a vote, without criteria when the judge's two answers were no judgement."""
    try:
        opinion = await steps.ask_twice(judge, prompt, shape, SCHEMAS[shape])
    except Malformed as error:
        return Vote(judge=judge, step=steps.last, layer=layer, reason=str(error))
    said = Vote(judge=judge, step=steps.last, layer=layer, passed=opinion.passed(), reason=opinion.reason)
    if isinstance(opinion, DriftOpinion):
        return said
    return structs.replace(said, verdict=opinion.verdict, counterfactual=opinion.counterfactual.strip())


def _rejection(votes: Sequence[Vote]) -> tuple[str, str] | None:
    """Return the first criterion, in the order of priority, that some judge does not pass, with what the judges say.

    None when all pass everything, as without judges.
    """
    if silent := [vote for vote in votes if not vote.passed]:
        return NO_JUDGEMENT, f"{silent[0].judge}: {silent[0].reason}"
    against = [vote for vote in votes if not vote.accepts]
    if not against:
        return None
    signal = next(name for name in against[0].passed if any(not vote.passed[name] for vote in against))
    return signal, " ".join(f"{vote.judge}: {vote.reason}".strip() for vote in against)
