"""What is shipped: every sub-package, under one name, harmless to other people's packages."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("adapters", "datasets", "engine", "results")


def _project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_every_folder_with_code_is_a_listed_package() -> None:
    tool = _project()["tool"]
    assert isinstance(tool, dict)
    listed: set[str] = set(tool["setuptools"]["packages"])  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    found = {
        "turntide." + ".".join(path.parent.relative_to(ROOT).parts)
        for package in PACKAGES
        for path in (ROOT / package).rglob("__init__.py")
    }
    assert listed == found


def test_the_root_is_a_namespace_and_every_package_is_typed() -> None:
    assert not (ROOT / "__init__.py").exists()
    assert all((ROOT / package / "py.typed").exists() for package in PACKAGES)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of what git tracks, so that nothing else can slip in."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False).stdout
    names = [name for name in tracked.decode().split("\0") if name and (ROOT / name).is_file()]
    if not names:
        pytest.skip("not a git checkout")
    for name in names:
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(source)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_nothing_outside_turntide(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"turntide"}


def test_the_wheel_holds_every_data_file_of_the_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    data = [
        f"turntide/{path.relative_to(ROOT)}"
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and "__pycache__" not in path.parts
    ]
    assert sorted(set(data) - names) == []


def test_an_installed_sweep_runs_beside_a_foreign_package_called_datasets(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    (site / "datasets").mkdir()
    (site / "datasets" / "__init__.py").write_text("def load_dataset(name):\n    return f'theirs: {name}'\n")
    program = (
        "import datasets, sys, turntide.datasets\n"
        "assert datasets.load_dataset('x') == 'theirs: x'\n"
        f"assert turntide.datasets.__file__.startswith({str(site)!r}), turntide.datasets.__file__\n"
        "from turntide.engine.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    sweep = ["run", "enterprisemem", "--model", "sim/echo", "--condition", "A", "--limit", "3", "--out", "run"]
    environ = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-c", program, *sweep]
    ran = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "complete: 3 of 3 dialogues" in ran.stdout
