"""From run folders to dialogues: replayed with their prompts and gold where the data are here, else by the journal."""

from __future__ import annotations

from collections.abc import Sequence

from ...adapters.base import ConfigurationError
from ...engine.again.replay import recall
from ...engine.errors import Diverged, Unfinished
from ..reading import RunFolder, in_order
from ..report import Reading
from ..transcripts import replayed
from .packing import Packed, Packer


async def pack(runs: Sequence[RunFolder], reading: Reading) -> tuple[Packed, list[str]]:
    """Return the dialogues of all runs, which have journals, and warnings where prompts cannot be brought back."""
    try:
        packer = Packer(reading)
        for run in in_order(runs):
            async for each in replayed(run, reading.servers):
                packer.add(each)
        return packer.finish(), []
    except (ConfigurationError, Diverged, Unfinished) as error:
        packer = Packer(reading)
        for run in in_order(runs):
            with run.by_dialogue() as lines:
                for each in recall(lines):
                    packer.add(each)
        return packer.finish(), [f"the dialogues are shown without their prompts and gold results: {error}"]
