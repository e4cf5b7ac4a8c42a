"""What decides a run's requests is in its identity, benchmark by benchmark; where files lie is not."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
from turntide.datasets import synthetic
from turntide.datasets.enterprisemem.embedded import embedded_sessions
from turntide.datasets.tide.embedded import embedded_triplets
from turntide.engine.identity import identity
from turntide.engine.registry import benchmark_of
from turntide.engine.spec import ModelSpec, Settings, Spec

LIMIT = 3


@dataclass
class Data:
    """A benchmark's data as files of the test's own, and the option that names the file of its items."""

    benchmark: str
    option: str
    items: Path
    databases: Mapping[str, Path]

    def spec(self, **changes: Any) -> Spec:
        options = {
            self.option: str(self.items),
            "databases": {name: str(path) for name, path in self.databases.items()},
            **changes.pop("options", {}),
        }
        given: dict[str, Any] = {"models": [ModelSpec(id="sim/echo")], "limit": LIMIT, **changes}
        return Spec(benchmark=self.benchmark, options=options, **given)


@pytest.fixture(params=[("enterprisemem", "sessions", embedded_sessions), ("tide", "samples", embedded_triplets)])
def data(request: pytest.FixtureRequest, look_alikes: Path, tmp_path: Path) -> Data:
    benchmark, option, embedded = request.param
    databases = {name: Path(copy(synthetic.place(name, look_alikes), tmp_path)) for name in synthetic.NAMES}
    return Data(benchmark, option, Path(copy(embedded(), tmp_path)), databases)


async def _identity(spec: Spec) -> dict[str, Any]:
    async with benchmark_of(spec.benchmark).open(spec.options, seed=spec.seed, limit=spec.limit) as experiment:
        return identity(spec, experiment)


REQUESTS: Mapping[str, Mapping[str, Any]] = {
    "another model": {"models": [ModelSpec(id="sim/perfect")]},
    "another temperature": {"models": [ModelSpec(id="sim/echo", options={"temperature": 0.7})]},
    "more reasoning": {"models": [ModelSpec(id="sim/echo", options={"reasoning_effort": "high"})]},
    "repeats": {"repeats": 2},
    "another seed": {"seed": 7},
    "another limit": {"limit": LIMIT - 1},
}
OPTIONS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "enterprisemem": {
        "fewer conditions": {"conditions": ["A", "B"]},
        "another order": {"order": "isolated"},
        "no state": {"state": "none"},
        "another embedder": {"embedder": "lexical"},
    },
    "tide": {
        "one protocol": {"protocols": ["f"]},
        "one set": {"sets": ["joint"]},
        "another evidence": {"evidence": "original"},
        "a user by model": {"user_model": "sim/perfect"},
    },
}


async def test_whatever_decides_the_requests_is_in_the_identity(data: Data) -> None:
    seen = {"as it was": await _identity(data.spec())}
    for name, change in REQUESTS.items():
        seen[name] = await _identity(data.spec(**change))
    for name, options in OPTIONS[data.benchmark].items():
        seen[name] = await _identity(data.spec(options=options))
    for left in seen:
        assert [name for name in seen if seen[name] == seen[left]] == [left]


def _edit(data: Data) -> None:
    data.items.write_bytes(data.items.read_bytes() + b"\n")


def _change(data: Data) -> None:
    for path in data.databases.values():
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 7")


@pytest.mark.parametrize("change", [_edit, _change])
async def test_a_file_of_other_bytes_makes_another_run(data: Data, change: Callable[[Data], None]) -> None:
    before = await _identity(data.spec())
    change(data)
    assert await _identity(data.spec()) != before


async def test_how_fast_how_often_and_how_dear_a_run_may_be_and_where_its_files_lie_does_not(
    data: Data, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    moved = Data(
        data.benchmark,
        data.option,
        Path(copy(data.items, elsewhere)),
        {name: Path(copy(path, elsewhere)) for name, path in data.databases.items()},
    )
    settings = Settings(concurrency=3, retries=9, max_cost="0.01", sql_workers=1)
    slow = [ModelSpec(id="sim/echo", rpm=3, tpm=1000, in_flight=1)]
    assert await _identity(moved.spec(settings=settings, models=slow)) == await _identity(data.spec())
