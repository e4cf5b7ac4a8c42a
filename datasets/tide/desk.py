"""What is known of one database, prepared once for all dialogues over it."""

from __future__ import annotations

from pathlib import Path

from ..databases import schema_text
from .commitments import commitments
from .nodes import Node, nodes_of
from .parsing import UnparsableSql
from .samples import Stage
from .schema import Schema, names_in, tables_of
from .simulator.validator import distinctive
from .units import Commitment


class Desk:
    """One database: its DDL as agents see it, its schema, and the names in it that no user would say."""

    def __init__(self, database: str, path: Path) -> None:
        self.database = database
        self.ddl = schema_text(path)
        tables = tables_of(path)
        self.schema = Schema.of(tables)
        self.identifiers = distinctive(names_in(tables))
        self._nodes: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[Node, ...]] = {}

    def nodes(self, stage: Stage) -> tuple[Node, ...]:
        """Return the atomic nodes of a stage's gold; none when it cannot be read."""
        key = (stage.sql, tuple(sorted(stage.nodes.items())))
        known = self._nodes.get(key)
        if known is None:
            try:
                known = nodes_of(stage, self.schema)
            except UnparsableSql:
                known = ()
            self._nodes[key] = known
        return known

    def committed(self, sql: str) -> frozenset[Commitment]:
        """Return the commitments of a query on this database. Raises UnparsableSql."""
        return commitments(sql, self.schema)
