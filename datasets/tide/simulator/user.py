"""One answer of the simulated user: routed, put into words, validated."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from ....engine.unit import Context
from ..words import words
from .situation import Generator, Rejected, Router, Situation, Target, admitted
from .validator import problem_with

REGENERATIONS: Final = 3
"""How often an answer that does not pass is asked for again; then a neutral one stands in (Appendix E)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the user says. `decided` is the router's word, `target` what was acted on.

    `rejected` counts answers that the validator did not pass; `neutral` says that none passed and a template stands in.
    """

    text: str
    decided: Target
    target: Target
    rejected: int = 0
    neutral: bool = False


class UserSimulator:
    """Answers clarifications. `identifiers` are the names of the schema that no user would say."""

    def __init__(self, router: Router, generator: Generator) -> None:
        self._router = router
        self._generator = generator

    async def reply(self, ctx: Context, situation: Situation, identifiers: Collection[str]) -> Reply:
        """Return the user's answer. Raises SimulatorFault when the router or the generator fails at its task."""
        decided = await self._router.route(ctx, situation)
        target = admitted(decided, situation)
        rejected: list[Rejected] = []
        while len(rejected) <= REGENERATIONS:
            text = await self._generator.say(ctx, situation, target, rejected)
            problem = problem_with(text, situation, target, identifiers)
            if problem is None:
                return Reply(text=text, decided=decided, target=target, rejected=len(rejected))
            rejected.append(Rejected(text, problem))
        return Reply(text=words().rules.neutral, decided=decided, target=target, rejected=len(rejected), neutral=True)
