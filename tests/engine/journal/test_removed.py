"""A journal that is removed while it is written takes nothing more, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from turntide.engine.journal import Journal
from turntide.engine.journal.errors import JournalGone

from .conftest import answer


async def test_a_journal_that_is_removed_is_noticed_at_the_next_commit(journal_path: Path) -> None:
    with Journal.open(journal_path) as journal:
        await journal.commit(answer(0))
        journal_path.unlink()
        for seq in (1, 2):
            with pytest.raises(JournalGone, match="was removed while the run went on"):
                await journal.commit(answer(seq))


async def test_a_journal_whose_folder_is_moved_goes_on_there(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    with Journal.open(old / "journal.jsonl") as journal:
        await journal.commit(answer(0))
        old.rename(new)
        await journal.commit(answer(1))
    with Journal.open(new / "journal.jsonl") as journal:
        assert journal.statistics().lines == 0
    assert (new / "journal.jsonl").read_bytes().count(b"\n") == 2
