"""A run's pulse: now and then a line in the journal that says how it goes. Operations, never results.

    pulse    at: when; answers, retries by class: so far in this part; flight: calls on the wire;
             limits: by account, the bound on calls in flight and the requests per minute (null: no limit known);
             a model with limits of its own in an account stands after it by its label

A beat comes every second at first and later every half percent of the time gone, so that a run of any length leaves
about a thousand lines.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from ...adapters.base import Json
from ..calls.routes import Routes
from ..calls.turnstile import Turnstile
from ..journal import JournalStopped, Line
from ..progress import Progress
from ..system.moments import written_now

PULSE: Final = "pulse"
FIRST: Final = 1.0
"""Seconds between the first beats."""

SHARE: Final = 0.005


@asynccontextmanager
async def beating(progress: Progress, routes: Routes, append: Callable[[Line], None]) -> AsyncGenerator[None]:
    """Append a beat now and then while the body runs."""
    task = asyncio.create_task(_beat(progress, routes, append))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _beat(progress: Progress, routes: Routes, append: Callable[[Line], None]) -> None:
    clock = asyncio.get_running_loop().time
    began = clock()
    with suppress(JournalStopped):  # the run itself says why
        while True:
            await asyncio.sleep(max(FIRST, SHARE * (clock() - began)))
            if any(counts.sends for counts in progress.models.values()):  # a finished run stays as it is
                append(beat(progress, routes))


def beat(progress: Progress, routes: Routes) -> Line:
    """Return the line of this moment."""
    models = progress.models.values()
    retries = sum((counts.retries for counts in models), Counter[str]())
    return {
        "k": PULSE,
        "at": written_now(),
        "answers": sum(counts.answers for counts in models),
        "flight": sum(counts.on_the_wire for counts in models),
        "retries": dict[str, Json](sorted(retries.items())),
        "limits": {name: _limits(turnstile) for name, turnstile in _turnstiles(routes).items()},
    }


def _turnstiles(routes: Routes) -> dict[str, Turnstile]:
    named: dict[str, Turnstile] = {}
    for route in routes.by_label.values():
        account = f"{route.account.provider}/{route.account.alias}"
        if named.setdefault(account, route.turnstile) is not route.turnstile:
            named[f"{account} {route.label}"] = route.turnstile
    return named


def _limits(turnstile: Turnstile) -> Json:
    return [turnstile.limits.bound, turnstile.limits.per_minute]
