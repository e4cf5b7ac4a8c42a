"""A small audit: triplets of the paper's plan that are made here, and a file that five people annotate."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from turntide.datasets.tide.files import TripletFile, load_triplets, write_triplets
from turntide.datasets.tide.samples import SUBTYPES, TIERS, VERDICTS, DriftLabel, Triplet
from turntide.results.tide.audit.opening import Request, opened
from turntide.results.tide.audit.store import Store

from ....support.cases import FIXTURES

PEOPLE = ("ana", "ben", "cleo", "dan", "eve")


def fixture_triplets() -> tuple[Triplet, ...]:
    """The paper's plan, a deeper chain with two drifts, and a drift before a chain."""
    return load_triplets(FIXTURES / "tide" / "dialogues.json").triplets


def made(count: int) -> list[Triplet]:
    """Return triplets of the paper's plan that differ in content and go through all strata in turn."""
    one, (first, second), (l1, l2) = fixture_triplets()[0], fixture_triplets()[0].stages, fixture_triplets()[0].layers
    strata = list(product(SUBTYPES, VERDICTS, TIERS))
    found: list[Triplet] = []
    for number in range(count):
        subtype, verdict, tier = strata[number % len(strata)]
        counterfactual = "On weekdays, or on Sundays?" if verdict == "transformed" else ""
        layers = (l1, structs.replace(l2, verdict=verdict, counterfactual=counterfactual))
        before = structs.replace(first, layers=layers, tier=tier, ambiguous=f"How many web sales are big? ({number})")
        after = structs.replace(second, drift=DriftLabel(subtype=subtype))
        found.append(structs.replace(one, id=f"shop-{number}", stages=(before, after)))
    return found


def written(path: Path, triplets: Sequence[Triplet]) -> Path:
    file = TripletFile(format="turntide-tide-1", name="made", synthetic=True, triplets=tuple(triplets))
    write_triplets(path, file)
    return path


def audit(
    folder: Path,
    count: int = 2,
    calibration: int = 1,
    people: Sequence[str] = PEOPLE,
    triplets: Sequence[Triplet] = (),
) -> Store:
    """Begin an audit of `count` triplets and `calibration` more in a folder; `triplets` are drawn from, if given."""
    samples = written(folder / "triplets.json", triplets or made(count + calibration))
    return opened(folder / "audit.sqlite", Request(samples=samples, count=count, calibration=calibration), list(people))


Begin = Callable[..., Store]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """See `audit`; what it began is closed after the test."""
    stores: list[Store] = []

    def begun(*args: Any, **kwargs: Any) -> Store:
        stores.append(audit(tmp_path, *args, **kwargs))
        return stores[-1]

    yield begun
    for store in stores:
        store.close()


Said = tuple[str, str, str, str]
"""Annotator, task, item and answer."""


def everything(store: Store, people: Sequence[str], value: Callable[[str, str, str], str]) -> list[Said]:
    """Return an answer to every item by each of the people; `value` says which, by annotator, task and item."""
    return [
        (name, task.id, item.key, value(name, task.id, item.key))
        for name in people
        for task in store.tasks
        for item in task.items
    ]


def say(store: Store, answers: Iterable[Said]) -> None:
    """Write answers as the store does, but all in one transaction, which takes no time."""
    with closing(sqlite3.connect(store.path)) as database, database:
        database.executemany("INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?)", answers)
