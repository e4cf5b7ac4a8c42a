"""The 514 triplets of the plan, over four databases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import structs

from ...draw import Draw
from ...gold import GoldRunner
from ..files import TripletFile
from ..samples import FORMAT, Triplet
from .candidates import attempt
from .ground import Ground
from .library import DATABASES, templates, verdict_of
from .model import Template
from .plan import PLAN, Cell
from .shapes import shapes

ATTEMPTS = 20
"""How often a template is tried before its cell does without it."""


class PlanError(Exception):
    """The databases do not yield what the plan asks for."""


def generate(databases: Mapping[str, Path], seed: int = 0) -> TripletFile:
    """Build the triplets over `databases`, by name: all of `DATABASES` must be there.

    Raises PlanError that names the cell which cannot be filled, and sqlite3.Error for a database of another schema.
    """
    with GoldRunner({name: databases[name] for name in DATABASES}) as runner:
        grounds = {name: Ground(name, databases[name], runner) for name in DATABASES}
        made: list[Triplet] = []
        uses: Counter[Template | str] = Counter()
        for cell in PLAN:
            _fill(cell, grounds, made, uses, Draw("tide", seed, *cell))
    mixed = Draw("tide", seed, "order").shuffled(made)
    return TripletFile(format=FORMAT, name="turntide synthetic", synthetic=True, triplets=tuple(_numbered(mixed)))


def _fill(
    cell: Cell, grounds: Mapping[str, Ground], made: list[Triplet], uses: Counter[Template | str], draw: Draw
) -> None:
    """Add the triplets of a cell to `made`: each from the template that was used least and yields one."""
    subtype, tier, verdict = cell
    fit = [t for name in DATABASES for t in templates(name) if verdict_of(t) == verdict]
    fit = [template for template in fit if shapes(template, tier, verdict, subtype)]
    anchors = {(triplet.database, triplet.stages[0].sql) for triplet in made}
    left = PLAN[cell]
    while left:
        if not fit:
            raise PlanError(f"{left} of the {PLAN[cell]} triplets of {', '.join(cell)} cannot be drawn")
        template = min(fit, key=lambda template: (uses[template], uses[template.database]))
        attempts = (attempt(grounds[template.database], template, cell, anchors, draw) for _ in range(ATTEMPTS))
        triplet = next(filter(None, attempts), None)
        if triplet is None:
            fit.remove(template)
            continue
        made.append(triplet)
        anchors.add((triplet.database, triplet.stages[0].sql))
        uses.update((template, template.database))
        left -= 1


def _numbered(triplets: list[Triplet]) -> Iterator[Triplet]:
    """Yield the triplets with ids such as `financial-007`, numbered by database."""
    numbers: Counter[str] = Counter()
    for triplet in triplets:
        numbers[triplet.database] += 1
        yield structs.replace(triplet, id=f"{triplet.database}-{numbers[triplet.database]:03d}")
