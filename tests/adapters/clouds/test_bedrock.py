"""Models at Bedrock: the exact requests that arrive on loopback, and who they say they come from."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import pytest
from turntide.adapters.base import Answer, ConfigurationError, Fatal, Fault, Question, TransportFault, WireReply
from turntide.adapters.clouds.bedrock import bedrock

from .conftest import MESSAGE, Host, ask, require

AWS = {"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "planted-secret-key"}


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
