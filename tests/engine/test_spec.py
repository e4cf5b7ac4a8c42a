"""A specification file: what docs/spec.md says of it holds, and what it cannot mean is refused with the place."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import msgspec
import pytest
from turntide.adapters.base import ConfigurationError
from turntide.datasets.enterprisemem import benchmark as enterprisemem
from turntide.datasets.tide import benchmark as tide
from turntide.engine.cli import main
from turntide.engine.cli.run import add_parser, specification
from turntide.engine.spec import ModelSpec, Settings, Spec, load

TEXT = (Path(__file__).parents[2] / "docs" / "spec.md").read_text()
EXAMPLE = "\n".join(re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL))


def asked(*words: str) -> Spec:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers(), words)
    return specification(parser.parse_args(["run", *words]))


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.toml").write_text(EXAMPLE)
    return Path("spec.toml")


def test_the_documented_example_runs(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(example), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["state"], summary["planned"], summary["folder"]) == ("complete", 12, "runs/two-readers")
    assert main(["run", str(example), "--json"]) == 0  # nothing is left to do


@pytest.mark.parametrize("shape", [Spec, ModelSpec, Settings, enterprisemem.Options, tide.Options])
def test_every_field_is_documented(shape: type[msgspec.Struct]) -> None:
    assert [name for name in shape.__struct_fields__ if f"`{name}`" not in TEXT] == []


def test_what_the_document_says_of_defaults_is_so() -> None:
    table = TEXT.partition("## `[settings]`")[2].partition("## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", table, re.MULTILINE))
    assert len(rows) == 7
    assert {name: float(value) for name, value in rows.items()} == {name: getattr(Settings(), name) for name in rows}


def test_the_command_line_goes_before_the_file_options_of_the_benchmark_included(example: Path) -> None:
    spec = asked(str(example), "--condition", "C", "--order", "waves:2", "--limit", "9", "--max-cost", "20")
    assert spec.options == {"conditions": ["C"], "order": "waves:2"}
    assert (spec.limit, spec.settings.max_cost, spec.settings.concurrency) == (9, "20", 32)
    assert [model.name for model in spec.models] == ["perfect", "sim/reader-forgetful"]
    assert [model.id for model in asked(str(example), "--model", "sim/echo").models] == ["sim/echo"]


@pytest.mark.parametrize(
    ("written", "held"),
    [("12.50", "12.50"), ("0.100000000001", "0.100000000001"), ("20", "20"), ("1e-2", "0.01"), ('"$7.5"', "7.5")],
)
def test_a_cap_is_a_number_or_a_text_and_no_digit_is_lost(tmp_path: Path, written: str, held: str) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(EXAMPLE.replace("12.50", written))
    assert load(path).settings.max_cost == held


@pytest.mark.parametrize("name", ["repeats", "shards"])
def test_a_plan_that_nothing_can_hold_is_refused_before_it_is_counted(
    name: str, example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"1,000,000,000,000 {name} are more than a plan can hold: at most 1,000"
    assert main(["run", str(example), f"--{name}", "1000000000000", "--dry-run"]) == 2
    assert words in capsys.readouterr().err
    example.write_text(f"{name} = 1000000000000\n" + "\n".join(x for x in EXAMPLE.splitlines() if name not in x))
    with pytest.raises(ConfigurationError, match=words):
        load(example)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("12.50", "-1", "settings.max_cost: '-1' is not an amount in USD"),
        ("12.50", "nan", "settings.max_cost: 'NaN' is not an amount in USD"),
        ("12.50", "true", "Expected `str | null`, got `bool` - at `$.settings.max_cost`"),
        ("12.50", '"much"', "settings.max_cost: 'much' is not an amount in USD"),
        ("temperature = 0", "temperature = nan", r"models[0].options.temperature: NaN is not a number"),
        ("temperature = 0", "x = " + "[" * 10_000, "nested too deeply"),
        ("rpm = 6000", "rpms = 6000", "unknown field `rpms`"),
        ('label = "perfect"', 'label = "all"', "a model is labelled 'all'"),
        ('label = "perfect"', 'label = "  "', "a model is labelled '  '"),
    ],
)
def test_what_a_specification_cannot_mean_is_refused_with_its_place(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(EXAMPLE.replace(old, new, 1))
    with pytest.raises(ConfigurationError, match=re.escape(says)) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_a_price_table_is_not_taken_for_the_specification(example: Path) -> None:
    Path("prices.toml").write_text("")
    assert asked("--prices", "prices.toml", str(example), "--condition", "D").options == {"conditions": ["D"]}
