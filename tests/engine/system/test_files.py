"""A file that replaces another: all of the new one, or all of the old one."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from turntide.engine.system.files import replace_file


def test_a_full_disk_keeps_the_old_file_and_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    replace_file(tmp_path / "summary.json", b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        replace_file(tmp_path / "summary.json", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("summary.json", b"old")]
