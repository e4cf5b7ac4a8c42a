"""Configuration is data, and what is wrong with it is said with its place."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from turntide.adapters.base import ConfigurationError
from turntide.adapters.simulated.config import Config, ModelConfig, configured, load
from turntide.adapters.simulated.exchange import Simulation

TOML = """
seed = 7
latency = "lognormal:0.3:0.5"
[limits]
requests_per_minute = 600
[faults]
429 = 0.05
[models.weak]
reader = "echo"
mistakes = { wrong = 0.2, cut = 0.1 }
latency = 0.5
"""


def test_toml_and_json_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(TOML)
    config = load(tmp_path / "c.toml")
    assert config.limits is not None
    assert config.limits.requests_per_minute == 600
    assert config.models["weak"].mistakes == {"wrong": 0.2, "cut": 0.1}
    (tmp_path / "c.json").write_bytes(msgspec.json.encode(config))
    assert load(tmp_path / "c.json") == config


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("seeds = 1", "seeds"),
        ("[faults]\n418 = 0.1", "faults"),
        ("[faults]\n429 = 1.5", "faults"),
        ("[faults]\n429 = nan", "faults"),
        ("[faults]\n429 = 0.6\n500 = 0.6", "sum to at most 1"),
        ("latency = 'slow'", "lognormal:MEDIAN:SIGMA"),
        ("latency = -1", "lognormal:MEDIAN:SIGMA"),
        ("latency = 'uniform:2:1'", "lognormal:MEDIAN:SIGMA"),
        ("latency = 'nan'", "lognormal:MEDIAN:SIGMA"),
        ("[limits]\nrequests_per_minute = 0", "requests_per_minute"),
        ("[models.x]\nseed = 1", "reader"),
        ("[models.x]\nreader = 'echo'\nfaults = {reset-unread = 0.1}", "set it for the server"),
        ("[models.'x?seed=1']\nreader = 'echo'", "question mark"),
        ("seed = ", "c.toml"),
    ],
)
def test_mistakes_in_a_file_are_named_with_their_place(tmp_path: Path, text: str, place: str) -> None:
    (tmp_path / "c.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=place) as caught:
        load(tmp_path / "c.toml")
    assert "c.toml" in str(caught.value)


def test_a_missing_file_is_a_plain_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        load(tmp_path / "none.toml")


def test_a_name_carries_its_variant() -> None:
    model = ModelConfig(reader="echo", mistakes={"wrong": 0.2, "cut": 0.1}, seed=1)
    varied = model.varied("wrong=0.5&529=0.1&seed=9&latency=uniform:0:1")
    assert varied.mistakes == {"wrong": 0.5, "cut": 0.1}
    assert varied.faults == {"529": 0.1}
    assert (varied.seed, varied.latency) == (9, "uniform:0:1")


def test_a_name_carries_settings_of_its_reader() -> None:
    model = ModelConfig(reader="script", settings={"answers": {}, "otherwise": "?"})
    assert model.varied("otherwise=!&cut=0.1").settings == {"answers": {}, "otherwise": "!"}


@pytest.mark.parametrize(
    "query", ["wrong", "wrong=", "wrong=2", "seed=x", "wrong=0.9&cut=0.9", "limits=1", "mistakes=1", "reset-unread=0.1"]
)
def test_a_name_that_cannot_be_read_is_refused(query: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        ModelConfig(reader="echo").varied(query)


def test_what_a_model_leaves_unset_is_as_the_server_has_it() -> None:
    server = configured({"seed": 3, "faults": {"reset-unread": 0.1}, "mistakes": {"cut": 0.1}})
    model = ModelConfig(reader="echo", mistakes={}, seed=0).under(server)
    assert (model.seed, model.mistakes, model.faults) == (0, {}, {"reset-unread": 0.1})


def test_a_kinds_share_does_not_depend_on_how_the_file_was_written() -> None:
    def rates(**mistakes: float) -> list[str]:
        model = Simulation(Config(mistakes={**mistakes})).models.find("echo")  # pyright: ignore[reportArgumentType]
        return list(model.mistakes)

    assert rates(cut=0.1, wrong=0.2) == rates(wrong=0.2, cut=0.1)
