"""The words of the construction's prompts, as `prompts.toml` has them."""

from __future__ import annotations

import hashlib
import tomllib
from functools import cache
from importlib.resources import files

import msgspec

from ....adapters.base import Json


class Role(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The system prompt of one call, and what follows an answer that does not do."""

    system: str
    again: str = ""


class DriftWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The drift generator's system prompt with its places, and the definition of each kind of change."""

    system: str
    form: str
    fine_form: str
    again: str
    value: str
    constraint: str
    projection: str


class Notes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The note on the format that a judge's malformed answer is met with, and what stands for nothing."""

    json: str
    unusable: str
    none: str


class Headings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The headings of the prompts' sections."""

    schema: str
    earlier: str
    question: str
    evidence: str
    query: str
    decisions: str
    ambiguous: str
    layers: str
    clarified: str
    before: str
    said: str
    after: str
    kind: str
    values: str


class Edits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a user says for a drift that an edit of the tree has made."""

    value: str
    constraint: str
    projection: str
    dropped: str


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`prompts.toml` as values. `signals` explains the failures of a chain to its generator."""

    chain: Role
    chain_judge: Role
    evidence: Role
    tester: Role
    drift: DriftWords
    drift_judge: Role
    notes: Notes
    headings: Headings
    edits: Edits
    signals: dict[str, str]


@cache
def words() -> Words:
    """Return the words of every prompt."""
    return msgspec.convert(tomllib.loads(_resource().decode()), Words)


def identity() -> dict[str, Json]:
    """Return the sha256 of the file of words: part of the manifest."""
    return {"prompts_sha256": hashlib.sha256(_resource()).hexdigest()}


def _resource() -> bytes:
    return files(__name__.rpartition(".")[0]).joinpath("prompts.toml").read_bytes()
