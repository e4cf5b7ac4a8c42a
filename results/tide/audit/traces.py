"""Router decisions in the dialogues of runs, as tasks: each question to the user, and the dialogue up to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from msgspec import structs

from ....adapters.base import ConfigurationError
from ....datasets.tide.actions import Clarify, Query
from ....datasets.tide.embedded import embedded_triplets
from ....datasets.tide.record import Asked, DialogueRecord, read_record
from ....datasets.tide.samples import Sample
from ....datasets.tide.simulator.situation import Target
from ....datasets.tide.simulator.user import Reply
from ....datasets.tide.state import DialogueState
from ....engine.system.digests import file_digest
from ...reading import RunFolder
from ..simulator import is_check
from .checklist import routing
from .content import decision_parts
from .tasks import Task, apart


def decision_tasks(found: Sequence[Task], count: int, calibration: int, seed: int) -> list[Task]:
    """Return `count` decisions and before them `calibration` others, drawn evenly over what was decided and the sets.

    Raises ConfigurationError when there are too few.
    """
    held, drawn = apart(found, lambda task: (task.router, task.kind), count, calibration, seed, "decisions")
    return [structs.replace(task, calibration=True) for task in held] + drawn


def triplets_of(runs: Sequence[RunFolder], named: Path | None) -> tuple[Path, str]:
    """Return the triplets that the runs talked through: `named`, or where the runs had them from.

    The file's hash comes with it. Raises ConfigurationError when the runs belong to no such file, or not to one, or
    differ in who plays the user.
    """
    for run in runs:
        if run.identity["benchmark"] != "tide" or is_check(run):
            raise ConfigurationError(f"{run.folder} holds no dialogues of TIDE-Bench (`turntide run tide`)")
    if len({router_of(run) for run in runs}) > 1:
        raise ConfigurationError("in these runs different users are played: audit them apart")
    options = runs[0].manifest.settings["spec"]["options"]
    path = named or (Path(options["samples"]) if options.get("samples") else embedded_triplets())
    if not path.is_file():
        raise ConfigurationError(f"the triplets of {runs[0].folder} are not at {path}; say where with --samples FILE")
    digest = file_digest(path)
    for run in runs:
        if run.identity["experiment"]["samples_sha256"] != digest:
            raise ConfigurationError(f"{run.folder} talked other triplets through than {path} holds; see --samples")
    return path, digest


def router_of(run: RunFolder) -> str:
    """Return who plays the user: a model's id, or the rules."""
    return ", ".join(model.id for model in run.auxiliary) or str(run.identity["experiment"]["user"])


def decisions(runs: Sequence[RunFolder], samples: Mapping[str, Sample]) -> tuple[list[Task], bool]:
    """Return every decision of the dialogues that ended, whatever came of them, and whether an answer was simulated."""
    found, simulated = list[Task](), False
    for run in runs:
        for line in run.lines(DialogueRecord):
            simulated = simulated or "simulated" in line
            if line["k"] == "record":
                found += _of_dialogue(f"{run.manifest.run} {line['u']}", read_record(line["fields"]), samples)
    return found, simulated


def _of_dialogue(unit: str, record: DialogueRecord, samples: Mapping[str, Sample]) -> Iterator[Task]:
    """Walk through a dialogue as it went, and stop at every question."""
    state = DialogueState(samples[record.sample], record.protocol)
    for step in sorted(chain(record.asked, record.queried), key=lambda step: step.turn):
        if not isinstance(step, Asked):
            state.act(Query(step.sql))
            continue
        state.act(Clarify(step.question))
        yield Task(
            id=f"{unit} turn {step.turn}",
            kind=record.kind,
            cluster=record.cluster,
            database=record.database,
            calibration=False,
            parts=tuple(decision_parts(state)),
            items=(routing(state.layers),),
            router=step.decided,
        )
        state.hear(Reply(text=step.reply, decided=Target(step.decided), target=Target(step.acted, step.node)))
