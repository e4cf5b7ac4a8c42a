"""Accounts come from the environment, and a mistake there is named before anything is sent."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest
from turntide.adapters import providers
from turntide.adapters.base import ConfigurationError, Provider


def test_each_provider_is_registered_under_its_own_name() -> None:
    found = {entry.name: entry.load() for entry in entry_points(group="turntide.adapters")}
    for name in ("openai", "compatible", "local"):
        assert isinstance(found[name], Provider)
        assert found[name].name == name


def test_an_account_takes_key_and_url_from_the_environment_without_stray_white_space() -> None:
    account = providers.openai.account({"OPENAI_API_KEY": " sk-1\n", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1/ "})
    assert account.base_url == "http://127.0.0.1:1/v1"
    assert account.key.reveal() == "sk-1"
    assert "sk-1" not in repr(account)
    assert providers.openai.account({"OPENAI_API_KEY": "k"}).base_url == "https://api.openai.com/v1"


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
