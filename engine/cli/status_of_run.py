"""How far a run is: read from its folder, each time only what its journal has grown by, and told in words or raw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from ..folder.binding import JOURNAL
from ..folder.lock import Holder, holder
from ..journal import Tail
from ..watch.summary import next_command
from .words import clock, local, money

if TYPE_CHECKING:
    from ...results.operations import Operations, Part
    from ...results.reading import RunFolder

State = Literal["running", "complete", "incomplete"]
NOT_KNOWN: Final[Mapping[str, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How far a run is. `active` is when its journal last grew; `cap` is in USD."""

    folder: Path
    holder: Holder | None
    operations: Operations
    cap: Decimal | None
    active: datetime | None

    @property
    def state(self) -> State:
        """Whether a process works on it now, and if not, whether its plan is done."""
        if self.holder:
            return "running"
        planned = self.operations.planned
        return "complete" if planned and self.operations.done == planned else "incomplete"

    @property
    def next(self) -> str:
        """The command that goes on from here."""
        if self.state != "incomplete":
            return next_command(self.folder, "complete")
        return next_command(self.folder, self.last.state if self.last and self.last.state != "complete" else "")

    def endings(self) -> Iterator[str]:
        """Yield how the latest process on a run that is not complete ended, and why: the run, then each model."""
        if self.state != "incomplete" or self.last is None:
            return
        if self.last.ended is None:
            began = _at(self.last.began)
            yield f"its process began {began} and ended without a word: it was killed, or its disk was full"
            return
        yield f"it ended {_at(self.last.ended)}, {self.last.state}"
        for reason in self.last.reasons:
            yield f"it ended because: {reason.splitlines()[-1] if reason else ''}"

    def lines(self, now: float) -> Iterator[str]:
        """Yield it in words."""
        return _lines(self, now)

    def to_json(self) -> dict[str, object]:
        """Return it raw; money as text."""
        return _as_json(self)

    @property
    def last(self) -> Part | None:
        """The latest process that worked on it."""
        return self.operations.parts[-1] if self.operations.parts else None


class Watcher:
    """Reads a run's status, each time only what its journal has grown by; `working`: a process was at it last.

    `planned` counts dialogues by model, where that is known before a process has written so.
    """

    def __init__(self, run: RunFolder, planned: Mapping[str, int] = NOT_KNOWN) -> None:
        from ...results.operations import Operations

        self.working = False
        self._folder = run.folder
        self._cap = cap_of(run)
        self._journal = run.folder / JOURNAL
        self._tail = Tail(self._journal)
        self._operations = Operations([model.label for model in run.models])
        for label, count in planned.items():
            self._operations.models[label].planned = count

    def status(self) -> Status:
        """Return how far the run is now."""
        # Who holds it is asked first: what a process writes before it lets go is then in the journal that is read.
        at_it = holder(self._folder)
        self.working = at_it is not None
        self._operations.take(self._tail.lines())
        grown = self._journal.stat().st_mtime if self._journal.exists() else None
        return Status(
            folder=self._folder,
            holder=at_it,
            operations=self._operations.now(),
            cap=self._cap,
            active=None if grown is None else datetime.fromtimestamp(grown, UTC),
        )


def cap_of(run: RunFolder) -> Decimal | None:
    """Return the cap that a run was started, or gone on with, last, in USD."""
    cap = run.manifest.settings["spec"].get("settings", {}).get("max_cost")
    return None if cap is None else Decimal(cap)


def _lines(status: Status, now: float) -> Iterator[str]:
    from ...adapters.printable import printable
    from ...results.operation_tables import failures_text
    from ...results.table import Table
    from ...results.text import render

    operations = status.operations
    by = f" by {status.holder}" if status.holder else ""
    if operations.parts:
        yield f"{status.state}{by}: {operations.done:,} of {operations.planned:,} dialogues in {status.folder}"
    else:
        yield f"{status.state}{by}: no dialogue has begun yet in {status.folder}; before the first, gold is checked"
    if operations.tainted:
        changed = ", ".join(sorted(operations.tainted))
        yield f"TAINTED: the database {changed} changed while the run used it; its scores cannot be trusted"
    rows = [
        [label, m.done, m.planned, m.answers, m.sends, failures_text(m.failures)]
        for label, m in operations.models.items()
    ]
    columns = ("model", "done", "planned", "answers", "sends", "failed attempts")
    yield render([Table(key="status", title="", columns=columns, rows=rows)]).strip("\n")
    yield money(operations.budget.known, operations.budget.exposed, status.cap)
    if operations.open:
        yield f"{operations.open:,} sends without a reply on record: {_whereabouts(status)}"
    for batch in operations.open_batches:
        where = batch.id or "id not known yet"
        yield f"open batch of {batch.model}: {batch.calls:,} calls since {batch.made} ({where})"
    if status.active:
        yield f"last activity {clock(max(0.0, now - status.active.timestamp()))} ago"
    if operations.last_failure:
        yield f"last failure: {printable(operations.last_failure)}"
    yield from map(printable, status.endings())
    yield f"next: {status.next}"


def _at(moment: str) -> str:
    return local(datetime.fromisoformat(moment))


def _whereabouts(status: Status) -> str:
    if (batched := sum(batch.calls for batch in status.operations.open_batches)) >= status.operations.open:
        return f"in the {batched:,} calls of open batches; nothing is lost"
    return "on the wire, or lost with an earlier process" if status.holder else "lost with their process"


def _as_json(status: Status) -> dict[str, object]:
    named = status.holder
    return {
        "folder": str(status.folder),
        "state": status.state,
        "holder": {"pid": named.pid, "host": named.host, "since": named.since} if named else None,
        "dialogues_done": status.operations.done,
        "dialogues_planned": status.operations.planned if status.operations.parts else None,
        "cap_usd": None if status.cap is None else str(status.cap),
        "last_activity": status.active.isoformat(timespec="seconds") if status.active else None,
        "next": status.next,
        **status.operations.to_json(),
    }
