"""One part of a sweep of 1,000 dialogues at once under a cap of one dollar, to be killed at any moment:
`python capped.py FOLDER BASE_URL PRICES`. Three models of different cost per answer."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from turntide.engine.spec import ModelSpec, Settings, Spec
from turntide.engine.watch.summary import Summary

from tests.support.toy import Toy, run_toy

CAP = "1.00"
MODELS = tuple(f"sim/echo?reasoning_tokens={tokens}" for tokens in (0, 30, 80))
UNITS = 1002
"""Of each model; a third of them are free to run at once, so that with all models it is a thousand."""


def spec(prices: str) -> Spec:
    """Return the sweep: a thousand calls may be on the wire, and no known rate slows them."""
    settings = Settings(
        sql_workers=1, concurrency=340, in_flight=1000, rpm=6_000_000, max_cost=CAP, prices=prices, backoff=0.02
    )
    models = [ModelSpec(id=model, options={"max_tokens": 200}) for model in MODELS]
    return Spec(benchmark="toy", models=models, settings=settings)


async def part(folder: Path, base_url: str, prices: str) -> Summary:
    """Run, or go on with, the sweep."""
    return await run_toy(folder, base_url, spec=spec(prices), toy=Toy(folder.parent / "data", UNITS))


if __name__ == "__main__":
    sys.exit(asyncio.run(part(Path(sys.argv[1]), sys.argv[2], sys.argv[3])).exit_code)
