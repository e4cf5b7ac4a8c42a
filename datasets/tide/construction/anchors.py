"""The file of anchors: the queries that construction starts from, what was found out about each, and how they came."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias, get_args

import msgspec

from ....adapters.base import ConfigurationError
from ..design import PAPERS, Design
from ..drift import FineSubtype
from ..editing import Value
from ..samples import DriftLabel
from ..structure import Subtype, Tier

FORMAT = "turntide-tide-anchors-1"

Reason: TypeAlias = Literal[
    "no_text", "no_database", "sql_parse", "repeated", "volatile", "sql_execute", "empty_result", "too_simple",
    "no_drift", "open_result",
]  # fmt: skip
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Why a candidate is no anchor, in the order in which it is looked at."""


class TreeDrift(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A drift that an edit of the anchor's tree makes and that passes the eight checks; `what` is the part edited.

    `later` are the drifts that follow it where a design has several, each an edit of the query before.
    """

    label: DriftLabel
    sql: str
    what: str
    later: tuple[TreeDrift, ...] = ()


class AnchorQuery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One anchor. `score` and `tier` are the structural ones, before a chain and a drift add to them.

    `assigned` is the first drift that it is to get. `drifts` has one that the tree yields for each label, with those
    that are to follow it. `values` gives, by predicate, other values that its database has.
    """

    id: str
    database: str
    split: str
    question: str
    evidence: str
    sql: str
    score: int
    tier: Tier
    assigned: DriftLabel
    drifts: tuple[TreeDrift, ...]
    values: dict[str, tuple[Value, ...]] = {}

    @property
    def planned(self) -> tuple[TreeDrift, ...]:
        """The drifts that trees make of it, the first of the assigned kind; none where no edit makes one of that."""
        first = next((drift for drift in self.drifts if drift.label == self.assigned), None)
        return (first, *first.later) if first else ()

    def edit(self, number: int) -> TreeDrift | None:
        """Return the edit that is planned for a drift, 1 the first."""
        return next(iter(self.planned[number - 1 :]), None)


class Stratum(msgspec.Struct, frozen=True, kw_only=True):
    """How many anchors of a tier and a split there were, and how many were drawn."""

    tier: Tier
    split: str
    kept: int
    drawn: int


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """How the anchors came: `candidates` = the sum of `dropped` + `kept`; `drawn` of them are in the file.

    `executable` ran and returned something; `yields` counts those of them whose tree yields a drift of a subtype, and
    `fine_yields` those with one of an output clause, whatever the design. Every drift that is counted passes the eight
    checks and has a fixed result; `open_results` counts the edits that pass the checks alone, at any drift of a design.
    `sequences` counts, for a design of several drifts, the queries with a drift of a subtype that begins as many as it
    has; else it is empty.
    """

    candidates: int
    dropped: dict[Reason, int]
    kept: int
    drawn: int
    strata: tuple[Stratum, ...]
    executable: int
    yields: dict[Subtype, int]
    fine_yields: dict[FineSubtype, int]
    open_results: int = 0
    sequences: dict[Subtype, int] = {}


class AnchorFile(msgspec.Struct, frozen=True, kw_only=True):
    """Anchors with the seed that drew them, and the hashes of the files of questions and of the databases."""

    format: Literal["turntide-tide-anchors-1"]
    design: Design = PAPERS
    seed: int
    sources: dict[str, str]
    databases: dict[str, str]
    selection: Selection
    anchors: tuple[AnchorQuery, ...]


def load_anchors(path: Path) -> AnchorFile:
    """Read a file of anchors. Raises ConfigurationError."""
    try:
        file = msgspec.json.decode(path.read_bytes(), type=AnchorFile)
    except OSError as error:
        raise ConfigurationError(f"cannot read the anchors {path}: {error.strerror or error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigurationError(f"{path} is no file of anchors (`turntide tide-build anchors`): {error}") from None
    ids = [anchor.id for anchor in file.anchors]
    if not ids or len(set(ids)) < len(ids):
        raise ConfigurationError(f"{path} holds {'an id twice' if ids else 'no anchor'}; select the anchors again")
    return file


def dump_anchors(file: AnchorFile) -> bytes:
    """Return the file's JSON; equal files give equal bytes."""
    return msgspec.json.format(msgspec.json.encode(file, order="deterministic"), indent=1) + b"\n"
