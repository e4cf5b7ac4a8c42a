"""The time in a dry run: the plan as `engine.again.forecast` takes it, and how long a call is taken to last."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...adapters.base import ConfigurationError
from ..again.forecast import Call, Crowd, Forecast, Talk, forecast
from ..calls.routes import limits_of
from ..shards.cut import place
from ..spec import ModelSpec, Spec
from ..unit import Experiment

SECONDS_PER_CALL: Final = 2.0
"""What a call is taken to last where nothing was measured and the user says nothing."""


@dataclass(frozen=True, slots=True)
class Latency:
    """How many seconds a call to each model is taken to last, by label, and where that is from."""

    seconds: Mapping[str, float]
    source: str

    def of(self, label: str) -> float:
        """Return the seconds of a call to a model."""
        return self.seconds.get(label, SECONDS_PER_CALL)

    def __str__(self) -> str:
        values = sorted(set(self.seconds.values()))
        shown = " to ".join(f"{value:.3g}" for value in dict.fromkeys((values[0], values[-1])))
        return f"{shown} s a call ({self.source})"


def latency_of(given: str | None, labels: Collection[str]) -> Latency:
    """Return what `--latency` says: a number of seconds, or the folder of a run whose answers took a mean time.

    Raises ConfigurationError when it is neither. A model that the run did not ask takes what its others took.
    """
    if given is None:
        return Latency(dict.fromkeys(labels, SECONDS_PER_CALL), "assumed; --latency says better")
    try:
        seconds = float(given)
    except ValueError:
        return _measured(Path(given), labels)
    if not 0 < seconds < float("inf"):
        raise ConfigurationError(f"--latency {given}: a call takes more than no time.")
    return Latency(dict.fromkeys(labels, seconds), "--latency")


def _measured(folder: Path, labels: Collection[str]) -> Latency:
    from ...results.operations import Operations
    from ...results.reading import open_run

    models = Operations.of(open_run(folder, 0)).models
    means = {label: model.took.total / model.took.count for label, model in models.items() if model.took.count}
    if not means:
        raise ConfigurationError(f"--latency {folder}: that run has no answer yet.")
    usual = sum(means.values()) / len(means)
    return Latency({label: means.get(label, usual) for label in labels}, f"mean of {folder}")


class Talks:
    """The calls of every dialogue, heard in rehearsal, and the lanes in which they stand."""

    def __init__(self, shards: int | None) -> None:
        self._shards = shards or 1
        self._calls: dict[str, list[Call]] = {}
        self._lanes: dict[tuple[str, int], list[list[list[Talk]]]] = {}

    def hear(self, unit: str, call: Call) -> None:
        """Take in the next call of a dialogue."""
        self._calls.setdefault(unit, []).append(call)

    def order(self, experiment: Experiment, model: str, repeats: int) -> None:
        """Put the dialogues of a model, which all have been heard, into its lanes, and these into shards."""
        for lane in experiment.lanes(model, repeats):
            steps = list(lane)
            talks: list[list[Talk]] = [[self._calls.get(unit.key, ()) for unit in step] for step in steps]
            self._lanes.setdefault((model, place(steps[0][0], self._shards)), []).append(talks)

    def crowds(self, models: Collection[str], window: int) -> Iterator[Crowd]:
        """Yield the lanes of these models, those of each shard under a window of their own."""
        for (model, _), lanes in self._lanes.items():
            if model in models:
                yield Crowd(window, lanes)


def wall(spec: Spec, talks: Talks, accounts: Mapping[str, ModelSpec], models: Collection[str]) -> Forecast:
    """Return how long the dialogues of these models take side by side, under the limits of their accounts.

    `accounts` names the first model of each: as in a run, that one says what the account's limits are.
    """
    limits = {account: limits_of(spec.settings, first) for account, first in accounts.items()}
    return forecast(limits, talks.crowds(models, spec.settings.concurrency))
