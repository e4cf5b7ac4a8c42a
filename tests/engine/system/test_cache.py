from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.engine.system.cache import built_once, cache_folder


def test_the_folder_is_the_one_that_the_environment_names(tmp_path: Path) -> None:
    assert cache_folder({"TURNTIDE_CACHE": str(tmp_path)}) == tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not go by HOME")
def test_without_a_home_nothing_is_written_into_the_root_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match=r"there is no home folder .* TURNTIDE_CACHE"):
        cache_folder({"HOME": ""})

    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    with pytest.raises(ConfigurationError, match="there is no home folder"):
        cache_folder({})


def test_a_file_is_built_at_first_need_and_then_kept(tmp_path: Path) -> None:
    def never(_: Path) -> None:
        raise AssertionError("built twice")

    path = tmp_path / "deep" / "file"
    assert built_once(path, Path.touch) == path
    assert built_once(path, never) == path


def test_a_cache_that_cannot_be_written_names_the_variable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match=r"cannot write to .*: Not a directory\. TURNTIDE_CACHE names"):
        built_once(tmp_path / "file" / "deep" / "built", Path.touch)


def test_a_build_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(draft: Path) -> None:
        draft.write_text("half")
        raise RuntimeError("cut")

    with pytest.raises(RuntimeError, match="cut"):
        built_once(tmp_path / "file", fail)
    assert not list(tmp_path.iterdir())


def test_two_builders_at_once_end_with_one_whole_file(tmp_path: Path) -> None:
    together = Barrier(2, timeout=5)

    def build(draft: Path) -> None:
        together.wait()
        draft.write_text("whole")

    with ThreadPoolExecutor(2) as pool:
        builds = [pool.submit(built_once, tmp_path / "file", build) for _ in range(2)]
    assert [done.result().read_text() for done in builds] == ["whole", "whole"]
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
