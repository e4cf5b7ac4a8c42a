"""Fixtures that every part of the suite shares."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("TURNTIDE_SHARED", ROOT.parent / "shared"))

# Hundreds of processes are started here, and each would compile all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_finish() -> None:
    """What is collected stays to the end: no full collection has to look at its third of a million objects again."""
    gc.collect()
    gc.freeze()


def missing(part: str, why: str) -> None:
    """Skip a test whose real part is not here; in CI, where it must be, fail instead."""
    if os.environ.get("TURNTIDE_REQUIRE_REAL"):
        pytest.fail(f"{part} must be present in CI: {why}")
    pytest.skip(f"{part}: {why}")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with the real data sets, or a skip that says so."""
    data = SHARED / "data"
    if not data.is_dir():
        pytest.skip("the real data folder is not beside this project (set TURNTIDE_SHARED)")
    return data
