"""From what the command line asks for to an audit's file: begun, or found as it was begun."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec import convert

from ....adapters.base import ConfigurationError
from ....datasets.tide.embedded import embedded_triplets
from ....datasets.tide.files import load_triplets
from ....datasets.tide.samples import samples
from ....engine.folder.outputs import require_output_file
from ....engine.system.digests import file_digest
from ...reading import RunFolder, open_run, simulated_mark
from .store import Plan, Store
from .tasks import Subject, Task, sample_tasks
from .traces import decision_tasks, decisions, router_of, triplets_of

COUNT: Final[dict[Subject, int]] = {"samples": 250, "decisions": 200}
"""How many triplets are drawn (§3.3), or how many router decisions, of which the paper gives no number."""
CALIBRATION: Final = 10
"""How many more are held out for calibration (Appendix C.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked for; None is whatever the file says, or the default. `runs` make it an audit of their decisions."""

    runs: Sequence[Path] = ()
    samples: Path | None = None
    count: int | None = None
    calibration: int | None = None
    seed: int | None = None


def opened(path: Path, request: Request, annotators: Sequence[str]) -> Store:
    """Return the audit in `path`, begun if need be, with these annotators among its own.

    Raises ConfigurationError when it was begun otherwise than is asked now, or cannot be begun.
    """
    if path.exists():
        store = Store(path)
        if changed := list(_changed(store.plan, request)):
            store.close()
            raise ConfigurationError(f"{path} was begun with {', '.join(changed)}; for another audit name another file")
    else:
        if not annotators:
            raise ConfigurationError("nobody is to annotate: --annotator NAME, once for each")
        require_output_file(path)
        store = Store.create(path, *(_of_runs if request.runs else _of_samples)(request))
    store.enrol(annotators)
    if not store.annotators():
        store.close()
        raise ConfigurationError(f"{path} names nobody who annotates: --annotator NAME, once for each")
    return store


def _of_samples(request: Request) -> tuple[Plan, list[Task]]:
    path = request.samples or embedded_triplets()
    file = load_triplets(path)
    plan = _plan("samples", request, source=file.name, sha256=file_digest(path), synthetic=file.synthetic)
    return plan, sample_tasks(file.triplets, plan.count, plan.calibration, plan.seed)


def _of_runs(request: Request) -> tuple[Plan, list[Task]]:
    runs = [open_run(folder) for folder in request.runs]
    if len(set(_names(runs))) < len(runs):
        raise ConfigurationError("one run is named twice")
    path, digest = triplets_of(runs, request.samples)
    file = load_triplets(path)
    found, told = decisions(runs, {sample.id: sample for sample in samples(file.triplets)})
    simulated = told or any(simulated_mark([*run.models, *run.auxiliary], ()) for run in runs)
    plan = _plan(
        "decisions", request, source=file.name, sha256=digest, synthetic=file.synthetic,
        runs=_names(runs), router=router_of(runs[0]), simulated=simulated,
    )  # fmt: skip
    return plan, decision_tasks(found, plan.count, plan.calibration, plan.seed)


def _plan(subject: Subject, request: Request, **fields: object) -> Plan:
    asked = {"count": request.count, "calibration": request.calibration, "seed": request.seed}
    usual = {"count": COUNT[subject], "calibration": CALIBRATION, "seed": 0}
    given = {name: value for name, value in asked.items() if value is not None}
    return convert({"subject": subject, **fields, **usual, **given}, Plan)


def _names(runs: Sequence[RunFolder]) -> tuple[str, ...]:
    return tuple(sorted(run.manifest.run for run in runs))


def _changed(plan: Plan, request: Request) -> Iterator[str]:
    """Yield what of a plan is not what is asked for."""
    for name in ("count", "calibration", "seed"):
        if getattr(request, name) not in (None, getattr(plan, name)):
            yield f"{name} {getattr(plan, name)}"
    if request.runs and _names([open_run(folder) for folder in request.runs]) != plan.runs:
        yield "other runs" if plan.runs else "samples, not with runs"
    if request.samples and not (request.samples.is_file() and file_digest(request.samples) == plan.sha256):
        yield f"other triplets ({plan.source})"
