"""The report of a construction: the funnel, why anchors were dropped, how far judges agree, and what came of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...adapters.base import Json
from ...datasets.tide.construction.experiment import BuildPlan
from ...datasets.tide.construction.record import BuildRecord, read_record
from ...engine.journal import Fields, key_of
from ..configurations import models_table, substitutions
from ..reading import (
    ModelIdentity,
    NothingScored,
    RunFolder,
    in_order,
    never_sent,
    require_agreement,
    scoring_facts,
    scoring_warnings,
    simulated_mark,
)
from ..report import Report
from ..spending import Spent, cost
from .funnel import tables


@dataclass(slots=True)
class Build:
    """What one or more run folders hold together: shards of one construction, or several generators on its anchors.

    `generators` are the labels of those that build, `models` all that may be asked. By the label of the model that was
    asked: `spent`, and in `returned` the answers by the id that came back; `simulated` are those whose answers say that
    they are. `tainted` are databases that changed while a run used them.
    """

    plan: BuildPlan
    generators: tuple[str, ...]
    models: tuple[ModelIdentity, ...]
    planned: int
    records: list[BuildRecord] = field(default_factory=list[BuildRecord])
    spent: defaultdict[str, Spent] = field(default_factory=lambda: defaultdict[str, Spent](Spent))
    returned: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict[str, Counter[str]](Counter))
    simulated: set[str] = field(default_factory=set[str])
    tainted: set[str] = field(default_factory=set[str])

    @property
    def asked(self) -> list[ModelIdentity]:
        """The models that gave an answer; a generator that no stage asks is not among them."""
        return [model for model in self.models if model.label in self.spent]

    def read(self, run: RunFolder) -> None:
        """Take in the journal of one run."""
        labels: dict[object, str] = {}
        for line in run.lines(BuildRecord):
            match line["k"]:
                case "sent":
                    labels[key_of(line)] = line["m"]
                case "answer":
                    self._answered(line, labels.pop(key_of(line), None))
                case "record":
                    self.records.append(read_record(line["fields"]))
                case "tainted":
                    self.tainted.update(line["databases"])
                case _:
                    pass

    def _answered(self, line: Fields, label: str | None) -> None:
        if label is None:
            raise never_sent(line)
        self.spent[label].add(line)
        self.returned[label][line["model"]] += 1
        if "simulated" in line:
            self.simulated.add(label)


def report(runs: Sequence[RunFolder]) -> Report:
    """Return the report.

    Raises ConfigurationError when the runs do not belong together, NothingScored when no anchor is through.
    """
    build = read_build(runs)
    if not build.records:
        raise NothingScored("no anchor is through", runs)
    spent = {(model.label, "all"): build.spent[model.label] for model in build.asked}
    return Report(
        title=f"TIDE-Bench construction: {build.plan.anchors:,} anchors",
        marks=dict(marks_of(build)),
        facts=_facts(runs, build),
        warnings=[*substitutions(build.asked, build.returned), *_moved(runs[0], build.plan), *scoring_warnings(runs)],
        tables=[
            *tables(build.plan, build.records, build.planned),
            models_table(build.asked, build.returned),
            cost(spent, "part"),
        ],
    )


def read_build(runs: Sequence[RunFolder]) -> Build:
    """Read the runs as one construction, its records in plan order: by generator as named, then by anchor."""
    require_agreement(runs, lambda difference: False)
    runs = in_order(runs)
    generators = {model.label: model for run in runs for model in run.models}
    others = {model.label: model for run in runs for model in run.auxiliary}
    plan = runs[0].plan(BuildPlan)
    planned = plan.anchors * runs[0].identity["repeats"] * len(generators)
    build = Build(plan, tuple(generators), tuple({**generators, **others}.values()), planned)
    for run in runs:
        build.read(run)
    build.records.sort(key=lambda record: (build.generators.index(record.model), record.repeat, record.anchor))
    return build


def marks_of(build: Build) -> Iterator[tuple[str, str]]:
    """Yield what no reader may miss."""
    yield from simulated_mark(build.asked, build.simulated).items()
    if build.plan.synthetic:
        yield "SYNTHETIC", f"generated look-alikes stand in for {', '.join(build.plan.synthetic)}"
    pieces = (("chains", build.plan.judges or not build.plan.chained), ("drifts", build.plan.drift_judges))
    if unjudged := [name for name, judged in pieces if not judged]:
        yield "UNJUDGED", f"no judge saw the {' and the '.join(unjudged)}"
    if build.tainted:
        changed = ", ".join(sorted(build.tainted))
        yield "TAINTED", f"the databases {changed} changed while a run used them; what was built cannot be trusted"
    if len(build.records) < build.planned:
        yield "INCOMPLETE", f"{len(build.records):,} of {build.planned:,} anchors are through"


def _moved(run: RunFolder, plan: BuildPlan) -> Iterator[str]:
    """Yield that databases are others than those of the anchors, if any is."""
    used = {name: each["sha256"] for name, each in run.identity["experiment"]["databases"].items()}
    moved = sorted(name for name, digest in plan.drawn_on.items() if used[name] != digest)
    if moved:
        yield (
            f"The anchors were selected on other files of {', '.join(moved)}: what their trees yield, and which of "
            "them run at all, may not hold here. Select them again with `turntide tide-build anchors`."
        )


def _facts(runs: Sequence[RunFolder], build: Build) -> Mapping[str, Json]:
    identity = runs[0].identity
    experiment = identity["experiment"]
    return {
        "anchors": {"sha256": experiment["anchors_sha256"]},
        "databases": {
            name: {"kind": "synthetic" if each["synthetic"] else "real", "sha256": each["sha256"]}
            for name, each in experiment["databases"].items()
        },
        "pieces": {**build.plan.sources, "attempts": build.plan.attempts},
        "prompts": {"sha256": experiment["prompts_sha256"]},
        "run": {"repeats": identity["repeats"], "seed": identity["seed"], "limit": identity["limit"]},
        **scoring_facts(runs),
    }
