"""The quality of the gold behind the scores: what the run's own examination of it put on record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..engine.examination import GOLD
from ..engine.sql.quality import FINDINGS, SLOW, Finding
from .table import Cell, Number, Table

LISTED: Final = 20

MEANING: Final[Mapping[Finding, str]] = {
    "empty": "returns no row: every query without a result is right",
    "null": "returns nothing but NULLs",
    "slow": f"takes more than {SLOW:,} steps of SQLite's machine",
    "order": "gives another result when SQLite visits rows in another order",
    "tie": "its LIMIT cuts between rows that its ORDER BY ranks the same",
}


@dataclass(slots=True)
class Gold:
    """Findings by database and by the name of the statement; `examined` is 0 while no run has examined its gold."""

    examined: int = 0
    findings: dict[tuple[str, str], list[Finding]] = field(default_factory=dict[tuple[str, str], list[Finding]])

    def visit(self, line: Mapping[str, Any]) -> None:
        """Take in a line of a journal. Several runs over the same data examined the same, or parts of it."""
        if line["k"] == GOLD:
            self.examined = max(self.examined, line["examined"])
            self.findings |= {(each["database"], each["name"]): each["found"] for each in line["findings"]}

    def fact(self) -> str:
        """Return in words how far it is."""
        if not self.examined:
            return "not examined yet: a run does it by its end, and so does `turntide rescore`"
        return f"{self.examined:,} reference statements examined, {len(self.findings):,} with findings"

    def tables(self) -> Iterator[Table]:
        """Yield how many statements have which finding, and which those are."""
        if self.examined:
            yield self._counts()
            yield self._list()

    def _counts(self) -> Table:
        rows: list[list[Cell]] = []
        for finding in FINDINGS:
            count = sum(finding in found for found in self.findings.values())
            rows.append([finding, count, Number(100 * count / self.examined), MEANING[finding]])
        return Table(
            key="gold_quality",
            title="Quality of the gold: statements by finding",
            columns=("finding", "statements", "%", "meaning"),
            rows=rows,
            note=f"Of {self.examined:,} reference statements (gold, and fallbacks where there are some; one per turn "
            "that has it), each examined on the run's own databases; no sample, so that no interval applies.",
        )

    def _list(self) -> Table:
        return Table(
            key="gold_findings",
            title="Gold statements with findings",
            columns=("database", "statement", "findings"),
            labels=2,
            excerpt=LISTED,
            rows=[[*place, ", ".join(found)] for place, found in sorted(self.findings.items())],
        )
