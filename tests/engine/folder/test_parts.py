"""A run leaves a line where each of its processes begins and ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from turntide.adapters.base import Json
from turntide.engine.journal import Fields, scan
from turntide.engine.run import execute
from turntide.engine.spec import ModelSpec, Spec
from turntide.engine.unit import Context, Lane, Reference, Unit

SPEC = Spec(benchmark="toy", models=[ModelSpec(id="sim/echo", label="echo")])


class Toy:
    """Three dialogues that ask nobody; `broken` ones raise."""

    name = "toy"
    databases: Mapping[str, Path] = {}
    auxiliary: Sequence[ModelSpec] = ()

    def __init__(self, broken: tuple[str, ...] = ()) -> None:
        self._broken = broken

    def identity(self) -> dict[str, Json]:
        return {}

    def lanes(self, model: str, repeats: int) -> Iterator[Lane]:
        return ([(Unit(key=item, item=item, model=model, turns=1),)] for item in ("x", "y", "z"))

    async def dialogue(self, unit: Unit, ctx: Context) -> None:
        if unit.key in self._broken:
            raise ZeroDivisionError("no such number")
        ctx.record(seen=True)

    def expected(self, unit: Unit) -> Sequence[str]:
        return ()

    def references(self) -> Sequence[Reference]:
        return ()

    def ended(self, unit: Unit, records: Sequence[Mapping[str, Any]]) -> None: ...


async def lines_after(folder: Path, toy: Toy, kind: str) -> list[Fields]:
    await execute(SPEC, toy, folder, environ={"TURNTIDE_SIM_BASE_URL": "http://127.0.0.1:9/v1"})
    return [line for line in scan(folder / "journal.jsonl") if line["k"] == kind]


async def test_each_process_says_what_it_plans_and_how_it_ended(tmp_path: Path) -> None:
    await lines_after(tmp_path, Toy(broken=("y",)), "part")
    first, failed, second, done = await lines_after(tmp_path, Toy(), "part")
    assert first["planned"] == second["planned"] == {"echo": 3}
    assert (failed["state"], done["state"], done["reasons"]) == ("failed", "complete", [])
    assert "ZeroDivisionError: no such number" in failed["reasons"][0]
    assert datetime.fromisoformat(first["began"]) <= datetime.fromisoformat(failed["ended"])


async def test_a_part_with_nothing_to_do_leaves_no_line(tmp_path: Path) -> None:
    assert await lines_after(tmp_path, Toy(), "part") == await lines_after(tmp_path, Toy(), "part")


async def test_an_end_names_the_model_of_its_unit(tmp_path: Path) -> None:
    ends = await lines_after(tmp_path, Toy(), "end")
    assert sorted((line["u"], line["m"]) for line in ends) == [("x", "echo"), ("y", "echo"), ("z", "echo")]
