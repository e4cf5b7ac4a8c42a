"""Claude on Amazon Bedrock, with a Bedrock API key, or with AWS credentials and Signature Version 4.

A key is plain HTTP. Signing is botocore's (the extra `bedrock`), and so is finding credentials: environment, profile,
single sign-on, instance role.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final, Protocol

from ..base import Account, ConfigurationError, Secret, TransportFault, WireRequest
from ..provider import Provider, first_set
from .messages import CloudMessages

SERVICE: Final = "bedrock"
"""The name that the signature is made for; the host's is bedrock-runtime."""

_REGION: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
_MISSING: Final = (
    "bedrock: no credentials. Set AWS_BEARER_TOKEN_BEDROCK to a Bedrock API key, or AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY, or install the extra `bedrock` for profiles and roles (pip install 'turntide[bedrock]')."
)
_SIGN_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bedrock(Provider):
    """Bedrock as a provider: the region decides the host."""

    def account(self, environ: Mapping[str, str]) -> Account:
        """Return the account that `environ` describes; ConfigurationError names what is missing."""
        region = first_set(environ, _REGION)
        if not region:
            raise ConfigurationError(f"bedrock: no region. Set {' or '.join(_REGION)}.")
        url = first_set(environ, self.url_variables) or f"https://bedrock-runtime.{region}.amazonaws.com"
        if key := first_set(environ, self.key_variables):
            return Account(provider=self.name, base_url=url.rstrip("/"), key=self.secret(key))
        credentials = _credentials(environ)
        secret = Secret(credentials.get_frozen_credentials().secret_key)
        signer = SignatureV4(credentials, region)
        return Account(provider=self.name, base_url=url.rstrip("/"), key=secret, signer=signer)


class FrozenKeys(Protocol):
    """The keys of one moment."""

    secret_key: str


class AwsCredentials(Protocol):
    """Botocore's credentials, of whatever source."""

    def get_frozen_credentials(self) -> FrozenKeys:
        """Return the keys of this moment, renewed if need be."""
        ...


class SignatureV4:
    """Signs each request with AWS credentials, which renew themselves where they expire."""

    def __init__(self, credentials: AwsCredentials, region: str) -> None:
        self._credentials = credentials
        self._region = region

    async def sign(self, url: str, request: WireRequest) -> tuple[tuple[str, str], ...]:
        """Return the headers of the signature; TransportFault when credentials cannot be renewed now."""
        try:
            async with asyncio.timeout(_SIGN_SECONDS):
                return await asyncio.to_thread(self._sign, url, request)
        except Exception as error:
            why = f"the request cannot be signed: {type(error).__name__}"
        raise TransportFault("network", "connect", why)

    def _sign(self, url: str, request: WireRequest) -> tuple[tuple[str, str], ...]:
        auth, requests = import_module("botocore.auth"), import_module("botocore.awsrequest")
        signed = requests.AWSRequest(request.method, url, headers=dict(request.headers), data=request.body)
        auth.SigV4Auth(self._credentials.get_frozen_credentials(), SERVICE, self._region).add_auth(signed)
        sent = {name for name, _ in request.headers}
        return tuple((name.lower(), value) for name, value in signed.headers.items() if name.lower() not in sent)


def _credentials(environ: Mapping[str, str]) -> AwsCredentials:
    """Return what signs: the keys of `environ`, or what botocore finds on this machine."""
    try:
        credentials, session = import_module("botocore.credentials"), import_module("botocore.session")
    except ImportError:
        raise ConfigurationError(_MISSING) from None
    key, secret = (environ.get(name, "").strip() for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"))
    if key and secret:
        return credentials.Credentials(key, secret, environ.get("AWS_SESSION_TOKEN", "").strip() or None)
    try:
        found = session.Session(profile=environ.get("AWS_PROFILE") or None).get_credentials()
    except Exception as error:
        raise ConfigurationError(f"bedrock: the AWS credentials cannot be read: {error}") from None
    if found is None:
        raise ConfigurationError(_MISSING)
    return found


bedrock = Bedrock(
    name="bedrock",
    wire=CloudMessages(path="/model/{model}/invoke", version="bedrock-2023-05-31"),
    key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
    url_variables=("ANTHROPIC_BEDROCK_BASE_URL",),
)
