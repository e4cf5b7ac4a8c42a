"""What the generator needs of a database: its schema, what a query comes to, and the values to ask about."""

from __future__ import annotations

from pathlib import Path

from sqlglot import exp

from ...gold import GoldRunner, Result
from ..editing import Value, with_limit, written
from ..schema import Schema, schema_of
from .model import Condition


class Ground:
    """One database under the generator."""

    def __init__(self, database: str, path: Path, runner: GoldRunner) -> None:
        self.database = database
        self.schema: Schema = schema_of(path)
        self._runner = runner
        self._values: dict[str, tuple[Value, ...]] = {}

    def run(self, sql: str) -> Result:
        """Run `sql`, or recall what it came to."""
        return self._runner.result(self.database, sql)

    def values(self, condition: Condition) -> tuple[Value, ...]:
        """Return the values that `condition` may have here. Raises sqlite3.Error where the schema is another."""
        if not condition.query:
            return condition.values
        if condition.query not in self._values:
            rows = self._runner.rows(self.database, condition.query)
            self._values[condition.query] = tuple(str(value) for (value,) in rows)
        return self._values[condition.query]

    def is_tied(self, tree: exp.Query) -> bool:
        """Tell whether the row after the LIMIT ranks with the last one before it: then the wording leaves them open."""
        limit = tree.args.get("limit")
        if not limit:
            return False
        rows = int(limit.expression.name)
        longer = with_limit(tree, rows + 1)
        longer.expressions.append(longer.args["order"].expressions[0].this.copy())
        ranked = self._runner.rows(self.database, written(longer))
        return len(ranked) > rows and ranked[-1][-1] == ranked[-2][-1]
