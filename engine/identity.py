"""What makes a run that run and no other: two runs with equal identity ask the same and may share a folder."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ..adapters.base import Json
from ..adapters.redaction import without_logins
from .calls.choices import resolved, resolved_auxiliary
from .folder.manifest import FORMAT
from .journal import canonical
from .spec import ModelSpec, Spec
from .system.digests import text_digest
from .unit import Experiment


def identity(spec: Spec, experiment: Experiment) -> dict[str, Json]:
    """Return all that decides a run's requests and scores; two runs with equal identity may share a folder."""
    shards: dict[str, Json] = {"shards": spec.shards} if spec.shards else {}
    return {
        "format": FORMAT,
        "benchmark": spec.benchmark,
        "models": [_model(model) for model in resolved(spec).models],
        "auxiliary": [_model(model) for model in resolved_auxiliary(spec, experiment.auxiliary)],
        "repeats": spec.repeats,
        "seed": spec.seed,
        "limit": spec.limit,
        "experiment": experiment.identity(),
        **shards,
    }


def settings_of(spec: Spec) -> dict[str, Json]:
    """Return what was asked for, but for logins in the benchmark's URLs, and where: paths are relative to there."""
    asked = msgspec.to_builtins(spec)
    return {"spec": {**asked, "options": without_logins(asked["options"])}, "cwd": str(Path.cwd())}


def folder_of(spec: Spec, experiment: Experiment) -> Path:
    """Return the run's folder: without `--out`, one that the same command finds again."""
    if spec.out:
        return Path(spec.out)
    return Path("runs") / f"{spec.benchmark}-{text_digest(canonical(identity(spec, experiment)))[:10]}"


def _model(model: ModelSpec) -> Json:
    return {"label": model.name, "id": model.id, "options": dict(model.options)}
