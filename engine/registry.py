"""What is installed: benchmarks with their reports and commands, adapters, readers; found by entry point, ours too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Literal

from ..adapters.base import ConfigurationError

Group = Literal["benchmarks", "adapters", "readers", "reports", "measures", "exports", "commands"]


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point; `error` says why it could not be loaded. A broken one harms nothing else."""

    name: str
    target: str
    error: str = ""


def names(group: Group) -> list[str]:
    """Return the names that are installed in a group, sorted."""
    return sorted({point.name for point in _points(group)})


def load(group: Group, name: str) -> object:
    """Return what the entry point loads to; raises ConfigurationError that lists what there is."""
    point = next((point for point in _points(group) if point.name == name), None)
    if point is None:
        known = ", ".join(names(group)) or "none"
        raise ConfigurationError(f"unknown {group.rstrip('s')} {name!r}. Installed: {known}.")
    try:
        return point.load()
    except Exception as error:
        raise ConfigurationError(f"the {group.rstrip('s')} {name!r} ({point.value}) is broken: {error!r}") from error


def inventory(group: Group) -> Iterator[Plugin]:
    """Yield every plugin of a group, loaded or with the reason why not."""
    for point in sorted(_points(group), key=lambda each: each.name):
        try:
            point.load()
        except Exception as error:
            yield Plugin(point.name, point.value, f"{type(error).__name__}: {error}")
        else:
            yield Plugin(point.name, point.value)


@cache
def _points(group: Group) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=f"turntide.{group}"))
