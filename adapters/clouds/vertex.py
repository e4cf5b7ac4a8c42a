"""Claude on Google Vertex AI, with a given access token, or with Google's application default credentials.

A token is plain HTTP, and good for an hour. Credentials are google-auth's (the extra `vertex`), which renews them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final, Protocol

from ..base import Account, ConfigurationError, Secret, TransportFault, WireRequest
from ..headers import bearer
from ..provider import Provider, first_set
from .messages import CloudMessages

_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
_PROJECT: Final = ("ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT")
_REGION: Final = ("CLOUD_ML_REGION", "GOOGLE_CLOUD_LOCATION")
_MULTI_REGIONS: Final = ("us", "eu")
_RENEW_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Vertex(Provider):
    """Vertex AI as a provider: region and project decide the base URL; without a region it is the global one."""

    def account(self, environ: Mapping[str, str]) -> Account:
        """Return the account that `environ` describes; ConfigurationError names what is missing."""
        token, project = first_set(environ, self.key_variables), first_set(environ, _PROJECT)
        key, signer = self.secret(token), None
        if not token:
            credentials, found = _credentials()
            key = CurrentToken(credentials)
            project, signer = project or found, GoogleToken(credentials, key)
        if not project:
            raise ConfigurationError(f"vertex: no project. Set {' or '.join(_PROJECT)}.")
        region = first_set(environ, _REGION) or "global"
        host = first_set(environ, self.url_variables) or _host(region)
        url = f"{host.rstrip('/')}/projects/{project}/locations/{region}/publishers/anthropic"
        return Account(provider=self.name, base_url=url, key=key, signer=signer)


class GoogleCredentials(Protocol):
    """Google-auth's credentials, of whatever source."""

    token: str | None

    @property
    def valid(self) -> bool:
        """Whether there is a token that has not expired."""
        ...

    def refresh(self, request: object) -> None:
        """Get a new token; blocks."""
        ...


class CurrentToken(Secret):
    """The token of credentials that renew themselves: always the one that is sent now, and so the one to mask."""

    __slots__ = ("_credentials",)

    def __init__(self, credentials: GoogleCredentials) -> None:
        super().__init__("")
        self._credentials = credentials

    def reveal(self) -> str:
        """Return the token of this moment, or nothing before the first one."""
        return self._credentials.token or ""

    def __bool__(self) -> bool:
        return bool(self._credentials.token)


class GoogleToken:
    """Carries the access token, and renews it before it expires: once for all who ask meanwhile."""

    def __init__(self, credentials: GoogleCredentials, key: Secret) -> None:
        self._credentials = credentials
        self._key = key
        self._renewing = asyncio.Lock()

    async def sign(self, url: str, request: WireRequest) -> tuple[tuple[str, str], ...]:
        """Return the header with the token; TransportFault when it cannot be renewed now."""
        if not self._credentials.valid:
            async with self._renewing:
                if not self._credentials.valid:
                    await self._renew()
        return bearer(self._key)

    async def _renew(self) -> None:
        transport = import_module("google.auth.transport.requests")
        try:
            async with asyncio.timeout(_RENEW_SECONDS):
                await asyncio.to_thread(self._credentials.refresh, transport.Request())
            return
        except Exception as error:
            why = f"Google's access token cannot be renewed: {type(error).__name__}"
        raise TransportFault("network", "connect", why)


def _credentials() -> tuple[GoogleCredentials, str]:
    """Return Google's application default credentials, and the project that they name, if any."""
    try:
        auth, exceptions = import_module("google.auth"), import_module("google.auth.exceptions")
        import_module("google.auth.transport.requests")  # what renews needs it
    except ImportError:
        raise ConfigurationError(
            "vertex: no credentials. Set CLOUDSDK_AUTH_ACCESS_TOKEN (gcloud auth print-access-token), or install the "
            "extra `vertex` for application default credentials (pip install 'turntide[vertex]')."
        ) from None
    try:
        credentials, project = auth.default(scopes=[_SCOPE])
    except exceptions.GoogleAuthError as error:
        raise ConfigurationError(f"vertex: no credentials: {error}") from None
    return credentials, project or ""


def _host(region: str) -> str:
    if region == "global":
        return "https://aiplatform.googleapis.com/v1"
    if region in _MULTI_REGIONS:
        return f"https://aiplatform.{region}.rep.googleapis.com/v1"
    return f"https://{region}-aiplatform.googleapis.com/v1"


vertex = Vertex(
    name="vertex",
    wire=CloudMessages(path="/models/{model}:rawPredict", version="vertex-2023-10-16", safe="@"),
    key_variables=("CLOUDSDK_AUTH_ACCESS_TOKEN",),
    url_variables=("ANTHROPIC_VERTEX_BASE_URL",),
)
