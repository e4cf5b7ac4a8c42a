"""The words of the prompts and of the rule-based user, as `prompts.toml` has them."""

from __future__ import annotations

import hashlib
import tomllib
from functools import cache
from importlib.resources import files

import msgspec

from ...adapters.base import Json


class AgentWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The agent's system prompt with its places, and the note on the format that a malformed answer is met with."""

    system: str
    no_evidence: str
    unusable: str
    note: str


class RouterWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The router's system prompt, and its note on the format."""

    system: str
    note: str


class GeneratorWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The generator's system prompt, what follows an answer that does not do, and what to say without an annotation."""

    system: str
    again: str
    refusal: str
    withheld: str
    nothing: str


class RuleWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the rule-based generator says, and the neutral answer that stands in for one that never passed."""

    detail: str
    refusal: str
    withheld: str
    nothing: str
    neutral: str


class Headings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The headings of the simulator's prompts."""

    conversation: str
    points: str
    details: str
    question: str
    say: str


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`prompts.toml` as values."""

    agent: AgentWords
    router: RouterWords
    generator: GeneratorWords
    rules: RuleWords
    headings: Headings


@cache
def words() -> Words:
    """Return the words of every prompt."""
    return msgspec.convert(tomllib.loads(_resource().decode()), Words)


def identity() -> dict[str, Json]:
    """Return the sha256 of the file of words: part of the manifest."""
    return {"prompts_sha256": hashlib.sha256(_resource()).hexdigest()}


def _resource() -> bytes:
    return files(__name__.rpartition(".")[0]).joinpath("prompts.toml").read_bytes()
