"""The whole sweep of EnterpriseMem-Bench: 35,000 turns over loopback HTTP, five models that answer at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from turntide.adapters.simulated import SimulatedServer
from turntide.engine.cli.demo import MODELS
from turntide.engine.journal import scan

from .figures import Figure
from .folders import temporary
from .processes import TURNTIDE, Watched, cpu, timed, watch

QUICK_SESSIONS = 100


def measure(quick: bool) -> Iterator[Figure]:
    """Yield the sweep's seconds, turns per second, where the CPU time went, and the seconds of its report."""
    done = finished(quick)
    seen, turns = done.seen, done.turns
    yield Figure(name=f"sweep of {turns:,} turns", value=seen.wall, unit="s", at_most=None if quick else 120)
    yield Figure(name="turns per second", value=turns / seen.wall, unit="/s")
    parts = {"engine": seen.cpu, "its SQL and embedding workers": seen.descendants_cpu, "provider": done.provider}
    for name, seconds in parts.items():
        yield Figure(name=f"CPU per turn, {name}", value=seconds / turns, unit="s")
    yield Figure(name="memory of the engine, at most", value=max(seen.memory), unit="MB")
    report = timed([*TURNTIDE, "report", str(done.folder)], {})
    yield Figure(name=f"report of {turns:,} turns", value=report.wall, unit="s")


@dataclass(frozen=True, slots=True)
class Sweep:
    """A finished sweep: its folder (kept until this process ends), what was seen of it, and the provider's CPU time."""

    kept: TemporaryDirectory[str]
    seen: Watched
    turns: int
    provider: float

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return Path(self.kept.name) / "run"


@cache
def finished(quick: bool) -> Sweep:
    """Run the sweep, once in this process."""
    kept = temporary()
    sessions = ("--limit", str(QUICK_SESSIONS)) if quick else ()
    models = [word for model in MODELS for word in ("--model", f"sim/{model}")]
    command = (*TURNTIDE, "run", "enterprisemem", *models, *sessions, "--out", f"{kept.name}/run")
    with SimulatedServer.start() as server:
        seen = watch(command, {"TURNTIDE_SIM_BASE_URL": server.base_url})
        provider = cpu(server.pid)
    if seen.code:
        raise RuntimeError(f"the sweep ended with code {seen.code}: try `turntide {' '.join(command[3:])}`")
    turns = sum(line["k"] == "answer" for line in scan(Path(kept.name) / "run" / "journal.jsonl"))
    return Sweep(kept, seen, turns, provider)
