"""The unit of commitment, and the two sides that drift distinguishes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Clause: TypeAlias = Literal["select", "where", "group_by", "having", "order_by", "limit", "offset"]
Side: TypeAlias = Literal["filter", "output"]


def keyword(clause: Clause) -> str:
    """Return `clause` as SQL spells it."""
    return clause.replace("_", " ").upper()


@dataclass(frozen=True, slots=True, order=True)
class Commitment:
    """One clause-scoped unit: the triple of path, value form and structural form of Algorithm 2.

    `value` keeps the literals, `structure` has `?` in their place, and `literals` lists them in an order that the
    structure fixes. `role` is the outermost clause on the way to the unit. Path, clause and value decide equality:
    the other fields follow from them.
    """

    path: tuple[str, ...]
    clause: Clause
    value: str
    structure: str = field(compare=False)
    literals: tuple[str, ...] = field(compare=False)
    role: Clause = field(compare=False)

    @property
    def side(self) -> Side:
        """`filter` when WHERE is the outermost clause on the way, else `output`; HAVING is output-side (G.1)."""
        return "filter" if self.role == "where" else "output"

    def __str__(self) -> str:
        return " » ".join((*self.path, f"{keyword(self.clause)} {self.value}"))
