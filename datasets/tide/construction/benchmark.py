"""Construction as a plugin of the engine: its options, its commands, and how it is opened on its anchors."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

import msgspec

from ....adapters.base import ConfigurationError, Json
from ....engine.spec import ModelSpec, checked
from ....engine.unit import Experiment
from ...arguments import add_places

if TYPE_CHECKING:
    from ....engine.benchmark import Arguments, Subparsers
    from ..samples import Triplet
    from .settings import Source

JUDGES: Final = 2
_MADE: Final[Mapping[str, tuple[str, ...]]] = {
    "chain": ("model", "template", "none"), "evidence": ("model", "rules"), "drift": ("model", "tree"),
}  # fmt: skip
"""What may serve each stage, besides a file of triplets. Without a chain there are drift-only samples alone."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options, as a specification file's `[options]` may hold them too; a model may be a table (docs/tide.md)."""

    anchors: str = ""
    data: str = ""
    databases: dict[str, str] = {}
    chain: str = "model"
    evidence: str = "model"
    drift: str = "model"
    judges: tuple[str | ModelSpec, ...] = ()
    drift_judges: tuple[str | ModelSpec, ...] = ()
    rewriter: str | ModelSpec | None = None
    tester: str | ModelSpec | None = None
    attempts: Annotated[int, msgspec.Meta(ge=1, le=20)] = 3
    schemas: Literal["send", "omit"] = "send"


class TideBuild:
    """Builds triplets of TIDE-Bench from anchors; `--model` is the generator."""

    name = "tide-build"
    summary = "TIDE-Bench construction: from BIRD's questions to triplets"

    def add_arguments(self, parser: Arguments) -> None:
        """Add the options of `turntide run tide-build`."""
        parser.add_argument("--anchors", metavar="FILE", help="the anchors (`turntide tide-build anchors`)")
        add_places(parser, data="folder with the databases")
        for stage, made in _MADE.items():
            served = "|".join((*made, "FILE"))
            parser.add_argument(f"--{stage}", metavar=served, help=f"what serves the {stage} (default: model)")
        parser.add_argument(
            "--judge", dest="judges", action="append", metavar="P/ID", help="a judge; give two, or none at all"
        )
        parser.add_argument(
            "--drift-judge", dest="drift_judges", action="append", metavar="P/ID",
            help="a judge of drifts (default: the judges)",
        )  # fmt: skip
        parser.add_argument("--rewriter", metavar="P/ID", help="rewrites the evidence (default: the generator)")
        parser.add_argument("--tester", metavar="P/ID", help="rebuilds the queries (Table 8; default: no test)")
        parser.add_argument("--attempts", type=int, metavar="N", help="tries at each piece of a model (3)")
        parser.add_argument(
            "--schemas", choices=["send", "omit"], help="send the JSON Schema of each answer with its question (send)"
        )

    def add_commands(self, commands: Subparsers) -> None:
        """Add `anchors`."""
        from .cli import add_commands

        add_commands(commands)

    def stand_in(self, options: Mapping[str, Json]) -> str | None:
        """Return the name to run under when no stage asks a generator: it is never asked, and so need not be named.

        Raises ConfigurationError for a stage that nothing can serve, which is at fault before the missing model is.
        """
        for stage in _MADE:
            _check_source(stage, str(options.get(stage, "model")))
        asked = any(options.get(stage, "model") == "model" for stage in ("chain", "drift"))
        chained = options.get("chain") != "none"
        rewrites = chained and options.get("evidence", "model") == "model" and not options.get("rewriter")
        return None if asked or rewrites else "sim/echo"

    @asynccontextmanager
    async def open(self, options: Mapping[str, Json], *, seed: int, limit: int | None) -> AsyncGenerator[Experiment]:
        """Open anchors and databases. Raises ConfigurationError that says what is missing or wrong."""
        yield _opened(_checked(options), limit)


def _opened(chosen: Options, limit: int | None) -> Experiment:
    from ....engine.system.digests import file_digest
    from ...databases import placed
    from .anchors import load_anchors
    from .experiment import BuildExperiment, Setup
    from .settings import Sources

    path = Path(chosen.anchors)
    file = load_anchors(path)
    anchors = file.anchors[:limit]
    databases = placed(dict.fromkeys(anchor.database for anchor in anchors), chosen.data, chosen.databases)
    if file.design.opens and chosen.chain == "template":
        raise ConfigurationError(
            "templates leave questions open, not drifts: `turntide data build tide --chain-at` makes both at once"
        )
    pieces = {stage: Path(served) for stage in _MADE if (served := getattr(chosen, stage)) not in _MADE[stage]}

    judges = _labelled("judge", chosen.judges)
    drift_judges = _labelled("drift judge", chosen.drift_judges)
    single = [(role, getattr(chosen, role)) for role in ("rewriter", "tester")]
    setup = Setup(
        file=file,
        file_sha256=file_digest(path),
        anchors=anchors,
        databases=databases,
        sources=Sources(
            chain=_source(chosen, "chain"),
            evidence=_source(chosen, "evidence"),
            drift=_source(chosen, "drift"),
            judges=tuple(judge.label for judge in judges),
            drift_judges=tuple(judge.label for judge in drift_judges or judges),
            rewriter=chosen.rewriter is not None,
            tester=chosen.tester is not None,
            attempts=chosen.attempts,
            design=file.design,
            files={stage: _pieces(place) for stage, place in pieces.items()},
        ),
        auxiliary=(*judges, *drift_judges, *(_labelled_as(role, model) for role, model in single if model)),
        piece_files={stage: file_digest(place) for stage, place in pieces.items()},
        schemas=chosen.schemas == "send",
    )
    return BuildExperiment(setup)


def _source(chosen: Options, stage: str) -> Source:
    served = getattr(chosen, stage)
    return cast("Source", served if served in _MADE[stage] else "file")


def _pieces(path: Path) -> dict[tuple[str, str], Triplet]:
    from ..files import load_triplets
    from ..parsing import UnparsableSql
    from .settings import by_query

    try:
        return by_query(load_triplets(path).triplets)
    except UnparsableSql as error:
        raise ConfigurationError(f"{path}: {error}; `turntide data check tide --samples {path}` says where") from None


def _labelled(role: str, models: tuple[str | ModelSpec, ...]) -> list[ModelSpec]:
    return [_labelled_as(f"{role} {number}", model) for number, model in enumerate(models, 1)]


def _labelled_as(label: str, model: str | ModelSpec) -> ModelSpec:
    spec = ModelSpec(id=model) if isinstance(model, str) else model
    return msgspec.structs.replace(spec, label=label)


def _checked(options: Mapping[str, Any]) -> Options:
    chosen = checked(dict(options), Options, "tide-build, options")
    if not chosen.anchors:
        raise ConfigurationError("--anchors FILE is missing; `turntide tide-build anchors` selects some")
    for stage in _MADE:
        _check_source(stage, getattr(chosen, stage))
    for option, judges in (("--judge", chosen.judges), ("--drift-judge", chosen.drift_judges)):
        if len(judges) not in (0, JUDGES):
            raise ConfigurationError(f"{option} is given {len(judges)} times; two judges must pass a piece, or none do")
        if len(judges) == JUDGES and judges[0] == judges[1]:
            raise ConfigurationError(f"{option} names one model twice; two independent judges must pass a piece")
    models = (*chosen.judges, *chosen.drift_judges, chosen.rewriter, chosen.tester)
    for model in models:
        if isinstance(model, str) and "/" not in model:
            raise ConfigurationError(f"{model!r} is not provider/model")
    return chosen


def _check_source(stage: str, served: str) -> None:
    made = _MADE[stage]
    if served not in made and not Path(served).is_file():
        raise ConfigurationError(
            f"--{stage} is {', '.join(made)} or a file of triplets, and there is no such file as {served}"
        )


benchmark = TideBuild()
"""What the entry point loads to."""
