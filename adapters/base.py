"""What every wire protocol speaks: questions and replies as plain values, and the protocol itself.

An adapter is pure. It turns a question into bytes and bytes into a reply; it opens no socket, reads no
clock and holds no key. The transport moves the bytes (`adapters.transport`), and `engine.calls.calls` decides what
happens next. A reply is one of three values, so that no failure of a provider can pass for an answer:

    Answer   the model's own reply, also an empty, cut or refused one: journalled, never asked again
    Fault    this attempt failed and the same question may be asked again
    Fatal    asking again cannot help: the model's lane stops with this message
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias

from msgspec import Struct

from .misuse import ConfigurationError as ConfigurationError

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"
Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "refused"]
FaultKind = Literal["rate_limit", "overloaded", "server", "timeout", "network", "malformed"]
FatalKind = Literal["key", "quota", "not_found", "bad_request"]
Phase = Literal["connect", "sent"]
Method = Literal["POST", "GET"]

SIMULATED: Final = "x-turntide-simulated"
"""The header by which every reply of the simulated provider tells what it is."""


class Secret:
    """A key that never shows itself: not in a repr, a log, a traceback, or a file."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the key itself, for the header of a request and nothing else."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return "Secret(***)" if self._value else "Secret(unset)"

    def __reduce__(self) -> str:
        raise TypeError("a Secret is not serialised")


class Message(Struct, frozen=True):
    """One message of a chat."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a model is asked: the chat so far and the options that are sent with it.

    `options` uses our own names (`max_tokens`, `temperature`, `seed`, `json_schema`, `reasoning_effort`, `thinking`,
    `thinking_budget`); each protocol writes them as its provider spells them, and refuses those that it cannot express.
    `system_role` and `max_tokens_field` say how a model of OpenAI's formats wants two of them spelled, `api_version` is
    that of Azure's deployments, and the members of `extra` are sent as they are. An option that is absent is not sent.
    """

    model: str
    messages: tuple[Message, ...]
    options: Mapping[str, Json] = field(default_factory=dict[str, Json])


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens as the provider counted them.

    `input_tokens` includes cached and cache-written ones; `output_tokens` includes reasoning.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A model's own reply. `text` may be empty; `model` is the id that came back, not the one asked for.

    `finish` is `length` when the reply was cut at the token limit and `refused` when the provider or the
    model declined this very question (content filter, context length); `detail` then says which.
    `usage` is None when the provider reported none: the call then counts at its reserved worst case. `simulated` is
    what the reply itself says (see `SIMULATED`), under whatever name its provider was reached.
    """

    text: str
    model: str
    usage: Usage | None
    finish: Finish = "stop"
    reasoning: str = ""
    detail: str = ""
    simulated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An attempt that failed in a way that may pass.

    `retry_after` is in seconds from now. `paid` says whether the attempt may have cost money: an error status
    and a connection that was never made have not; a drop, a time-out or a cut body after the send may have.
    """

    kind: FaultKind
    message: str
    status: int | None = None
    retry_after: float | None = None
    paid: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fatal:
    """A reply after which asking this model again is pointless."""

    kind: FatalKind
    message: str
    status: int | None = None


Reply: TypeAlias = Answer | Fault | Fatal


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitHint:
    """What a reply's headers say of a limit: `resource` per `window` seconds, and what is left until `reset`.

    `reset` is in seconds from the reply. Unknown parts are None.
    """

    resource: Literal["requests", "tokens"]
    limit: int | None = None
    remaining: int | None = None
    reset: float | None = None
    window: float = 60.0


class WireRequest(Struct, frozen=True):
    """The exact bytes to send, without the key: `path` is appended to the account's base URL."""

    path: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = (("content-type", "application/json"),)
    method: Method = "POST"


class WireReply(Struct, frozen=True):
    """A complete HTTP reply; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One key at one host: the thing that limits and bills are counted by. `alias` is what may be written down.

    `signer` proves who asks where a header with the key cannot. `in_flight` is how many calls the host works on at
    once, where that is known: more would only wait there.
    """

    provider: str
    base_url: str
    key: Secret
    alias: str = "default"
    signer: Signer | None = None
    headers: tuple[tuple[str, str], ...] = ()
    in_flight: int | None = None

    async def authorize(self, wire: WireFormat, request: WireRequest) -> tuple[tuple[str, str], ...]:
        """Return the headers that prove who sends `request`; TransportFault when they cannot be had now."""
        if self.signer is None:
            return wire.authorize(self.key)
        return await self.signer.sign(self.base_url + request.path, request)


class Signer(Protocol):
    """Proves who asks by more than a key in a header: a signature, or a token that has to be renewed."""

    async def sign(self, url: str, request: WireRequest) -> tuple[tuple[str, str], ...]:
        """Return the headers to send with `request` to `url`.

        Raises TransportFault in the phase `connect` when that is not possible now.
        """
        ...


class WireFormat(Protocol):
    """One provider's protocol as pure functions over bytes."""

    def build(self, question: Question) -> WireRequest:
        """Return the bytes that ask `question`; equal questions give equal bytes."""
        ...

    def authorize(self, key: Secret) -> tuple[tuple[str, str], ...]:
        """Return the headers that carry the key."""
        ...

    def read(self, reply: WireReply, question: Question) -> Reply:
        """Classify a complete reply by its status and body; never raises, whatever the body holds."""
        ...

    def hints(self, reply: WireReply) -> tuple[LimitHint, ...]:
        """Return what the headers say of the account's limits."""
        ...


class TransportFault(Exception):
    """No complete HTTP reply came. `phase` is `connect` when the request certainly never left."""

    def __init__(self, kind: Literal["timeout", "network"], phase: Phase, message: str) -> None:
        super().__init__(message)
        self.kind: Literal["timeout", "network"] = kind
        self.phase: Phase = phase
        self.message = message


class Transport(Protocol):
    """Moves bytes to one host. Follows no redirect, reads no proxy from the environment, retries nothing."""

    async def send(
        self, account: Account, request: WireRequest, headers: tuple[tuple[str, str], ...], deadline: float
    ) -> WireReply:
        """Send and return the complete reply within `deadline` seconds of that, or raise TransportFault."""
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...
