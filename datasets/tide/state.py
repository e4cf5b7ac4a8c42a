"""Where a dialogue stands: an explicit machine whose every way ends in exactly one ending (§4.1, Appendix D).

    waiting for the agent ──Clarify──▶ waiting for the user ──reply──▶ waiting for the agent
            │                                 └─ the simulator fails ─▶ simulator_error
            ├─ Query, stages left ─▶ the next stage's utterance, verbatim ─▶ waiting for the agent
            ├─ Query, last stage ──▶ complete
            ├─ no action, twice ───▶ abstained | cut | refused
            └─ no turn left ───────▶ turn_limit

It knows stages and layers, not how many: one drift after a chain is the paper's plan, others are plans of the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from .actions import Action, Clarify, Query
from .record import Ending, Protocol
from .samples import Layer, Sample, Stage
from .simulator.situation import Said, taken_in
from .simulator.user import Reply

TURNS: Final = 20
"""The most turns that an agent has (Appendix D). A turn is an action; the retry of a malformed answer is none."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn of the dialogue: what the agent did, or what the user said."""

    said: str
    action: Action | None = None


@dataclass(slots=True)
class DialogueState:
    """A dialogue under way. Methods are its transitions; each raises RuntimeError where it is not allowed."""

    sample: Sample
    protocol: Protocol = "f"
    history: list[Exchange] = field(default_factory=list[Exchange])
    resolved: set[str] = field(default_factory=set[str])
    stage: int = 0
    turns: int = 0
    question: str | None = None
    ending: Ending | None = None

    def __post_init__(self) -> None:
        if self.protocol == "p" and not primes(self.sample):
            raise ValueError(f"{self.sample.id} leaves nothing open: the p-protocol has nothing to resolve")
        self._say()

    def _say(self) -> None:
        """Let the user say the current stage's utterance.

        Under the p-protocol the first layer is resolved at once: annotated question and chosen answer (§4.1). Where a
        drift opens the chain, that is after the drift turn, so that the second layer stands alone there too.
        """
        self.history.append(Exchange(self.sample.utterances[self.stage]))
        if self.protocol == "p" and self.layers and not self.resolved:
            first = self.layers[0]
            asked = Clarify(first.question)
            self.history += [Exchange(asked.to_json(), asked), Exchange(first.answer)]
            self.resolved.add(first.label)

    @property
    def current(self) -> Stage:
        """The stage whose utterance was the last to be said."""
        return self.sample.stages[self.stage]

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers that what was said so far leaves open or did, outermost first; none in a drift-only sample."""
        played = self.sample.stages[: self.stage + 1]
        return tuple(layer for stage in played for layer in stage.layers) if self.sample.ambiguous else ()

    @property
    def conversation(self) -> list[Said]:
        """The conversation as the user remembers it: of queries, that there was one."""
        return [_heard(exchange) for exchange in self.history]

    def act(self, action: Action) -> None:
        """Take the agent's action: a question waits for the user, a query brings the next stage or the end."""
        self._expect(waiting=False)
        self.turns += 1
        self.history.append(Exchange(action.to_json(), action))
        match action:
            case Clarify():
                self.question = action.question
            case Query() if self.stage + 1 == len(self.sample.stages):
                self.ending = "complete"
            case Query():
                self.stage += 1
                self._say()
                self._limit()

    def hear(self, reply: Reply) -> None:
        """Take the user's answer to the question that waits for it; an answered layer is resolved."""
        self._expect(waiting=True)
        self.question = None
        self.history.append(Exchange(reply.text))
        if any(layer.label == reply.target.aim for layer in self.layers):
            self.resolved.add(reply.target.aim)
        self._limit()

    def abandon(self, ending: Ending) -> None:
        """End without a last query: the agent gave no action, or the simulator failed."""
        self._expect(waiting=ending == "simulator_error")
        self.ending = ending

    def _limit(self) -> None:
        if self.turns == TURNS:
            self.ending = "turn_limit"

    def _expect(self, *, waiting: bool) -> None:
        if self.ending:
            raise RuntimeError(f"{self.sample.id} has ended ({self.ending})")
        if (self.question is not None) != waiting:
            raise RuntimeError(f"{self.sample.id} waits for the {'agent' if self.question is None else 'user'}")


def primes(sample: Sample) -> bool:
    """Return whether the p-protocol has a layer to resolve."""
    return bool(sample.layers)


def _heard(exchange: Exchange) -> Said:
    match exchange.action:
        case None:
            return Said("user", exchange.said)
        case Clarify(question):
            return Said("analyst", taken_in(question))
        case Query():
            return Said("analyst", "(gives a query)")
