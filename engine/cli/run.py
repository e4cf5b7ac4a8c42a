"""`turntide run` and `turntide resume`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...adapters.base import ConfigurationError
from ...adapters.capabilities import notice, preset
from .. import registry
from ..benchmark import MayAskNobody
from ..calls.choices import resolved
from ..spec import Settings, Spec, checked, load
from .arguments import at_least, dollars, model_id, moment, not_negative, positive

if TYPE_CHECKING:
    from ..benchmark import Subparsers

_SETTINGS = tuple(Settings.__struct_fields__)
_MODEL = "a model by its provider and id, such as openai/gpt-5-mini (docs/models.md); may be repeated"
_TAKES_TOML = ("--prices",)
_PRESETS = "a line-up of models: enterprisemem-paper, enterprisemem-paper-standard or tide-paper"


def add_parser(commands: Subparsers, words: Sequence[str]) -> None:
    """Add `run`; the options of the benchmark that `words` names are among its own."""
    parser = commands.add_parser(
        "run",
        help="run a benchmark, or go on with a run",
        description="Run a benchmark. The same command again goes on where the run stopped: no call is paid twice.",
    )
    parser.add_argument("target", metavar="BENCHMARK|SPEC.toml", help="an installed benchmark, or a specification")
    parser.add_argument(
        "--model", dest="models", action="append", type=model_id, default=[], metavar="P/ID[@VARIANT]", help=_MODEL
    )
    parser.add_argument("--preset", dest="presets", action="append", default=[], metavar="NAME", help=_PRESETS)
    parser.add_argument("--repeats", type=at_least(1), metavar="N", help="run every dialogue N times (default 1)")
    parser.add_argument("--seed", type=at_least(0), metavar="N", help="seed of the run (default 0)")
    parser.add_argument(
        "--limit",
        type=at_least(1),
        metavar="N",
        help="only the first N sessions (enterprisemem) or whole triplets (tide)",
    )
    parser.add_argument("--max-tokens", type=at_least(1), metavar="N", help="sent with every question")
    parser.add_argument("--temperature", type=not_negative, metavar="T", help="sent with every question")
    add_settings(parser)
    parser.add_argument(
        "--shards", type=at_least(1), metavar="N", help="cut the plan into N processes (docs/shards.md)"
    )
    parser.add_argument("--out", metavar="DIR", help="the run's folder (default runs/NAME, named by its identity)")
    parser.add_argument("--dry-run", action="store_true", help="print calls, tokens, cost and time; send nothing")
    took = "for --dry-run: how long a call takes (2), or the folder of a run that measured it"
    parser.add_argument("--latency", metavar="S|DIR", help=took)
    if name := _named(words):
        registry.benchmark_of(name).add_arguments(parser.add_argument_group(f"options of {name}"))
    parser.set_defaults(run=run)


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add what may change between two parts of a run."""
    group = parser.add_argument_group("settings that may change when a run goes on")
    group.add_argument("--max-cost", type=dollars, metavar="USD", help="hard cap on the money, over all parts")
    group.add_argument("--until", type=moment, metavar="WHEN", help="end by 07:30, or 2026-12-01T07:30; this part only")
    group.add_argument("--max-errors", type=at_least(1), metavar="N", help="failed dialogues that park a model (none)")
    group.add_argument("--concurrency", type=at_least(1), metavar="N", help="dialogues at once per model (64)")
    group.add_argument("--in-flight", type=at_least(1), metavar="N", help="calls on the wire per account (256)")
    group.add_argument("--rpm", type=positive, metavar="N", help="requests per minute per account")
    group.add_argument("--tpm", type=positive, metavar="N", help="tokens per minute per account")
    group.add_argument("--attempt-timeout", type=positive, metavar="S", help="seconds for one attempt (300)")
    group.add_argument("--retries", type=at_least(0), metavar="N", help="retries after faults; 0: none (5)")
    group.add_argument("--backoff", type=positive, metavar="S", help="seconds before the first retry (1)")
    group.add_argument("--sql-timeout", type=positive, metavar="S", help="seconds for one predicted query (30)")
    group.add_argument("--sql-workers", type=at_least(0), metavar="N", help="worker processes for SQL (one per core)")
    group.add_argument("--prices", metavar="FILE", help="a price table that goes before the built-in one")
    group.add_argument("--seed-from", metavar="DIR", help="take over a run's answers where the request is the same")
    in_batches = "send calls through the providers' batch APIs: slower, at their batch rates (docs/batch.md)"
    group.add_argument("--batch", action=argparse.BooleanOptionalAction, help=in_batches)
    group.add_argument(
        "--on", choices=("process", "ray"), help="what runs the shards: processes here (default), or Ray"
    )
    group.add_argument("--shard-redis", metavar="URL", help="where shards share limits and money (one of their own)")
    group.add_argument("--json", action="store_true", help="print the summary as JSON")


def _named(words: Sequence[str]) -> str:
    """Return the installed benchmark that the command line names, itself or in a specification; "" for none.

    Raises ConfigurationError when the specification cannot be read.
    """
    known = registry.names("benchmarks")
    for before, word in zip(["", *words], words, strict=False):
        if word in known:
            return word
        if word.endswith(".toml") and not word.startswith("-") and before not in _TAKES_TOML:
            name = load(Path(word)).benchmark
            return name if name in known else ""
    return ""


def run(args: argparse.Namespace) -> int:
    """Run what was asked for."""
    spec = specification(args)
    for model in spec.models:
        if said := notice(model.id, date.today()):
            print(f"turntide: {said}", file=sys.stderr)
    if args.dry_run:
        from ..folder.manifest import Manifest
        from .estimate import estimate

        if spec.settings.seed_from:
            Manifest.load(Path(spec.settings.seed_from))
        return estimate(spec, as_json=args.json, latency=args.latency)
    from .launch import launch

    return launch(spec, as_json=args.json, until=args.until, redis=args.shard_redis)


def specification(args: argparse.Namespace) -> Spec:
    """Return the specification that the arguments describe; a file's values give way to options that are set."""
    target: str = args.target
    if target.endswith(".toml") or Path(target).suffix == ".toml":
        base: dict[str, Any] = _builtins(load(Path(target)))
    elif target in registry.names("benchmarks"):
        base = {"benchmark": target, "models": [], "options": {}, "settings": {}}
    else:
        known = ", ".join(registry.names("benchmarks"))
        raise ConfigurationError(f"{target!r} is neither a TOML file nor an installed benchmark ({known}).")
    base["options"] |= given_options(args, base["benchmark"])
    base["models"] = _models(args) or base["models"] or _unasked(base)
    if not base["models"]:
        raise ConfigurationError("no model. Name at least one: --model provider/model.")
    for option in ("max_tokens", "temperature"):
        if getattr(args, option) is not None:
            for model in base["models"]:
                model["options"][option] = getattr(args, option)
    base |= {
        name: value
        for name in ("repeats", "seed", "limit", "shards", "out")
        if (value := getattr(args, name)) is not None
    }
    base["settings"] |= given_settings(args)
    return resolved(checked(base, Spec, target))


def _models(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the models that the arguments name, one by one or as line-ups."""
    named: list[str] = [*args.models, *(model for name in args.presets for model in preset(name))]
    return [{"id": model, "options": {}} for model in named]


def _unasked(base: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the name to run under where the benchmark says that, with these options, it asks no model of the run."""
    benchmark = registry.benchmark_of(base["benchmark"])
    named = benchmark.stand_in(base["options"]) if isinstance(benchmark, MayAskNobody) else None
    return [{"id": named, "label": "nobody", "options": {}}] if named else []


def given_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that the command line sets."""
    return {name: value for name in _SETTINGS if (value := getattr(args, name, None)) is not None}


def given_options(args: argparse.Namespace, name: str) -> dict[str, Any]:
    """Return the options of the benchmark that the command line sets."""
    own = argparse.ArgumentParser(add_help=False)
    registry.benchmark_of(name).add_arguments(own)
    dests = [action.dest for action in own._actions]  # pyright: ignore[reportPrivateUsage]
    return {dest: value for dest in dests if (value := getattr(args, dest, None)) not in (None, [])}


def _builtins(spec: Spec) -> dict[str, Any]:
    import msgspec

    return msgspec.to_builtins(spec)
