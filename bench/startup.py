"""How long it takes to start: the command line, and a run up to its first request."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Final

from turntide.adapters.simulated import SimulatedServer

from tests.support.processes import descendants

from .figures import Figure, median_ratio, rounds
from .folders import temporary
from .processes import TURNTIDE, Spent, cpu, timed

PATIENCE: Final = 60.0


def measure(quick: bool) -> Iterator[Figure]:
    """Yield the CPU time of `turntide --help`, and the seconds until a run's first request has arrived."""
    costs = rounds(
        {
            "help": lambda: timed([*TURNTIDE, "--help"], {}).cpu,
            "python": lambda: timed([sys.executable, "-c", "import argparse"], {}).cpu,
        },
        quick,
    )
    yield Figure(name="turntide --help, CPU", value=statistics.median(costs["help"]), unit="s", at_most=0.2)
    ratio = median_ratio(costs["help"], costs["python"])
    yield Figure(name="turntide --help over an empty Python", value=ratio, unit="×", ratio=True)
    first_request()  # builds what is built once per machine: databases, gold results, embeddings
    spent = [first_request() for _ in range(1 if quick else 3)]
    wall, used = min(one.wall for one in spent), min(one.cpu for one in spent)
    yield Figure(name="first request of a run, best of three", value=wall, unit="s", at_most=2)
    yield Figure(name="first request of a run, CPU of all its processes", value=used, unit="s")


def first_request() -> Spent:
    """Start the whole benchmark with one model, and end it when the provider has seen a request."""
    with SimulatedServer.start() as server, temporary() as folder:
        command = [*TURNTIDE, "run", "enterprisemem", "--model", "sim/reader-perfect", "--out", f"{folder}/run"]
        environ = {**os.environ, "TURNTIDE_SIM_BASE_URL": server.base_url}
        began = time.perf_counter()
        with subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
            while not server.stats()["requests"]:
                if run.poll() is not None or time.perf_counter() - began > PATIENCE:
                    run.kill()
                    raise RuntimeError(f"the run sent nothing: {run.stderr.read().decode() if run.stderr else ''}")
                time.sleep(0.005)
            spent = Spent(time.perf_counter() - began, sum(map(cpu, (run.pid, *descendants(run.pid)))))
            run.kill()
    return spent
