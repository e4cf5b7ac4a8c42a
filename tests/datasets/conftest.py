from __future__ import annotations

from pathlib import Path

import pytest
from turntide.datasets import synthetic


@pytest.fixture(scope="session")
def look_alikes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder in which all look-alikes are built."""
    cache = tmp_path_factory.mktemp("cache")
    for name in synthetic.NAMES:
        synthetic.ensure(name, cache)
    return cache
