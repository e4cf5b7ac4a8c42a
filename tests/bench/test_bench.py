"""`python -m bench`: it measures what it is asked for, writes it down, and tells a missed claim from a met one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_the_pieces_work_at_tiny_sizes_and_the_figures_are_written(tmp_path: Path) -> None:
    done = bench("--quick", "--only", "calls,statements", "--json", str(tmp_path / "figures.json"))
    assert done.returncode == 0, done.stderr
    written = json.loads((tmp_path / "figures.json").read_text())
    assert written["quick"]
    assert {figure["bench"] for figure in written["figures"]} == {"calls", "statements"}
    for figure in written["figures"]:
        assert figure["value"] > 0
        assert figure["name"] in done.stdout


def test_an_unknown_bench_is_named_beside_those_there_are() -> None:
    done = bench("--only", "calls,nonsense")
    assert done.returncode == 2
    assert "no bench 'nonsense'; there are startup, calls," in done.stderr


@pytest.mark.parametrize(
    ("at_least", "value", "at_most", "verdict"),
    [
        (None, 1.3, 1.3, "met"),
        (None, 1.31, 1.3, "MISSED"),
        (97, 97, None, "met"),
        (97, 96.9, None, "MISSED"),
        (None, 5, None, ""),
    ],
)
def test_a_claim_holds_up_to_its_bound(
    at_least: float | None, value: float, at_most: float | None, verdict: str
) -> None:
    from bench.figures import Figure

    assert Figure(name="x", value=value, at_least=at_least, at_most=at_most).verdict == verdict


def test_a_ratio_fails_when_it_is_more_than_a_fifth_over_the_recorded_one() -> None:
    from bench.figures import Figure
    from bench.recorded import regressed

    assert regressed(Figure(name="x", value=1.45, ratio=True), recorded=1.2)
    assert not regressed(Figure(name="x", value=1.43, ratio=True), recorded=1.2)
    assert not regressed(Figure(name="x", value=9, ratio=True), recorded=None)
    assert not regressed(Figure(name="x", value=9), recorded=1.2)


def test_a_ratio_is_the_median_of_pairs_that_alternate() -> None:
    from bench.figures import median_ratio, rounds

    order: list[str] = []
    costs = rounds({"a": lambda: order.append("a") or 3.0, "b": lambda: order.append("b") or 2.0})
    assert "".join(order) == "abbaabbaab"
    assert median_ratio(costs["a"], costs["b"]) == 1.5
    assert median_ratio([1, 9, 4], [1, 3, 2]) == 2


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (1.2345, "×", "1.23 ×"),
        (18e-5, "s", "180 µs"),
        (0.0884, "s", "88 ms"),
        (72.93, "s", "72.9 s"),
        (1256, "", "1,256"),
    ],
)
def test_numbers_are_written_as_people_write_them(value: float, unit: str, words: str) -> None:
    from bench.figures import human

    assert human(value, unit) == words  # pyright: ignore[reportArgumentType]
