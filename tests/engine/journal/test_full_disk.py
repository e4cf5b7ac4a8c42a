"""A disk without room stops the journal cleanly; with room again the run goes on."""

from __future__ import annotations

import resource
from pathlib import Path

from turntide.engine.journal import Journal, JournalStopped

from ..conftest import TinyDisk
from .conftest import answer, texts

TEXT = "x" * 1000


async def fill(path: Path) -> list[str]:
    """Commit lines one by one until the disk refuses; return the texts of those that were reported durable."""
    durable: list[str] = []
    with Journal.open(path) as journal:
        for seq in range(1000):
            try:
                await journal.commit(answer(seq, f"{seq}{TEXT}"))
            except JournalStopped:
                return durable
            durable.append(f"{seq}{TEXT}")
    raise AssertionError("the disk took everything")


async def test_a_full_disk_stops_the_journal_and_a_resume_with_room_goes_on(tiny_disk: TinyDisk) -> None:
    folder = tiny_disk("size=64k")
    path = folder / "journal.jsonl"
    ballast = folder / "ballast"
    ballast.write_bytes(b"x" * 20_000)
    durable = await fill(path)
    assert durable
    assert texts(path) == durable
    ballast.unlink()
    with Journal.open(path) as journal:
        await journal.commit(answer(len(durable), "more"))
    assert texts(path) == [*durable, "more"]
    assert not path.with_suffix(".torn").exists()


async def test_a_limit_on_the_file_size_is_met_in_the_same_way(journal_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_500, hard))
    try:
        durable = await fill(journal_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert durable
    assert texts(journal_path) == durable
