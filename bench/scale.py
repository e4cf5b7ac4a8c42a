"""Past one process: shards under one limit and one cap, and a forecast beside the run that it is of."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from turntide.adapters.simulated import Config, SimulatedServer
from turntide.adapters.simulated.config import Limits
from turntide.engine.journal import Fields, scan
from turntide.engine.shards.fleet import spent

from .figures import Figure
from .folders import temporary
from .processes import TURNTIDE

SHARDS: Final = 4
RPM: Final = 1_200
MODEL: Final = "sim/reader-perfect"
LATENCY: Final = "lognormal:0.3:0.5"
SWEEP: Final = ("enterprisemem", "--model", MODEL, "--embedder", "lexical", "--condition", "B", "--condition", "B_wm5")
PRICES: Final = f'[[price]]\nmodels = ["{MODEL}"]\nfrom = 2025-01-01\ninput = "2"\noutput = "8"\nsource = "bench"\n'
CAP: Final = Decimal("0.50")


def measure(quick: bool) -> Iterator[Figure]:
    """Yield how well shards use one limit, what they spend of one cap, and how far a forecast is from its run."""
    on = "ray" if find_spec("ray") else "process"
    with temporary() as kept:
        folder = Path(kept).absolute()
        (folder / "prices.toml").write_text(PRICES)
        yield from _limit(folder, on, "60" if quick else "240")
        yield _cap(folder, "60")
        yield _forecast(folder, "20" if quick else "100")


def _limit(folder: Path, on: str, sessions: str) -> Iterator[Figure]:
    """Run shards under a limit that the provider enforces by the second."""
    words = ("--rpm", str(RPM), "--limit", sessions, "--shards", str(SHARDS), "--on", on, "--out", "limit")
    with SimulatedServer.start(Config(latency=LATENCY, limits=Limits(requests_per_minute=RPM, window=1))) as server:
        _turntide(folder, server.base_url, "run", *SWEEP, *words)
        statuses = server.stats()["by_status"]
    assert isinstance(statuses, dict)
    answered = sorted(line["at"] for line in _lines(folder / "limit") if line["k"] == "answer")
    # From when all shards are at it to when the first of them runs dry: by then most answers have come.
    first, last = len(answered) // 4, len(answered) * 3 // 4
    reached = 100 * (last - first) / (answered[last] - answered[first]) * 60 / RPM
    yield Figure(name=f"reached of {RPM:,} a minute, {SHARDS} shards on {on}", value=reached, unit="%", at_least=95)
    refused = statuses.get("429", 0)
    assert isinstance(refused, int)
    yield Figure(name=f"429s, {SHARDS} shards on {on}", value=refused, at_most=0)


def _cap(folder: Path, sessions: str) -> Figure:
    """Run shards into a cap that they share."""
    words = ("--max-cost", str(CAP), "--max-tokens", "200", "--prices", "prices.toml", "--shards", str(SHARDS))
    with SimulatedServer.start(Config(latency=LATENCY)) as server:
        _turntide(folder, server.base_url, "run", *SWEEP, *words, "--limit", sessions, "--out", "cap", code=4)
    used = sum((spent(folder / "cap" / f"shard-{index}") for index in range(SHARDS)), Decimal(0))
    return Figure(name=f"spent of one cap by {SHARDS} shards", value=float(100 * used / CAP), unit="%", at_most=100)


def _forecast(folder: Path, sessions: str) -> Figure:
    """Run under a limit, and compare with the dry run at the latency that the run measured."""
    words = (*SWEEP, "--rpm", str(RPM), "--limit", sessions)
    with SimulatedServer.start(Config(latency=LATENCY)) as server:
        _turntide(folder, server.base_url, "run", *words, "--out", "forecast")
    dry = _turntide(folder, "", "run", *words, "--dry-run", "--latency", "forecast")
    lines = list(_lines(folder / "forecast"))
    began = next(datetime.fromisoformat(line["began"]).timestamp() for line in lines if line.get("began"))
    taken = max(line["at"] for line in lines if line["k"] == "answer") - began
    off = 100 * abs(dry["total"]["wall_seconds"] / taken - 1)
    return Figure(name=f"forecast off a run of {taken:,.0f} s", value=off, unit="%", at_most=5)


def _turntide(folder: Path, url: str, *words: str, code: int = 0) -> Mapping[str, Any]:
    environ = {**os.environ, "TURNTIDE_SIM_BASE_URL": url} if url else dict(os.environ)
    command = [*TURNTIDE, *words, "--json"]
    ran = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    if ran.returncode != code:
        raise RuntimeError(f"`turntide {' '.join(words)}` ended with {ran.returncode}: {ran.stderr}")
    return json.loads(ran.stdout)


def _lines(run: Path) -> Iterator[Fields]:
    for journal in sorted(run.glob("**/journal.jsonl")):
        yield from scan(journal)
