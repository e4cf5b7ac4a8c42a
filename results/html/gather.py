"""From run folders to dialogues: replayed with their prompts and gold where the data are here, else by the journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...adapters.base import ConfigurationError
from ...engine.again.replay import recall
from ...engine.errors import Diverged, Unfinished
from ..reading import RunFolder, in_order
from ..report import Reading
from ..transcripts import replayed
from .packing import Packed, Packer


async def pack(runs: Sequence[RunFolder], reading: Reading) -> tuple[Packed, list[str]]:
    """Return the dialogues of all runs, which have journals, and warnings where prompts cannot be brought back."""
    runs = in_order(runs)
    models = list(dict.fromkeys(model.label for run in runs for model in run.models))
    reading = replace(reading, order={"model": models, **reading.order})
    try:
        packer = Packer(reading)
        for run in runs:
            async for each in replayed(run, reading.servers):
                packer.add(each)
        return packer.finish(), []
    except (ConfigurationError, Diverged, Unfinished) as error:
        packer = Packer(reading)
        for run in runs:
            with run.by_dialogue() as lines:
                for each in recall(lines):
                    packer.add(each)
        return packer.finish(), [f"the dialogues are shown without their prompts and gold results: {error}"]
