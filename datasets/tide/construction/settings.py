"""Who serves each stage, fixed for one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from ..design import PAPERS, Design
from ..editing import written
from ..parsing import parse
from ..samples import Triplet

Source: TypeAlias = Literal["model", "template", "rules", "tree", "file", "none"]

REWRITER: Final = "rewriter"
TESTER: Final = "tester"
"""Labels of the auxiliary models. Without a rewriter the generator rewrites, as in the paper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """`judges` and `drift_judges` are labels, two or none; `files` has the triplets of each stage served by a file."""

    chain: Source = "model"
    evidence: Source = "model"
    drift: Source = "model"
    judges: tuple[str, ...] = ()
    drift_judges: tuple[str, ...] = ()
    rewriter: bool = False
    tester: bool = False
    attempts: int = 3
    design: Design = PAPERS
    files: Mapping[str, Mapping[tuple[str, str], Triplet]] = field(
        default_factory=dict[str, Mapping[tuple[str, str], Triplet]]
    )

    def named(self) -> dict[str, str]:
        """Return what serves each stage. Without a chain no evidence is rewritten, whoever stands by to do it."""
        evidence = "none" if self.chain == "none" else self.evidence
        return {"chain": self.chain, "evidence": evidence, "drift": self.drift}


def by_query(triplets: tuple[Triplet, ...]) -> dict[tuple[str, str], Triplet]:
    """Return triplets by the database and query of their anchors; the first one counts."""
    found: dict[tuple[str, str], Triplet] = {}
    for triplet in triplets:
        found.setdefault(query_key(triplet.database, triplet.stages[0].sql), triplet)
    return found


def query_key(database: str, sql: str) -> tuple[str, str]:
    """Return what two spellings of one query share. Raises UnparsableSql."""
    return database, written(parse(sql))
