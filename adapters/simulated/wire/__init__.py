"""The wire formats that the simulated provider speaks: each is one module, the reverse of a client's `WireFormat`.

A module is a `Wire`; adding one to `WIRES` is all it takes to speak another provider's protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ...base import Answer, LimitHint, Question
from ..failure import Failure
from . import anthropic, gemini, openai_chat, openai_responses


class Wire(Protocol):
    """One provider's protocol, seen from the provider: pure functions over bytes."""

    def claims(self, path: str) -> bool:
        """Return whether a POST to `path` is in this protocol."""
        ...

    def key(self, headers: Mapping[str, str]) -> str:
        """Return the key that a request carries, or nothing."""
        ...

    def parse(self, path: str, body: bytes) -> Question:
        """Return what a request asks, its options under our own names, or raise the Failure that refuses it."""
        ...

    def answer(self, answer: Answer, name: str) -> bytes:
        """Return the body of an answer; `name` makes its id."""
        ...

    def status(self, failure: Failure) -> int:
        """Return the HTTP status that an error goes with."""
        ...

    def error(self, failure: Failure) -> bytes:
        """Return the body of an error."""
        ...

    def limits(self, hints: Sequence[LimitHint]) -> dict[str, str]:
        """Return the headers that tell a client of its account's limits."""
        ...


WIRES: tuple[Wire, ...] = (openai_chat, openai_responses, anthropic, gemini)
