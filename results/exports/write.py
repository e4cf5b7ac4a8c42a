"""Takes every dialogue of some runs, in plan order, to a writer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Protocol

from ...adapters.base import ConfigurationError
from ...engine.again.replay import Transcript, recall
from ..reading import RunFolder, in_order
from ..transcripts import replayed
from .dialogue import Dialogue
from .export import Export


class Writer(Protocol):
    """Writes dialogues one after another; nothing is whole before `close`."""

    def add(self, dialogue: Dialogue) -> None:
        """Take in a dialogue."""
        ...

    def close(self) -> None:
        """Finish."""
        ...


async def write(
    runs: Sequence[RunFolder], export: Export, marks: Mapping[str, str], writer: Writer, *, prompts: bool
) -> list[str]:
    """Write the runs' dialogues, with prompts and gold where they are wanted and the data are here.

    Returns what to warn of. Raises Diverged when the data here give another dialogue than the one on record.
    """
    warnings: list[str] = []
    for run in in_order(runs):
        if not run.journals:
            continue
        models = {model.label: model for model in (*run.models, *run.auxiliary)}
        async with aclosing(_transcripts(run, export, prompts, warnings)) as transcripts:
            async for each in transcripts:
                writer.add(Dialogue(run, each, models, tuple(marks)))
    return warnings


async def _transcripts(
    run: RunFolder, export: Export, prompts: bool, warnings: list[str]
) -> AsyncGenerator[Transcript]:
    begun = False
    if prompts:
        try:
            async with aclosing(replayed(run, export.servers)) as transcripts:
                async for each in transcripts:
                    begun = True
                    yield each
                return
        except ConfigurationError as error:
            if begun:
                raise
            warnings.append(f"{run.folder}: exported without prompts and gold: {error}")
    with run.by_dialogue() as lines:
        for each in recall(lines):
            yield each
