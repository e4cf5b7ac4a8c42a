"""Memory is flat: of a dialogue that ended, places in the journal's index stay, and nothing else."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

from turntide.adapters.base import Message
from turntide.adapters.simulated import SimulatedServer
from turntide.engine.spec import Settings
from turntide.engine.unit import Context, Lane, Unit

from ..support.toy import TURNS, Toy, run_toy, toy_spec

LONG = "-- the schema, the guidance, and all that a prompt repeats\n" * 100
KEPT = 1_000
"""Bytes that a turn may leave behind: an answer, a statement and a record, each a number in an index. Its prompt alone
has six times as many."""


class Sized(Toy):
    """Every dialogue is its own lane, its prompts are long, and every tenth notes the memory in use as it ends."""

    sizes: list[int]

    def lanes(self, model: str, repeats: int) -> Iterator[Lane]:
        return ([(Unit(key=f"{model}/{n:04}", item=f"{n:04}", model=model, turns=TURNS),)] for n in range(self.units))

    async def dialogue(self, unit: Unit, ctx: Context) -> None:
        for turn in range(TURNS):
            # The same in every dialogue: the newest outcomes are kept, up to a bound that this run is far from.
            answer = await ctx.ask(unit.model, [Message("user", f"SELECT {turn} FROM n {LONG}")])
            outcome = await ctx.execute("numbers", answer.text)
            ctx.record(turn=turn, status=outcome.status)
        if unit.item.endswith("0"):
            gc.collect()
            self.sizes.append(tracemalloc.get_traced_memory()[0])


async def test_what_a_run_holds_does_not_grow_with_what_is_done(tmp_path: Path) -> None:
    toy = Sized(tmp_path / "data", units=160)
    toy.sizes = []
    with SimulatedServer.start() as server:
        tracemalloc.start()
        try:
            settings = Settings(concurrency=10, sql_workers=1)
            summary = await run_toy(tmp_path / "run", server.base_url, toy=toy, spec=toy_spec(settings=settings))
        finally:
            tracemalloc.stop()
    assert summary.exit_code == 0
    assert (toy.sizes[-2] - toy.sizes[7]) / (70 * TURNS) < KEPT
