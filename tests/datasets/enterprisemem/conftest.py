from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from turntide.datasets import synthetic
from turntide.datasets.enterprisemem.generator import Verification, generate
from turntide.datasets.enterprisemem.sessions import DATABASES, Session, load_sessions
from turntide.datasets.gold import GoldRunner


@pytest.fixture(scope="session")
def databases(look_alikes: Path) -> Mapping[str, Path]:
    return {name: synthetic.place(name, look_alikes) for name in DATABASES.values()}


@pytest.fixture(scope="session")
def runner(databases: Mapping[str, Path]) -> Iterator[GoldRunner]:
    """Shared, so that each query of the generated sessions runs once for all tests."""
    with GoldRunner(databases) as gold:
        yield gold


@pytest.fixture(scope="session")
def generated(runner: GoldRunner) -> tuple[tuple[Session, ...], Verification]:
    return generate(runner)


@pytest.fixture(scope="session")
def embedded(generated: tuple[tuple[Session, ...], Verification]) -> tuple[Session, ...]:
    """The sessions of the embedded default."""
    return generated[0]


@pytest.fixture(scope="session")
def released(shared_data: Path) -> tuple[Session, ...]:
    return load_sessions(shared_data / "enterprisemem" / "all_sessions.json.gz")
