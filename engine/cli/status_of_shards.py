"""How far a run is that is cut into shards: all of them as one, and each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from ..shards.folder import PLAN, trouble_of
from ..watch.summary import next_command
from .status_of_run import NOT_KNOWN, State, Status, Watcher, cap_of
from .words import clock, money

if TYPE_CHECKING:
    from ...results.reading import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardsStatus:
    """How far all shards are. Counts are dialogues, amounts USD; `cap` is that of all together.

    `trouble` is what keeps all of them waiting, if anything does.
    """

    folder: Path
    shards: tuple[Status, ...]
    cap: Decimal | None
    trouble: str = ""

    @property
    def working(self) -> list[Status]:
        """The shards that a process works on now."""
        return [shard for shard in self.shards if shard.holder]

    @property
    def state(self) -> State:
        """Whether processes work on it now, and if not, whether its plan is done; a shard's plan may be empty."""
        if self.working:
            return "running"
        return "complete" if self.planned and self.done == self.planned else "incomplete"

    @property
    def planned(self) -> int:
        """Dialogues planned, also in shards that are still starting."""
        return sum(shard.operations.planned for shard in self.shards)

    @property
    def done(self) -> int:
        """Dialogues that came to their end."""
        return sum(shard.operations.done for shard in self.shards)

    @property
    def answers(self) -> int:
        """Calls that were answered."""
        return sum(model.answers for shard in self.shards for model in shard.operations.models.values())

    @property
    def money(self) -> str:
        """What was spent, what may have been, and the cap."""
        budgets = [shard.operations.budget for shard in self.shards]
        known, exposed = (sum((getattr(each, name) for each in budgets), Decimal(0)) for name in ("known", "exposed"))
        return money(known, exposed, self.cap)

    @property
    def next(self) -> str:
        """The command that goes on from here."""
        if self.state != "incomplete":
            return next_command(self.folder, "complete")
        states = {shard.last.state for shard in self.shards if shard.last}
        return next_command(self.folder, "budget" if "budget" in states else "")

    def endings(self) -> Iterator[str]:
        """Yield how the latest process on each shard that is not complete ended, and why."""
        for shard in self.shards:
            yield from (f"{shard.folder.name}: {line}" for line in shard.endings())

    def lines(self, now: float) -> Iterator[str]:
        """Yield it in words."""
        from ...adapters.printable import printable
        from ...results.operation_tables import failures_text
        from ...results.table import Table
        from ...results.text import render

        at_work = f", {len(self.working)} of {len(self.shards)} shards at work" if self.working else ""
        yield f"{self.state}{at_work}: {self.done:,} of {self.planned:,} dialogues in {self.folder}"
        rows = [
            [shard.folder.name, label, m.done, m.planned, m.answers, m.sends, failures_text(m.failures)]
            for shard in self.shards
            for label, m in shard.operations.models.items()
        ]
        columns = ("shard", "model", "done", "planned", "answers", "sends", "failed attempts")
        yield render([Table(key="status", title="", columns=columns, labels=2, rows=rows)]).strip("\n")
        yield self.money
        if self.trouble:
            yield printable(self.trouble)
        if active := [shard.active.timestamp() for shard in self.shards if shard.active]:
            yield f"last activity {clock(max(0.0, now - max(active)))} ago"
        yield from map(printable, self.endings())
        yield f"next: {self.next}"

    def to_json(self) -> dict[str, object]:
        """Return it raw, shard by shard; money as text."""
        return {
            "folder": str(self.folder),
            "state": self.state,
            "dialogues_done": self.done,
            "dialogues_planned": self.planned,
            "trouble": self.trouble or None,
            "next": self.next,
            "shards": [shard.to_json() for shard in self.shards],
        }


class ShardsWatcher:
    """Reads the status of a run's shards, each time only what their journals have grown by."""

    def __init__(self, run: RunFolder) -> None:
        self._folder = run.folder
        settings = run.manifest.settings
        self._cap = cap_of(run)
        plan = settings.get(PLAN, [NOT_KNOWN] * len(run.shards))
        self._watchers = [Watcher(shard, planned) for shard, planned in zip(run.shards, plan, strict=True)]

    @property
    def working(self) -> bool:
        """Whether a process was at any shard last."""
        return any(watcher.working for watcher in self._watchers)

    def status(self) -> ShardsStatus:
        """Return how far they are now."""
        return ShardsStatus(
            folder=self._folder,
            shards=tuple(watcher.status() for watcher in self._watchers),
            cap=self._cap,
            trouble=trouble_of(self._folder),
        )
