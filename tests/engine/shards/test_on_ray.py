"""A Ray that dies under its shards; what Ray says of its nodes is all that is made up here."""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from turntide.engine.shards import on_ray
from turntide.engine.shards.on_ray import ADDRESS, DIED, RayCrew
from turntide.engine.shards.worker import Ended

JOB: Any = SimpleNamespace(index=0)


class Ray:
    """A Ray whose tasks never come to an end, and whose one node lives until `alive` is false."""

    def __init__(self) -> None:
        self.alive = True

    def init(self, **options: object) -> None: ...
    def shutdown(self) -> None: ...

    def nodes(self) -> list[dict[str, bool]]:
        return [{"Alive": self.alive}]

    def remote(self, **options: object) -> Any:
        def begin(job: object) -> asyncio.Future[Ended]:
            return asyncio.get_running_loop().create_future()

        def named(name: str) -> SimpleNamespace:
            return SimpleNamespace(remote=begin)

        return lambda work: SimpleNamespace(options=named)  # pyright: ignore[reportUnknownLambdaType, reportUnknownVariableType]


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    ray: Any = Ray()
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setattr(on_ray, "LOOK", 0.01)
    monkeypatch.delenv(ADDRESS, raising=False)
    return ray


async def test_shards_whose_ray_dies_that_was_started_for_them_end_resumable(ray: Ray) -> None:
    async with RayCrew(1) as crew:
        running = asyncio.create_task(crew.run(JOB))
        await asyncio.sleep(0.05)
        assert not running.done()
        ray.alive = False
        assert await asyncio.wait_for(running, 5) == Ended(3, DIED)


async def test_a_cluster_whose_node_dies_is_left_to_rays_own_retries(ray: Ray, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS, "127.0.0.1:1")
    ray.alive = False
    async with RayCrew(1) as crew:
        running = asyncio.create_task(crew.run(JOB))
        await asyncio.sleep(0.05)
        assert not running.done()
        running.cancel()
