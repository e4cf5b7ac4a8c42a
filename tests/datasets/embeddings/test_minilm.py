"""The worker process and its cache without a model, and the real model where it is installed."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from turntide.adapters.base import ConfigurationError
from turntide.datasets.embeddings.base import Vector
from turntide.datasets.embeddings.location import ModelFiles, find_model
from turntide.datasets.embeddings.minilm import MiniLM
from turntide.datasets.embeddings.packages import catalogue
from turntide.datasets.embeddings.vector_cache import VectorCache
from turntide.engine.errors import Unfinished

from ...conftest import missing
from ...support.processes import becomes_true, is_alive

PARENT = """
import asyncio, sys
from pathlib import Path
from turntide.datasets.embeddings.location import ModelFiles
from turntide.datasets.embeddings.minilm import MiniLM

async def main():
    embedder = MiniLM(ModelFiles(Path("nowhere"), "", ""), Path(sys.argv[1]))
    await embedder.embed(["known"])
    print(embedder._worker._process.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def unit(*head: float) -> Vector:
    vector = np.zeros(384, np.float32)
    vector[: len(head)] = head
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def cached(path: Path, vectors: Mapping[str, Vector]) -> MiniLM:
    """An embedder without a model: it can answer what is in its cache."""
    with closing(VectorCache(path)) as cache:
        cache.write(vectors)
    return MiniLM(ModelFiles(path.parent / "nowhere", "0" * 64, "1" * 64), path)


@pytest.fixture(scope="session")
def model() -> ModelFiles:
    try:
        return find_model(os.environ)
    except ConfigurationError as error:
        missing("all-MiniLM-L6-v2", str(error))
        raise


async def test_known_texts_are_answered_from_the_disk_without_loading_the_model(tmp_path: Path) -> None:
    embedder = cached(tmp_path / "v.sqlite", {"one": unit(1), "zwei ü": unit(3, 4)})
    answers = await asyncio.gather(
        embedder.embed(["zwei ü", "one", "one"]), embedder.embed(["one"]), embedder.embed([])
    )
    assert [answer.shape for answer in answers] == [(3, 384), (1, 384), (0, 384)]
    assert np.array_equal(answers[0], np.stack([unit(3, 4), unit(1), unit(1)]))
    await embedder.aclose()


async def test_a_cancelled_caller_does_not_take_the_others_answer_away(tmp_path: Path) -> None:
    embedder = cached(tmp_path / "v.sqlite", {"one": unit(1)})
    doomed, other = (asyncio.create_task(embedder.embed(["one"])) for _ in range(2))
    await asyncio.sleep(0)
    doomed.cancel()
    assert np.array_equal((await other)[0], unit(1))
    await embedder.aclose()


async def test_a_worker_that_was_killed_is_replaced(tmp_path: Path) -> None:
    embedder = cached(tmp_path / "v.sqlite", {"one": unit(1), "two": unit(2, 1)})
    await embedder.embed(["one"])
    process = embedder._worker._process  # pyright: ignore[reportPrivateUsage]
    assert process is not None
    process.send_signal(signal.SIGKILL)
    await process.wait()
    assert np.array_equal((await embedder.embed(["two"]))[0], unit(2, 1))
    await embedder.aclose()
    assert np.array_equal((await embedder.embed(["two"]))[0], unit(2, 1))
    await embedder.aclose()


async def test_a_model_that_cannot_be_run_stops_the_dialogue_in_words(tmp_path: Path) -> None:
    embedder = cached(tmp_path / "v.sqlite", {})
    with pytest.raises(Unfinished, match=r"cannot be run: .*nowhere") as stopped:
        await embedder.embed(["unknown"])
    assert stopped.value.why == "infrastructure"
    await embedder.aclose()


def test_the_worker_ends_with_its_parent(tmp_path: Path) -> None:
    cached(tmp_path / "v.sqlite", {"known": unit(1)})
    command = (sys.executable, "-c", PARENT, str(tmp_path / "v.sqlite"))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        watch = os.pidfd_open(worker)
        parent.kill()
    poll = select.poll()
    poll.register(watch)
    assert poll.poll(10_000)
    os.close(watch)


def test_a_terminals_ctrl_c_reaches_the_parent_and_not_the_worker(tmp_path: Path) -> None:
    cached(tmp_path / "v.sqlite", {"known": unit(1)})
    command = (sys.executable, "-c", PARENT, str(tmp_path / "v.sqlite"))
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True, start_new_session=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        assert os.getsid(worker) != os.getsid(parent.pid)
        os.killpg(parent.pid, signal.SIGINT)
        _, errors = parent.communicate(timeout=10)
    assert becomes_true(lambda: not is_alive(worker))
    assert "embeddings/worker.py" not in errors


def test_a_broken_cache_is_no_cache_and_a_broken_vector_is_computed_again(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    path.write_bytes(b"this is no database, whatever its name says" * 50)
    with closing(VectorCache(path)) as broken, closing(VectorCache(None)) as none:
        for cache in (broken, none):
            cache.write({"one": unit(1)})
            assert cache.read(["one"]) == {}
    with closing(VectorCache(tmp_path / "w.sqlite")) as other:
        other.write({"one": unit(1), "two": 2 * unit(1), "three": unit(1)[:100]})
        assert list(other.read(["one", "two", "three", "four"])) == ["one"]


@pytest.mark.real("all-MiniLM-L6-v2")
async def test_the_real_model_gives_the_published_vector_and_one_per_text_alone(model: ModelFiles) -> None:
    embedder = MiniLM(model, cache=None)
    check = catalogue().check
    texts = [check.sentence, "Count them.", "word " * 400, "", "\ud800 lone"]
    together = await embedder.embed(texts)
    await embedder.aclose()
    tolerance = catalogue().variants[catalogue().variant_of(model.model_sha256) or "int8"].tolerance
    assert np.abs(together[0][: len(check.vector)] - check.vector).max() <= tolerance
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-6)

    fresh = MiniLM(model, cache=None)
    alone = [(await fresh.embed([text]))[0] for text in reversed(texts)]
    cut = (await fresh.embed(["word " * 254]))[0]
    await fresh.aclose()
    assert np.array_equal(np.stack(alone[::-1]), together)
    assert np.array_equal(cut, together[2])  # 254 word pieces, [CLS] and [SEP]: what is beyond 256 does not count
    assert embedder.identity()["model_sha256"] == model.model_sha256


@pytest.mark.real("all-MiniLM-L6-v2")
async def test_the_real_model_sees_meaning_where_the_wording_differs(model: ModelFiles) -> None:
    embedder = MiniLM(model, cache=None)
    vectors = await embedder.embed(["What did they earn?", "Show net income.", "List the districts of Bohemia."])
    await embedder.aclose()
    assert vectors[0] @ vectors[1] > 2 * (vectors[0] @ vectors[2])
