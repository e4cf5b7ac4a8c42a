"""Models at Azure: the exact requests that arrive on loopback, and who they say they come from."""

from __future__ import annotations

import json

import pytest
from turntide.adapters.base import Answer
from turntide.adapters.clouds.azure import azure

from .conftest import Host, ask

CHAT = {"choices": [{"message": {"content": "SELECT 1"}, "finish_reason": "stop"}], "model": "gpt"}


@pytest.mark.parametrize("suffix", ["", "/", "/openai", "/openai/v1/"])
async def test_azure_gets_the_deployment_as_the_model_of_its_v1_api(host: Host, suffix: str) -> None:
    host.reply = CHAT
    environ = {"AZURE_OPENAI_ENDPOINT": host.url + suffix, "AZURE_OPENAI_API_KEY": "azure-key"}
    assert isinstance(await ask(azure, azure.account(environ), "my-gpt", max_tokens=9), Answer)
    _, path, headers, body = host.came[0]
    assert (path, headers["api-key"], json.loads(body)["model"]) == (
        "/openai/v1/chat/completions",
        "azure-key",
        "my-gpt",
    )
    assert "authorization" not in headers


async def test_azure_gets_responses_and_dated_deployments_too(host: Host) -> None:
    environ = {"AZURE_OPENAI_ENDPOINT": host.url, "AZURE_OPENAI_API_KEY": "azure-key"}
    account = azure.account(environ)
    await ask(azure.speaking("responses"), account, "my-gpt", max_tokens=9)
    await ask(azure.speaking("deployments"), account, "my gpt")
    await ask(azure.speaking("deployments"), account, "my-gpt", api_version="2025-04-01-preview")
    assert [path for _, path, _, _ in host.came] == [
        "/openai/v1/responses",
        "/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21",
        "/openai/deployments/my-gpt/chat/completions?api-version=2025-04-01-preview",
    ]
