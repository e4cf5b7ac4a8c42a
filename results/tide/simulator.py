"""How well a router routes: accuracy per split of the probes, and what it takes for what (Table 11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from ...adapters.base import ConfigurationError
from ...datasets.tide.simulator.checking import ProbeRecord, read_record
from ...datasets.tide.simulator.probes import AIMS, SPLITS, Probe, probes, split_of
from ..published import read_published
from ..reading import RunFolder
from ..report import Report
from ..statistics import proportion
from ..table import Cell, Rate, Table

PUBLISHED: Final = Path(__file__).with_name("published.toml")
FAULT: Final = "no decision"


@dataclass(frozen=True, slots=True)
class Decisions:
    """What one router said to each probe, by the probe's id; a probe that is missing was not put to it yet.

    `simulated`: by the router's name, or by what an answer of its run says.
    """

    router: str
    said: Mapping[str, str]
    simulated: bool = False


def is_check(run: RunFolder) -> bool:
    """Return whether a run scores a router on probes instead of talking samples through."""
    return "probes_sha256" in run.identity["experiment"]


def simulator_report(runs: Sequence[RunFolder]) -> Report:
    """Return the report of one or more checks. Raises ConfigurationError when a run of dialogues is among them."""
    if not all(is_check(run) for run in runs):
        raise ConfigurationError("checks of the user simulator and runs of dialogues: report them apart.")
    found = [decisions for run in runs for decisions in _decisions(run)]
    simulated = any(each.simulated for each in found)
    marks = {"SIMULATED": "the router is a simulated model"} if simulated else {}
    missing = sum(len(probes()) - len(each.said) for each in found)
    if missing:
        marks["INCOMPLETE"] = f"{missing:,} decisions are missing"
    return Report(
        title=f"TIDE-Bench: the user simulator's router on {len(probes()):,} probes",
        marks=marks,
        facts={"probes": {"sha256": runs[0].identity["experiment"]["probes_sha256"]}},
        warnings=[],
        tables=list(tables(found)),
        published=partial(read_published, PUBLISHED),
    )


def tables(found: Sequence[Decisions]) -> Iterator[Table]:
    """Yield accuracy per split, then a confusion table for each router."""
    yield accuracy(found)
    for each in found:
        yield confusion(each)


def accuracy(found: Sequence[Decisions]) -> Table:
    """Accuracy per split, with the interval that suits each count; for Amb the very layer must be named."""
    return Table(
        key="router_accuracy",
        title="Router accuracy (%)",
        source="TIDE-Bench, Table 11",
        columns=("router", *SPLITS, "Amb, either layer", "all"),
        rows=[
            [
                each.router,
                *(_rate(each, [p for p in probes() if p.split == split]) for split in SPLITS),
                _rate(each, [p for p in probes() if p.split == "Amb"], by_split=True),
                _rate(each, probes()),
            ]
            for each in found
        ],
        note=f"n: {', '.join(f'{split} {_planned(split)}' for split in SPLITS)}, all {len(probes())}. "
        "Amb: the question goes to the layer that it is about. Wilson's 95 % interval, the exact one where few "
        "fail. The probes are ours, not UserSim-Guard's.",
    )


def confusion(decisions: Decisions) -> Table:
    """What the router takes for what."""
    counts = Counter((probe.aim, decisions.said[probe.id]) for probe in probes() if probe.id in decisions.said)
    columns = (*AIMS, FAULT)
    rows: list[list[Cell]] = [[aim, *(counts[aim, said] for said in columns)] for aim in AIMS]
    return Table(
        key=f"confusion_{decisions.router}",
        title=f"What {decisions.router} takes for what",
        columns=("about", *columns),
        rows=rows,
        note="Rows: what the probe is about. Columns: what the router said.",
    )


def _planned(split: str) -> int:
    return sum(probe.split == split for probe in probes())


def _rate(decisions: Decisions, asked: Sequence[Probe], *, by_split: bool = False) -> Rate:
    said = [(probe, decisions.said[probe.id]) for probe in asked if probe.id in decisions.said]
    hits = sum(aim != FAULT and split_of(aim) == probe.split if by_split else aim == probe.aim for probe, aim in said)
    interval = proportion(hits, len(said)).interval
    return Rate(hits=hits, scored=len(said), planned=len(asked), low=interval.low, high=interval.high)


def _decisions(run: RunFolder) -> Iterator[Decisions]:
    records: dict[str, list[ProbeRecord]] = {model.label: [] for model in run.models}
    told = False
    for line in run.lines(ProbeRecord):
        told = told or "simulated" in line
        if line["k"] == "record":
            record = read_record(line["fields"])
            records[record.router].append(record)
    simulated = {model.label for model in run.models if told or model.id.startswith("sim/")}
    for label, found in records.items():
        yield Decisions(label, {record.probe: record.said or FAULT for record in found}, label in simulated)
