"""Accounts come from the environment, and a mistake there is named before anything is sent."""

from __future__ import annotations

import tomllib
from importlib.metadata import entry_points

import pytest
from turntide.adapters import capabilities, prices, providers
from turntide.adapters.base import ConfigurationError, Message, Question
from turntide.adapters.clouds.azure import azure
from turntide.adapters.clouds.bedrock import bedrock
from turntide.adapters.clouds.vertex import vertex
from turntide.adapters.provider import Provider

HOSTS = {name: host for name, host in vars(providers).items() if isinstance(host, Provider)}
CLOUDS = {host.name: host for host in (azure, bedrock, vertex)}


def test_each_provider_is_registered_under_its_own_name() -> None:
    found = {entry.name: entry.load() for entry in entry_points(group="turntide.adapters")}
    assert {name: found.get(name) for name in HOSTS | CLOUDS} == HOSTS | CLOUDS
    assert [name for name, host in HOSTS.items() if host.name != name] == []
    assert set(found) == {*HOSTS, *CLOUDS, "sim"}


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
def test_a_host_says_which_variable_holds_its_key(host: Provider) -> None:
    variable = host.key_variables[0]
    url = {host.url_variables[0]: "https://host.test/v1"}
    assert host.account({variable: "k-0123456789", **url}).key.reveal() == "k-0123456789"
    assert host.account({variable: "k", **url}).base_url == "https://host.test/v1"
    if not host.free:
        with pytest.raises(ConfigurationError, match=variable):
            host.account(url)


@pytest.mark.parametrize(
    "url", ["", "host.test", "ftp://host.test", "http://", "http://h:99999", "http://h:0", "http://[x"]
)
def test_a_base_url_that_leads_nowhere_is_refused_at_the_start(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"compatible: the base URL must .* Set TURNTIDE_COMPATIBLE_BASE_URL"):
        HOSTS["compatible"].account({"TURNTIDE_COMPATIBLE_BASE_URL": url})


def test_every_priced_and_known_model_belongs_to_a_provider() -> None:
    tables = [tomllib.loads(path.read_text()) for path in (prices.SHIPPED, capabilities.SHIPPED)]
    named = {pattern for row in (*tables[0]["price"], *tables[1]["model"]) for pattern in row["models"]}
    assert {pattern.partition("/")[0] for pattern in named} <= {*HOSTS, *CLOUDS, "sim"}


@pytest.mark.parametrize(
    ("host", "api", "path"),
    [
        (providers.openai, "chat", "/chat/completions"),
        (providers.openai, "responses", "/responses"),
        (providers.local, "anthropic", "/messages"),
        (providers.compatible, "anthropic", "/v1/messages"),
    ],
)
def test_a_host_may_be_spoken_to_in_another_format(host: Provider, api: str, path: str) -> None:
    question = Question(model="m", messages=(Message("user", "x"),), options={"max_tokens": 9})
    assert host.speaking(api).wire.build(question).path == path
    with pytest.raises(ConfigurationError, match=r"does not speak the format 'xml'; it speaks .*chat"):
        host.speaking("xml")


def test_an_account_takes_key_and_url_from_the_environment_without_stray_white_space() -> None:
    account = providers.openai.account({"OPENAI_API_KEY": " sk-1\n", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1/ "})
    assert account.base_url == "http://127.0.0.1:1/v1"
    assert account.key.reveal() == "sk-1"
    assert "sk-1" not in repr(account)
    assert providers.openai.account({"OPENAI_API_KEY": "k"}).base_url == "https://api.openai.com/v1"


def test_how_much_a_host_works_on_at_once_may_be_told() -> None:
    url = {"TURNTIDE_LOCAL_BASE_URL": "http://127.0.0.1:1/v1"}
    assert providers.local.account(url).in_flight is None
    assert providers.local.account({**url, "TURNTIDE_LOCAL_IN_FLIGHT": "4"}).in_flight == 4
    for told in ("0", "-1", "many"):
        with pytest.raises(ConfigurationError, match=f"TURNTIDE_LOCAL_IN_FLIGHT is a number of calls.*{told}"):
            providers.local.account({**url, "TURNTIDE_LOCAL_IN_FLIGHT": told})


@pytest.mark.parametrize(
    ("provider", "environ", "says"),
    [
        (providers.openai, {}, "no key. Set OPENAI_API_KEY"),
        (providers.openai, {"OPENAI_API_KEY": "  "}, "no key"),
        (providers.openai, {"OPENAI_API_KEY": "sk-ключ"}, "OPENAI_API_KEY holds characters"),
        (providers.openai, {"OPENAI_API_KEY": "a\nb"}, "OPENAI_API_KEY holds characters"),
        (providers.openai, {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "api.test/v1"}, "http.*OPENAI_BASE_URL"),
        (providers.compatible, {"TURNTIDE_COMPATIBLE_API_KEY": "k"}, "Set TURNTIDE_COMPATIBLE_BASE_URL"),
        (providers.local, {}, "Set TURNTIDE_LOCAL_BASE_URL"),
    ],
)
def test_what_is_missing_or_wrong_is_named(provider: Provider, environ: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says) as caught:
        provider.account(environ)
    assert "sk-" not in str(caught.value)


def test_a_free_server_needs_no_key_and_takes_one() -> None:
    url = {"TURNTIDE_LOCAL_BASE_URL": "http://127.0.0.1:8000/v1"}
    assert not providers.local.account(url).key
    assert providers.local.account({**url, "TURNTIDE_LOCAL_API_KEY": "k"}).key
