"""Groups go out in order, off the loop, out of reach of cancellation; after a refusal nothing more goes out."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from turntide.engine.journal import Journal, JournalStopped, Key

from .conftest import FaultyFile, GatedFile, answer, texts


async def ticks(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_lines_that_arrive_while_the_disk_works_form_the_next_group(journal_path: Path) -> None:
    file = GatedFile(journal_path)
    with Journal(file) as journal:
        first = asyncio.create_task(journal.commit(answer(0, "0")))
        await ticks()
        others = [asyncio.create_task(journal.commit(answer(seq, str(seq)))) for seq in range(1, 50)]
        await ticks()
        assert not first.done()  # and yet the loop turns: the disk is waited for elsewhere
        file.gate.set()
        await asyncio.gather(first, *others)
        assert (journal.statistics().lines, journal.statistics().groups) == (50, 2)
    assert texts(journal_path) == [str(seq) for seq in range(50)]


async def test_a_wait_for_the_disk_covers_all_that_was_appended_before_it(journal_path: Path) -> None:
    with Journal.open(journal_path) as journal:
        await journal.durable()
        journal.append(answer(0, "a"))
        journal.append(answer(1, "b"))
        await journal.durable()
        assert texts(journal_path) == ["a", "b"]
        assert journal.statistics().bytes == journal_path.stat().st_size


async def test_cancelling_every_waiter_stops_no_write(journal_path: Path) -> None:
    file = GatedFile(journal_path)
    with Journal(file) as journal:
        waiting = [asyncio.create_task(journal.commit(answer(seq, str(seq)))) for seq in range(3)]
        await ticks()
        late = asyncio.create_task(journal.commit(answer(3, "3")))
        await ticks()
        for task in (*waiting, late):
            task.cancel()
        results = await asyncio.gather(*waiting, late, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results)
        file.gate.set()
        await journal.commit(answer(4, "4"))
        assert texts(journal_path) == ["0", "1", "2", "3", "4"]


def test_closing_after_the_loop_is_gone_writes_what_is_left(journal_path: Path) -> None:
    file = GatedFile(journal_path)
    journal = Journal(file)

    async def interrupted() -> None:
        tasks = [asyncio.create_task(journal.commit(answer(0, "on its way")))]
        await ticks()
        tasks.append(asyncio.create_task(journal.commit(answer(1, "in the buffer"))))
        await ticks()

    asyncio.run(interrupted())
    file.gate.set()
    journal.close()
    assert texts(journal_path) == ["on its way", "in the buffer"]


async def test_a_group_lingers_for_company_and_closing_waits_no_longer(journal_path: Path) -> None:
    with Journal.open(journal_path, linger=lambda: 3600.0) as journal:
        tasks: list[asyncio.Task[None]] = []
        for seq in range(3):
            tasks.append(asyncio.create_task(journal.commit(answer(seq, str(seq)))))
            await ticks()
        assert journal_path.read_bytes() == b""
        journal.close()
        await asyncio.gather(*tasks)
        assert journal.statistics().groups == 1
    assert texts(journal_path) == ["0", "1", "2"]


@pytest.mark.parametrize("fault", ["short write", "fdatasync"])
async def test_a_refused_group_fails_its_waiters_and_leaves_the_durable_part(journal_path: Path, fault: str) -> None:
    file = FaultyFile(journal_path)
    with Journal(file) as journal:
        await journal.commit(answer(0, "safe"))
        safe, syncs = journal_path.read_bytes(), file.syncs
        file.broken = fault
        lost = [asyncio.create_task(journal.commit(answer(seq, "lost"))) for seq in (1, 2)]
        results = await asyncio.gather(*lost, return_exceptions=True)
        assert all(isinstance(result, JournalStopped) for result in results)
        assert f"up to byte {len(safe)} is safe" in str(results[0])
        assert journal_path.read_bytes() == safe
        file.broken = ""
        for refused in (journal.commit(answer(3)), journal.durable()):
            with pytest.raises(JournalStopped):
                await refused
        assert file.syncs <= syncs + 1  # never tried again
        assert journal.find(Key("u")) == answer(0, "safe")
    assert journal_path.read_bytes() == safe


def test_closing_says_when_the_last_lines_were_lost(journal_path: Path) -> None:
    file = FaultyFile(journal_path)
    journal = Journal(file)
    journal.append(answer(0))
    file.broken = "fdatasync"
    with pytest.raises(JournalStopped, match="input/output error"):
        journal.close()
    assert journal_path.read_bytes() == b""
