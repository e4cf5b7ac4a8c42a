"""The models of a run: resolved before it starts, recorded as they are asked, spoken to in any format, and priced."""

from __future__ import annotations

import argparse
import json
from decimal import Decimal
from pathlib import Path

import pytest
from turntide.adapters.base import ConfigurationError, Json
from turntide.adapters.simulated import Config, serve
from turntide.engine.cli.run import add_parser, specification
from turntide.engine.identity import identity
from turntide.engine.journal import scan
from turntide.engine.spec import ModelSpec, Settings, Spec

from ...support.toy import Toy, run_toy, toy_spec

FORMATS = ["sim/echo", "sim/echo@responses", "sim/echo@anthropic", "sim/echo@gemini"]


def spec_of(model: str, options: dict[str, Json] | None = None, settings: Settings | None = None) -> Spec:
    """Return a toy run whose model is called m, whatever it is and however it is asked."""
    usual = Settings(sql_workers=1, retries=8, backoff=0.02)
    asked = ModelSpec(id=model, label="m", options=options or {})
    return Spec(benchmark="toy", models=[asked], settings=settings or usual)


def manifest_models(folder: Path) -> list[dict[str, Json]]:
    return json.loads((folder / "manifest.json").read_text())["identity"]["models"]


async def test_a_sweep_has_the_same_outcomes_in_all_formats_whatever_the_faults(tmp_path: Path) -> None:
    stormy = Config(
        seed=3,
        latency="uniform:0:0.02",
        faults={"429": 0.05, "500": 0.05, "529": 0.05, "malformed": 0.05},
        retry_after=0.05,
        mistakes={"wrong": 0.2, "fence": 0.1, "cut": 0.1, "refuse": 0.1, "empty": 0.1, "filter": 0.05},
    )
    outcomes: list[list[str]] = []
    async with serve(stormy) as base_url:
        for number, model in enumerate(FORMATS):
            folder = tmp_path / str(number)
            assert (
                await run_toy(folder, base_url, spec=spec_of(model, {"max_tokens": 16_000}), units=12)
            ).exit_code == 0
            lines = [line for line in scan(folder / "journal.jsonl") if line["k"] in ("record", "answer")]
            kept = ("u", "s", "text", "finish", "usage", "fields")
            outcomes.append(sorted(json.dumps([line.get(name) for name in kept]) for line in lines))
    assert outcomes[1:] == outcomes[:1] * 3
    assert len({json.loads(line)[3] for line in outcomes[0]}) == 3  # none, length and refused


@pytest.mark.parametrize("api", ["chat", "responses", "anthropic"])
async def test_answers_of_a_simulated_server_under_another_name_say_so_and_so_do_those_taken_over(
    tmp_path: Path, api: str
) -> None:
    spec = spec_of("local/echo", {"api": api, "max_tokens": 16_000})
    again = spec_of("local/echo", {"api": api, "max_tokens": 16_000}, Settings(seed_from=str(tmp_path / "run")))
    async with serve(Config()) as base_url:
        for name, asked in (("run", spec), ("again", again)):
            environ = {"TURNTIDE_LOCAL_BASE_URL": base_url}
            assert (await run_toy(tmp_path / name, "", spec=asked, units=3, environ=environ)).exit_code == 0
    for name in ("run", "again"):
        answers = [line for line in scan(tmp_path / name / "journal.jsonl") if line["k"] == "answer"]
        assert len(answers) == 12
        assert all(line["simulated"] is True for line in answers)
        assert all(("seeded" in line) == (name == "again") for line in answers)


async def test_a_simulated_provider_that_wants_a_key_is_sent_one(tmp_path: Path) -> None:
    async with serve(Config(key="open sesame")) as base_url:
        environ = {"TURNTIDE_SIM_API_KEY": "open sesame"}
        assert (await run_toy(tmp_path / "with", base_url, units=3, environ=environ)).exit_code == 0
        assert (await run_toy(tmp_path / "without", base_url, units=3)).exit_code == 2


async def test_the_manifest_records_what_is_really_sent(tmp_path: Path) -> None:
    async with serve(Config()) as base_url:
        await run_toy(tmp_path / "run", base_url, spec=toy_spec("sim/echo", "sim/echo@anthropic"), units=3)
    assert manifest_models(tmp_path / "run") == [
        {"label": "sim/echo", "id": "sim/echo", "options": {}},
        {"label": "sim/echo@anthropic", "id": "sim/echo", "options": {"api": "anthropic", "max_tokens": 16_000}},
    ]


def test_a_specification_and_what_it_resolves_to_are_one_run(tmp_path: Path) -> None:
    asked = spec_of("anthropic/claude-sonnet-4-6@adaptive")
    options: dict[str, Json] = {"max_tokens": 16_000, "thinking": "adaptive", "reasoning_effort": "medium"}
    toy = Toy(tmp_path)
    assert identity(asked, toy) == identity(spec_of("anthropic/claude-sonnet-4-6", options), toy)


@pytest.mark.parametrize(
    ("model", "options", "says"),
    [
        ("openai/gpt-5-mini", {"temperature": 0}, "openai/gpt-5-mini does not accept `temperature`"),
        ("sim/echo", {"thinking_budget": 1}, "sim/echo: chat completions have no option `thinking_budget`"),
        ("sim/echo", {"api": "xml"}, "sim/echo: sim does not speak the format 'xml'"),
        ("sim/echo@loudly", {}, "sim/echo has no variant 'loudly'; it has anthropic, gemini, responses"),
        ("anthropic/claude-haiku-9", {}, "anthropic/claude-haiku-9: the Messages API asks for `max_tokens`"),
    ],
)
async def test_what_cannot_be_asked_stops_the_run_before_anything_is_sent(
    tmp_path: Path, model: str, options: dict[str, Json], says: str
) -> None:
    keys = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
    folder = tmp_path / "run"
    with pytest.raises(ConfigurationError) as caught:
        await run_toy(folder, "http://127.0.0.1:9", spec=spec_of(model, options), environ=keys)
    assert says in str(caught.value)
    journal = folder / "journal.jsonl"
    assert not journal.exists() or [line["k"] for line in scan(journal)] == ["run"]


PRICE = """[[price]]
models = ["sim/*"]
from = 2020-01-01
input = "1"
output = "4"
source = "mine"
"""


async def test_a_model_whose_output_nothing_bounds_is_priced_without_a_cap_and_refused_under_one(
    tmp_path: Path,
) -> None:
    (tmp_path / "prices.toml").write_text(PRICE)
    free = Settings(sql_workers=1, prices=str(tmp_path / "prices.toml"))
    capped = Settings(sql_workers=1, prices=str(tmp_path / "prices.toml"), max_cost="1.00")
    async with serve(Config()) as base_url:
        summary = await run_toy(tmp_path / "free", base_url, spec=spec_of("sim/echo", settings=free), units=3)
        assert summary.known > 0
        assert summary.exposed == 0
        with pytest.raises(ConfigurationError, match="needs max_tokens"):
            await run_toy(tmp_path / "capped", base_url, spec=spec_of("sim/echo", settings=capped), units=3)
        spec = spec_of("sim/echo", {"max_tokens": 99}, capped)
        bounded = await run_toy(tmp_path / "bounded", base_url, spec=spec, units=3)
    assert bounded.known == summary.known <= Decimal("1.00")


async def test_a_refused_key_shows_in_nothing_that_a_run_leaves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planted = "sk-planted-0123456789"
    environ = {"TURNTIDE_COMPATIBLE_API_KEY": planted}
    async with serve(Config(key="another")) as base_url:
        for api in ("chat", "responses", "anthropic"):
            spec = spec_of("compatible/echo", {"api": api, "max_tokens": 99})
            url = {"TURNTIDE_COMPATIBLE_BASE_URL": base_url}
            summary = await run_toy(tmp_path / api, base_url, spec=spec, units=3, environ={**environ, **url})
            assert summary.exit_code == 2
            assert planted not in repr(summary)
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(left) >= 6
    assert [path for path in left if planted.encode() in path.read_bytes()] == []
    assert planted not in "".join(capsys.readouterr())


def parsed(*words: str) -> Spec:
    parser = argparse.ArgumentParser()
    arguments = ["run", "enterprisemem", *words]
    add_parser(parser.add_subparsers(), arguments)
    return specification(parser.parse_args(arguments))


def test_models_and_line_ups_are_named_on_the_command_line() -> None:
    spec = parsed("--model", "sim/echo@gemini", "--preset", "enterprisemem-paper", "--max-tokens", "9000")
    assert [model.name for model in spec.models] == [
        "sim/echo@gemini",
        "openai/gpt-5-mini-2025-08-07",
        "openai/gpt-5.2-2025-12-11",
        "anthropic/claude-sonnet-4-5-20250929@thinking",
        "anthropic/claude-sonnet-4-6@adaptive",
        "anthropic/claude-opus-4-6@adaptive",
    ]
    assert spec.models[0].options == {"api": "gemini", "max_tokens": 9000}
    assert spec.models[3].id == "anthropic/claude-sonnet-4-5-20250929"
    assert spec.models[3].options == {"thinking_budget": 5000, "max_tokens": 9000}


def test_an_option_for_all_that_one_model_does_not_take_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="gpt-5-mini-2025-08-07 does not accept `temperature`"):
        parsed("--preset", "enterprisemem-paper", "--temperature", "0")
