"""Checks a session file against its databases: does every gold query run, and what is odd about the file?

Oddities are found by rule and listed, never repaired: the released file has some, and a report that knows them is worth
more than a file that hides them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from ..databases import DatabaseFacts, SourceDatabase, facts_of
from ..gold import GoldRunner, Result, Told, in_silence, steps
from .sessions import Session, Turn, turn_id
from .templates import derive, match


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found.

    Turns are named `SESSION:TURN`. `gold_ok` counts gold queries that run and return rows; `gold_empty` and
    `gold_failed` list the others. `memory_critical` follows the rule of §3.2, not the file's flags; `critical_share` is
    its share by `source/tier`. `fallback_same` lists turns whose gold and fallback results coincide, which are no
    evidence of contamination. `errors` has SQLite's word on each failure, or the limit that a query ran into;
    `of_databases` lists those of `gold_failed` that SQLite itself refused. `quirks` maps each rule to what breaks it.
    """

    sessions: int
    turns: int
    gold_ok: int
    gold_empty: tuple[str, ...]
    gold_failed: tuple[str, ...]
    memory_critical: int
    tiers: dict[str, int]
    sources: dict[str, int]
    critical_share: dict[str, float]
    distinct_content: int
    fallback_same: tuple[str, ...]
    fallback_failed: tuple[str, ...]
    errors: dict[str, str]
    quirks: dict[str, tuple[str, ...]]
    databases: dict[str, DatabaseFacts]
    of_databases: tuple[str, ...]


def check(sessions: Sequence[Session], databases: Mapping[str, SourceDatabase], told: Told = in_silence) -> CheckReport:
    """Run every gold and fallback query and look for quirks; `told` hears what is being done."""
    turns = [(session, turn) for session in sessions for turn in session.turns]
    with GoldRunner({name: database.path for name, database in databases.items()}) as runner:
        gold = {
            turn_id(s, t): runner.result(s.database, t.ground_truth_sql) for s, t in steps("gold queries", turns, told)
        }
        with_fallback = [(s, t, t.fallback_sql) for s, t in turns if t.fallback_sql]
        other = {turn_id(s, t): runner.result(s.database, sql) for s, t, sql in steps("fallbacks", with_fallback, told)}
        quirks = {name: tuple(QUIRKS[name](sessions, runner)) for name in steps("rules", list(QUIRKS), told)}
    return CheckReport(
        sessions=len(sessions),
        turns=len(turns),
        gold_ok=sum(1 for result in gold.values() if result.rows),
        gold_empty=tuple(key for key, result in gold.items() if not result.rows and result.error is None),
        gold_failed=_failed(gold),
        memory_critical=sum(sum(session.memory_critical()) for session in sessions),
        tiers=_counted(f"{session.tier}" for session in sessions),
        sources=_counted(session.source for session in sessions),
        critical_share=_critical_share(sessions),
        distinct_content=len({session.content_key for session in sessions}),
        fallback_same=tuple(k for k, result in other.items() if not result.error and result.digest == gold[k].digest),
        fallback_failed=_failed(other),
        errors={key: result.error for results in (other, gold) for key, result in results.items() if result.error},
        quirks=quirks,
        databases={name: facts_of(database) for name, database in databases.items()},
        of_databases=tuple(key for key, result in gold.items() if result.of_database),
    )


def _failed(results: Mapping[str, Result]) -> tuple[str, ...]:
    return tuple(key for key, result in results.items() if result.error is not None)


def _counted(names: Iterator[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _critical_share(sessions: Sequence[Session]) -> dict[str, float]:
    critical: Counter[str] = Counter()
    turns: Counter[str] = Counter()
    for session in sessions:
        group = f"{session.source}/{session.tier}"
        critical[group] += sum(session.memory_critical())
        turns[group] += len(session.turns)
    return {group: round(critical[group] / turns[group], 4) for group in turns}


def _repeated_content(sessions: Sequence[Session], _: GoldRunner) -> Iterator[str]:
    """Sessions whose questions and gold equal an earlier session's."""
    seen: set[str] = set()
    for session in sessions:
        if session.content_key in seen:
            yield session.session_id
        seen.add(session.content_key)


def _gold_beyond_dialogue(sessions: Sequence[Session], runner: GoldRunner) -> Iterator[str]:
    """Turns whose gold is not the answer that follows from the question and the session's state before it."""
    for session in sessions:
        for turn, sql in zip(session.turns, derive(session), strict=True):
            gold = runner.result(session.database, turn.ground_truth_sql)
            if sql and gold.error is None and runner.result(session.database, sql).digest != gold.digest:
                yield turn_id(session, turn)


def _unknown_question(sessions: Sequence[Session], _: GoldRunner) -> Iterator[str]:
    """Turns whose question follows no known template: a simulated reader cannot answer them."""
    return _turns_where(sessions, lambda session, turn, _: match(session.source, turn.question) is None)


def _fallback_is_another_query(sessions: Sequence[Session], _: GoldRunner) -> Iterator[str]:
    """Turns whose fallback is not the gold query with other values in it."""

    def differs(_: Session, turn: Turn, __: bool) -> bool:
        return turn.fallback_sql is not None and _skeleton(turn.fallback_sql) != _skeleton(turn.ground_truth_sql)

    return _turns_where(sessions, differs)


def _flags_differ(sessions: Sequence[Session], _: GoldRunner) -> Iterator[str]:
    """Turns whose `memory_benefit_expected` is not what the rule of §3.2 says."""
    return _turns_where(sessions, lambda _, turn, critical: turn.memory_benefit_expected != critical)


def _critical_without_fallback(sessions: Sequence[Session], _: GoldRunner) -> Iterator[str]:
    """Memory-critical turns without a fallback query, though §4.7 gives one to each."""
    return _turns_where(sessions, lambda _, turn, critical: critical and not turn.fallback_sql)


def _filer_never_asked_about(sessions: Sequence[Session], runner: GoldRunner) -> Iterator[str]:
    """EDGAR filers that no session is about."""
    queries = {turn.ground_truth_sql for session in sessions if session.source == "sec_edgar" for turn in session.turns}
    if queries and runner.result("sec_edgar", _FILERS).error is None:
        asked = "\n".join(queries)
        yield from (str(ticker) for (ticker,) in runner.rows("sec_edgar", _FILERS) if f"'{ticker}'" not in asked)


_FILERS = "SELECT ticker FROM companies ORDER BY ticker"

QUIRKS: Mapping[str, Callable[[Sequence[Session], GoldRunner], Iterator[str]]] = {
    "repeated_content": _repeated_content,
    "gold_beyond_dialogue": _gold_beyond_dialogue,
    "unknown_question": _unknown_question,
    "fallback_is_another_query": _fallback_is_another_query,
    "critical_without_fallback": _critical_without_fallback,
    "flags_differ": _flags_differ,
    "filer_never_asked_about": _filer_never_asked_about,
}
"""The rules, by the name that reports use."""


def _turns_where(sessions: Sequence[Session], holds: Callable[[Session, Turn, bool], bool]) -> Iterator[str]:
    for session in sessions:
        for turn, critical in zip(session.turns, session.memory_critical(), strict=True):
            if holds(session, turn, critical):
                yield turn_id(session, turn)


def _skeleton(sql: str) -> str:
    """Return `sql` with its literals and spacing levelled."""
    return " ".join(re.sub(r"'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b", "?", sql).split())
