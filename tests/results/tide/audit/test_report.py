"""What the report makes of answers: counted by hand, worked out by others, and the same bytes whoever came first."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from turntide.engine.cli import main
from turntide.results.formats import written
from turntide.results.published import read_published
from turntide.results.table import Number, Rate, Table
from turntide.results.tide.audit.acceptance import NO_ITEM
from turntide.results.tide.audit.checklist import ROUTING, routing
from turntide.results.tide.audit.report import PUBLISHED, audit_report
from turntide.results.tide.audit.store import Plan, Store
from turntide.results.tide.audit.tasks import Task

from ....support.cases import FIXTURES
from ....support.published import misfits
from ..test_tables import rows
from .conftest import PEOPLE, Begin, Said, audit, everything, fixture_triplets, say


def tables(store: Store, *without: str) -> dict[str, Table]:
    return {table.key: table for table in audit_report(store, without).tables}


def counted(cell: object) -> tuple[int, int, int]:
    assert isinstance(cell, Rate)
    return cell.hits, cell.scored, cell.planned


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Four triplets and a calibration one. Of the first triplet's samples:

    chain: three annotators say no to one item each, every item its own, so that no item fails and no majority accepts;
    drift: two say no to the same item; joint: three say no to the counterfactual and two of them to coherence.
    Whatever concerns calibration is a no.
    """
    with audit(tmp_path_factory.mktemp("judged"), count=4) as store:
        first = next(task.id.split(":")[0] for task in store.tasks if not task.calibration)
        noes = {
            ("ana", f"{first}:chain", "options_L1"),
            ("ben", f"{first}:chain", "options_L2"),
            ("cleo", f"{first}:chain", "underspecified"),
            *((name, f"{first}:drift", "fidelity") for name in PEOPLE[:2]),
            *((name, f"{first}:joint", "counterfactual_L2") for name in PEOPLE[:3]),
            *((name, f"{first}:joint", "coherence") for name in PEOPLE[:2]),
        }
        held = {task.id for task in store.tasks if task.calibration}
        say(
            store,
            everything(
                store, PEOPLE, lambda name, task, item: "no" if (name, task, item) in noes or task in held else "yes"
            ),
        )
        yield store


def test_majority_and_strict_acceptance_are_those_of_appendix_c(judged: Store) -> None:
    found = rows(tables(judged)["acceptance"])
    shares = {
        split: [counted(row[name])[:2] for name in ("Majority Acc.", "Strict Acc.")] for (split,), row in found.items()
    }
    assert shares == {
        "Chain-only": [(3, 4), (3, 4)],
        "Drift-only": [(4, 4), (3, 4)],
        "Joint": [(3, 4), (3, 4)],
        "Overall": [(10, 12), (9, 12)],
    }
    # Drift: 18 yes and 2 no in 20; pairs agree on 1, 1, 1 and 4/10 of the samples.
    kappa = found["Drift-only",]["Fleiss' κ"]
    assert isinstance(kappa, Number)
    assert kappa.value == pytest.approx((0.85 - 0.82) / (1 - 0.82))
    assert kappa.low is not None


def test_each_criterion_is_judged_over_the_samples_that_have_it(judged: Store) -> None:
    found = rows(tables(judged)["criteria"])
    assert counted(found["Counterfactual dependency",]["Pass Rate"]) == (7, 8, 8)
    assert counted(found["Joint transition coherence",]["Pass Rate"]) == (4, 4, 4)
    assert found["Untargeted commitments preserved",]["Fleiss' κ"] is None
    by_split = rows(tables(judged)["criteria_by_split"])
    assert len(by_split) == 15
    assert counted(by_split["Joint", "Counterfactual dependency"]["Pass Rate"]) == (3, 4, 4)


def test_a_table_says_where_an_interval_is_too_short(judged: Store, begin: Begin) -> None:
    short = "An interval that ends at its κ is too short"
    assert short in tables(judged)["acceptance"].note  # the noes of a set are in one triplet
    store = begin(count=9, calibration=0)
    noes = {f"shop-{n}:drift" for n in range(4)}
    say(store, everything(store, PEOPLE, lambda name, task, item: "no" if task in noes and name != "ana" else "yes"))
    assert short not in tables(store)["criteria"].note


def test_reasons_are_the_items_that_no_majority_passes(judged: Store) -> None:
    found = {labels: row["samples"] for labels, row in rows(tables(judged)["reasons"]).items()}
    assert found == {
        ("Chain-only", "all rejected"): 1, ("Chain-only", NO_ITEM): 1, ("Drift-only", "all rejected"): 0,
        ("Joint", "all rejected"): 1, ("Joint", "Counterfactual dependency"): 1,
        ("Overall", "all rejected"): 2, ("Overall", NO_ITEM): 1, ("Overall", "Counterfactual dependency"): 1,
    }  # fmt: skip


def test_what_fewer_than_all_have_finished_is_said_and_in_no_rate(begin: Begin) -> None:
    store = begin(count=2, calibration=1)
    say(store, everything(store, PEOPLE[:4], lambda name, task, item: "yes"))
    audited = [task for task in store.tasks if not task.calibration]
    say(store, [("eve", task.id, item.key, "yes") for task in audited[:2] for item in task.items])
    store.answer("eve", audited[2].id, "coherence", "no")
    report = audit_report(store)
    assert report.marks["INCOMPLETE"] == "2 of 6 samples are finished by every annotator"
    found = {table.key: rows(table) for table in report.tables}
    assert counted(found["acceptance"]["Overall",]["Majority Acc."]) == (2, 2, 6)
    assert counted(found["criteria"]["Joint transition coherence",]["Pass Rate"]) == (1, 1, 2)
    assert found["coverage"]["finished by only 4 of 5",] == dict(
        zip(("Chain-only", "Drift-only", "Joint", "Overall", "calibration"), (1, 1, 2, 4, 3), strict=True)
    )
    assert "INCOMPLETE" not in audit_report(store, ["eve"]).marks
    assert counted(rows(tables(store, "eve")["acceptance"])["Overall",]["Strict Acc."]) == (6, 6, 6)


def test_nobody_has_answered_yet_is_a_report_too(begin: Begin) -> None:
    report = audit_report(begin())
    assert report.marks["INCOMPLETE"].startswith("0 of 6")


def test_equal_answers_give_equal_bytes_in_any_order(tmp_path: Path) -> None:
    random, found = Random(5), set[str]()
    answers: list[Said] = []
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        with audit(tmp_path / folder, people=random.sample(PEOPLE, 5)) as store:
            answers = answers or everything(store, PEOPLE, lambda name, task, item: random.choice(["yes", "yes", "no"]))
            say(store, random.sample(answers, len(answers)))
            report = audit_report(store)
            found.add("".join(written(report, form, width=160) for form in ("text", "markdown", "latex", "json")))
    assert len(found) == 1


def test_the_report_comes_in_every_form_with_the_papers_values_beside(
    judged: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["tide", "audit", "report", str(judged.path)]
    assert main([*command, "--with-published"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"Drift-only \(paper\) +250 +95\.6 +87\.6 +0\.80", shown)
    assert main([*command, "--table", "acceptance", "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("split,n,Majority Acc.,Majority Acc. low,")
    assert main([*command, "--json"]) == 0
    keys = [table["key"] for table in json.loads(capsys.readouterr().out)["report"]["tables"]]
    assert keys == ["acceptance", "criteria", "criteria_by_split", "reasons", "coverage"]
    assert main([*command, "--without", "zoe"]) == 2
    assert "'zoe' does not annotate here" in capsys.readouterr().err
    assert main([*command, *(word for name in PEOPLE for word in ("--without", name))]) == 2


def test_the_papers_values_have_cells_in_our_tables(judged: Store) -> None:
    assert misfits(read_published(PUBLISHED), audit_report(judged).tables) == ["trace_agreement"]


def test_thirty_patients_of_fleiss_come_out_as_decisions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Fleiss (1971), Table 1: six psychiatrists, five diagnoses. A chain of three layers has five labels too."""
    counted: list[list[int]] = json.loads((FIXTURES / "statistics" / "published.json").read_text())["fleiss_1971"][
        "counts"
    ]
    item = routing(fixture_triplets()[1].stages[0].layers[:3])
    labels = [choice.value for choice in item.choices]
    assert len(labels) == 5
    tasks = [
        Task(id=f"patient {n}", kind="joint", cluster=str(n), database="shop", calibration=False, parts=(),
             items=(item,), router="L1")
        for n in range(30)
    ]  # fmt: skip
    plan = Plan(subject="decisions", source="Fleiss", sha256="0" * 64, synthetic=False, router="nobody",
                count=30, calibration=0, seed=0)  # fmt: skip
    with Store.create(tmp_path / "fleiss.sqlite", plan, tasks) as store:
        people = [f"psychiatrist {n}" for n in range(6)]
        store.enrol(people)
        votes = [[label for label, n in zip(labels, counts, strict=True) for _ in range(n)] for counts in counted]
        say(
            store,
            [
                (name, task.id, ROUTING, vote)
                for task, said in zip(tasks, votes, strict=True)
                for name, vote in zip(people, said, strict=True)
            ],
        )
    assert main(["tide", "audit", "report", str(tmp_path / "fleiss.sqlite"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["report"]["tables"][0]
    split, decisions, agree, kappa = found["rows"][-1]
    assert (found["key"], split, decisions) == ("trace_agreement", "Overall", 30)
    assert agree["value"] == pytest.approx(55.56, abs=5e-3)
    assert kappa["value"] == pytest.approx(0.43, abs=5e-4)
    assert kappa["low"] < 0.43 < kappa["high"]
