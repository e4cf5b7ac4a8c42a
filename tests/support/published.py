"""Whether a paper's values have cells in the tables of a report."""

from __future__ import annotations

from collections.abc import Iterable

from turntide.results.published import Published
from turntide.results.table import Table


def misfits(published: Published, tables: Iterable[Table]) -> list[str]:
    """Return the keys of values whose table, columns or labels are not there."""
    known = {table.key: table for table in tables}
    found = [stating.key for stating in published.tables if stating.key not in known]
    for stating in published.tables:
        if table := known.get(stating.key):
            columns = set(stating.columns) <= set(table.columns[table.labels :])
            if not columns or any(len(row.labels) != table.labels for row in stating.rows):
                found.append(stating.key)
    return found
