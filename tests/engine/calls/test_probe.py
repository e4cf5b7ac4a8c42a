"""`turntide probe` against simulated providers in all formats, and against everything that can be wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.base import Account, Json, LimitHint, Reply, Secret, WireRequest
from turntide.adapters.errors import complaint, read_error, read_redirect
from turntide.adapters.prices import PriceTable
from turntide.adapters.provider import Provider
from turntide.adapters.simulated import Config, SimulatedServer, serve
from turntide.adapters.simulated.config import configured
from turntide.adapters.transport import HttpxTransport
from turntide.engine.calls.exchange import Exchanged
from turntide.engine.calls.probe import Finding, Probe, Target, findings, probe, target_of
from turntide.engine.calls.routes import price_of
from turntide.engine.cli import main
from turntide.engine.spec import ModelSpec

from ...support.provider import PlainWire, ScriptedProvider, good, question

KEY = "sk-planted-0123456789"
FORMATS = ["sim/echo", "sim/echo@responses", "sim/echo@anthropic", "sim/echo@gemini"]
SPELLED = ["max_completion_tokens", "max_output_tokens", "max_tokens", "maxOutputTokens"]


async def probed(
    model: str, environ: Mapping[str, str], options: Mapping[str, Json] | None = None, timeout: float = 5.0
) -> Probe:
    prices = PriceTable.load()

    def price(spec: ModelSpec, provider: Provider) -> Any:
        return price_of(prices, spec, provider, None)

    transport = HttpxTransport()
    try:
        return await probe(target_of(model, options or {}, price, environ), transport, timeout)
    finally:
        await transport.aclose()


def about(found: Probe, check: str) -> Finding:
    return next(finding for finding in found.findings if finding.check == check)


@pytest.mark.parametrize(("model", "spelled"), [*zip(FORMATS, SPELLED, strict=True)])
async def test_a_model_in_order_is_told_the_same_in_every_format(model: str, spelled: str) -> None:
    config = configured({"limits": {"requests_per_minute": 500, "tokens_per_minute": 90_000}})
    async with serve(config) as base_url:
        found = await probed(model, {"TURNTIDE_SIM_BASE_URL": base_url}, {"temperature": 0})
    assert found.ok
    assert about(found, "model").said == "echo answered, as asked"
    options = about(found, "options").said
    assert spelled in options
    assert "temperature 0" in options
    assert "free" in about(found, "price").said
    if model != "sim/echo@gemini":  # Google sends no such headers
        assert "500 requests per 60 s, 499 left" in about(found, "limits").said
        assert "90,000 tokens per 60 s" in about(found, "limits").said


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "key": ({"key": "another"}, "key", "OPENAI_API_KEY was not accepted"),
    "quota": ({"limits": {"quota": 0}}, "key", "its account has no money or quota left"),
    "limit": ({"faults": {"429": 1}, "retry_after": 7}, "limits", "asks to wait 7 s"),
    "busy": ({"faults": {"529": 1}}, "limits", "so that nothing else was checked"),
    "server": ({"faults": {"500": 1}}, "answer", "took the call and gave none (server)"),
    "hang": ({"faults": {"stall": 1}}, "answer", "no complete reply within 0.5 s"),
    "nonsense": ({"faults": {"malformed": 1}}, "answer", "took the call and gave none (malformed)"),
}


@pytest.mark.parametrize("wrong", WRONG)
async def test_what_is_wrong_is_named_in_plain_words(wrong: str) -> None:
    config, check, said = WRONG[wrong]
    async with serve(configured(config)) as base_url:
        environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": base_url}
        found = await probed("openai/echo", environ, timeout=0.5)
    finding = about(found, check)
    assert finding.state == "problem"
    assert said in finding.said
    assert not found.ok
    assert KEY not in json.dumps(found.to_json())


async def test_a_model_that_is_not_there_and_a_server_that_is_not_there_are_told_apart() -> None:
    async with serve(Config()) as base_url:
        found = await probed("sim/nothing", {"TURNTIDE_SIM_BASE_URL": base_url})
        assert about(found, "model").state == "problem"
        assert about(found, "base URL").state == "ok"
    environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://user:password@127.0.0.1:9/v1"}
    found = await probed("openai/echo", environ)
    assert about(found, "base URL").said.startswith("no connection to http://127.0.0.1:9/v1: ")
    assert "password" not in json.dumps(found.to_json())


async def test_another_model_that_answers_is_shown() -> None:
    async with serve(Config()) as base_url:
        found = about(await probed("sim/echo?substitute=1", {"TURNTIDE_SIM_BASE_URL": base_url}), "model")
    assert found.state == "note"
    assert "answered, and not 'echo?substitute=1' that was asked for" in found.said


async def test_a_dated_version_of_what_was_asked_is_no_other_model() -> None:
    answer = replace(good(), model="m-2026-01-31")
    scripted = ScriptedProvider(lambda n, body: answer)
    target = Target(
        model=ModelSpec(id="scripted/m"),
        name="m",
        provider=replace(scripted.provider(), wire=Keyed(scripted.reactions)),
        account=Account(provider="scripted", base_url="http://scripted", key=Secret("")),
        key_variable="",
        question=question(),
        wire=WireRequest("/ask", b"{}"),
        price=None,
    )
    found = await probe(target, scripted, 5.0)
    assert about(found, "model") == Finding("model", "ok", "m-2026-01-31 answered, a version of m")


SAID: dict[str, tuple[Reply, tuple[LimitHint, ...], str, str, str]] = {
    "no text": (replace(good(), text=" \n"), (), "answer", "note", "holds no text"),
    "limit 0": (good(), (LimitHint(resource="tokens", limit=0),), "limits", "note", "a limit of 0 is passed over"),
    "redirect": (read_redirect(307, "https://x/v1"), (), "base URL", "problem", "leads elsewhere"),
    "bare 400": (read_error(400, complaint(b'{"error": null}'), None), (), "options", "problem", "or another part of"),
}


@pytest.mark.parametrize("case", SAID)
def test_what_a_run_would_stumble_over_is_no_ok(case: str) -> None:
    reply, hints, check, state, said = SAID[case]
    environ = {"TURNTIDE_COMPATIBLE_BASE_URL": "http://127.0.0.1:9/v1", "TURNTIDE_COMPATIBLE_API_KEY": KEY}
    target = target_of("compatible/m", {}, lambda model, by: price_of(PriceTable.load(), model, by, None), environ)
    found = [each for each in findings(target, Exchanged(reply=reply, hints=hints)) if each.check == check]
    assert [(each.state, said in each.said) for each in found] == [(state, True)]


@pytest.mark.parametrize("temperature", ["nan", "inf", "-1", "warm"])
def test_a_temperature_that_a_run_refuses_is_refused(temperature: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["probe", "sim/echo", f"--temperature={temperature}"])
    assert caught.value.code == 2
    assert "--temperature" in capsys.readouterr().err


class Keyed(PlainWire):
    """Sends the header by which a scripted provider tells calls apart."""

    def authorize(self, key: Secret) -> tuple[tuple[str, str], ...]:
        return (("idempotency-key", "probe"),)


async def test_a_cut_answer_shows_that_the_bound_holds_and_an_unpriced_model_what_a_cap_needs() -> None:
    async with serve(Config(reasoning_tokens=50)) as base_url:
        environ = {"TURNTIDE_COMPATIBLE_BASE_URL": base_url}
        found = await probed("compatible/echo", {**environ, "TURNTIDE_COMPATIBLE_API_KEY": KEY}, {"max_tokens": 8})
    assert "cut at max_tokens" in about(found, "answer").said
    assert about(found, "price") == Finding("price", "note", "unknown: --max-cost needs it in a file (--prices FILE)")
    assert found.usd is None
    assert found.ok


def test_the_command_prints_findings_or_json_and_exits_with_0_or_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(
        '[[price]]\nmodels = ["openai/echo"]\nfrom = 2020-01-01\nsource = "test"\ninput = "1"\noutput = "2"\n'
    )
    with SimulatedServer.start(Config(key=KEY)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert main(["probe", "openai/echo", "--prices", str(prices)]) == 0
        shown = capsys.readouterr()
        assert "ok   key: OPENAI_API_KEY was accepted" in shown.out
        assert "$1 in, $2 out per million tokens; --max-cost needs --max-tokens too (source: test)" in shown.out
        assert "openai/echo: a run could start." in shown.out
        assert ", and cost $0.0000" in shown.out
        assert KEY not in shown.out + shown.err
        monkeypatch.setenv("OPENAI_API_KEY", KEY[::-1])
        assert main(["probe", "openai/echo", "--json"]) == 2
        shown = capsys.readouterr()
        assert json.loads(shown.out)["ok"] is False
        assert KEY[::-1] not in shown.out + shown.err
        assert server.stats()["requests"] == 2  # one call each, also when it fails
    monkeypatch.delenv("OPENAI_API_KEY")
    assert main(["probe", "openai/echo"]) == 2
    assert "OPENAI_API_KEY" in capsys.readouterr().err
