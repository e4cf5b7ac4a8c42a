"""From run folders to dialogues: replayed with their prompts and gold where the data are here, else by the journal."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from ...adapters.base import ConfigurationError
from ...engine import registry
from ...engine.benchmark import Benchmark
from ...engine.errors import Diverged, Unfinished
from ...engine.executor import SqlExecutor
from ...engine.journal import canonical
from ...engine.replay import Lines, recall, replay
from ...engine.spec import Spec, checked
from ...engine.unit import Experiment
from ..reading import JOURNAL, RunFolder, in_order
from ..report import Reading
from .packing import Packed, Packer


async def pack(runs: Sequence[RunFolder], reading: Reading) -> tuple[Packed, list[str]]:
    """Return the dialogues of all runs, which have journals, and warnings where prompts cannot be brought back."""
    try:
        packer = Packer(reading)
        for run in in_order(runs):
            await _replay(run, reading, packer)
        return packer.finish(), []
    except (ConfigurationError, Diverged, Unfinished) as error:
        packer = Packer(reading)
        for run in in_order(runs):
            with Lines(run.folder / JOURNAL) as lines:
                for each in recall(lines):
                    packer.add(each)
        return packer.finish(), [f"the dialogues are shown without their prompts and gold results: {error}"]


async def _replay(run: RunFolder, reading: Reading, packer: Packer) -> None:
    models, identity = [model.label for model in run.models], run.identity
    async with _opened(run, reading) as (experiment, executor):
        with Lines(run.folder / JOURNAL) as lines:
            async for each in replay(lines, experiment, models, identity["repeats"], executor, identity["seed"]):
                packer.add(each)


@asynccontextmanager
async def _opened(run: RunFolder, reading: Reading) -> AsyncGenerator[tuple[Experiment, SqlExecutor]]:
    """Open the run's benchmark on its data; raises ConfigurationError when they are not here, or are not the same."""
    spec = checked(run.manifest.settings["spec"], Spec, f"{run.folder}: the run's own settings")
    benchmark = registry.load("benchmarks", spec.benchmark)
    if not isinstance(benchmark, Benchmark):
        raise ConfigurationError(f"{spec.benchmark!r} is no benchmark")
    options = {name: value for name, value in spec.options.items() if name not in reading.servers}
    async with benchmark.open(options, seed=spec.seed, limit=spec.limit) as experiment:
        if canonical(experiment.identity()) != canonical(run.identity["experiment"]):
            raise ConfigurationError("the data, prompts or options that are here are not those of the run")
        async with SqlExecutor(experiment.databases, timeout=spec.settings.sql_timeout, workers=1) as executor:
            yield experiment, executor
