"""A small benchmark: dialogues that ask, execute what they are told, and record it. Run as a program, it is one part of
a run: `python toy.py FOLDER BASE_URL UNITS`, to be killed at any moment."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from turntide.adapters.base import Json, Message
from turntide.engine.errors import Unfinished
from turntide.engine.progress import ModelProgress
from turntide.engine.run import execute
from turntide.engine.spec import ModelSpec, Settings, Spec
from turntide.engine.unit import Context, Lane, Reference, Unit
from turntide.engine.watch.live import Live
from turntide.engine.watch.summary import Summary

TURNS = 4


@dataclass
class Toy:
    """`units` dialogues of four turns: a third in one ordered lane, a third in waves of four, the others alone.

    In the lane and in the waves each prompt holds what earlier steps recorded, as shared memory would.
    """

    folder: Path
    units: int = 30
    name: str = "toy"
    seen: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    crash_in: str = ""
    auxiliary: tuple[ModelSpec, ...] = ()

    def __post_init__(self) -> None:
        self.databases: Mapping[str, Path] = {"numbers": self.folder / "numbers.sqlite"}
        if not self.databases["numbers"].exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            with sqlite3.connect(self.databases["numbers"]) as connection:
                connection.execute("CREATE TABLE n (v INTEGER)")
                connection.executemany("INSERT INTO n VALUES (?)", [(v,) for v in range(100)])
            connection.close()

    def identity(self) -> dict[str, Json]:
        return {"units": self.units}

    def lanes(self, model: str, repeats: int) -> Iterator[Lane]:
        units = [
            Unit(key=f"{model}/{n:04}/{r}", item=f"{n:04}", model=model, turns=TURNS, repeat=r, labels={"kind": kind})
            for r in range(repeats)
            for n, kind in enumerate(["lane", "wave", "alone"] * (self.units // 3))
        ]
        yield [(unit,) for unit in units if unit.labels["kind"] == "lane"]
        waves = [unit for unit in units if unit.labels["kind"] == "wave"]
        yield [tuple(waves[first : first + 4]) for first in range(0, len(waves), 4)]
        yield from ([(unit,)] for unit in units if unit.labels["kind"] == "alone")

    async def dialogue(self, unit: Unit, ctx: Context) -> None:
        shared = tuple(self.seen.get(_group(unit), ()))
        said: list[str] = []
        for turn in range(TURNS):
            if unit.item == self.crash_in and turn == 2:
                raise ZeroDivisionError("a bug of the benchmark")
            number = ctx.random.randrange(100)
            prompt = f"SELECT COUNT(*) FROM n WHERE v < {number} -- {unit.item} {turn} {'|'.join(shared)[-200:]}"
            answer = await ctx.ask(unit.model, [Message("user", prompt)])
            outcome = await ctx.execute("numbers", answer.text)
            said.append(str(outcome.excerpt))
            ctx.record(turn=turn, status=outcome.status, rows=outcome.rows, saw=len(shared), said=said[-1])
        self._remember(unit, said)

    def references(self) -> Iterable[Reference]:
        return [Reference("all", "numbers", "SELECT COUNT(*) FROM n")]

    def expected(self, unit: Unit) -> Iterable[str]:
        return ["SELECT 1"] * TURNS

    def ended(self, unit: Unit, records: Sequence[Mapping[str, Any]]) -> None:
        self._remember(unit, [record["said"] for record in records])

    def _remember(self, unit: Unit, said: list[str]) -> None:
        if unit.labels["kind"] == "lane":
            self.seen.setdefault(_group(unit), []).append(f"{unit.item}:{','.join(said)}")


def _group(unit: Unit) -> str:
    return f"{unit.model}/{unit.labels['kind']}/{unit.repeat}"


def toy_spec(*models: str, settings: Settings | None = None, **more: Any) -> Spec:
    """Return a specification over simulated models."""
    specs = [ModelSpec(id=model) for model in models or ("sim/echo",)]
    return Spec(
        benchmark="toy", models=specs, settings=settings or Settings(sql_workers=1, retries=8, backoff=0.02), **more
    )


async def run_toy(
    folder: Path,
    base_url: str,
    *,
    units: int = 30,
    spec: Spec | None = None,
    toy: Toy | None = None,
    environ: Mapping[str, str] | None = None,
) -> Summary:
    """Run, or go on with, the toy benchmark in `folder`."""
    toy = toy or Toy(folder.parent / "data", units)
    return await execute(
        spec or toy_spec(), toy, folder, _nothing, {"TURNTIDE_SIM_BASE_URL": base_url, **(environ or {})}
    )


def interrupted_when(due: Callable[[ModelProgress], object]) -> Callable[[Live], None]:
    """Return an observer that interrupts its run as soon as the counts of one of its models are so."""

    def look(live: Live) -> None:
        if any(map(due, live.progress.models.values())):
            live.closing.begin(Unfinished("draining", "interrupted"))
        else:
            asyncio.get_running_loop().call_later(0.01, look, live)

    return look


def _nothing(live: Live) -> None:
    """Observe nothing."""


if __name__ == "__main__":
    place, url, count = sys.argv[1:]
    summary = asyncio.run(run_toy(Path(place), url, units=int(count)))
    sys.exit(summary.exit_code)
