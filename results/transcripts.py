"""From run folders to dialogues: opened on their data where these are here, and cut into turns."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from ..adapters.base import ConfigurationError
from ..engine import registry
from ..engine.again.replay import Asked, Executed, Recorded, Transcript, replay
from ..engine.journal import canonical
from ..engine.spec import Spec, checked
from ..engine.sql.executor import SqlExecutor
from ..engine.unit import Experiment
from .reading import RunFolder


@dataclass(slots=True)
class Turn:
    """What belongs to one question to the evaluated model: all that came until the next."""

    asked: Asked
    aside: list[Asked] = field(default_factory=list[Asked])
    ran: list[Executed] = field(default_factory=list[Executed])
    gold: list[Executed] = field(default_factory=list[Executed])
    records: list[Recorded] = field(default_factory=list[Recorded])


async def replayed(run: RunFolder, servers: Collection[str]) -> AsyncGenerator[Transcript]:
    """Yield the dialogues of a run that has a journal, in plan order, with prompts and gold.

    `servers` are options that only say where something was kept. Raises ConfigurationError before the first dialogue
    when the data are not here, or are not those of the run, and Diverged when a dialogue is not the one on record.
    """
    models, identity = [model.label for model in run.models], run.identity
    async with opened(run, servers) as (experiment, executor):
        with run.by_dialogue() as lines:
            async for each in replay(lines, experiment, models, identity["repeats"], executor, identity["seed"]):
                yield each


@asynccontextmanager
async def opened(run: RunFolder, servers: Collection[str]) -> AsyncGenerator[tuple[Experiment, SqlExecutor]]:
    """Open the run's benchmark on its data; raises ConfigurationError when they are not here, or are not the same.

    Of a scoring over other data there is no telling which prompts and gold belong to it: it is refused too.
    """
    for scoring in (part.scoring for part in run.parts):
        if scoring and (differs := scoring.seal["differs"]):
            raise ConfigurationError(f"scoring {scoring.number} is over other data than the run: {'; '.join(differs)}")
    spec = checked(run.manifest.settings["spec"], Spec, f"{run.folder}: the run's own settings")
    benchmark = registry.benchmark_of(spec.benchmark)
    options = {name: value for name, value in spec.options.items() if name not in servers}
    async with benchmark.open(options, seed=spec.seed, limit=spec.limit) as experiment:
        if canonical(experiment.identity()) != canonical(run.identity["experiment"]):
            raise ConfigurationError("the data, prompts or options that are here are not those of the run")
        async with SqlExecutor(experiment.databases, timeout=spec.settings.sql_timeout, workers=1) as executor:
            yield experiment, executor


def turns_of(transcript: Transcript) -> Iterator[Turn]:
    """Yield the dialogue's turns: each begins with a question to the model that it evaluates."""
    turn = None
    model = transcript.labels.get("model")
    for step in transcript.steps:
        match step:
            case Asked() if turn is None or (not step.branch and model in (None, step.model)):
                if turn:
                    yield turn
                turn = Turn(step)
            case _ if turn is None:
                pass
            case Asked():
                turn.aside.append(step)
            case Executed():
                (turn.gold if step.gold else turn.ran).append(step)
            case Recorded():
                turn.records.append(step)
    if turn:
        yield turn
