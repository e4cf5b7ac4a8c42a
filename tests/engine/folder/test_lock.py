"""One process per run folder; a dead one lets go."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from fcntl import LOCK_SH, LOCK_UN, flock
from pathlib import Path

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.engine.folder.lock import FolderInUse, RunLock, holder

from ..conftest import TinyDisk

HOLDER = Path(__file__).parents[2] / "support" / "lock_holder.py"


@contextmanager
def other_process(folder: Path, *options: str) -> Generator[subprocess.Popen[bytes]]:
    """Yield a process that holds the folder's lock by now; it ends with the block, and so does its child."""
    command = [sys.executable, str(HOLDER), str(folder), *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline()
        yield process


def test_a_second_process_is_told_at_once_who_holds_the_folder(tmp_path: Path) -> None:
    with other_process(tmp_path) as process:
        with pytest.raises(FolderInUse, match=rf"process {process.pid} on {socket.gethostname()}, since 20") as caught:
            RunLock(tmp_path).__enter__()
        assert caught.value.holder
        assert caught.value.holder.pid == process.pid


def test_a_killed_holder_lets_go_and_is_named_to_the_next(tmp_path: Path) -> None:
    with other_process(tmp_path) as process:
        process.kill()
        process.wait()
        with RunLock(tmp_path) as predecessor:
            assert predecessor
            assert predecessor.pid == process.pid


def test_a_lock_that_outlives_its_holder_in_a_child_is_explained(tmp_path: Path) -> None:
    with other_process(tmp_path, "--child") as process:
        process.kill()
        process.wait()
        with pytest.raises(FolderInUse, match="That process is gone, but one that it started still holds the lock"):
            RunLock(tmp_path).__enter__()


def test_a_folder_is_made_held_and_let_go(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "new"
    for _ in range(2):
        with RunLock(folder) as predecessor:
            assert predecessor is None
            with pytest.raises(FolderInUse, match=f"process {os.getpid()} "):
                RunLock(folder).__enter__()


def test_an_error_inside_lets_go_too(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), RunLock(tmp_path):
        _ = 1 // 0
    with RunLock(tmp_path) as predecessor:
        assert predecessor is None


def test_a_lock_file_without_a_name_in_it_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "lock").write_bytes(b'{"pid": 1')
    with RunLock(tmp_path) as predecessor:
        assert predecessor is None


def test_a_holder_that_has_not_written_its_name_yet_is_waited_for(tmp_path: Path) -> None:
    for half_written in (b"", b'{"pid": 4194999, "host": "%b", "since": "then"}\n' % socket.gethostname().encode()):
        with other_process(tmp_path) as process:
            named = (tmp_path / "lock").read_bytes()
            (tmp_path / "lock").write_bytes(half_written)
            later = threading.Timer(0.1, (tmp_path / "lock").write_bytes, [named])
            later.start()
            with pytest.raises(FolderInUse, match=f"process {process.pid} "):
                RunLock(tmp_path).__enter__()
            later.join()


def test_a_glance_at_the_lock_is_no_obstacle(tmp_path: Path) -> None:
    with RunLock(tmp_path):
        pass
    with (tmp_path / "lock").open() as glance:
        flock(glance, LOCK_SH)
        later = threading.Timer(0.1, flock, [glance, LOCK_UN])
        later.start()
        with RunLock(tmp_path) as predecessor:
            assert predecessor is None
        later.join()


def test_a_read_only_disk_is_a_clear_error(tiny_disk: TinyDisk) -> None:
    folder = tiny_disk("size=64k,ro")
    with pytest.raises(ConfigurationError, match=r"cannot be written \(Read-only file system\).*Make it writable"):
        RunLock(folder).__enter__()


@pytest.mark.skipif(os.geteuid() == 0, reason="no folder is closed to root")
def test_a_closed_folder_is_a_clear_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ConfigurationError, match="Permission denied"):
        RunLock(tmp_path).__enter__()


def test_a_file_in_place_of_the_folder_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("not a folder")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        RunLock(tmp_path / "run").__enter__()


def test_asking_who_holds_a_folder_takes_nothing(tmp_path: Path) -> None:
    assert holder(tmp_path) is None
    with other_process(tmp_path) as process:
        found = holder(tmp_path)
        assert found
        assert found.pid == process.pid
        process.kill()
        process.wait()
        assert holder(tmp_path) is None
    with RunLock(tmp_path):
        assert holder(tmp_path)
    assert holder(tmp_path) is None
