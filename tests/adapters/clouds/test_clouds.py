"""Models at clouds: the exact requests that arrive on loopback, and who they say they come from."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import pytest
from aiohttp import web
from turntide.adapters.base import (
    Account,
    Answer,
    ConfigurationError,
    Fatal,
    Fault,
    Message,
    Question,
    TransportFault,
    WireReply,
)
from turntide.adapters.clouds import vertex as vertex_module
from turntide.adapters.clouds.azure import azure
from turntide.adapters.clouds.bedrock import bedrock
from turntide.adapters.clouds.vertex import CurrentToken, GoogleToken, vertex
from turntide.adapters.provider import Provider
from turntide.adapters.redaction import redact
from turntide.adapters.transport import HttpxTransport

from ...conftest import missing

MESSAGE = {
    "type": "message",
    "content": [{"type": "text", "text": "SELECT 1"}],
    "model": "claude",
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 2},
}
CHAT = {"choices": [{"message": {"content": "SELECT 1"}, "finish_reason": "stop"}], "model": "gpt"}
AWS = {"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "planted-secret-key"}


@dataclass
class Host:
    """A server on loopback that keeps each request as it came over the wire, and answers all alike."""

    url: str = ""
    reply: dict[str, Any] = field(default_factory=dict[str, Any])
    came: list[tuple[str, str, dict[str, str], bytes]] = field(
        default_factory=list[tuple[str, str, dict[str, str], bytes]]
    )

    async def handle(self, request: web.BaseRequest) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.came.append((request.method, request.raw_path, headers, await request.read()))
        return web.json_response(self.reply)


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    host = Host()
    runner = web.ServerRunner(web.Server(host.handle))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    address, port = runner.addresses[0][:2]
    host.url = f"http://{address}:{port}"
    yield host
    await runner.cleanup()


async def ask(provider: Provider, account: Account, model: str, **options: Any) -> Any:
    """Ask a question as the engine does; return what was read of the reply."""
    question = Question(model=model, messages=(Message("system", "Be brief."), Message("user", "hi")), options=options)
    transport = HttpxTransport()
    try:
        request = provider.wire.build(question)
        headers = await account.authorize(provider.wire, request)
        return provider.wire.read(await transport.send(account, request, headers, 5.0), question)
    finally:
        await transport.aclose()


async def test_bedrock_gets_the_model_in_the_path_and_the_version_in_the_body(host: Host) -> None:
    host.reply = MESSAGE
    environ = {"AWS_REGION": "us-east-1", "AWS_BEARER_TOKEN_BEDROCK": "key", "ANTHROPIC_BEDROCK_BASE_URL": host.url}
    answer = await ask(bedrock, bedrock.account(environ), "us.anthropic.claude-x-v1:0", max_tokens=9, temperature=0)
    method, path, headers, body = host.came[0]
    assert (method, path) == ("POST", "/model/us.anthropic.claude-x-v1%3A0/invoke")
    assert headers["authorization"] == "Bearer key"
    assert "anthropic-version" not in headers
    assert json.loads(body) == {
        "anthropic_version": "bedrock-2023-05-31",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}],
        "system": "Be brief.",
        "temperature": 0,
    }
    assert isinstance(answer, Answer)
    assert (answer.text, answer.usage and answer.usage.output_tokens) == ("SELECT 1", 2)


def signature(path: str, headers: Mapping[str, str], body: bytes, secret: str) -> str:
    """Return the signature of a request by the published algorithm ("Create a signed AWS API request").

    Outside S3 each part of the path is encoded once more.
    """
    found = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=[^/]+/(.+), SignedHeaders=(.+), Signature=.*", headers["authorization"]
    )
    assert found
    scope, names = found.groups()
    lines = "".join(f"{name}:{headers[name].strip()}\n" for name in names.split(";"))
    canonical = f"POST\n{quote(path, safe='/~')}\n\n{lines}\n{names}\n{hashlib.sha256(body).hexdigest()}"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    text = f"AWS4-HMAC-SHA256\n{headers['x-amz-date']}\n{scope}\n{digest}"
    return hmac.new(key, text.encode(), "sha256").hexdigest()


@pytest.mark.parametrize("token", ["", "session-token"])
async def test_bedrock_gets_a_signature_that_holds_for_what_arrives(host: Host, token: str) -> None:
    require("botocore")
    host.reply = MESSAGE
    environ = {**AWS, "AWS_SESSION_TOKEN": token, "ANTHROPIC_BEDROCK_BASE_URL": host.url}
    account = bedrock.account(environ)
    assert isinstance(await ask(bedrock, account, "anthropic.claude-x-v1:0", max_tokens=9), Answer)
    _, path, headers, body = host.came[0]
    authorization = headers["authorization"]
    assert authorization.endswith(f"Signature={signature(path, headers, body, 'planted-secret-key')}")
    assert "/eu-west-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date" in authorization
    assert headers.get("x-amz-security-token", "") == token
    assert "planted" not in str(host.came)
    assert "planted" not in repr(account)


async def test_credentials_that_cannot_be_renewed_are_a_fault_before_the_send(host: Host) -> None:
    require("botocore")
    account = bedrock.account({**AWS, "ANTHROPIC_BEDROCK_BASE_URL": host.url})

    def expired() -> None:
        raise RuntimeError("planted-secret-key in a message")

    signer: Any = account.signer
    signer._credentials.get_frozen_credentials = expired
    with pytest.raises(TransportFault) as caught:
        await ask(bedrock, account, "m", max_tokens=9)
    assert (caught.value.phase, host.came) == ("connect", [])
    assert "planted" not in caught.value.message


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({}, "no region. Set AWS_REGION or AWS_DEFAULT_REGION"),
        ({"AWS_REGION": "us-east-1", "AWS_PROFILE": "of-nobody"}, "credentials"),
    ],
)
def test_bedrock_says_what_is_missing(environ: dict[str, str], says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(ConfigurationError, match=says):
        bedrock.account(environ)


def test_bedrock_is_found_by_its_region() -> None:
    account = bedrock.account({"AWS_DEFAULT_REGION": "eu-central-1", "AWS_BEARER_TOKEN_BEDROCK": "k"})
    assert account.base_url == "https://bedrock-runtime.eu-central-1.amazonaws.com"


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (429, "Too many requests, please wait before trying again.", "rate_limit"),
        (403, "The security token included in the request is invalid.", "key"),
        (404, "Could not resolve the foundation model from the model identifier.", "not_found"),
        (400, "The provided model identifier is invalid.", "bad_request"),
        (424, "The model failed.", "server"),
        (503, "Bedrock is unable to process your request.", "overloaded"),
    ],
)
def test_errors_of_bedrock_map_to_their_class(status: int, message: str, kind: str) -> None:
    reply = WireReply(status, {}, json.dumps({"message": message}).encode())
    read = bedrock.wire.read(reply, Question(model="m", messages=()))
    assert isinstance(read, Fault | Fatal)
    assert read.kind == kind


def test_a_prompt_that_is_too_long_for_bedrock_is_the_models_own_refusal() -> None:
    body = json.dumps({"message": "Input is too long for requested model."}).encode()
    read = bedrock.wire.read(WireReply(400, {}, body), Question(model="m", messages=()))
    assert isinstance(read, Answer)
    assert read.finish == "refused"


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


def require(module: str) -> None:
    """Skip where the extra is not installed."""
    try:
        __import__(module)
    except ImportError:
        missing(module, "the extra is not installed")
