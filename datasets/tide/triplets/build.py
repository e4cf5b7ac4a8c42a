"""The 514 triplets of the plan over four databases, or those of other designs."""

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
from .plan import PLAN, Wanted, wanted_of
from .shapes import shapes

ATTEMPTS = 20
"""How often a template is tried before its cell does without it."""


class PlanError(Exception):
    """The databases do not yield what the plan asks for."""


def generate(databases: Mapping[str, Path], seed: int = 0, cells: Mapping[Wanted, int] | None = None) -> TripletFile:
    """Build the triplets of the plan, or of `cells`, over `databases`, by name: all of `DATABASES` must be there.

    Raises PlanError that names the kind which cannot be filled, and sqlite3.Error for a database of another schema.
    """
    plans = dict.fromkeys(str(wanted.design) for wanted in cells or ())
    cells = cells or {wanted_of(cell): count for cell, count in PLAN.items()}
    with GoldRunner({name: databases[name] for name in DATABASES}) as runner:
        grounds = {name: Ground(name, databases[name], runner) for name in DATABASES}
        made: list[Triplet] = []
        uses: Counter[Template | str] = Counter()
        for wanted, count in cells.items():
            _fill(wanted, count, grounds, made, uses, Draw("tide", seed, *str(wanted).split(", ")))
    mixed = Draw("tide", seed, "order").shuffled(made)
    name = ": ".join(filter(None, ("turntide synthetic", "; ".join(plans))))
    return TripletFile(format=FORMAT, name=name, synthetic=True, triplets=tuple(_numbered(mixed)))


def _fill(
    wanted: Wanted,
    count: int,
    grounds: Mapping[str, Ground],
    made: list[Triplet],
    uses: Counter[Template | str],
    draw: Draw,
) -> None:
    """Add `count` triplets of a kind to `made`: each from the template that was used least and yields one."""
    fit = [t for name in DATABASES for t in templates(name) if wanted.verdict in (None, verdict_of(t))]
    fit = [template for template in fit if shapes(template, wanted)]
    anchors = {(triplet.database, triplet.stages[0].sql) for triplet in made}
    left = count
    while left:
        if not fit:
            raise PlanError(f"{left} of the {count} triplets of {wanted} cannot be drawn")
        template = min(fit, key=lambda template: (uses[template], uses[template.database]))
        attempts = (attempt(grounds[template.database], template, wanted, anchors, draw) for _ in range(ATTEMPTS))
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
