"""The eight ordered checks of a drift candidate (Appendix B.2, Table 7): the first one that fails is reported.

1  output schema     json_format        the required JSON fields are present
2  SQL parsing       sql_parse          the post-drift SQL parses and has commitments
3  SQL execution     sql_execute        it runs on the database
4  non-empty result  empty_result       it returns at least one row
5  observable effect identical_result   its result differs from the anchor's (multiset of rows)
6  non-monotonicity  no_change          the commitment sets are equal
                     monotonic          nothing is retracted, something is added
7  subtype match     subtype_mismatch   Algorithm 1 gives the assigned subtype
8  subtype detail    fine_subtype       a projection retracts the output clause that it says it does
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

from ..gold import Result
from .commitments import commitments
from .drift import Drift, FineSubtype, compare
from .parsing import UnparsableSql
from .samples import DriftLabel, Stage
from .schema import Schema
from .units import Commitment

Signal: TypeAlias = Literal[
    "json_format",
    "sql_parse",
    "sql_execute",
    "empty_result",
    "identical_result",
    "no_change",
    "monotonic",
    "subtype_mismatch",
    "fine_subtype",
]
SIGNALS: tuple[Signal, ...] = (
    "json_format", "sql_parse", "sql_execute", "empty_result", "identical_result", "no_change", "monotonic",
    "subtype_mismatch", "fine_subtype",
)  # fmt: skip

Run: TypeAlias = Callable[[str], Result]
"""Executes a statement on the anchor's database, or recalls what it came to."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A proposed drift: what the user says and the SQL that follows.

    A projection names the output clause that it retracts, unless that was assigned together with the subtype.
    """

    drift_utterance: str
    post_drift_sql: str
    fine_subtype: FineSubtype | None = None

    @classmethod
    def of(cls, stage: Stage) -> Candidate:
        """Return the candidate that became `stage`."""
        fine = stage.drift.fine_subtype if stage.drift else None
        return cls(drift_utterance=stage.utterance, post_drift_sql=stage.sql, fine_subtype=fine)


@dataclass(frozen=True, slots=True)
class Anchor:
    """The query that a candidate drifts from, known to run, with the means to judge another on its database."""

    sql: str
    run: Run
    schema: Schema | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A check that failed: its signal, and the detail in words."""

    signal: Signal
    detail: str


def read_candidate(answer: str | bytes) -> Candidate | Failure:
    """Read a generator's JSON answer, or return the failure of step 1; fields that nobody asked for are passed over."""
    try:
        candidate = msgspec.json.decode(answer, type=Candidate)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return Failure("json_format", str(error))
    empty = [name for name in ("drift_utterance", "post_drift_sql") if not getattr(candidate, name).strip()]
    return Failure("json_format", f"{empty[0]} is empty") if empty else candidate


def first_failure(candidate: Candidate, anchor: Anchor, assigned: DriftLabel) -> Failure | None:
    """Return the first of the checks that `candidate` fails, or None when it passes all.

    Raises UnparsableSql when the anchor itself is not one query.
    """
    if assigned.subtype == "projection" and not (assigned.fine_subtype or candidate.fine_subtype):
        return Failure("json_format", "a projection must name its fine_subtype")
    try:
        post = commitments(candidate.post_drift_sql, anchor.schema)
    except UnparsableSql as error:
        return Failure("sql_parse", error.why)
    if not post:
        return Failure("sql_parse", "the SQL has no commitments")
    outcome = compare(commitments(anchor.sql, anchor.schema), post)
    return _execution_failure(candidate, anchor) or _drift_failure(outcome, candidate, assigned)


def check_answer(answer: str | bytes, anchor: Anchor, assigned: DriftLabel) -> Candidate | Failure:
    """Run all eight checks on a generator's answer: return the candidate that passes them, or the first failure."""
    candidate = read_candidate(answer)
    if isinstance(candidate, Failure):
        return candidate
    return first_failure(candidate, anchor, assigned) or candidate


def _execution_failure(candidate: Candidate, anchor: Anchor) -> Failure | None:
    result = anchor.run(candidate.post_drift_sql)
    if result.error is not None:
        return Failure("sql_execute", result.error)
    if not result.rows:
        return Failure("empty_result", "the post-drift query returns no row")
    if result.multiset == anchor.run(anchor.sql).multiset:
        return Failure("identical_result", f"both queries return the same {result.rows} rows")
    return None


def _drift_failure(outcome: Drift, candidate: Candidate, assigned: DriftLabel) -> Failure | None:
    if outcome.reason == "no_change":
        return Failure("no_change", "the commitments are the same")
    if outcome.reason == "monotonic":
        return Failure("monotonic", f"it only adds {_listed(outcome.added)}")
    if outcome.verdict != assigned.subtype:
        return Failure("subtype_mismatch", f"it is {outcome.verdict} ({outcome.reason}), not {assigned.subtype}")
    named = assigned.fine_subtype or candidate.fine_subtype
    if outcome.fine_subtype and named != outcome.fine_subtype:
        return Failure("fine_subtype", f"it retracts {', '.join(outcome.fine_subtypes)}, not {named}")
    return None


def _listed(units: frozenset[Commitment]) -> str:
    return "; ".join(sorted(map(str, units)))
