"""Memory of the engine's process with 2,000 dialogues in flight, over 42,000 turns."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import Final

from turntide.adapters.simulated import Config, SimulatedServer
from turntide.engine.cli.demo import MODELS

from .figures import Figure
from .folders import temporary
from .processes import TURNTIDE, watch

CONCURRENCY: Final = 400
LATENCY: Final = 0.5
"""Seconds per answer: long enough that the dialogues are on the wire and not in a queue of ours."""


def measure(quick: bool) -> Iterator[Figure]:
    """Yield the most that the process held, and how much more in the last quarter than in the third.

    Conditions A, B and B_wm5, whose sessions all run at once; five models, two repeats.
    """
    models = [word for model in MODELS for word in ("--model", f"sim/{model}")]
    conditions = [word for name in ("A", "B", "B_wm5") for word in ("--condition", name)]
    window = ("--concurrency", str(CONCURRENCY), "--in-flight", str(CONCURRENCY * len(MODELS)))
    repeats = ("--repeats", "1" if quick else "2")
    with temporary() as folder, SimulatedServer.start(Config(latency=LATENCY)) as server:
        command = (*TURNTIDE, "run", "enterprisemem", *models, *conditions, *window, *repeats, "--out", f"{folder}/run")
        seen = watch(command, {"TURNTIDE_SIM_BASE_URL": server.base_url})
        stats = server.stats()
    if seen.code:
        raise RuntimeError(f"the run ended with code {seen.code}")
    in_flight = stats["in_flight"]
    assert isinstance(in_flight, dict)
    assert isinstance(in_flight["most"], int)
    quarter = len(seen.memory) // 4
    third, last = fmean(seen.memory[2 * quarter : 3 * quarter]), fmean(seen.memory[3 * quarter :])
    yield Figure(name="calls on the wire, at most", value=in_flight["most"])
    yield Figure(name="resident memory, at most", value=max(seen.memory), unit="MB", at_most=200)
    yield Figure(name="last quarter over third quarter", value=last / third, unit="×", at_most=1.05)
