"""A Redis for all tests of shards, each with runs of its own in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ...support.servers import RedisServer
from ...support.servers import redis_server as redis_server


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Redis that stays up."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server.url
    server.stop()
