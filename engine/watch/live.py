"""A run as those see it who watch it: its counts, and the switch that ends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from ..calls.budget import Budget
from ..calls.routes import Routes
from ..closing import Closing
from ..progress import Progress
from ..system.moments import utc_now


@dataclass(slots=True)
class Live:
    """What an observer of a running run may look at, and the switch that ends it.

    `executing` counts the models' statements that are under way or wait for a worker; `crashes` are the benchmark's own
    errors by their message; `broken` says why the run cannot be trusted or gone on with.
    """

    progress: Progress
    budget: Budget
    routes: Routes
    closing: Closing
    folder: Path
    executing: Callable[[], int] = lambda: 0
    crashes: dict[str, str] = field(default_factory=dict[str, str])
    broken: str = ""
    began: datetime = field(default_factory=utc_now)
