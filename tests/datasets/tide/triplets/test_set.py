"""The set that the templates make: the embedded default of TIDE-Bench."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from turntide.datasets.databases import SourceDatabase
from turntide.datasets.gold import GoldRunner
from turntide.datasets.tide import embedded as embedded_module
from turntide.datasets.tide.check import check
from turntide.datasets.tide.embedded import build_digest, embedded_place, embedded_triplets
from turntide.datasets.tide.files import TripletFile, load_triplets
from turntide.datasets.tide.samples import samples
from turntide.datasets.tide.schema import schema_of
from turntide.datasets.tide.triplets import DATABASES, build, hear_question, read, templates
from turntide.datasets.tide.triplets.build import PlanError, generate
from turntide.datasets.tide.triplets.plan import PLAN, TRIPLETS, Cell


def shares(place: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for cell, count in PLAN.items():
        counts[cell[place]] += count
    return counts


def test_the_plan_has_the_papers_shares() -> None:
    assert sum(PLAN.values()) == TRIPLETS == 514
    assert shares(0) == {"value": 175, "constraint": 161, "projection": 178}
    assert {tier: round(count / 5.14, 1) for tier, count in shares(1).items()} == {
        "basic": 26.5, "intermediate": 61.3, "advanced": 12.3,
    }  # fmt: skip
    assert {verdict: round(count / 5.14, 1) for verdict, count in shares(2).items()} == {
        "eliminated": 49.4, "transformed": 50.6,
    }  # fmt: skip
    by_tier = Counter[tuple[str, str]]()
    for (subtype, tier, _), count in PLAN.items():
        by_tier[subtype, tier] += count
    assert [by_tier["value", tier] for tier in ("basic", "intermediate", "advanced")] == [44, 107, 24]
    assert [by_tier["constraint", tier] for tier in ("basic", "intermediate", "advanced")] == [44, 104, 13]


def test_the_set_follows_the_plan_to_the_unit(file: TripletFile) -> None:
    made: Counter[object] = Counter()
    for triplet in file.triplets:
        made[triplet.subtype, triplet.stages[0].tier, triplet.verdict] += 1
    assert made == Counter(PLAN)
    assert len(list(samples(file.triplets))) == 1_542
    assert file.synthetic
    assert {triplet.split for triplet in file.triplets} == {"synthetic"}


def test_every_gold_runs_every_drift_passes_the_eight_checks_and_nothing_is_odd(
    file: TripletFile, sources: Mapping[str, SourceDatabase]
) -> None:
    report = check(file, sources)
    assert report.ok
    assert (report.gold_ok, report.drift_ok, report.errors) == (1_028, 514, {})
    assert {rule: found for rule, found in report.quirks.items() if found} == {}
    assert report.statistics.distinct_content == 514
    assert set(report.statistics.fine_subtypes) == {"group_by", "having", "limit_offset", "order_by", "select"}
    value, constraint, _ = (each.change for each in report.statistics.changes)
    assert set(value.values()) == {0}
    assert constraint["predicates"] == pytest.approx(-1.11, abs=0.03)
    assert constraint["joins"] == constraint["aggregations"] == constraint["subquery_depth"] == 0


def test_anchors_are_distinct_and_every_template_has_its_share(file: TripletFile) -> None:
    assert len({(triplet.database, triplet.stages[0].sql) for triplet in file.triplets}) == 514
    used = Counter((triplet.database, triplet.provenance["anchor"]) for triplet in file.triplets)
    assert len(used) == sum(template.depth == 2 for database in DATABASES for template in templates(database))
    assert max(used.values()) <= 2 * min(used.values())
    assert all(count > 514 // 5 for count in Counter(triplet.database for triplet in file.triplets).values())


def test_whoever_does_not_ask_is_wrong(file: TripletFile, databases: Mapping[str, Path]) -> None:
    """Every reading but the chosen one gives another result, so the ambiguous question alone decides nothing."""
    with GoldRunner(databases) as runner:
        for triplet in file.triplets[::10]:
            heard = hear_question(templates(triplet.database), triplet.ambiguous_question)
            assert heard
            gold = runner.result(triplet.database, triplet.stages[0].sql).multiset
            results = [
                runner.result(triplet.database, replace(heard, path=path).sql()).multiset
                for path in heard.template.readings()
            ]
            assert results.count(gold) == 1


def test_a_dialogue_without_the_second_answer_does_not_determine_the_query(file: TripletFile) -> None:
    triplet = file.triplets[0]
    first, second = (layer.answer for layer in triplet.layers)
    assert read(triplet.database, [triplet.ambiguous_question], [first]) == (None,)
    assert read(triplet.database, [triplet.ambiguous_question], [first, second]) == (triplet.stages[0].sql,)


def test_the_rewritten_evidence_lacks_what_resolves_the_layers_and_nothing_else(file: TripletFile) -> None:
    for triplet in file.triplets:
        kept, _, resolved = triplet.evidence.rpartition("; ")
        assert triplet.rewritten_evidence == kept
        heard = hear_question(templates(triplet.database), triplet.question)
        assert heard
        assert resolved == f"{heard.template.term} refers to {heard.reading().phrase.rstrip(',')}"
        assert all(option.phrase not in kept for option in heard.template.readings().values())


SYNTAX = {
    "abs",
    "avg",
    "case",
    "cast",
    "desc",
    "exists",
    "join",
    "julianday",
    "null",
    "select",
    "strftime",
    "sum",
    "then",
}


def test_the_users_words_hold_no_sql_and_no_name_of_the_schema(
    file: TripletFile, databases: Mapping[str, Path]
) -> None:
    """Names that are words of English, such as `status`, are free to be said, and values stand in quotes."""
    for database, path in databases.items():
        columns = {column for columns in schema_of(path).tables.values() for column in columns}
        names = {column for column in columns if re.search(r"_|\d|\w(name|id)$", column)}
        for triplet in file.triplets:
            if triplet.database == database:
                words = " ".join(text for stage in triplet.stages for text in stage.nodes.values())
                spoken = set(re.findall(r"\w+", re.sub(r"'[^']*'", "", words.lower())))
                assert not spoken & (names | SYNTAX)


def test_the_set_is_the_same_on_every_machine(file: TripletFile) -> None:
    """What is said, that is: how sqlglot spells the golds may change with its version."""
    said = [(stage.utterance, stage.ambiguous) for triplet in file.triplets for stage in triplet.stages]
    digest = hashlib.sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()
    assert digest[:16] == "e9eb932ee2c8331a"


def test_another_seed_draws_other_triplets(databases: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    few: dict[Cell, int] = dict.fromkeys(list(PLAN)[::3], 1)
    monkeypatch.setattr(build, "PLAN", few)
    first, other = generate(databases), generate(databases, seed=1)
    assert len(first.triplets) == len(other.triplets) == len(few)
    anchors = [{triplet.stages[0].sql for triplet in made.triplets} for made in (first, other)]
    assert len(anchors[0] & anchors[1]) < len(few) / 2


def test_real_databases_carry_the_templates_too(
    databases: Mapping[str, Path], real: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    few: dict[Cell, int] = dict.fromkeys(PLAN, 1)
    monkeypatch.setattr(build, "PLAN", few)
    places = {**databases, **real}
    made = generate(places)
    report = check(made, {name: SourceDatabase(name, path, synthetic=False) for name, path in places.items()})
    assert report.ok
    assert not any(report.quirks.values())


def test_databases_without_rows_are_said_not_to_carry_the_plan(databases: Mapping[str, Path], tmp_path: Path) -> None:
    empty: dict[str, Path] = {}
    for name, path in databases.items():
        empty[name] = tmp_path / f"{name}.sqlite"
        with closing(sqlite3.connect(path)) as full, closing(sqlite3.connect(empty[name])) as bare:
            rows = full.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%'")
            for (ddl,) in rows.fetchall():
                bare.execute(ddl)
    with pytest.raises(PlanError, match=r"22 of the 22 triplets of value, basic, eliminated cannot be drawn"):
        generate(empty)


def test_the_embedded_file_is_built_at_first_need_and_then_read(
    tmp_path: Path, file: TripletFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def generated(_: Mapping[str, Path]) -> TripletFile:
        return file

    def unbuilt(name: str, cache: Path) -> Path:
        return cache / name

    monkeypatch.setattr(embedded_module, "generate", generated)
    monkeypatch.setattr(embedded_module.synthetic, "ensure", unbuilt)
    assert load_triplets(embedded_triplets(tmp_path)) == file
    monkeypatch.setattr(embedded_module, "generate", None)
    assert embedded_triplets(tmp_path) == embedded_place(tmp_path)


def test_the_embedded_files_name_follows_from_what_it_is_built_from(tmp_path: Path) -> None:
    package = tmp_path / "tide"
    shutil.copytree(Path(embedded_module.__file__).parent, package)
    digests = [build_digest(package)]
    for changed in ("triplets/financial.toml", "triplets/candidates.py", "editing.py", "reader/agent.py"):
        with (package / changed).open("a") as file:
            file.write("\n# changed\n")
        digests.append(build_digest(package))
    assert len(set(digests)) == 4
    assert digests[-1] == digests[-2], "what reads the triplets does not change them"
