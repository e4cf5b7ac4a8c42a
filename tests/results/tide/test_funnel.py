"""The tables of a construction over records that are few enough to be counted by hand."""

from __future__ import annotations

from collections.abc import Sequence

from turntide.datasets.tide.construction.experiment import BuildPlan
from turntide.datasets.tide.construction.record import Attempt, BuildRecord, Condition, StageRecord, Vote
from turntide.datasets.tide.samples import DriftLabel
from turntide.results.table import Rate
from turntide.results.tide.funnel import dropped, funnel, reconstructability, signals
from turntide.results.tide.judges import agreement


def record(name: str, *attempts: Attempt, rebuilt: dict[Condition, bool] | None = None) -> BuildRecord:
    return BuildRecord(
        model="maker", anchor=name, database="shop", split="dev", tier="basic", question="?", evidence="",
        sql="SELECT 1", assigned=DriftLabel(subtype="value"),
        stages={"chain": StageRecord(source="maker", attempts=attempts)}, rebuilt=rebuilt or {},
    )  # fmt: skip


def judged(one: bool, other: bool) -> Attempt:
    votes = [
        Vote(judge=judge, step=1, passed={"plausibility": True, "re_ask": passes, "counterfactuality": True})
        for judge, passes in (("judge 1", one), ("judge 2", other))
    ]
    return Attempt(signal="" if one and other else "re_ask", votes=tuple(votes))


def test_agreement_is_over_first_attempts_that_both_judged() -> None:
    """Accepts 3 of 4 and 2 of 4, three alike: κ = (0.75 - 0.5) / (1 - 0.5); what is asked for again is not counted."""
    silent = Attempt(signal="no_judgement", votes=(Vote(judge="judge 1", step=1), Vote(judge="judge 2", step=2)))
    records = [
        record("a", judged(False, False), judged(True, False), judged(True, False)),
        record("b", judged(True, True)),
        record("c", judged(True, False), silent),
        record("d", Attempt(signal="json_format"), judged(True, False)),
        record("e", judged(True, True), silent),
        record("f", silent),
    ]
    rows = {row[1]: row for row in agreement(records).rows}
    stage, _, candidates, agreed, kappa, published = rows["all criteria"]
    assert (stage, candidates, kappa, published) == ("chain", 4, 0.5, "94.7")
    assert isinstance(agreed, Rate)
    assert (agreed.hits, agreed.scored) == (3, 4)
    assert rows["plausibility"][4] is None


def test_repeats_of_an_anchor_make_no_interval_narrower() -> None:
    """Deterministic repeats know nothing more than one does."""
    once = [record(str(number), Attempt(signal="" if number % 3 else "invariant")) for number in range(30)]
    plan = BuildPlan(
        anchors=30, sources={"chain": "maker", "evidence": "maker", "drift": "tree"}, judges=(), drift_judges=(),
        tester=False, attempts=1, selection={}, synthetic=(),
    )  # fmt: skip
    one, both = (
        {row[0]: row for row in funnel(plan, records, len(records)).rows}["chain rules"] for records in (once, 2 * once)
    )
    assert (one[2:5], both[2:5]) == ([30, 30, 20], [60, 30, 40])
    assert isinstance(one[5], Rate)
    assert isinstance(both[5], Rate)
    assert both[5].high - both[5].low >= one[5].high - one[5].low


def test_all_attempts_are_counted_and_each_anchor_is_dropped_once() -> None:
    records = [
        record("a", judged(False, False), judged(True, True)),
        record("b", Attempt(signal="invariant"), Attempt(signal="json_format")),
        record("c", Attempt(signal="json_format")),
    ]
    assert [list(row) for row in dropped(records).rows] == [["chain", "json_format", 2], ["all", "", 2]]
    counts: Sequence[Sequence[object]] = [row[:3] for row in signals(records).rows]
    assert [list(row) for row in counts] == [
        ["chain", "json_format", 2], ["chain", "invariant", 1], ["chain", "passed", 1], ["chain", "re_ask", 1]
    ]  # fmt: skip


def test_table_8_is_over_the_anchors_that_were_tested() -> None:
    records = [
        record("a", Attempt(), rebuilt={"A": True, "B": True, "C": False}),
        record("b", Attempt(), rebuilt={"A": True, "B": False, "C": False}),
        record("c", Attempt(signal="json_format")),
    ]
    rows = reconstructability(records).rows
    assert [row[5] for row in rows] == [None, -50.0, -100.0]
    assert all(isinstance(row[4], Rate) and row[4].scored == 2 for row in rows)
