"""What a user sees of a run: a live panel on a terminal, plain lines elsewhere, and a summary at its end."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TextIO

from ...adapters.printable import printable
from ..calls.route import Route
from ..progress import ModelProgress
from ..watch.live import Live
from ..watch.summary import ModelSummary, Summary
from .words import clock, local, money

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

PLAIN_SECONDS: Final = 10.0
GOLD_SECONDS: Final = 5.0
"""Between two plain lines, and while gold is checked, when nothing else shows that anything happens."""
PANEL_SECONDS: Final = 0.5
COLUMNS: Final = ("model", "done", "running", "in flight", "per minute", "retries", "waits")
ROOM: Final = 80
"""Columns of a terminal that the panel's table takes besides the models' names."""
RATE_WINDOW: Final = 30.0
"""Seconds over which speed is measured for the estimate of what is left."""


class Show:
    """Shows a run on `stream` until it is closed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._task: asyncio.Task[None] | None = None

    def watch(self, live: Live) -> None:
        """Begin to show `live`."""
        shown = self._panel(live) if self._stream.isatty() else self._lines(live)
        self._task = asyncio.create_task(shown)

    async def aclose(self) -> None:
        """Stop showing."""
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _lines(self, live: Live) -> None:
        pace = Pace(live)
        while True:
            await asyncio.sleep(GOLD_SECONDS if gold(live) else PLAIN_SECONDS)
            print(line(live, pace), file=self._stream, flush=True)

    async def _panel(self, live: Live) -> None:
        from rich.console import Console
        from rich.live import Live as Screen

        pace = Pace(live)
        with Screen(console=Console(file=self._stream), auto_refresh=False, transient=True) as screen:
            while True:
                screen.update(panel(live, pace, screen.console.width), refresh=True)
                await asyncio.sleep(PANEL_SECONDS)


class Pace:
    """How fast a run goes: dialogues per second over the last half minute, and what that means for the rest."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._clock = asyncio.get_running_loop().time
        self._begun = self._clock()
        self._seen: deque[tuple[float, int, int]] = deque()
        self.now()

    def now(self) -> tuple[float, float, float | None]:
        """Return seconds since the start, answers per second, and the seconds that are left, if that can be told."""
        at = self._clock()
        models = self._live.progress.models.values()
        self._seen.append((at, sum(m.done for m in models), sum(m.answers for m in models)))
        while at - self._seen[0][0] > RATE_WINDOW and len(self._seen) > 2:
            self._seen.popleft()
        since, done, answers = self._seen[0]
        span = max(at - since, 1e-9)
        speed = (self._seen[-1][1] - done) / span
        left = sum(m.planned - m.done for m in models)
        return at - self._begun, (self._seen[-1][2] - answers) / span, left / speed if speed > 0 else None


def line(live: Live, pace: Pace) -> str:
    """Return the state of a run in one line."""
    models = live.progress.models.values()
    elapsed, speed, left = pace.now()
    if checking := gold(live):
        return f"{clock(elapsed)}  {checking}"
    done, planned = sum(m.done for m in models), sum(m.planned for m in models)
    parts = [
        f"{clock(elapsed)}  {done:,}/{planned:,} dialogues",
        f"{sum(m.on_the_wire for m in models):,} in flight",
        f"{speed:,.0f} answers/s",
    ]
    if executing := live.executing():
        parts.insert(2, f"{executing:,} SQL statements")
    if batched := sum(m.batched for m in models):
        parts.insert(2, f"{batched:,} in batches")
    retries = sum((m.retries for m in models), Counter[str]())
    if retries:
        parts.append("retries " + ", ".join(f"{kind} {count:,}" for kind, count in sorted(retries.items())))
    if wait := longest_wait(live):
        parts.append(f"longest wait {wait[0]:.0f} s ({wait[1]})")
    parts.append(money(live.budget.known, live.budget.exposed, live.budget.cap))
    parts.append(f"about {clock(left)} left" if left is not None else "time left unknown")
    return " · ".join(parts)


def panel(live: Live, pace: Pace, width: int) -> Table | Text:
    """Return the live panel: a row per model, or where `width` columns do not hold the rows, a few lines per model."""
    from rich.markup import escape
    from rich.table import Table

    elapsed, speed, left = pace.now()
    eta = gold(live) or (f"about {clock(left)} left" if left is not None else "time left unknown")
    spent = money(live.budget.known, live.budget.exposed, live.budget.cap)
    title = f"{live.folder}  {clock(elapsed)}  {speed:,.0f} answers/s  {eta}  {spent}"
    rows = [_row(label, counts, live.routes.by_label[label]) for label, counts in live.progress.models.items()]
    if width < ROOM + max((len(label) for label, *_ in rows), default=0):
        return _folded(title, rows)
    table = Table(title=escape(title), title_justify="left")
    for column in COLUMNS:
        words = column in ("model", "retries", "waits")
        table.add_column(column, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def _folded(title: str, rows: Sequence[tuple[str, ...]]) -> Text:
    """Return the rows without a frame: each model's name, then its numbers by theirs; what says nothing is left out."""
    from rich.text import Text

    text = Text(title, style="italic")
    for label, *cells in rows:
        numbers = [f"{cell} {column}" for column, cell in zip(COLUMNS[1:-2], cells[:-2], strict=True) if cell != "-"]
        words = [f"{column}: {cell}" for column, cell in zip(COLUMNS[-2:], cells[-2:], strict=True) if cell]
        text.append(f"\n{label}", style="bold not italic")
        text.append("".join(f"\n  {line}" for line in (", ".join(numbers), *words)), style="not italic")
    return text


def _row(label: str, counts: ModelProgress, route: Route) -> tuple[str, ...]:
    limits = route.turnstile.limits
    rate = f"{limits.per_minute:,.0f}" if limits.per_minute else "-"
    retries = ", ".join(f"{kind} {count:,}" for kind, count in counts.retries.most_common(3))
    head = route.turnstile.head()
    waits = (
        f"{head[0]:.0f} s: {head[1]}" if head else (f"{counts.backing_off} in back-off" if counts.backing_off else "")
    )
    return (
        printable(label),
        f"{counts.done:,}/{counts.planned:,}",
        f"{counts.running:,}",
        f"{counts.batched:,} in batches" if counts.batched else f"{counts.on_the_wire:,}/{limits.bound:,}",
        rate,
        retries,
        printable(route.stopped.message) if route.stopped else waits,
    )


def gold(live: Live) -> str:
    """Return how far the check of the gold statements is, or, when nothing else is left, their examination."""
    progress = live.progress
    if progress.gold_checked < progress.gold_planned:
        return f"checking gold: {progress.gold_checked:,} of {progress.gold_planned:,} statements"
    over = all(model.done == model.planned for model in progress.models.values())
    if over and progress.examined < progress.to_examine:
        return f"examining gold: {progress.examined:,} of {progress.to_examine:,} statements"
    return ""


def longest_wait(live: Live) -> tuple[float, str] | None:
    """Return the longest current wait in seconds and its reason, if anything waits for a second or more."""
    heads = [head for route in live.routes.by_label.values() if (head := route.turnstile.head())]
    longest = max(heads, default=None)
    return longest if longest and longest[0] >= 1 else None


def summary_text(summary: Summary) -> str:
    """Return how a run ended and what to do next, for a person."""
    left = f"; {summary.planned - summary.done:,} left" if summary.done < summary.planned else ""
    lines = [f"{summary.state}: {summary.done:,} of {summary.planned:,} dialogues in {summary.folder}{left}"]
    lines.extend(f"  {count:,} of them not scored: {fault}" for fault, count in summary.unscored.items())
    if left or any(model.ended for model in summary.models.values()):
        lines.append(f"ended {local(summary.ended)} after {clock((summary.ended - summary.began).total_seconds())}")
    else:
        lines.append("nothing was left to do")
    spent = money(summary.known, summary.exposed, summary.cap)
    lines.append(f"{spent}; no price is known for {', '.join(summary.unpriced)}" if summary.unpriced else spent)
    lines.extend(f"  {cause}" for cause in summary.causes)
    if len(summary.models) > 1 or left:
        lines.extend(_model_text(label, model, summary) for label, model in summary.models.items() if model.planned)
    lines.append(f"next: {summary.next}")
    return "\n".join(map(printable, lines))  # reasons quote what providers said


def _model_text(label: str, model: ModelSummary, summary: Summary) -> str:
    at = f" at {local(model.ended)}" if model.ended else ""
    if model.done == model.planned:
        return f"  {label}: all {model.planned:,} done{at}"
    if model.reason in summary.causes:
        return f"  {label}: {model.done:,} of {model.planned:,} done; it ended{at} with the run"
    why = model.reason.removeprefix(label).lstrip(": ")
    return f"  {label}: {model.done:,} of {model.planned:,} done; it ended{at}: {why}"
