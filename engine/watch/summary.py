"""How a run ended: what is done and left, what it cost, why each model stopped, and the command that goes on.

The summary is printed, and stands as `summary.json` in the run's folder until the next part begins. It is operations,
never results: it holds clocks and may be deleted.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Final, Literal

import orjson

from ...adapters.base import Json
from ...adapters.redaction import public_url
from ..calls.route import Route
from ..errors import Why
from ..folder.binding import JOURNAL_BYTES, SUMMARY
from ..progress import ModelProgress
from ..system.files import replace_file
from ..system.moments import utc_now
from .live import Live

State = Literal["complete", "incomplete", "budget", "interrupted", "failed", "unusable"]
EXIT_CODES: Final[Mapping[State, int]] = {
    "complete": 0,
    "failed": 1,
    "unusable": 2,
    "incomplete": 3,
    "budget": 4,
    "interrupted": 130,
}

CLOSED: Final[Mapping[Why, State]] = {"budget": "budget", "draining": "interrupted"}
"""What a run is called that was ended early; for any other reason it is incomplete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSummary:
    """How one model's part ended, and when (UTC); `reason` is empty where its plan is done. Counts are dialogues."""

    planned: int
    done: int
    reason: str
    ended: datetime | None
    priced: bool = True

    def to_json(self) -> dict[str, Json]:
        """Return it as the summary's file holds it."""
        return {
            "planned": self.planned,
            "done": self.done,
            "left": self.planned - self.done,
            "reason": self.reason,
            "ended": _iso(self.ended),
            "priced": self.priced,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How a run, or this part of it, ended. Amounts in USD, over all parts; `causes` are why the run itself ended.

    `unscored` counts dialogues that are done and yet have no score, by the fault that their benchmark names.
    """

    state: State
    folder: Path
    models: Mapping[str, ModelSummary]
    known: Decimal
    exposed: Decimal
    cap: Decimal | None
    began: datetime
    ended: datetime
    causes: tuple[str, ...] = ()
    unscored: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def exit_code(self) -> int:
        """The process's exit code: 0 complete, 1 internal, 2 unusable, 3 incomplete, 4 budget, 130 interrupted."""
        return EXIT_CODES[self.state]

    @property
    def planned(self) -> int:
        """Dialogues planned."""
        return sum(model.planned for model in self.models.values())

    @property
    def done(self) -> int:
        """Dialogues that came to their end."""
        return sum(model.done for model in self.models.values())

    @property
    def reasons(self) -> tuple[str, ...]:
        """Everything that is to know of why it ended, each once."""
        return tuple(dict.fromkeys([*self.causes, *(model.reason for model in self.models.values() if model.reason)]))

    @property
    def unpriced(self) -> list[str]:
        """The models whose calls are in no amount, because nobody knows their price."""
        return [label for label, model in self.models.items() if not model.priced]

    @property
    def next(self) -> str:
        """The command that goes on from here."""
        return next_command(self.folder, self.state)

    def to_json(self) -> dict[str, Json]:
        """Return everything; money as text, so that no digit is lost."""
        return {
            "state": self.state,
            "exit_code": self.exit_code,
            "folder": str(self.folder),
            "began": _iso(self.began),
            "ended": _iso(self.ended),
            "planned": self.planned,
            "done": self.done,
            "left": self.planned - self.done,
            "unscored": dict(self.unscored),
            "known_usd": str(self.known),
            "exposed_usd": str(self.exposed),
            "cap_usd": None if self.cap is None else str(self.cap),
            "reasons": list(self.reasons),
            "models": {label: model.to_json() for label, model in self.models.items()},
            "next": self.next,
        }

    def save(self, journal: int) -> None:
        """Write `summary.json`, with the bytes of the journal that it goes with. Raises OSError."""
        content = self.to_json() | {JOURNAL_BYTES: journal}
        replace_file(self.folder / SUMMARY, orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")


def next_command(folder: Path, state: str) -> str:
    """Return the command that goes on from a run that ended so."""
    where = shlex.quote(str(folder))
    if state == "complete":
        return f"turntide report {where}"
    return f"turntide resume {where}" + (" --max-cost MORE" if state == "budget" else "")


def summarise(live: Live) -> Summary:
    """Return how the run stands at its end."""
    models = {label: _model(live, label, counts) for label, counts in live.progress.models.items()}
    complete = all(model.done == model.planned for model in models.values())
    causes = [live.broken] if live.broken else []
    if live.closing.reason and not complete:
        causes.append(live.closing.reason.message)
    return Summary(
        state=_state(live, complete),
        folder=live.folder,
        models=models,
        known=live.budget.known,
        exposed=live.budget.exposed + live.budget.reserved,  # what is in open batches may still be billed
        cap=live.budget.cap,
        began=live.began,
        ended=utc_now(),
        causes=(*causes, *live.crashes.values()),
        unscored=dict(live.progress.unscored),
    )


def _state(live: Live, complete: bool) -> State:
    if live.broken:
        return "unusable"
    if live.crashes:
        return "failed"
    if complete:
        return "complete"
    closing = live.closing.reason
    if closing:
        return CLOSED.get(closing.why, "incomplete")
    if any(_refused(live, route) for route in _auxiliary(live)):
        return "unusable"  # whatever the others can answer: dialogues cannot be finished without it
    asked = [live.routes.by_label[label] for label, counts in live.progress.models.items() if counts.planned]
    return "unusable" if all(_refused(live, route) for route in asked) else "incomplete"


def _auxiliary(live: Live) -> list[Route]:
    """Return the ways to the models that are asked beside those that have dialogues of their own."""
    planned = live.progress.models
    return [
        route for label, route in live.routes.by_label.items() if label not in planned or not planned[label].planned
    ]


def _refused(live: Live, route: Route) -> bool:
    """Return whether a model stopped (key, quota, no such model) that never answered, in no part of the run."""
    stopped = route.stopped is not None and route.stopped.why == "model"
    return stopped and not route.answers and not live.progress.replayed[route.label]


def _model(live: Live, label: str, counts: ModelProgress) -> ModelSummary:
    route = live.routes.by_label[label]
    return ModelSummary(
        planned=counts.planned,
        done=counts.done,
        reason=_reason(live, label, counts) if counts.done < counts.planned else "",
        ended=counts.ended,
        priced=route.price is not None or not counts.sends,
    )


def _reason(live: Live, label: str, counts: ModelProgress) -> str:
    """Return why a model's plan is not done: its own end goes before the run's, but what it met goes with it."""
    route = live.routes.by_label[label]
    if route.stopped:
        return route.stopped.message
    if live.closing.reason and counts.last_failure and not route.answers:
        return f"{label}: no answer came before the end; the last failure was: {_met(route, counts)}"
    if live.closing.reason:
        return live.closing.reason.message
    unfinished = f"{label}: {counts.unfinished:,} dialogues unfinished"
    for other in _auxiliary(live):
        if other.stopped:
            return f"{unfinished}, because {other.stopped.message}"
    if counts.last_stop:
        return f"{unfinished}; the last one stopped because {counts.last_stop}"
    for asked in (route, *_auxiliary(live)):
        seen = live.progress.models.get(asked.label)
        if seen and seen.last_failure:
            whose = "" if asked is route else f" of {asked.label}"
            return f"{unfinished}; the last failure{whose} was: {_met(asked, seen)}"
    return unfinished


def _met(route: Route, counts: ModelProgress) -> str:
    return f"{counts.last_failure} (at {public_url(route.account.base_url)})"


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="seconds") if moment else None
