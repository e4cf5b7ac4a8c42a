"""Models that a benchmark asks itself: routes, limits and a place in the run's identity of their own."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest
from turntide.adapters.base import ConfigurationError, Message
from turntide.adapters.simulated import Config, serve
from turntide.engine.calls.choices import resolved_auxiliary
from turntide.engine.folder.manifest import Manifest, ManifestMismatch
from turntide.engine.journal import scan
from turntide.engine.run import execute
from turntide.engine.spec import ModelSpec, Spec
from turntide.engine.unit import Context, Unit
from turntide.engine.watch.live import Live

from ...support.toy import Toy, toy_spec

USER = ModelSpec(id="sim/echo?seed=2", label="user", rpm=6000, in_flight=3)


@dataclass
class Asking(Toy):
    """A toy whose dialogues ask an auxiliary model too, before or after their own."""

    model_first: bool = False

    async def dialogue(self, unit: Unit, ctx: Context) -> None:
        asked = [unit.model, "user"] if self.model_first else ["user", unit.model]
        said = await ctx.ask(asked[0], [Message("user", f"hello {unit.key}")])
        heard = await ctx.ask(asked[1], [Message("user", said.text)])
        ctx.record(heard=heard.text)


@pytest.fixture
async def server() -> AsyncGenerator[str]:
    async with serve(Config()) as base_url:
        yield base_url


async def test_a_run_whose_auxiliary_model_is_not_there_names_it_and_is_for_the_user_to_mend(
    tmp_path: Path, server: str
) -> None:
    for _ in ("at first", "and again, when what the others said is replayed"):
        await _run(tmp_path / "run", server, ModelSpec(id="sim/nope", label="user"), model_first=True)
        found = json.loads((tmp_path / "run" / "summary.json").read_bytes())
        assert (found["state"], found["exit_code"]) == ("unusable", 2)
        assert len(found["reasons"]) == 2
        for label, reason in zip(("sim/echo", "sim/echo?seed=1"), found["reasons"], strict=True):
            assert reason.startswith(f"{label}: ")
            assert "dialogues unfinished, because user stopped: " in reason
            assert "'nope' does not exist" in reason


async def _run(folder: Path, base_url: str, user: ModelSpec, *, model_first: bool = False) -> list[Live]:
    seen: list[Live] = []
    toy = Asking(folder.parent / "data", units=6, auxiliary=(user,), model_first=model_first)
    environ = {"TURNTIDE_SIM_BASE_URL": base_url}
    await execute(toy_spec("sim/echo", "sim/echo?seed=1"), toy, folder, seen.append, environ)
    return seen


async def test_an_auxiliary_model_is_asked_and_limited_on_its_own(tmp_path: Path, server: str) -> None:
    (live,) = await _run(tmp_path / "run", server, USER)
    one, other, user = live.routes.by_label.values()
    assert one.turnstile is other.turnstile is not user.turnstile
    assert user.turnstile.limits.bound == 3
    asked = [line["m"] for line in scan(tmp_path / "run" / "journal.jsonl") if line["k"] == "sent"]
    assert asked.count("user") == len(asked) / 2 == 12


async def test_it_is_part_of_the_identity_and_its_limits_are_not(tmp_path: Path, server: str) -> None:
    await _run(tmp_path / "run", server, USER)
    (named,) = Manifest.load(tmp_path / "run").identity["auxiliary"]
    assert named == {"label": "user", "id": "sim/echo?seed=2", "options": {}}
    await _run(tmp_path / "run", server, ModelSpec(id=USER.id, label="user", rpm=12))
    with pytest.raises(ManifestMismatch, match="auxiliary"):
        await _run(tmp_path / "run", server, ModelSpec(id="sim/echo?seed=3", label="user"))


def test_what_all_models_are_sent_it_is_sent_too_unless_it_says_otherwise() -> None:
    models = [
        ModelSpec(id="sim/a", options={"temperature": 0, "max_tokens": 9}),
        ModelSpec(id="sim/b", options={"temperature": 0}),
    ]
    spec = Spec(benchmark="toy", models=models)
    (plain,) = resolved_auxiliary(spec, [USER])
    assert plain.options == {"temperature": 0}
    (warm,) = resolved_auxiliary(spec, [ModelSpec(id="sim/u", options={"temperature": 1})])
    assert warm.options == {"temperature": 1}


def test_one_name_cannot_mean_two_models() -> None:
    with pytest.raises(ConfigurationError, match="'sim/echo' names two"):
        resolved_auxiliary(toy_spec(), [ModelSpec(id="sim/echo")])
