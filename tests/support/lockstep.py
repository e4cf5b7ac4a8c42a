"""Dialogues that share nothing and execute nothing, so that all of them go in lock-step.

Run as a program, it is one part of a run in batches, to be killed at any moment:
`python lockstep.py FOLDER BASE_URL MODEL UNITS`.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from turntide.adapters.base import Message
from turntide.engine.run import execute
from turntide.engine.spec import ModelSpec, Settings, Spec
from turntide.engine.unit import Context, Lane, Reference, Unit
from turntide.engine.watch.live import Live
from turntide.engine.watch.summary import Summary

# As a program this file stands alone; as a module it is one of a package.
if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    from toy import Toy  # pyright: ignore
else:
    from .toy import Toy


class LockStep(Toy):
    """`units` dialogues of `turns` turns, each alone."""

    turns = 2

    def lanes(self, model: str, repeats: int) -> Iterator[Lane]:
        for n in range(self.units):
            key = f"{model}/{n:04}/0"
            yield [(Unit(key=key, item=f"{n:04}", model=model, turns=self.turns, labels={"kind": "alone"}),)]

    async def dialogue(self, unit: Unit, ctx: Context) -> None:
        for turn in range(self.turns):
            prompt = f"SELECT COUNT(*) FROM n WHERE v < {ctx.random.randrange(100)} -- {unit.item} {turn}"
            answer = await ctx.ask(unit.model, [Message("user", prompt)])
            ctx.record(turn=turn, said=answer.text)

    def references(self) -> Iterable[Reference]:
        return []


async def run_lockstep(
    folder: Path,
    base_url: str,
    *,
    model: str = "sim/echo",
    units: int = 12,
    turns: int = 2,
    observe: Callable[[Live], None] = lambda live: None,
    environ: Mapping[str, str] | None = None,
    **settings: Any,
) -> Summary:
    """Run, or go on with, the dialogues in batches unless `batch=False` is among the settings."""
    experiment = LockStep(folder.parent / "data", units)
    experiment.turns = turns
    given: dict[str, Any] = {"sql_workers": 1, "batch": True, "backoff": 0.002, "retries": 12, **settings}
    spec = Spec(benchmark="toy", models=[ModelSpec(id=model)], settings=Settings(**given))
    return await execute(spec, experiment, folder, observe, {"TURNTIDE_SIM_BASE_URL": base_url, **(environ or {})})


if __name__ == "__main__":
    place, url, name, count = sys.argv[1:]
    sys.exit(asyncio.run(run_lockstep(Path(place), url, model=name, units=int(count))).exit_code)
