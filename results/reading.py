"""Run folders as they are on disk: of finished runs, of interrupted ones, and of those that are running now."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from ..adapters.base import ConfigurationError, Json
from ..engine.errors import RunError
from ..engine.folder.binding import JOURNAL, require_journal
from ..engine.folder.manifest import NAME, Difference, Manifest, differences
from ..engine.folder.scorings import Scoring, merged, numbers, outdated
from ..engine.journal import Fields, Lines, LinesOfShards, canonical, scan
from ..engine.shards.folder import shards_of
from ..engine.spec import texts

_SHOWN = 5


class ModelIdentity(msgspec.Struct, frozen=True):
    """A model of a run as its manifest names it: `id` is `provider/model`, `options` are sent with every question."""

    label: str
    id: str
    options: dict[str, Any]

    @property
    def asked(self) -> str:
        """The id that the provider is asked for."""
        return self.id.partition("/")[2]


class _Identity(msgspec.Struct):
    """What every reader relies on of an identity; the rest of `experiment` is the benchmark's."""

    benchmark: str
    models: list[ModelIdentity]
    auxiliary: list[ModelIdentity]
    repeats: Annotated[int, msgspec.Meta(ge=1)]
    seed: int
    limit: int | None
    experiment: dict[str, Any]


class _Spec(msgspec.Struct):
    options: dict[str, Any] = {}
    settings: dict[str, Any] = {}


class _Settings(msgspec.Struct):
    spec: _Spec
    cwd: str = "."


Shape = TypeVar("Shape")


def shaped(value: object, shape: type[Shape], folder: Path) -> Shape:
    """Return a part of a run's manifest as a `shape`; raises ConfigurationError when it is none."""
    try:
        return msgspec.convert(value, shape)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:  # the latter of half a character in a name
        raise ConfigurationError(f"{folder / NAME} is not what turntide writes ({error}): restore it.") from None


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run: what was asked, frozen, and the journal of what came; `scoring` is one that came after the run's own.

    A run that is cut into `shards` has its journals, and its scorings, in these; it is read as one all the same.
    """

    folder: Path
    manifest: Manifest
    scoring: Scoring | None = None
    shards: tuple[RunFolder, ...] = ()

    @property
    def identity(self) -> dict[str, Any]:
        """All that decides the run's requests and scores."""
        return self.manifest.identity

    def plan(self, shape: type[Shape]) -> Shape:
        """Return what is planned for each model, in the form of the run's benchmark. Raises ConfigurationError."""
        return shaped(self.identity["experiment"].get("plan"), shape, self.folder)

    @property
    def models(self) -> list[ModelIdentity]:
        """The run's models in the order in which they were named."""
        return msgspec.convert(self.identity["models"], list[ModelIdentity])

    @property
    def auxiliary(self) -> list[ModelIdentity]:
        """The models that the benchmark asks itself, such as one that plays the user."""
        return msgspec.convert(self.identity["auxiliary"], list[ModelIdentity])

    @property
    def inputs(self) -> list[Path]:
        """Whatever the run's own options name, as paths from where it was started: its data are among them."""
        began: str = self.manifest.settings.get("cwd", ".")
        return [Path(began, text) for text in texts(self.manifest.settings["spec"].get("options", {}))]

    @property
    def parts(self) -> tuple[RunFolder, ...]:
        """The folders that hold a journal each: the run's own, or those of its shards."""
        return self.shards or (self,)

    @property
    def journals(self) -> list[Path]:
        """The journals that are there; a run that has just begun may have none yet."""
        return [journal for part in self.parts if (journal := part.folder / JOURNAL).exists()]

    def lines(self, record: type[msgspec.Struct] | None = None) -> Iterator[Fields]:
        """Yield the journal's lines, in the order in which they were written, shard by shard.

        Those that a later scoring replaces are its own, at the end. Another process may be writing the journal: a line
        that is not whole yet is left alone. Whoever reads records gives their form. Raises DamagedJournal.
        """
        if self.shards:
            return chain.from_iterable(shard.lines(record) for shard in self.shards)
        return merged(self.journal(record), self.scoring, record) if self.scoring else self.journal(record)

    def by_dialogue(self) -> Lines:
        """Return the same lines as a context that finds them by dialogue; the run must have a journal."""
        if self.shards:
            return LinesOfShards([shard.by_dialogue() for shard in self.shards])
        return Lines(self.folder / JOURNAL, self.scoring.path if self.scoring else None)

    def journal(self, record: type[msgspec.Struct] | None = None) -> Iterator[Fields]:
        """Yield the journal's lines as the run wrote them, shard by shard."""
        return chain.from_iterable(scan(path, record) for path in self.journals)


class NothingScored(ConfigurationError):
    """Runs that hold nothing to report or compare yet: `said` tells what there is none of."""

    def __init__(self, said: str, runs: Sequence[RunFolder]) -> None:
        folders = " ".join(str(run.folder) for run in runs)
        super().__init__(f"{said} yet in {folders}. `turntide status` says how far it is.")
        self.runs = runs


def simulated_mark(models: Sequence[ModelIdentity], answered: Container[str]) -> dict[str, str]:
    """Return the mark SIMULATED, or nothing: of `models`, which are simulated by their provider's name, and which by
    their own answers. `answered` holds the labels of those whose answers say so, wherever they were asked for."""
    simulated = [model.label for model in models if model.id.startswith("sim/") or model.label in answered]
    if not simulated:
        return {}
    which = "the models" if len(simulated) == len(models) else ", ".join(simulated)
    return {"SIMULATED": f"{which} answered by rules; the numbers say nothing about real models"}


def never_sent(line: Fields) -> RunError:
    """Return the error of a journal that holds a reply, `line`, to nothing that it says was sent."""
    return RunError(
        f"the journal holds a reply to an attempt of {line['u']} that it never recorded as sent: a line is missing. "
        "Restore the journal from a copy."
    )


def open_run(folder: Path, scoring: int | None = None) -> RunFolder:
    """Return the run in `folder`, as scoring number `scoring` has it (0: the run's own; None: the newest).

    Raises ConfigurationError when there is no run, or a manifest of another shape than a run's; RunError when there is
    no such scoring, or it is another run's, or when the journal is gone or another run's.
    """
    if not folder.is_dir():
        raise ConfigurationError(f"there is no folder {folder}. `turntide run` says where it put its run.")
    manifest = Manifest.load(folder)
    for part, shape in ((manifest.identity, _Identity), (manifest.settings, _Settings)):
        shaped(part, shape, folder)
    if shards := shards_of(folder, manifest):
        return RunFolder(folder, manifest, shards=tuple(open_run(shard, scoring) for shard in shards))
    require_journal(folder, manifest.run)
    number = max(numbers(folder), default=0) if scoring is None else scoring
    return RunFolder(folder, manifest, _scoring(folder, manifest.run, number) if number else None)


def _scoring(folder: Path, run: str, number: int) -> Scoring:
    scoring = Scoring(folder, number)
    scoring.require(run)
    return scoring


def differing(runs: Sequence[RunFolder]) -> Iterator[str]:
    """Yield in which data, prompts and options later runs differ from the first; their plans are left out."""
    for run in runs[1:]:
        old, new = ({k: v for k, v in each.identity["experiment"].items() if k != "plan"} for each in (runs[0], run))
        yield from (f"{run.folder} differs in {each}" for each in differences(old, new))


def scoring_facts(runs: Sequence[RunFolder]) -> dict[str, Json]:
    """Return what reports say of scorings that came after the runs' own: nothing when there is none."""
    said: list[Json] = []
    for run in chain.from_iterable(run.parts for run in runs):
        if scoring := run.scoring:
            differs: list[str] = scoring.seal["differs"]
            said.append(f"number {scoring.number} of `rescore`, data {'; '.join(differs) or 'as in the run'}")
    return {"scoring": said} if said else {}


def scoring_warnings(runs: Sequence[RunFolder]) -> Iterator[str]:
    """Yield a warning for every run that went on after it was scored again."""
    for run in chain.from_iterable(run.parts for run in runs):
        if run.scoring and (late := outdated(run.journal(), run.scoring)):
            yield (
                f"{late:,} records are newer than scoring {run.scoring.number} and stand as the run scored them: "
                "`turntide rescore` scores all alike"
            )


def in_order(runs: Sequence[RunFolder]) -> list[RunFolder]:
    """Return `runs` in an order that follows from what they are, whatever their folders and the order given."""
    return sorted(runs, key=lambda run: canonical(run.identity))


def require_agreement(runs: Sequence[RunFolder], may_differ: Callable[[Difference], bool]) -> None:
    """Raise ConfigurationError, with the difference shown, unless the runs can be read as one.

    Their identities must be equal but for their models and what else `may_differ`; one label must mean one model.
    """
    for one, other in combinations(runs, 2):
        found = [each for each in differences(_but_models(one), _but_models(other)) if not may_differ(each)]
        found += differences(_models_shared(one, other), _models_shared(other, one), "models")
        if found:
            shown = [f"  {each}" for each in found[:_SHOWN]]
            shown += [f"  ... and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
            raise ConfigurationError(
                f"{one.folder} and {other.folder} cannot be read as one, for they differ:\n"
                + "\n".join([*shown, "Report them apart."])
            )


def _but_models(run: RunFolder) -> Json:
    """Return what decides a run but for its models, and for how its plan was cut."""
    return {name: value for name, value in run.identity.items() if name not in ("models", "shards", "shard")}


def _models_shared(run: RunFolder, other: RunFolder) -> Json:
    labels = {model.label for model in other.models}
    return {m.label: {"id": m.id, "options": m.options} for m in run.models if m.label in labels}
