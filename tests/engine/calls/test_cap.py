"""A cap of one dollar over 1,000 dialogues at once: never exceeded, also when killed and resumed at random."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from turntide.adapters.simulated import Config, SimulatedServer
from turntide.engine.calls.budget import Budget
from turntide.engine.calls.ledger import Ledger
from turntide.engine.journal import scan

from ...support import capped

ROOT = Path(__file__).parents[3]
INPUT, OUTPUT = Decimal("2e-6"), Decimal("8e-6")
"""USD per token."""


def committed(folder: Path) -> Decimal:
    """Return the most that a run can have cost, by its journal alone."""
    budget = Budget()
    ledger = Ledger(budget)
    for line in scan(folder / "journal.jsonl"):
        ledger.visit(line)
    ledger.close()
    return budget.committed


def billed(stats: dict[str, Any]) -> Decimal:
    """Return what the provider would bill: all that it answered, whether the answer was heard or not."""
    return stats["tokens"]["input"] * INPUT + stats["tokens"]["output"] * OUTPUT


def test_a_thousand_dialogues_at_once_never_exceed_a_dollar_also_when_killed_and_resumed(tmp_path: Path) -> None:
    chance = random.Random()
    folder, prices, cap = tmp_path / "run", tmp_path / "prices.toml", Decimal(capped.CAP)
    rates = f'input = "{INPUT * 10**6}"\noutput = "{OUTPUT * 10**6}"\n'
    prices.write_text(f'[[price]]\nmodels = ["sim/*"]\nfrom = 2020-01-01\nsource = "test"\n{rates}')
    with SimulatedServer.start(Config(latency="uniform:0.01:0.3")) as server:
        command = [sys.executable, "-m", "tests.support.capped", str(folder), server.base_url, str(prices)]
        for _ in range(3):
            seen = answered(server)
            with subprocess.Popen(command, cwd=ROOT, env=dict(os.environ)) as child:
                while child.poll() is None and answered(server) == seen:
                    time.sleep(0.01)
                time.sleep(chance.uniform(0.0, 0.4))
                child.send_signal(signal.SIGKILL)
            assert committed(folder) <= cap
        last = subprocess.run(command, cwd=ROOT, check=False, timeout=60)
        stats = server.stats()
    assert last.returncode == 4
    assert billed(stats) <= committed(folder) <= cap
    # Not held by being idle: calls of unequal cost were out by the dozen, and the dollar is gone.
    assert cast("dict[str, int]", stats["in_flight"])["most"] > 50
    assert committed(folder) > cap - Decimal("0.01")
    costs = {line["usd"] for line in scan(folder / "journal.jsonl") if line["k"] == "answer"}
    assert len(costs) > 1


def answered(server: SimulatedServer) -> int:
    count = server.stats()["answered"]
    assert isinstance(count, int)
    return count
