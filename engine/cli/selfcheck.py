"""Gold taken as predictions, through extraction, guards, workers and comparison: it must score what it is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...adapters.base import Json
from ..again.rehearsal import Heard, rehearse
from ..benchmark import Benchmark
from ..sql.executor import SqlExecutor
from ..unit import Unit

PATIENCE: Final = 60.0
"""Gold is trusted: as predictions it gets the long limit."""


async def gold_as_predictions(
    benchmark: Benchmark, options: Mapping[str, Json], heard: Heard
) -> list[tuple[Unit, dict[str, Json]]]:
    """Return every record of the benchmark's dialogues with gold in the models' place; `heard` has each question."""
    async with benchmark.open(options, seed=0, limit=None) as experiment:
        executor = SqlExecutor(experiment.databases, timeout=PATIENCE)
        async with executor:
            rehearsed = await rehearse(experiment, "gold", 1, executor, heard)
    return [(unit, record) for unit, records in rehearsed for record in records]
