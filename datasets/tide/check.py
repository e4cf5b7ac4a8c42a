"""Checks a file of triplets against its databases: the golds run, the drifts are what they say, and what is odd.

Oddities are found by rule and listed, never repaired.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise

import msgspec

from ..databases import DatabaseFacts, SourceDatabase, facts_of
from ..gold import LIMIT_SECONDS, GoldRunner, Result, Told, in_silence, steps
from .checks import SIGNALS, Anchor, Candidate, first_failure
from .files import TripletFile
from .fixed import DOUBTS, Doubt, Doubts
from .nodes import labels
from .parsing import UnparsableSql, parse
from .samples import DriftLabel, Triplet
from .schema import Schema, schema_of
from .statistics import Statistics, statistics
from .structure import complexity_tier
from .triplets import read


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found.

    Gold queries are named `ID:STAGE`, stages counted from 1. `gold_ok` counts those that run and return rows;
    `gold_empty`, `gold_failed` and `gold_unparsable` list the others, and `errors` has the word of SQLite or of the
    parser on each. `drift_failed` lists, by the signal of Table 7, the drifts that fail one of the eight checks, whose
    details stand in `errors` too; an unparsable or failing anchor leaves its drift unchecked. `quirks` maps each rule,
    and whatever leaves a result open (`fixed.py`), to triplets; none is listed when a gold does not parse.
    `of_databases` names those of the golds and drifts that may fail because the databases are not the ones that they
    were written for.
    """

    name: str
    synthetic: bool
    gold_ok: int
    gold_empty: tuple[str, ...]
    gold_failed: tuple[str, ...]
    gold_unparsable: tuple[str, ...]
    drift_ok: int
    drift_failed: dict[str, tuple[str, ...]]
    errors: dict[str, str]
    quirks: dict[str, tuple[str, ...]]
    statistics: Statistics
    databases: dict[str, DatabaseFacts]
    of_databases: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every gold runs and returns rows, and every drift passes the eight checks."""
        broken = self.gold_empty or self.gold_failed or self.gold_unparsable
        return not broken and not any(self.drift_failed.values())


def check(file: TripletFile, databases: Mapping[str, SourceDatabase], told: Told = in_silence) -> CheckReport:
    """Run every gold query, put every drift through the eight checks, and look for quirks; `told` hears of it."""
    schemas = {name: schema_of(database.path) for name, database in databases.items()}
    places = {name: database.path for name, database in databases.items()}
    with GoldRunner(places) as runner, Doubts(places, LIMIT_SECONDS) as doubts:
        results = dict(_results(steps("gold queries of triplets", file.triplets, told), runner))
        unparsable = dict(_unparsable(file))
        failures = dict(_drift_failures(steps("drifts of triplets", file.triplets, told), schemas, runner, unparsable))
        doubtful = _doubtful(steps("results of triplets", file.triplets, told), doubts)
    failed = {key: result.error for key, result in results.items() if result.error}
    return CheckReport(
        name=file.name,
        synthetic=file.synthetic,
        gold_ok=sum(1 for result in results.values() if result.rows),
        gold_empty=tuple(key for key, result in results.items() if not result.rows and result.error is None),
        gold_failed=tuple(failed),
        gold_unparsable=tuple(unparsable),
        drift_ok=sum(1 for signal, _ in failures.values() if not signal),
        drift_failed={
            name: found for name in SIGNALS if (found := tuple(k for k, (s, _) in failures.items() if s == name))
        },
        errors=failed | unparsable | {key: detail for key, (signal, detail) in failures.items() if signal},
        quirks=doubtful | {name: tuple(rule(file, schemas)) for name, rule in QUIRKS.items()} if not unparsable else {},
        statistics=statistics(file.triplets),
        databases={name: facts_of(database) for name, database in databases.items()},
        of_databases=tuple(
            key
            for key, result in results.items()
            if (result.of_database or (not result.rows and not result.error)) and key not in unparsable
        ),
    )


def _results(triplets: Iterable[Triplet], runner: GoldRunner) -> Iterator[tuple[str, Result]]:
    for triplet in triplets:
        for number, stage in enumerate(triplet.stages, 1):
            yield f"{triplet.id}:{number}", runner.result(triplet.database, stage.sql)


def _unparsable(file: TripletFile) -> Iterator[tuple[str, str]]:
    for triplet in file.triplets:
        for number, stage in enumerate(triplet.stages, 1):
            try:
                parse(stage.sql)
            except UnparsableSql as error:
                yield f"{triplet.id}:{number}", error.why


def _drift_failures(
    triplets: Iterable[Triplet], schemas: Mapping[str, Schema], runner: GoldRunner, unparsable: Mapping[str, str]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield for each drift the signal of the first check that it fails, with its detail; both empty when it passes."""
    for triplet in triplets:
        for number, (before, after) in enumerate(pairwise(triplet.stages), 2):
            if f"{triplet.id}:{number - 1}" in unparsable:
                continue
            anchor = Anchor(before.sql, _runs_on(runner, triplet.database), schemas[triplet.database])
            failure = first_failure(Candidate.of(after), anchor, after.drift or DriftLabel(subtype="value"))
            yield f"{triplet.id}:{number}", (failure.signal, failure.detail) if failure else ("", "")


def _runs_on(runner: GoldRunner, database: str) -> Callable[[str], Result]:
    return lambda sql: runner.result(database, sql)


def _doubtful(triplets: Iterable[Triplet], doubts: Doubts) -> dict[str, tuple[str, ...]]:
    """Return, by what leaves a result open, the triplets with such a gold."""
    found: dict[str, list[str]] = {doubt: [] for doubt in DOUBTS}
    for triplet in triplets:
        for doubt in frozenset[Doubt]().union(*(doubts.of(triplet.database, stage.sql) for stage in triplet.stages)):
            found[doubt].append(triplet.id)
    return {doubt: tuple(ids) for doubt, ids in found.items()}


def _repeated_content(file: TripletFile, _: Mapping[str, Schema]) -> Iterator[str]:
    """Triplets that say and ask what an earlier one does."""
    seen: set[str] = set()
    for triplet in file.triplets:
        if triplet.content_key in seen:
            yield triplet.id
        seen.add(triplet.content_key)


def _another_tier(file: TripletFile, _: Mapping[str, Schema]) -> Iterator[str]:
    """Triplets of which a query is in another tier than its structure, verdict and subtype say."""
    for triplet in file.triplets:
        tiers = [complexity_tier(stage.sql, triplet.verdict, triplet.subtype) for stage in triplet.stages]
        if tiers != [stage.tier for stage in triplet.stages]:
            yield triplet.id


def _unknown_nodes(file: TripletFile, schemas: Mapping[str, Schema]) -> Iterator[str]:
    """Triplets that name an atomic node which their gold does not have."""
    for triplet in file.triplets:
        for stage in triplet.stages:
            known = set(labels(stage.sql, schemas[triplet.database]).values())
            named = {*stage.nodes, *(node for layer in stage.layers for node in layer.nodes)}
            if not named <= known:
                yield triplet.id
                break


def _gold_beyond_dialogue(file: TripletFile, _: Mapping[str, Schema]) -> Iterator[str]:
    """Triplets in the words of a template whose golds are not what the words say, complete or clarified."""
    for triplet in file.triplets:
        golds = tuple(stage.sql for stage in triplet.stages)
        answers = [layer.answer for layer in triplet.layers]
        complete = read(triplet.database, [stage.utterance for stage in triplet.stages], ())
        clarified = read(triplet.database, [stage.ambiguous or stage.utterance for stage in triplet.stages], answers)
        if complete[0] and not complete == clarified == golds:
            yield triplet.id


def _nothing_settled(file: TripletFile, _: Mapping[str, Schema]) -> Iterator[str]:
    """Triplets with a layer that settles no node of the gold, as far as the file says."""
    for triplet in file.triplets:
        if any(not layer.nodes for layer in triplet.layers):
            yield triplet.id


QUIRKS: Mapping[str, Callable[[TripletFile, Mapping[str, Schema]], Iterator[str]]] = {
    "repeated_content": _repeated_content,
    "another_tier": _another_tier,
    "unknown_nodes": _unknown_nodes,
    "nothing_settled": _nothing_settled,
    "gold_beyond_dialogue": _gold_beyond_dialogue,
}
"""The rules that look at no result, by the name that reports use."""
