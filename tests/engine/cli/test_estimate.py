"""`--dry-run`, checked against what the run that follows really sends, uses, costs and takes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from turntide.engine.cli import main
from turntide.engine.cli.estimate import SECONDS_PER_CALL, Cell, Estimate, by_model, in_total
from turntide.engine.journal import scan
from turntide.engine.spec import ModelSpec, Settings, Spec

PRICES = '[[price]]\nmodels = ["sim/*"]\nfrom = 2020-01-01\nsource = "test"\ninput = "2"\noutput = "8"\n'
Said = Callable[..., dict[str, Any]]


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    """Return a function that runs a command in a folder of its own and returns its JSON."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prices.toml").write_text(PRICES)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("TURNTIDE_COMPATIBLE_API_KEY", "sk-test")
    monkeypatch.setenv("TURNTIDE_COMPATIBLE_BASE_URL", "http://127.0.0.1:9")

    def run(*words: str) -> dict[str, Any]:
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def test_an_estimate_is_what_the_run_then_uses_and_costs(said: Said) -> None:
    words = ["run", "enterprisemem", "--model", "sim/reader-perfect", "--condition", "A", "--condition", "C"]
    words += ["--limit", "40", "--max-tokens", "400", "--prices", "prices.toml", "--out", "run"]
    dry = said(*words, "--dry-run")
    assert not Path("run").exists()
    real = said(*words)
    spent = Counter[str]()
    for line in scan(Path("run/journal.jsonl")):
        if line["k"] == "answer":
            spent.update({"calls": 1, **line["usage"]})
    model = dry["models"]["sim/reader-perfect"]
    assert model["calls"] == spent["calls"]
    assert model["dialogues"] == real["planned"] == real["done"]
    assert model["input_tokens"] == pytest.approx(spent["input_tokens"], rel=0.05)  # pyright: ignore[reportUnknownMemberType]
    assert model["output_tokens"] == pytest.approx(spent["output_tokens"], rel=0.25)  # pyright: ignore[reportUnknownMemberType]
    cost = Decimal(real["known_usd"])
    assert Decimal(model["usd_low"]) == pytest.approx(cost, rel=Decimal("0.1"))  # pyright: ignore[reportUnknownMemberType]
    assert cost < Decimal(model["usd_high"])
    assert dry["total"]["usd_low"] == model["usd_low"]


def test_an_unknown_price_is_unknown_and_never_nothing(said: Said, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "enterprisemem", "--condition", "A", "--limit", "2", "--dry-run"]
    words += ["--model", "compatible/mystery"]
    alone = said(*words)
    assert (alone["models"]["compatible/mystery"]["usd_low"], alone["total"]["usd_low"]) == (None, None)
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert shown.count("unknown: no price") == 2
    assert "$" not in shown
    words += ["--model", "openai/gpt-5-mini"]
    both = said(*words)
    assert both["total"]["unpriced"] == ["compatible/mystery"]
    assert both["total"]["usd_low"] == both["models"]["openai/gpt-5-mini"]["usd_low"] is not None
    assert both["total"]["usd_high"] is None
    assert main(words) == 0
    assert "and up: unknown for compatible/mystery" in capsys.readouterr().out


def spec_of(*models: ModelSpec, **settings: Any) -> Spec:
    return Spec(benchmark="toy", models=list(models), settings=Settings(**settings))


def wall(spec: Spec, accounts: dict[str, list[str]], lane: int = 1) -> tuple[list[float], float]:
    """Return the wall time of each model and of the run, with 600 calls of 1,000 tokens for each model."""
    found = Estimate(accounts=accounts)
    for model in spec.models:
        found.models[model.name] = model
        found.cells[(model.name,)] = Cell(calls=600, dialogues=600, input_tokens=600_000)
        found.lane[model.name] = lane
    totals = by_model(spec, found)
    return [total.seconds for total in totals.values()], in_total(spec, found, totals).seconds


def test_wall_time_is_what_the_tightest_limit_allows_and_models_of_an_account_share_it() -> None:
    a, b = ModelSpec(id="x/a"), ModelSpec(id="x/b")
    apart, together = {"x": ["x/a"], "y": ["x/b"]}, {"x": ["x/a", "x/b"]}
    assert wall(spec_of(a, b, rpm=60), apart) == ([600, 600], 600)
    assert wall(spec_of(a, b, rpm=60), together) == ([600, 600], 1200)
    assert wall(spec_of(a, b, rpm=600, tpm=60_000), together) == ([600, 600], 1200)
    at_once = 600 * SECONDS_PER_CALL / 10
    assert wall(spec_of(a, b, concurrency=10), together) == ([at_once, at_once], at_once)
    assert wall(spec_of(a, b, in_flight=10), together) == ([at_once, at_once], 2 * at_once)
    assert wall(spec_of(a), together | {"x": ["x/a"]}, lane=500) == ([1000], 1000)
