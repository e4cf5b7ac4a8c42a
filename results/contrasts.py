"""Two sets of observations side by side, observation by observation: what both must share is decided here."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, TypeAlias

from ..adapters.base import ConfigurationError
from .measures import Measures, Observation

By: TypeAlias = Literal["run", "model", "part"]
Group: TypeAlias = "tuple[str, str]"
"""What a comparison is apart for: a model and a part; empty where that is what differs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the things that are compared: a name, its observations by group and item, and the plan of each group."""

    name: str
    observations: dict[Group, dict[str, Observation]]
    planned: dict[Group, dict[str, int]]
    usd: dict[str, Decimal | None]
    shared: Mapping[str, int] | None = None
    """How much it has in common by plan with each side that it can be paired with; None: whatever both plan."""
    covers: str = ""
    """What it was planned for, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """The pairs of one group, the baseline's observation first; `planned` counts the baseline's plan by metric."""

    baseline: str
    other: str
    group: Group
    pairs: list[tuple[Observation, Observation]]
    planned: dict[str, int]
    cost: tuple[Decimal | None, Decimal | None]
    """What the dialogues of the pairs cost on either side, in USD."""

    @property
    def name(self) -> str:
        """What it is a comparison for, in words."""
        return _words(self.group)


def sides_of_runs(runs: Sequence[tuple[str, Measures]]) -> list[Side]:
    """Return one side per run. Where every run has a single model, or a single part, its name does not matter."""
    one_model = all(len(measures.models) == 1 for _, measures in runs)
    one_part = all(len(measures.parts) == 1 for _, measures in runs)
    return [_side(name, measures, model=not one_model, part=not one_part) for name, measures in runs]


def sides_within(measures: Measures, by: By) -> list[Side]:
    """Return one side per model, or per part, of what was run."""
    names = measures.models if by == "model" else measures.parts
    sides: list[Side] = []
    for name in names:
        own = [each for each in measures.observations if (each.model if by == "model" else each.part) == name]
        planned = {k: n for k, n in measures.planned.items() if k[by == "part"] == name}
        part = replace(measures, observations=own, planned=Counter(planned))
        side = _side(name, part, model=by != "model", part=by != "part")
        if by == "part" and measures.shared is not None:
            side = replace(side, shared={b: count for (a, b), count in measures.shared.items() if a == name})
        sides.append(side)
    return sides


def contrasts(sides: Sequence[Side], baseline: str | None = None, *, same_data: bool = True) -> list[Contrast]:
    """Return the baseline (the first side, unless named) against each other side, group by group.

    Raises ConfigurationError when there is nothing to pair, and, unless `same_data` is False, when what has the same
    name on two sides has other questions or gold.
    """
    names = [side.name for side in sides]
    if len(sides) < 2:
        raise ConfigurationError(f"there is nothing to compare {', '.join(names) or 'it'} with: name another side.")
    if baseline is not None and baseline not in names:
        raise ConfigurationError(f"there is no {baseline!r} to compare with; there are {', '.join(names)}.")
    first = next(side for side in sides if baseline in (None, side.name))
    others = [other for other in sides if other is not first and (first.shared is None or other.name in first.shared)]
    if not others:
        raise ConfigurationError(
            f"{first.name} cannot be paired with {', '.join(side.name for side in sides if side is not first)}: what "
            "they were planned for has nothing in common."
        )
    found = [each for other in others for each in _between(first, other, same_data=same_data)]
    if not any(contrast.pairs for contrast in found):
        raise ConfigurationError(
            f"{', '.join(names)} have no scored observation in common: compare runs of one benchmark on the same data, "
            "with the same models or conditions."
        )
    return found


def metrics_of(
    sides: Sequence[Side], found: Sequence[Contrast], known: Sequence[str], asked: Sequence[str] | None = None
) -> list[str]:
    """Return the metrics to compare by: those asked for, else the first of `known` that some contrast has.

    Raises ConfigurationError, with what can be compared instead, when one is unknown or no contrast has it.
    """
    if unknown := [metric for metric in asked or () if metric not in known]:
        raise ConfigurationError(f"there is no metric {unknown[0]!r}; there are {', '.join(known)}.")
    usable = [metric for metric in known if any(metric in contrast.planned for contrast in found)]
    taken = list(asked or usable[:1] or known[:1])
    for metric in taken:
        if metric not in usable:
            raise ConfigurationError(_lacking(metric, sides, found[0].baseline, usable))
    return taken


def _lacking(metric: str, sides: Sequence[Side], baseline: str, usable: Sequence[str]) -> str:
    having = [side.name for side in sides if any(metric in planned for planned in side.planned.values())]
    held = f"it has some on {', '.join(having)}" if having else "it has none anywhere here"
    choices = [f"--metric {' or '.join(usable)}"] if usable else []
    if baselines := [name for name in having if name != baseline and len(having) > 1]:
        choices.append(f"--baseline {' or '.join(baselines)}")
    instead = f" Choose {', or '.join(choices)}." if choices else ""
    return f"{metric} has no values on both {baseline} and what is compared with it; {held}.{instead}"


def _side(name: str, measures: Measures, *, model: bool, part: bool) -> Side:
    observations: defaultdict[Group, dict[str, Observation]] = defaultdict(dict)
    planned: defaultdict[Group, dict[str, int]] = defaultdict(dict)
    for each in measures.observations:
        item = each.item if part else each.match or each.item
        observations[each.model if model else "", each.part if part else ""][item] = each
    for (label, kind, metric), count in measures.planned.items():
        planned[label if model else "", kind if part else ""][metric] = count
    return Side(
        name=name,
        observations=dict(observations),
        planned=dict(planned),
        usd=dict(measures.usd),
        covers=f"{', '.join(measures.models)} at {', '.join(measures.parts)}",
    )


def left_out(sides: Sequence[Side], baseline: str | None = None) -> list[str]:
    """Return, in words, what the baseline planned and another side did not: it is compared with nothing there."""
    first = next(side for side in sides if baseline in (None, side.name))
    return [
        f"{_words(group)} (not planned by {other.name})"
        for other in sides
        for group in first.planned
        if other is not first and group not in other.planned
    ]


def _between(baseline: Side, other: Side, *, same_data: bool) -> Iterator[Contrast]:
    for group in (group for group in baseline.planned if group in other.planned):
        ours, theirs = (side.observations.get(group, {}) for side in (baseline, other))
        pairs = [(one, theirs[item]) for item, one in ours.items() if item in theirs]
        other_content = [one.item for one, two in pairs if one.cluster != two.cluster]
        if same_data and other_content:
            raise ConfigurationError(
                f"{baseline.name} and {other.name} are not on the same data: {other_content[0]} and "
                f"{len(other_content) - 1:,} more have the same name and other content."
            )
        metrics = [metric for metric in baseline.planned[group] if metric in other.planned[group]]
        most = sys.maxsize if baseline.shared is None else baseline.shared[other.name]
        yield Contrast(
            baseline=baseline.name,
            other=other.name,
            group=group,
            pairs=pairs,
            planned={metric: min(most, baseline.planned[group][metric]) for metric in metrics},
            cost=(_cost(baseline, (a for a, _ in pairs)), _cost(other, (b for _, b in pairs))),
        )


def _words(group: Group) -> str:
    return " ".join(filter(None, group)) or "all"


def _cost(side: Side, observations: Iterable[Observation]) -> Decimal | None:
    """Return what the dialogues that these observations come from cost; None when one has no known price."""
    costs = [side.usd.get(unit) for unit in dict.fromkeys(each.unit for each in observations)]
    return None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0))
