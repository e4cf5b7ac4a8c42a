"""Models at Vertex AI: the exact requests that arrive on loopback, and who they say they come from."""

from __future__ import annotations

import json

import pytest
from turntide.adapters.base import Answer, Message, Question, TransportFault
from turntide.adapters.clouds import vertex as vertex_module
from turntide.adapters.clouds.vertex import CurrentToken, GoogleToken, vertex
from turntide.adapters.redaction import redact

from .conftest import MESSAGE, Host, ask, require


async def test_vertex_gets_raw_predictions_with_a_given_token(host: Host) -> None:
    host.reply = MESSAGE
    environ = {
        "CLOUDSDK_AUTH_ACCESS_TOKEN": "ya29.given",
        "ANTHROPIC_VERTEX_PROJECT_ID": "mine",
        "CLOUD_ML_REGION": "europe-west1",
        "ANTHROPIC_VERTEX_BASE_URL": f"{host.url}/v1",
    }
    assert isinstance(await ask(vertex, vertex.account(environ), "claude-x@20250929", max_tokens=9), Answer)
    _, path, headers, body = host.came[0]
    assert path == "/v1/projects/mine/locations/europe-west1/publishers/anthropic/models/claude-x@20250929:rawPredict"
    assert headers["authorization"] == "Bearer ya29.given"
    assert json.loads(body)["anthropic_version"] == "vertex-2023-10-16"
    assert "model" not in json.loads(body)


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("", "aiplatform.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
        ("us-east5", "us-east5-aiplatform.googleapis.com"),
    ],
)
def test_vertex_is_found_by_region_and_project(region: str, host: str) -> None:
    environ = {"CLOUDSDK_AUTH_ACCESS_TOKEN": "t", "GOOGLE_CLOUD_PROJECT": "p", "CLOUD_ML_REGION": region}
    url = vertex.account(environ).base_url
    assert url == f"https://{host}/v1/projects/p/locations/{region or 'global'}/publishers/anthropic"


class Credentials:
    """Google's credentials without Google: a new token at each renewal."""

    def __init__(self, fails: bool = False) -> None:
        self.token: str | None = None
        self.valid = False
        self.renewals = 0
        self._fails = fails

    def refresh(self, request: object) -> None:
        if self._fails:
            raise RuntimeError("no network")
        self.renewals += 1
        self.token, self.valid = f"ya29.token-{self.renewals}", True


async def test_vertex_renews_its_token_once_and_masks_the_one_in_use(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("google.auth.transport.requests")
    host.reply = MESSAGE
    credentials = Credentials()
    monkeypatch.setattr(vertex_module, "_credentials", lambda: (credentials, "found"))
    account = vertex.account({"ANTHROPIC_VERTEX_BASE_URL": host.url})
    for _ in range(2):
        await ask(vertex, account, "claude-x", max_tokens=9)
    credentials.valid = False
    await ask(vertex, account, "claude-x", max_tokens=9)
    tokens = [headers["authorization"] for _, _, headers, _ in host.came]
    assert tokens == ["Bearer ya29.token-1", "Bearer ya29.token-1", "Bearer ya29.token-2"]
    assert "/projects/found/" in account.base_url
    assert redact("you sent ya29.token-2", account.key) == "you sent ***"


async def test_a_token_that_cannot_be_renewed_is_a_fault_before_the_send() -> None:
    require("google.auth.transport.requests")
    credentials = Credentials(fails=True)
    request = vertex.wire.build(Question(model="m", messages=(Message("user", "x"),), options={"max_tokens": 1}))
    with pytest.raises(TransportFault) as caught:
        await GoogleToken(credentials, CurrentToken(credentials)).sign("http://x", request)
    assert caught.value.phase == "connect"
