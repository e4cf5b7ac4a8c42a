from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from turntide.datasets import synthetic
from turntide.datasets.databases import SourceDatabase
from turntide.datasets.tide.files import TripletFile
from turntide.datasets.tide.triplets import DATABASES
from turntide.datasets.tide.triplets.build import generate


@pytest.fixture(scope="session")
def databases(look_alikes: Path) -> Mapping[str, Path]:
    return {name: synthetic.place(name, look_alikes) for name in DATABASES}


@pytest.fixture(scope="session")
def sources(databases: Mapping[str, Path]) -> Mapping[str, SourceDatabase]:
    return {name: SourceDatabase(name, path, synthetic=True) for name, path in databases.items()}


@pytest.fixture(scope="session")
def file(databases: Mapping[str, Path]) -> TripletFile:
    """The triplets of the embedded default."""
    return generate(databases)
