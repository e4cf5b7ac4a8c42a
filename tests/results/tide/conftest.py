"""Dialogues that are few enough to be counted by hand, and the report of a run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from turntide.datasets.tide.record import Asked, DialogueRecord, Ending, Plan, PlannedSamples, Protocol, Queried, Step
from turntide.datasets.tide.samples import KINDS, Kind
from turntide.datasets.tide.statistics import SubtypeChange
from turntide.datasets.tide.structure import CounterfactualVerdict, Subtype
from turntide.engine.cli import main
from turntide.results.tide.dialogues import Cell, Dialogues

TRIPLETS: Sequence[tuple[str, Subtype, CounterfactualVerdict]] = (
    ("v1", "value", "eliminated"),
    ("v2", "value", "transformed"),
    ("c1", "constraint", "eliminated"),
    ("p1", "projection", "transformed"),
)


def dialogue(
    model: str,
    protocol: Protocol,
    kind: Kind,
    triplet: tuple[str, Subtype, CounterfactualVerdict],
    right: str,
    step: Step = "value",
    rho: Sequence[str] = (),
    ending: Ending = "complete",
) -> DialogueRecord:
    """Return a record; `right` has a sign per query: + right, - wrong, . missing."""
    name, subtype, verdict = triplet
    queried = tuple(
        Queried(
            turn=stage + 1,
            stage=stage,
            sql="SELECT 1",
            status="ok",
            agree={"multiset": sign == "+", "strict": sign == "+", "bird": True, "ordered": False},
            step=step if stage else None,
        )
        for stage, sign in enumerate(right)
        if sign != "."
    )
    asked = tuple(Asked(turn=1, stage=0, question="?", reply="so", decided=r, acted=r, rho=r) for r in rho)
    return DialogueRecord(
        model=model,
        protocol=protocol,
        sample=f"{name}:{kind}",
        triplet=name,
        cluster=name,
        kind=kind,
        database="shop",
        split="synthetic",
        tier="basic",
        verdict=verdict,
        subtype=subtype,
        golds=1 if kind == "chain" else 2,
        ending=ending,
        turns=len(queried) + len(asked),
        asked=asked,
        queried=queried,
    )


@pytest.fixture
def plan() -> Plan:
    cells: list[tuple[Protocol, Kind]] = [
        ("f", "chain"),
        ("f", "drift"),
        ("f", "joint"),
        ("p", "chain"),
        ("p", "joint"),
    ]
    planned = [
        PlannedSamples(protocol=protocol, kind=kind, tier="basic", verdict=verdict, subtype=subtype, count=1)
        for (protocol, kind), (_, subtype, verdict) in product(cells, TRIPLETS)
    ]
    change = SubtypeChange(
        subtype="value",
        n=2,
        change={"tokens": 0, "predicates": -0.5, "joins": 0, "aggregations": 0, "subquery_depth": 0},
        before={"basic": 2, "intermediate": 0, "advanced": 0},
        after={"basic": 1, "intermediate": 1, "advanced": 0},
    )
    return Plan(samples=tuple(planned), changes=(change,), triplets=4, synthetic=True)


@pytest.fixture
def dialogues(plan: Plan) -> Dialogues:
    """Two models. `good` asks for both layers and fails on v2 alone; `poor` asks once, and its drifts go wrong."""
    v1, v2, c1, p1 = TRIPLETS
    records: list[DialogueRecord] = []
    for triplet in TRIPLETS:
        bad = triplet is v2
        records += [
            dialogue("good", "f", "chain", triplet, "-" if bad else "+", rho=("L1", "L2")),
            dialogue("good", "f", "drift", triplet, "++"),
            dialogue("good", "f", "joint", triplet, "--" if bad else "++", rho=("L1", "L2")),
            dialogue("good", "p", "chain", triplet, "+", rho=("L2",)),
            dialogue("good", "p", "joint", triplet, "++", rho=("L2",)),
        ]
    for triplet in TRIPLETS:
        records += [
            dialogue("poor", "f", "chain", triplet, "-", rho=("L1",) if triplet is v1 else ("Other",)),
            dialogue("poor", "p", "chain", triplet, "-"),
            dialogue("poor", "p", "joint", triplet, "--"),
        ]
    records += [
        dialogue("poor", "f", "drift", v1, "++"),
        dialogue("poor", "f", "drift", v2, "+-", step="not_drift"),
        dialogue("poor", "f", "drift", c1, "+-", step="unparsable"),
        dialogue("poor", "f", "drift", p1, "+.", ending="abstained"),
        dialogue("poor", "f", "joint", v1, "-+"),
        dialogue("poor", "f", "joint", v2, "--"),
        dialogue("poor", "f", "joint", c1, "..", ending="turn_limit"),
        dialogue("poor", "f", "joint", p1, "..", ending="simulator_error"),
    ]
    cells: set[Cell] = {(model, "f", kind) for model in ("good", "poor") for kind in KINDS}
    chained: tuple[Kind, ...] = ("chain", "joint")
    cells |= {(model, "p", kind) for model in ("good", "poor") for kind in chained}
    return Dialogues(plan, ["good", "poor"], frozenset(cells), 1, records)


def report_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what `turntide report` says of a run, as JSON."""
    assert main(["report", str(folder), "--json"]) == 0
    return capsys.readouterr().out
