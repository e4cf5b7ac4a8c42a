"""What is known of one database, prepared once for all dialogues over it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ..databases import schema_text
from .commitments import commitments
from .nodes import Node, nodes_of
from .parsing import UnparsableSql
from .samples import Stage
from .schema import names_in, schema_of
from .simulator.validator import distinctive
from .units import Commitment

_REMEMBERED = 4096
"""Queries whose commitments are kept: models give the same ones again and again."""


class Desk:
    """One database: its DDL as agents see it, its schema, and the names in it that no user would say."""

    def __init__(self, database: str, path: Path) -> None:
        self.database = database
        self.ddl = schema_text(path)
        self.schema = schema_of(path)
        self.identifiers = distinctive(names_in(path))
        self.committed = lru_cache(_REMEMBERED)(self._commitments)
        self._nodes: dict[tuple[str, ...], tuple[Node, ...]] = {}

    def nodes(self, stage: Stage) -> tuple[Node, ...]:
        """Return the atomic nodes of a stage's gold; none when it cannot be read."""
        key = (stage.sql, *(text for pair in sorted(stage.nodes.items()) for text in pair))
        known = self._nodes.get(key)
        if known is None:
            try:
                known = nodes_of(stage, self.schema)
            except UnparsableSql:
                known = ()
            self._nodes[key] = known
        return known

    def _commitments(self, sql: str) -> frozenset[Commitment]:
        return commitments(sql, self.schema)
