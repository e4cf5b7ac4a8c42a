"""`turntide serve`."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from turntide.adapters.base import ConfigurationError
from turntide.engine.cli import main, serve

MAIN = "import sys; from turntide.engine.cli import main; sys.exit(main())"


def parsed(*options: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    serve.add_parser(parser.add_subparsers(), options)
    return parser.parse_args(["serve", *options])


def test_options_win_over_the_file_and_leave_the_rest_of_it(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text("port = 1\nseed = 3\n[limits]\nconcurrent = 5\n[faults]\n429 = 0.1\n500 = 0.1\n")
    config = serve.configuration(
        parsed(
            *("--config", str(path), "--port", "0", "--key", "k", "--rpm", "60"),
            *("--fault", "429=0.2", "--latency", "uniform:1:2"),
        )
    )
    assert (config.port, config.seed, config.latency, config.key) == (0, 3, "uniform:1:2", "k")
    assert config.faults == {"429": 0.2, "500": 0.1}
    assert config.limits is not None
    assert (config.limits.requests_per_minute, config.limits.concurrent) == (60, 5)


def test_without_options_it_is_a_faultless_server_on_its_usual_port() -> None:
    config = serve.configuration(parsed())
    assert (config.host, config.port, config.faults, config.limits) == ("127.0.0.1", 8377, None, None)


@pytest.mark.parametrize(
    "options",
    [
        ("--fault", "429=often"),
        ("--fault", "418=0.1"),
        ("--mistake", "wrong=-1"),
        ("--port", "70000"),
        ("--latency", "slow"),
        ("--config", "nowhere.toml"),
    ],
)
def test_what_cannot_be_served_is_a_plain_error(options: tuple[str, ...]) -> None:
    with pytest.raises(ConfigurationError):
        serve.configuration(parsed(*options))


@pytest.mark.parametrize(("option", "kind"), [("--fault", "429"), ("--mistake", "wrong")])
def test_a_kind_that_is_given_two_rates_is_refused_by_name(
    option: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--port", "0", option, f"{kind}=0.1", option, f"{kind}=0.2"]) == 2
    assert capsys.readouterr().err == f"turntide: {option} {kind} is given twice: say one rate.\n"


@pytest.mark.parametrize("options", [("--fault", "429"), ("--rpm", "-5"), ("--port", "x")])
def test_what_cannot_be_read_is_a_usage_error(options: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit, match="2"):
        parsed(*options)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_one_line_when_ready_and_stops_cleanly(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", MAIN, "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        base_url = line.split()[-1]
        with httpx.Client(trust_env=False) as http:
            assert http.get(base_url.removesuffix("/v1") + "/health").status_code == 200
        process.send_signal(number)
        assert process.wait(5) == 0
        assert process.stdout.read() == ""
    assert line.startswith("SIMULATED")
