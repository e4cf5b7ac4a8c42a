"""TIDE-Bench as a plugin of the engine: its options, its commands, and how it is opened on its data."""

from __future__ import annotations

import argparse
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ...adapters.base import ConfigurationError, Json
from ...engine.spec import ModelSpec, checked
from ...engine.unit import Experiment
from ..arguments import add_places, require_both

if TYPE_CHECKING:
    from ...engine.benchmark import Arguments, Subparsers
    from .samples import Sample


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The benchmark's options, as a specification file's `[options]` may hold them too.

    `user_model` is `rules`, `provider/model`, or a table with its `id` and, if it is to have them, `options`, `rpm`,
    `tpm` and `in_flight` of its own.
    """

    samples: str = ""
    data: str = ""
    databases: dict[str, str] = {}
    protocols: tuple[Literal["f", "p"], ...] = ("f", "p")
    sets: tuple[Literal["chain", "drift", "joint"], ...] = ("chain", "drift", "joint")
    user_model: str | ModelSpec = "rules"
    evidence: Literal["rewritten", "original"] = "rewritten"
    probes: bool = False
    """Score the models as routers of the user simulator instead (`turntide tide check-simulator`)."""


class Tide:
    """TIDE-Bench: conversational text-to-SQL under chain ambiguity and intent drift."""

    name = "tide"
    summary = "TIDE-Bench: chain ambiguity and intent drift in 514 triplets of dialogues"

    def add_arguments(self, parser: Arguments) -> None:
        """Add the benchmark's options of `turntide run`."""
        parser.add_argument("--samples", metavar="FILE", help="a file of triplets (default: ours, over synthetic data)")
        add_places(parser, data="folder with the databases, or `synthetic`: the look-alikes")
        parser.add_argument(
            "--protocol",
            dest="protocols",
            type=_listed("f", "p"),
            metavar="f,p",
            help="f: from the question; p: with the first layer resolved (default: both)",
        )
        parser.add_argument(
            "--set",
            dest="sets",
            type=_listed("chain", "drift", "joint"),
            metavar="chain,drift,joint",
            help="which samples of each triplet (default: all three)",
        )
        parser.add_argument(
            "--user-model", metavar="P/ID", help="the model that plays the user (default: rules, which needs none)"
        )
        parser.add_argument(
            "--evidence", choices=["rewritten", "original"], help="which evidence agents see (default: rewritten)"
        )

    def add_commands(self, commands: Subparsers) -> None:
        """Add `commitments` and `drift`."""
        from .cli import add_commands

        add_commands(commands)

    @asynccontextmanager
    async def open(self, options: Mapping[str, Json], *, seed: int, limit: int | None) -> AsyncGenerator[Experiment]:
        """Open triplets and databases. Raises ConfigurationError that says what is missing or wrong."""
        chosen = _checked(options)
        if chosen.probes:
            from .simulator.checking import ProbeExperiment

            yield ProbeExperiment(limit)
        else:
            yield _opened(chosen, limit)


def _opened(chosen: Options, limit: int | None) -> Experiment:
    from ...engine.system.digests import file_digest
    from ..databases import placed
    from .embedded import embedded_triplets
    from .experiment import Setup, TideExperiment
    from .files import load_triplets
    from .samples import samples

    require_both(
        "triplets",
        "--samples FILE",
        chosen.samples,
        places=bool(chosen.data or chosen.databases),
        remedy="Name both, or neither for the synthetic default.",
    )
    path = Path(chosen.samples) if chosen.samples else embedded_triplets()
    file = load_triplets(path)
    # Whole triplets, never some samples of one: what is compared across its sets is there in each of them.
    asked = [sample for sample in samples(file.triplets[:limit]) if sample.kind in chosen.sets]
    known = _databases_of(list(samples(file.triplets)))
    databases = placed(_databases_of(asked), chosen.data, chosen.databases, known)
    setup = Setup(
        samples=tuple(asked),
        samples_sha256=file_digest(path),
        synthetic=file.synthetic,
        databases=databases,
        protocols=tuple(dict.fromkeys(chosen.protocols)),
        evidence=chosen.evidence,
        user=_user(chosen.user_model),
    )
    return TideExperiment(setup)


def _databases_of(asked: Sequence[Sample]) -> list[str]:
    return list(dict.fromkeys(sample.triplet.database for sample in asked))


def _user(model: str | ModelSpec) -> ModelSpec | None:
    if model == "rules":
        return None
    return ModelSpec(id=model) if isinstance(model, str) else model


def _checked(options: Mapping[str, Any]) -> Options:
    chosen = checked(dict(options), Options, "tide, options")
    if not chosen.protocols or not chosen.sets:
        raise ConfigurationError("nothing to run: name at least one protocol and one set")
    if isinstance(chosen.user_model, str) and chosen.user_model != "rules" and "/" not in chosen.user_model:
        raise ConfigurationError(f"--user-model is rules or provider/model, not {chosen.user_model!r}")
    return chosen


def _listed(*known: str) -> Callable[[str], list[str]]:
    """Return a converter of comma-separated names."""

    def convert(text: str) -> list[str]:
        names = [name.strip() for name in text.split(",") if name.strip()]
        unknown = [name for name in names if name not in known]
        if unknown or not names:
            raise argparse.ArgumentTypeError(f"{(unknown or [text])[0]!r} is none of {', '.join(known)}")
        return names

    return convert


benchmark = Tide()
"""What the entry point loads to."""
