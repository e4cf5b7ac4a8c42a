"""OpenAI's models on Azure: the v1 API, or a deployment under a dated API version.

The model of `azure/NAME` is the name of a deployment. References: "Azure OpenAI in Foundry Models: v1 API" and
"REST API reference" of learn.microsoft.com.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote

from msgspec import structs

from ..base import Account, LimitHint, Question, Reply, Secret, WireFormat, WireReply, WireRequest
from ..openai_chat import OpenAIChat
from ..openai_responses import OpenAIResponses
from ..provider import Provider

DATED: Final = "2024-10-21"
"""The last dated version of general availability; the option `api_version` names another."""

_ROOT: Final = "/openai"


@dataclass(frozen=True, slots=True, kw_only=True)
class AzureFormat:
    """A format of OpenAI's at Azure: `deployments` puts the model and the API's version into the path."""

    inner: WireFormat
    deployments: bool = False

    def build(self, question: Question) -> WireRequest:
        """Return the bytes that ask `question`; ConfigurationError for an option that this format cannot express."""
        if not self.deployments:
            request = self.inner.build(question)
            return structs.replace(request, path=f"/v1{request.path}")
        options = dict(question.options)
        version = quote(str(options.pop("api_version", DATED)), safe="")
        request = self.inner.build(replace(question, options=options))
        name = quote(question.model, safe="")
        return structs.replace(request, path=f"/deployments/{name}{request.path}?api-version={version}")

    def authorize(self, key: Secret) -> tuple[tuple[str, str], ...]:
        """Return the header that carries the key."""
        return (("api-key", key.reveal()),) if key else ()

    def read(self, reply: WireReply, question: Question) -> Reply:
        """Classify a complete reply; never raises, whatever the body holds."""
        return self.inner.read(reply, question)

    def hints(self, reply: WireReply) -> tuple[LimitHint, ...]:
        """Return what the headers say of requests and tokens."""
        return self.inner.hints(reply)


@dataclass(frozen=True, slots=True, kw_only=True)
class Azure(Provider):
    """Azure OpenAI as a provider: its variable holds the resource's endpoint, also with `/openai` or `/openai/v1`."""

    def account(self, environ: Mapping[str, str]) -> Account:
        """Return the account that `environ` describes, or raise ConfigurationError that names the variable."""
        account = super(Azure, self).account(environ)
        root = account.base_url.removesuffix("/v1").removesuffix(_ROOT)
        return replace(account, base_url=root + _ROOT)


_CHAT: Final = AzureFormat(inner=OpenAIChat())

azure = Azure(
    name="azure",
    wire=_CHAT,
    formats={
        "chat": _CHAT,
        "responses": AzureFormat(inner=OpenAIResponses()),
        "deployments": AzureFormat(inner=OpenAIChat(), deployments=True),
    },
    key_variables=("AZURE_OPENAI_API_KEY",),
    url_variables=("AZURE_OPENAI_ENDPOINT",),
)
