"""Anthropic's Messages as Amazon Bedrock and Google Vertex AI take them.

The model stands in the path and the API's version in the body, under the cloud's own name for it. References: "Claude
on Amazon Bedrock" and "Claude on Vertex AI" of platform.claude.com; InvokeModel and rawPredict of the clouds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from ..anthropic import AnthropicMessages
from ..base import LimitHint, Question, Reply, Secret, WireReply, WireRequest
from ..headers import bearer
from ..wirejson import as_object, by_name, decode, encode

_MESSAGES: Final = AnthropicMessages()


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudMessages:
    """Messages at a cloud: `path` holds `{model}`, in which the characters of `safe` stay as they are."""

    path: str
    version: str
    safe: str = ""

    def build(self, question: Question) -> WireRequest:
        """Return the bytes that ask `question`; ConfigurationError for an option that this format cannot express."""
        fields = as_object(decode(_MESSAGES.build(question).body))
        del fields["model"]
        fields["anthropic_version"] = self.version
        path = self.path.format(model=quote(question.model, safe=self.safe))
        return WireRequest(path=path, body=encode(by_name(fields)))

    def authorize(self, key: Secret) -> tuple[tuple[str, str], ...]:
        """Return the bearer header."""
        return bearer(key)

    def read(self, reply: WireReply, question: Question) -> Reply:
        """Classify a complete reply; never raises, whatever the body holds."""
        return _MESSAGES.read(reply, question)

    def hints(self, reply: WireReply) -> tuple[LimitHint, ...]:
        """Return nothing: clouds do not tell their limits in headers."""
        return ()
