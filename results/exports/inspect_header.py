"""What a log of Inspect says of a whole run (inspect_ai's `EvalLog` without its samples)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from .dialogue import Dialogue
from .export import Export
from .inspect_sample import add_usage, usage_by_model
from .samples import Sample
from .times import span

VERSION: Final = 2
"""Of the log's format."""


class Tally:
    """What the samples of one log come to; `first` is any of its dialogues."""

    def __init__(self, first: Dialogue, task: str, created: datetime) -> None:
        self.first = first
        self.task = task
        self.created = created
        self.ids: dict[str, None] = {}
        self.epochs = 1
        self.count = 0
        self.hits: defaultdict[str, list[bool]] = defaultdict(list)
        self.usage: dict[str, dict[str, Any]] = {}
        self.began: datetime | None = None
        self.ended: datetime | None = None

    def add(self, sample: Sample, epoch: int) -> None:
        """Count a sample in."""
        self.ids[sample.id] = None
        self.epochs = max(self.epochs, epoch)
        self.count += 1
        for name, scored in sample.scores.items():
            self.hits[name].append(scored.holds)
        for name, used in usage_by_model(self.first, sample.asked).items():
            add_usage(self.usage.setdefault(name, {}), used)
        first, last = span(sample.asked, self.created)
        self.began = min(first, self.began or first)
        self.ended = max(last, self.ended or last)


def header(tally: Tally, export: Export, marks: Mapping[str, str]) -> dict[str, Any]:
    """Return the log's header. A run that is not complete stands as cancelled, which Inspect shows as unfinished."""
    return {
        "version": VERSION,
        "status": "cancelled" if "INCOMPLETE" in marks else "success",
        "eval": _spec(tally, export, marks),
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": _results(tally, export),
        "stats": {
            "started_at": (tally.began or tally.created).isoformat(),
            "completed_at": (tally.ended or tally.created).isoformat(),
            "model_usage": tally.usage,
        },
        "invalidated": "TAINTED" in marks,
    }


def _spec(tally: Tally, export: Export, marks: Mapping[str, str]) -> dict[str, Any]:
    run, (model, cell, _, _) = tally.first.run, tally.first.place
    return {
        "eval_id": f"{run.manifest.run}-{model}-{cell}",
        "run_id": run.manifest.run,
        "created": tally.created.isoformat(),
        "task": tally.task,
        "task_id": f"{tally.task}@{run.manifest.run}",
        "task_version": 0,
        "task_args": {"limit": run.identity["limit"], "seed": run.identity["seed"]},
        "tags": [*marks, model],
        "dataset": {
            "name": export.title,
            "samples": len(tally.ids),
            "sample_ids": list(tally.ids),
            "shuffled": False,
        },
        "model": tally.first.model.id,
        "model_args": {"label": model, **tally.first.model.options},
        "config": {"epochs": tally.epochs},
        "packages": {},
        "metadata": {"marks": dict(marks), "exported_by": "turntide", "cell": cell},
        "scorers": [{"name": name} for name in _scores(tally, export)],
    }


def _results(tally: Tally, export: Export) -> dict[str, Any]:
    return {
        "total_samples": tally.count,
        "completed_samples": tally.count,
        "scores": [_score(tally, name) for name in _scores(tally, export)],
    }


def _scores(tally: Tally, export: Export) -> list[str]:
    """Return the scores' names, the one that decides first: the viewer opens with it."""
    return sorted(tally.hits, key=lambda name: name != export.headline)


def _score(tally: Tally, name: str) -> dict[str, Any]:
    hits = tally.hits[name]
    return {
        "name": name,
        "scorer": name,
        "scored_samples": len(hits),
        "unscored_samples": tally.count - len(hits),
        "metrics": {"accuracy": {"name": "accuracy", "value": sum(hits) / len(hits)}},
    }
