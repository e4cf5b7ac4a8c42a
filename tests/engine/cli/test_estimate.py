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
from turntide.engine.journal import scan

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


WORDS = ["run", "enterprisemem", "--model", "sim/reader-good", "--condition", "A", "--limit", "8", "--dry-run"]


def test_the_time_follows_from_limits_latency_and_order_and_says_what_it_assumed(
    said: Said, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = said(*WORDS, "--latency", "10", "--concurrency", "1")
    assert slow["total"]["wall_seconds"] == 10 * slow["total"]["calls"]
    limited = said(*WORDS, "--rpm", "6")
    assert (limited["total"]["bound"], limited["latency"]) == ("requests per minute", "assumed; --latency says better")
    assert limited["total"]["wall_seconds"] == pytest.approx(  # pyright: ignore[reportUnknownMemberType]
        (limited["total"]["calls"] - 1) * 10 / 0.985 + 2, rel=0.01
    )
    shared = said(*WORDS, "--model", "sim/echo", "--rpm", "6")
    assert shared["total"]["wall_seconds"] > 1.9 * limited["total"]["wall_seconds"]
    assert main([*WORDS, "--rpm", "6", "--latency", "3"]) == 0
    assert "at 3 s a call (--latency), without retries" in " ".join(capsys.readouterr().out.split())


def test_a_run_that_measured_it_says_how_long_a_call_takes(said: Said, capsys: pytest.CaptureFixture[str]) -> None:
    said("run", "enterprisemem", "--model", "sim/echo?latency=0.1", "--condition", "A", "--limit", "8", "--out", "run")
    measured = said(*WORDS, "--latency", "run")
    assert 0.1 <= measured["seconds_per_call"]["sim/reader-good"] < 1
    assert measured["latency"] == "mean of run"
    for nonsense, why in [("nowhere", "no folder nowhere"), ("-1", "more than no time")]:
        assert main([*WORDS, f"--latency={nonsense}"]) == 2
        assert why in capsys.readouterr().err
