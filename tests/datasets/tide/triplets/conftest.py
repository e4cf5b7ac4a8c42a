"""The embedded set and its databases, from the cache: what is built once serves every process of the suite."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from turntide.datasets import synthetic
from turntide.datasets.databases import SourceDatabase
from turntide.datasets.tide.embedded import embedded_triplets
from turntide.datasets.tide.files import TripletFile, load_triplets
from turntide.datasets.tide.triplets import DATABASES


@pytest.fixture(scope="session")
def databases() -> Mapping[str, Path]:
    return {name: synthetic.ensure(name) for name in DATABASES}


@pytest.fixture(scope="session")
def sources(databases: Mapping[str, Path]) -> Mapping[str, SourceDatabase]:
    return {name: SourceDatabase(name, path, synthetic=True) for name, path in databases.items()}


@pytest.fixture(scope="session")
def file() -> TripletFile:
    """The triplets of the embedded default, whose place in the cache is new for every other code or template."""
    return load_triplets(embedded_triplets())
