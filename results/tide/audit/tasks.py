"""What is put before the annotators: samples or router decisions, drawn evenly, some of them for calibration alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, TypeVar

import msgspec

from ....adapters.base import ConfigurationError
from ....datasets.draw import Draw, evenly
from ....datasets.tide.samples import Kind, Triplet, samples_of
from .checklist import Item, checklist
from .content import Part, plain, sample_parts

T = TypeVar("T")

Subject: TypeAlias = Literal["samples", "decisions"]


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to look at, with its items. `cluster` is equal for triplets of equal content.

    `calibration` tasks come first and count for nothing. `router` is what the router of a dialogue said a question was
    about; no annotator sees it.
    """

    id: str
    kind: Kind
    cluster: str
    database: str
    calibration: bool
    parts: tuple[Part, ...]
    items: tuple[Item, ...]
    router: str = ""

    def is_done(self, said: Mapping[str, str]) -> bool:
        """Return whether `said` has an answer to every item."""
        return all(item.key in said for item in self.items)


def sample_tasks(triplets: Sequence[Triplet], count: int, calibration: int, seed: int) -> list[Task]:
    """Return the samples of `count` triplets, and before them those of `calibration` others (§3.3, Appendix C.1).

    Drawn as evenly over drift subtype, counterfactual verdict, tier and split as their numbers allow; of triplets of
    equal content only the first may be drawn. Raises ConfigurationError when there are too few.
    """
    distinct = list({triplet.content_key: triplet for triplet in reversed(triplets)}.values())[::-1]
    held, drawn = apart(distinct, _stratum, count, calibration, seed, "triplets")
    return [task for held_out, each in ((True, held), (False, drawn)) for t in each for task in _tasks(t, held_out)]


def apart(
    items: Sequence[T], cell: Callable[[T], tuple[str, ...]], count: int, calibration: int, seed: int, what: str
) -> tuple[list[T], list[T]]:
    """Return `calibration` and `count` of `items`, none in both, each drawn evenly over the cells.

    Raises ConfigurationError when there are too few.
    """
    if count + calibration > len(items):
        raise ConfigurationError(
            f"there are {len(items):,} {what} to draw from: --count {count} and --calibration {calibration} are more"
        )
    drawn = evenly(items, cell, count, "tide audit", seed)
    taken = set(map(id, drawn))
    return evenly([each for each in items if id(each) not in taken], cell, calibration, "tide calibration", seed), drawn


def in_order(tasks: Sequence[Task], annotator: str, seed: int) -> list[Task]:
    """Return the tasks as one annotator meets them: calibration as it stands, then an order of their own."""
    first = [task for task in tasks if task.calibration]
    return first + Draw("tide audit order", seed, annotator).shuffled([task for task in tasks if not task.calibration])


def _stratum(triplet: Triplet) -> tuple[str, ...]:
    return triplet.subtype or "", triplet.verdict or "", triplet.stages[0].tier, triplet.split


def _tasks(triplet: Triplet, calibration: bool) -> Iterator[Task]:
    for sample in samples_of(triplet):
        yield Task(
            id=sample.id,
            kind=sample.kind,
            cluster=triplet.content_key,
            database=plain(triplet.database),
            calibration=calibration,
            parts=tuple(sample_parts(sample)),
            items=checklist(sample),
        )
