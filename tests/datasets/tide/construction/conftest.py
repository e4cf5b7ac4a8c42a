"""The small shop as a ground for construction, with models that answer from a script."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from turntide.datasets.databases import SourceDatabase
from turntide.datasets.tide.construction.anchors import AnchorFile, AnchorQuery, Selection
from turntide.datasets.tide.construction.experiment import BuildExperiment, Setup
from turntide.datasets.tide.construction.questions import load_questions
from turntide.datasets.tide.construction.record import BuildRecord, read_record
from turntide.datasets.tide.construction.selection import select
from turntide.datasets.tide.construction.settings import Sources
from turntide.datasets.tide.samples import DriftLabel

from ....support.cases import FIXTURES
from ....support.tide import Databases, DirectContext, Speaker

Build = Callable[..., Awaitable[tuple[BuildRecord, DirectContext]]]
JUDGES = ("judge 1", "judge 2")


def opened(anchor: AnchorQuery, selection: Selection, sources: Sources, places: Mapping[str, Path]) -> BuildExperiment:
    """A construction of one anchor."""
    file = AnchorFile(
        format="turntide-tide-anchors-1", seed=0, sources={}, databases={}, selection=selection, anchors=(anchor,)
    )
    setup = Setup(
        file=file,
        file_sha256="0",
        anchors=(anchor,),
        databases={name: SourceDatabase(name, path, synthetic=False) for name, path in places.items()},
        sources=sources,
        piece_files={},
    )
    return BuildExperiment(setup)


@pytest.fixture(scope="session")
def selected(database: Path) -> tuple[tuple[AnchorQuery, ...], Selection]:
    return select(load_questions(FIXTURES / "tide" / "build_questions.json", "dev"), {"shop": database})


@pytest.fixture(scope="session")
def anchor(selected: tuple[tuple[AnchorQuery, ...], Selection]) -> AnchorQuery:
    """The first shop of Oslo, which is to get another number of rows."""
    first = selected[0][0]
    return structs.replace(first, assigned=DriftLabel(subtype="projection", fine_subtype="limit_offset"))


@pytest.fixture
def databases(database: Path) -> Iterator[Databases]:
    opened = Databases({"shop": database})
    yield opened
    opened.close()


@pytest.fixture
def build(database: Path, databases: Databases, selected: tuple[tuple[AnchorQuery, ...], Selection]) -> Build:
    """Takes one anchor through the stages; `speakers` answer by the labels of models."""

    async def build(
        anchor: AnchorQuery, sources: Sources, speakers: Mapping[str, Speaker]
    ) -> tuple[BuildRecord, DirectContext]:
        experiment = opened(anchor, selected[1], sources, {"shop": database})
        [[(unit,)]] = experiment.lanes("maker", 1)
        context = DirectContext(unit, databases, speakers)
        await experiment.dialogue(unit, context)
        (fields,) = context.records
        return read_record(fields), context

    return build


CHAIN: dict[str, Any] = {
    "ambiguous_question": "Which is the first shop of Oslo over there?",
    "l1": {
        "term": "first", "question": "First by what?", "answer": "By number.", "alternative": "By name.",
        "decisions": [2, 99],
    },
    "l2": {
        "term": "over there", "question": "Which east is meant?", "answer": "The region called east.",
        "alternative": "East of the river.", "decisions": [4],
    },
}  # fmt: skip


def chain_answer(verdict: str = "eliminated", counterfactual: str = "", **changes: Any) -> str:
    """A chain of two as a generator writes it; `l1`, `l2` and the ambiguous question may be others."""
    said = CHAIN | changes
    first, second = ({"verdict": None, "counterfactual": "", **layer} for layer in (said["l1"], said["l2"]))
    layers = [first, second | {"verdict": verdict, "counterfactual": counterfactual}]
    return json.dumps({"ambiguous_question": said["ambiguous_question"], "layers": layers})


def drift_answers() -> dict[str, str]:
    """The answers of the fixture, by signal."""
    cases = tomllib.loads((FIXTURES / "tide" / "build_drifts.toml").read_text())
    return {
        signal: case.get("text")
        or json.dumps({"drift_utterance": "Rather two of them.", "post_drift_sql": case["sql"], "fine_subtype": None})
        for signal, case in cases.items()
    }


def chain_opinion(**changes: object) -> str:
    return json.dumps(
        {"reason": "so", "plausibility": True, "re_ask": True, "verdict": "eliminated", "counterfactual": ""} | changes
    )


def drift_opinion(**changes: object) -> str:
    return json.dumps({"reason": "so", "drift_fit": True, "stability": True} | changes)
