"""A small shop with three triplets: the paper's plan, a deeper chain with two drifts, a drift before a chain."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from turntide.datasets.databases import SourceDatabase
from turntide.datasets.tide.experiment import Setup, TideExperiment
from turntide.datasets.tide.files import load_triplets
from turntide.datasets.tide.record import DialogueRecord, read_record
from turntide.datasets.tide.samples import Sample, samples
from turntide.engine.spec import ModelSpec

from ....support.cases import FIXTURES
from ....support.tide import Databases, DirectContext, Speaker

Talk = Callable[..., Awaitable[DialogueRecord]]


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shop") / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        for name in ("schema.sql", "shop_rows.sql"):
            connection.executescript((FIXTURES / "tide" / name).read_text(encoding="utf-8"))
    return path


@pytest.fixture(scope="session")
def few() -> dict[str, Sample]:
    """The samples of the fixture file by their ids."""
    return {sample.id: sample for sample in samples(load_triplets(FIXTURES / "tide" / "dialogues.json").triplets)}


@pytest.fixture(scope="session")
def experiment(shop: Path, few: dict[str, Sample]) -> TideExperiment:
    return opened(shop, few)


@pytest.fixture(scope="session")
def with_model(shop: Path, few: dict[str, Sample]) -> TideExperiment:
    """The same with a model in the user's place, whose label is `user`."""
    return opened(shop, few, user=ModelSpec(id="sim/tide-user"))


def opened(shop: Path, few: dict[str, Sample], user: ModelSpec | None = None) -> TideExperiment:
    databases = {"shop": SourceDatabase("shop", shop, synthetic=True)}
    return TideExperiment(
        Setup(samples=tuple(few.values()), samples_sha256="0", synthetic=True, databases=databases, user=user)
    )


@pytest.fixture
def databases(shop: Path) -> Iterator[Databases]:
    opened = Databases({"shop": shop})
    yield opened
    opened.close()


@pytest.fixture
def context(experiment: TideExperiment, databases: Databases) -> Callable[..., DirectContext]:
    """Return the context of one sample's dialogue; `speakers` answer by label, `agent` among them."""

    def make(sample: str, protocol: str = "f", **speakers: Speaker) -> DirectContext:
        units = (unit for lane in experiment.lanes("agent", 1) for step in lane for unit in step)
        unit = next(each for each in units if (each.item, each.labels["protocol"]) == (sample, protocol))
        return DirectContext(unit, databases, speakers)

    return make


@pytest.fixture
def talk(experiment: TideExperiment, context: Callable[..., DirectContext]) -> Talk:
    """Talk a sample through and return its record."""

    async def talked(sample: str, agent: Speaker, protocol: str = "f") -> DialogueRecord:
        ctx = context(sample, protocol, agent=agent)
        await experiment.dialogue(ctx.unit, ctx)
        (record,) = ctx.records
        return read_record(record)

    return talked


@pytest.fixture(scope="session")
def shop_databases(shop: Path) -> Iterator[Databases]:
    """The same as `databases`, for properties that run many dialogues on one connection."""
    opened = Databases({"shop": shop})
    yield opened
    opened.close()
