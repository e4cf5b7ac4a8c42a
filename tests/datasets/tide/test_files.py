from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from turntide.adapters.base import ConfigurationError
from turntide.datasets import tide
from turntide.datasets.tide import files
from turntide.datasets.tide.files import TripletFile, dump_triplets, json_schema, load_triplets, write_triplets
from turntide.datasets.tide.samples import DriftLabel, Layer, Stage, Triplet, samples, samples_of

from ...support.cases import FIXTURES

DOCUMENT = Path(__file__).parents[3] / "docs" / "tide-format.md"
CASES: list[dict[str, Any]] = json.loads((FIXTURES / "tide" / "broken_triplets.json").read_text())


def example() -> dict[str, Any]:
    """The example of the documentation."""
    found = re.search(r"```json\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert found
    return json.loads(found[1])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "triplets.json"


@pytest.fixture
def documented(path: Path) -> TripletFile:
    path.write_text(json.dumps(example()))
    return load_triplets(path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_broken_file_is_refused_with_the_place_and_the_remedy(case: dict[str, Any], path: Path) -> None:
    document = example()
    for place, value in case.get("set", {}).items():
        *way, last = place.split(".")
        holder = document["triplets"][0]
        for step in way:
            holder = holder[int(step) if step.isdigit() else step]
        holder[last] = value
    path.write_text(case.get("text", json.dumps(document)))
    with pytest.raises(ConfigurationError) as caught:
        load_triplets(path)
    assert case["message"] in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_file_that_is_missing_or_cut_is_said_to_be(path: Path, documented: TripletFile) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        load_triplets(path.with_name("none.json"))
    cut = path.with_name("cut.json.gz")
    write_triplets(cut, documented)
    cut.write_bytes(cut.read_bytes()[:-9])
    with pytest.raises(ConfigurationError, match="cut or damaged gzip"):
        load_triplets(cut)


def test_an_id_that_occurs_twice_is_refused(path: Path, documented: TripletFile) -> None:
    write_triplets(path, msgspec.structs.replace(documented, triplets=documented.triplets * 2))
    with pytest.raises(ConfigurationError, match="financial-000 occurs twice"):
        load_triplets(path)


@pytest.mark.parametrize("name", ["triplets.json", "triplets.json.gz"])
def test_a_file_survives_a_round_trip_and_equal_triplets_give_equal_bytes(
    name: str, tmp_path: Path, documented: TripletFile
) -> None:
    write_triplets(tmp_path / name, documented)
    assert load_triplets(tmp_path / name) == documented
    assert json.loads(dump_triplets(documented)) == example()


def test_the_shipped_schema_is_that_of_the_code() -> None:
    shipped = Path(next(iter(tide.__path__))) / "triplets.schema.json"
    assert json.loads(shipped.read_text()) == json_schema()


def test_another_format_is_read_by_the_importer_that_knows_it(
    path: Path, documented: TripletFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def knows_nothing(_: object) -> None:
        return None

    def reads_lists(document: object) -> TripletFile | None:
        return documented if document == ["theirs"] else None

    monkeypatch.setattr(files, "IMPORTERS", [knows_nothing, reads_lists])
    path.write_text('["theirs"]')
    assert load_triplets(path) == documented


def test_a_triplet_spawns_a_chain_only_a_drift_only_and_a_joint_sample(documented: TripletFile) -> None:
    chain, drift, joint = samples(documented.triplets)
    question, ambiguous = documented.triplets[0].question, documented.triplets[0].ambiguous_question
    turn = documented.triplets[0].drifts[0].utterance
    assert [sample.id for sample in (chain, drift, joint)] == [
        f"financial-000:{kind}" for kind in ("chain", "drift", "joint")
    ]
    assert chain.utterances == (ambiguous,)
    assert drift.utterances == (question, turn)
    assert joint.utterances == (ambiguous, turn)
    assert [len(sample.layers) for sample in (chain, drift, joint)] == [2, 0, 2]
    assert drift.golds == joint.golds == (*chain.golds, documented.triplets[0].drifts[0].sql)
    assert (documented.triplets[0].verdict, documented.triplets[0].subtype) == ("transformed", "value")


def layers(count: int) -> Iterator[Layer]:
    for number in range(1, count + 1):
        verdict = "eliminated" if number > 1 else None
        yield Layer(label=f"L{number}", term="t", question=f"q{number}", answer="a", alternative="b", verdict=verdict)


def stage(text: str, *, chain: int = 0, drift: bool = True) -> Stage:
    return Stage(
        utterance=text,
        ambiguous=f"vague {text}" if chain else "",
        layers=tuple(layers(chain)),
        drift=DriftLabel(subtype="constraint") if drift else None,
        sql="SELECT 1",
        tier="basic",
    )


@pytest.mark.parametrize(
    ("stages", "plans"),
    [
        ([stage("q", chain=4, drift=False)], ["vague q"]),
        ([stage("q", chain=3, drift=False), stage("d")], ["vague q", "q d", "vague q d"]),
        ([stage("q", drift=False), stage("d", chain=2)], ["q d", "q vague d"]),
        (
            [stage("q", chain=2, drift=False), stage("d"), stage("e")],
            ["vague q", "q d e", "vague q d e"],
        ),
    ],
    ids=["a deep chain alone", "a deeper chain", "drift before chain", "two drifts"],
)
def test_the_format_carries_plans_beyond_the_paper(stages: list[Stage], plans: list[str], path: Path) -> None:
    triplet = Triplet(id="x", database="d", split="dev", evidence="", rewritten_evidence="", stages=tuple(stages))
    file = TripletFile(format="turntide-tide-1", name="beyond", synthetic=True, triplets=(triplet,))
    write_triplets(path, file)
    assert load_triplets(path) == file
    assert [" ".join(sample.utterances) for sample in samples_of(triplet)] == plans
