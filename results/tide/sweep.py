"""From run folders to the dialogues of one sweep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ...adapters.base import ConfigurationError
from ...datasets.tide.record import DialogueRecord, Plan, read_record
from ...engine.folder.manifest import Difference
from ...engine.journal import Fields, key_of
from ..gold import Gold
from ..reading import ModelIdentity, RunFolder, in_order, never_sent, require_agreement
from ..spending import Spent
from .dialogues import Cell, Dialogues

Place = tuple[str, str]
"""A model's label and a protocol."""


@dataclass(slots=True)
class Sweep:
    """What one or more run folders hold together.

    `spent` is by agent and protocol, the auxiliary model's share under its own label. `returned` counts answers by
    label and the id that came back; `simulated` are labels whose answers say that they are;
    `tainted` are databases that changed while a run used them.
    """

    models: tuple[ModelIdentity, ...]
    auxiliary: tuple[ModelIdentity, ...]
    dialogues: Dialogues
    spent: dict[Place, Spent]
    returned: dict[str, Counter[str]]
    gold: Gold
    simulated: frozenset[str] = frozenset()
    tainted: tuple[str, ...] = ()


def read_sweep(runs: Sequence[RunFolder]) -> Sweep:
    """Read the runs as one sweep: other models, protocols or sample sets over the same triplets.

    Raises ConfigurationError when they do not belong together, or a dialogue stands in two of them.
    """
    require_agreement(runs, _may_differ)
    runs = in_order(runs)
    models = tuple({model.label: model for run in runs for model in run.models}.values())
    auxiliary = tuple({model.label: model for run in runs for model in run.auxiliary}.values())
    labels = [model.label for model in models]
    reading = _Reading([*labels, *(model.label for model in auxiliary)])
    records = list(reading.records(runs))
    plans = [run.plan(Plan) for run in runs]
    plan = msgspec.structs.replace(
        plans[0], samples=tuple(dict.fromkeys(each for plan in plans for each in plan.samples))
    )
    cells = frozenset(cell for run in runs for cell in _cells(run))
    dialogues = Dialogues(plan, labels, cells, runs[0].identity["repeats"], records)
    spent, tainted = reading.in_plan_order(), tuple(sorted(reading.tainted))
    simulated = frozenset(reading.simulated)
    return Sweep(models, auxiliary, dialogues, spent, reading.returned, reading.gold, simulated, tainted)


@dataclass(slots=True)
class _Reading:
    """One pass over the journals. `asked` holds who was asked in the sends that wait for their answer."""

    labels: list[str]
    spent: dict[Place, Spent] = field(default_factory=dict[Place, Spent])
    returned: dict[str, Counter[str]] = field(init=False)
    asked: dict[Any, str] = field(default_factory=dict[Any, str])
    gold: Gold = field(default_factory=Gold)
    simulated: set[str] = field(default_factory=set[str])
    tainted: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.returned = {label: Counter[str]() for label in self.labels}

    def records(self, runs: Iterable[RunFolder]) -> Iterator[DialogueRecord]:
        """Yield the record of every dialogue that ended; count the answers on the way."""
        homes: dict[str, RunFolder] = {}
        for run in runs:
            for line in run.lines(DialogueRecord):
                match line["k"]:
                    case "sent":
                        self.asked[key_of(line)] = line["m"]
                    case "answer":
                        self._answered(line)
                    case "record":
                        home = homes.setdefault(line["u"], run)
                        if home is not run:
                            raise _twice(line["u"], home, run)
                        record = read_record(line["fields"])
                        if record.model not in self.labels:
                            raise _not_planned(record.model, line["u"])
                        yield record
                    case "tainted":
                        self.tainted.update(line["databases"])
                    case _:
                        self.gold.visit(line)

    def in_plan_order(self) -> dict[Place, Spent]:
        """Return what was spent by label and protocol: sums of money are printed in that order."""
        return {place: self.spent[place] for place in sorted(self.spent, key=self._rank)}

    def _rank(self, place: Place) -> tuple[int, str]:
        return self.labels.index(place[0]), place[1]

    def _answered(self, line: Fields) -> None:
        label = self.asked.pop(key_of(line), None)
        if label is None:
            raise never_sent(line)
        if label not in self.returned:
            raise _not_planned(label, line["u"])
        protocol = line["u"].rsplit("/", 3)[1]  # keys are model/protocol/sample/repeat, and a label may hold slashes
        self.spent.setdefault((label, protocol), Spent()).add(line)
        self.returned[label][line["model"]] += 1
        if "simulated" in line:
            self.simulated.add(label)


def _cells(run: RunFolder) -> Iterator[Cell]:
    for model in run.models:
        for planned in run.plan(Plan).samples:
            yield model.label, planned.protocol, planned.kind


def _may_differ(difference: Difference) -> bool:
    """Whether runs that differ in this can be read as one: other protocols or sample sets of the same triplets."""
    return difference.path.startswith(("experiment.plan.samples", "experiment.protocols"))


def _not_planned(model: str, unit: str) -> ConfigurationError:
    return ConfigurationError(
        f"the journal speaks of {model} in {unit}, which is no model of the run: it is not its own."
    )


def _twice(unit: str, one: RunFolder, other: RunFolder) -> ConfigurationError:
    return ConfigurationError(
        f"{one.folder} and {other.folder} both hold the dialogue {unit}: they are two runs of the same cell. "
        f"Report them apart, or run one of them under another label."
    )
