"""Files that refuse, and files that wait."""

from __future__ import annotations

import errno
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from turntide.engine.journal import Fields, scan
from turntide.engine.journal.logfile import LogFile


class GatedFile(LogFile):
    """Its fdatasync waits until the gate is open."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.gate = threading.Event()

    def _sync(self) -> None:
        assert self.gate.wait(20)
        super()._sync()


class FaultyFile(LogFile):
    """Once `broken` names a way, the next group fails in that way, with its bytes already in the file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.broken = ""
        self.syncs = 0

    def _write(self, group: bytes | bytearray, end: int) -> None:
        super()._write(group[: len(group) // 2] if self.broken == "short write" else group, end)
        if self.broken == "short write":
            raise OSError(errno.ENOSPC, "no space left on device")

    def _sync(self) -> None:
        self.syncs += 1
        if self.broken == "fdatasync":
            raise OSError(errno.EIO, "input/output error")
        super()._sync()


def step(kind: str, seq: int, text: str = "SELECT 1", *, unit: str = "u", branch: str = "") -> Fields:
    """Return a line of a kind that has a place, with `text` somewhere in it."""
    own: dict[str, Fields] = {
        "sent": {"n": 1, "h": "", "m": text, "usd": "0"},
        "answer": {"n": 1, "h": "", "text": text, "model": "m", "queued": 0.0, "took": 0.0},
        "fail": {"n": 1, "kind": "server", "message": text, "paid": False},
        "sql": {"outcome": {"status": "ok", "message": text}},
        "record": {"fields": {"text": text}},
    }
    return {"k": kind, "u": unit, "b": branch, "s": seq, **own[kind]}


def answer(seq: int, text: str = "SELECT 1", *, unit: str = "u") -> Fields:
    return step("answer", seq, text, unit=unit)


def texts(path: Path) -> list[str]:
    return [line["text"] for line in scan(path)]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory where there is one: these tests wait for thousands of syncs."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


@pytest.fixture
def journal_path(folder: Path) -> Path:
    return folder / "journal.jsonl"
