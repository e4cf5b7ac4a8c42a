"""From run folders to the turns of one sweep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from ...adapters.base import ConfigurationError
from ...datasets.enterprisemem.conditions import BY_NAME
from ...datasets.enterprisemem.record import Plan, TurnRecord, read_record
from ...engine.folder.manifest import Difference
from ...engine.journal import Fields
from ..gold import Gold
from ..reading import ModelIdentity, RunFolder, in_order, require_agreement
from ..spending import Spent
from .turns import Turns

Cell = tuple[str, str]
"""A model and a condition."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """What one or more run folders hold together. `returned` counts answers by model and the id that came back;
    `simulated` are models whose answers say that they are; `tainted` are databases that changed while a run used them.
    """

    models: tuple[ModelIdentity, ...]
    turns: Turns
    spent: dict[Cell, Spent]
    returned: dict[str, Counter[str]]
    gold: Gold
    simulated: frozenset[str] = frozenset()
    tainted: tuple[str, ...] = ()


def read_sweep(runs: Sequence[RunFolder]) -> Sweep:
    """Read the runs as one sweep: shards of one, or other models or conditions on the same data.

    Raises ConfigurationError when they do not belong together, or a dialogue stands in two of them.
    """
    require_agreement(runs, _may_differ)
    runs = in_order(runs)
    models = tuple({model.label: model for run in runs for model in run.models}.values())
    cells = [cell for run in runs for cell in _cells(run)]
    plan = msgspec.structs.replace(
        runs[0].plan(Plan),
        models=tuple(model.label for model in models),
        conditions=tuple(sorted({condition for _, condition in cells}, key=list(BY_NAME).index)),
        repeats=runs[0].identity["repeats"],
    )
    # In plan order: sums of money are taken in it, and the tables print in it.
    spent = {cell: Spent() for model in plan.models for c in plan.conditions if (cell := (model, c)) in cells}
    seen = _Seen(spent, {model.label: Counter[str]() for model in models})
    turns = Turns(plan, frozenset(cells), list(_read(runs, seen)))
    simulated, tainted = frozenset(seen.simulated), tuple(sorted(seen.tainted))
    return Sweep(models, turns, spent, seen.returned, seen.gold, simulated, tainted)


@dataclass(slots=True)
class _Seen:
    """What is counted and noted while records are read."""

    spent: dict[Cell, Spent]
    returned: dict[str, Counter[str]]
    gold: Gold = field(default_factory=Gold)
    simulated: set[str] = field(default_factory=set[str])
    tainted: set[str] = field(default_factory=set[str])

    def answer(self, cell: Cell, line: Fields) -> None:
        """Count an answer."""
        self.spent[cell].add(line)
        self.returned[cell[0]][line["model"]] += 1
        if "simulated" in line:
            self.simulated.add(cell[0])


def _read(runs: Sequence[RunFolder], seen: _Seen) -> Iterator[TurnRecord]:
    """Yield the record of every scored turn; count the answers and note what is said of the data on the way."""
    homes: dict[str, tuple[RunFolder, Cell]] = {}
    for run in runs:
        cells = {f"{model}/{condition}/": (model, condition) for model, condition in _cells(run)}
        for line in run.lines(TurnRecord):
            if line["k"] == "tainted":
                seen.tainted.update(line["databases"])
            seen.gold.visit(line)
            if line["k"] not in ("answer", "record"):
                continue
            unit: str = line["u"]
            if unit not in homes:
                homes[unit] = run, _cell(run, unit, cells)
            home, cell = homes[unit]
            if home is not run:
                raise _twice(unit, home, run)
            if line["k"] == "record":
                record = read_record(line["fields"])
                if (record.model, record.condition) != cell:
                    raise _not_planned(run, f"a record of {record.model}/{record.condition} in {unit}")
                yield record
            else:
                seen.answer(cell, line)


def _cell(run: RunFolder, unit: str, cells: dict[str, Cell]) -> Cell:
    """Return the cell of a unit: its key is `model/condition/session/repeat`, and a label may hold slashes."""
    for start, cell in cells.items():
        if unit.startswith(start):
            return cell
    raise _not_planned(run, unit)


def _not_planned(run: RunFolder, what: str) -> ConfigurationError:
    return ConfigurationError(
        f"{run.folder} holds {what}, which is no dialogue of its plan: a file there is not its own."
    )


def _cells(run: RunFolder) -> list[Cell]:
    return [(model.label, condition) for model in run.models for condition in run.plan(Plan).conditions]


def _may_differ(difference: Difference) -> bool:
    """Whether runs that differ in this can be read as one: other conditions, of which some need no embedder."""
    if difference.path == "experiment.embedder":
        return None in (difference.old, difference.new)
    return difference.path.startswith("experiment.plan.conditions")


def _twice(unit: str, one: RunFolder, other: RunFolder) -> ConfigurationError:
    return ConfigurationError(
        f"{one.folder} and {other.folder} both hold the dialogue {unit}: they are two runs of the same cell. "
        f"Report them apart, or run one of them under another label."
    )
