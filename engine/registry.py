"""What is installed: benchmarks with their reports and commands, adapters, readers; found by entry point, ours too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Literal, get_args

from ..adapters.base import ConfigurationError
from .benchmark import Benchmark

Group = Literal["benchmarks", "adapters", "readers", "reports", "measures", "exports", "commands"]


@dataclass(frozen=True, slots=True)
class Broken:
    """An entry point that cannot be loaded, and why. It harms nothing else."""

    group: Group
    name: str
    target: str
    error: str


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


def benchmark_of(name: str) -> Benchmark:
    """Return the benchmark `name`; raises ConfigurationError when there is none, or when what is installed is none."""
    benchmark = load("benchmarks", name)
    if not isinstance(benchmark, Benchmark):
        raise ConfigurationError(f"{name!r} is installed but is not a benchmark")
    return benchmark


def broken() -> Iterator[Broken]:
    """Load everything that is installed, and yield what cannot be."""
    for group in get_args(Group):
        for point in sorted(_points(group), key=lambda each: each.name):
            try:
                point.load()
            except Exception as error:
                yield Broken(group, point.name, point.value, f"{type(error).__name__}: {error}")


@cache
def _points(group: Group) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=f"turntide.{group}"))
