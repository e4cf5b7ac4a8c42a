"""What an entry point in `turntide.benchmarks` loads to."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from ..adapters.base import Json

if TYPE_CHECKING:
    from .unit import Experiment

    Arguments: TypeAlias = argparse._ActionsContainer  # pyright: ignore[reportPrivateUsage]
    Subparsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]  # pyright: ignore[reportPrivateUsage]


CommandAdder: TypeAlias = "Callable[[Subparsers], None]"
"""What an entry point in `turntide.commands` loads to, under its benchmark's name: it adds commands that need results,
which a benchmark itself may not read."""


@runtime_checkable
class Benchmark(Protocol):
    """A benchmark that can be run, reported and, if it likes, bring commands of its own."""

    name: str
    summary: str

    def add_arguments(self, parser: Arguments) -> None:
        """Add the benchmark's own options of `turntide run`; each value lands in the options under its `dest`."""
        ...

    def add_commands(self, commands: Subparsers) -> None:
        """Add the benchmark's own commands; each parser sets the default `run`, a function of the parsed arguments."""
        ...

    def open(
        self, options: Mapping[str, Json], *, seed: int, limit: int | None
    ) -> AbstractAsyncContextManager[Experiment]:
        """Open the benchmark on its data; raises ConfigurationError when something is missing or wrong.

        `limit` counts sessions or samples.
        """
        ...


@runtime_checkable
class MayAskNobody(Protocol):
    """A benchmark some of whose runs ask no model of the run: it need not be named then."""

    def stand_in(self, options: Mapping[str, Json]) -> str | None:
        """Return the `provider/model` to run under, which is never asked; None when `options` need a real one."""
        ...
