"""What the progress says: a run never just looks stuck."""

from __future__ import annotations

import asyncio
import io
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from turntide.engine.calls.budget import Budget
from turntide.engine.calls.limits.account import Limits
from turntide.engine.calls.routes import Routes
from turntide.engine.cli.launch import ending
from turntide.engine.cli.show import Pace, line, panel, summary_text
from turntide.engine.cli.words import clock, money
from turntide.engine.closing import Closing
from turntide.engine.progress import Progress
from turntide.engine.watch.live import Live
from turntide.engine.watch.summary import ModelSummary, Summary

from ...support.provider import ScriptedProvider, bench, fault, good, writing
from ...support.time import run_jumping


def test_a_line_names_retries_by_class_and_the_longest_wait_with_its_reason(tmp_path: Path) -> None:
    async def main() -> tuple[str, str, str]:
        from rich.console import Console

        scripted = ScriptedProvider(lambda n, body: fault(429, retry_after=60.0) if n == 0 else good())
        async with bench(tmp_path, scripted, limits=Limits(in_flight=4, adaptive=False), cap="9") as setup:
            setup.progress.of("m").planned = 10
            live = Live(setup.progress, setup.budget, Routes(by_label={"m": setup.route}), setup.closing, tmp_path)
            pace = Pace(live)
            asking = [asyncio.create_task(setup.ask(f"u{n}")) for n in range(10)]
            await asyncio.sleep(20)
            shown = line(live, pace)
            console = Console(width=200, record=True, file=io.StringIO())
            console.print(panel(live, pace, 200))
            wide = console.export_text()
            console = Console(width=60, record=True, file=io.StringIO())
            console.print(panel(live, pace, 60))
            await asyncio.gather(*asking)
            await live.routes.aclose()
            return shown, wide, console.export_text()

    shown, table, folded = run_jumping(main(), writing)
    assert "0/10 dialogues" in shown
    assert "retries rate_limit 1" in shown
    # The refused call comes back to the head of the queue within its first second of jitter.
    assert re.search(r"longest wait (19|20) s \(rate_limit \(server asked for 60\.0 s\)\)", shown)
    assert "of $9" in shown
    assert "rate_limit 1" in table
    assert "in flight" in table
    # At 60 columns nothing is cut: the numbers stand below the model's name.
    assert "\nm\n  0/10 done, 0 running, 0/4 in flight\n  retries: rate_limit 1\n  waits: " in folded
    assert "…" not in folded
    assert max(map(len, folded.splitlines())) <= 60


def test_the_time_left_is_unknown_until_something_ended(tmp_path: Path) -> None:
    async def main() -> str:
        progress = Progress()
        progress.of("m").planned = 10
        routes = Routes()
        live = Live(progress, Budget(), routes, Closing(), tmp_path)
        shown = line(live, Pace(live))
        await routes.aclose()
        return shown

    assert "time left unknown" in asyncio.run(main())


def test_a_run_that_ends_or_goes_on_says_how_many_statements_it_waits_for(tmp_path: Path) -> None:
    async def main() -> tuple[str, str]:
        routes = Routes()
        live = Live(Progress(), Budget(), routes, Closing(), tmp_path, lambda: 12)
        said = ending(live), line(live, Pace(live))
        await routes.aclose()
        return said

    ends, goes_on = asyncio.run(main())
    assert ends == ("ending: 0 calls on the wire will land first, 12 SQL statements will finish; once more to stop now")
    assert "0 in flight · 12 SQL statements" in goes_on


def test_durations_and_money_are_written_for_people() -> None:
    assert [clock(5), clock(65), clock(3_725)] == ["0:05", "1:05", "1:02:05"]
    assert money(Decimal("1.5"), Decimal(0), None) == "spent $1.5000"
    assert money(Decimal("1.5"), Decimal("0.25"), Decimal(2)) == "spent $1.5000 + $0.2500 exposed of $2"


def test_a_summary_says_of_each_model_how_it_ended_and_names_no_amount_for_what_has_no_price() -> None:
    began, cause = datetime(2026, 11, 30, 22, tzinfo=UTC), "its time is over"
    models = {
        "a/done": ModelSummary(planned=5, done=5, reason="", ended=began),
        "b/dead": ModelSummary(planned=5, done=2, reason="b/dead stopped: the key is not valid", ended=began),
        "c/late": ModelSummary(planned=5, done=4, reason=cause, ended=None, priced=False),
    }
    summary = Summary(
        state="incomplete",
        folder=Path("runs/a b"),
        models=models,
        known=Decimal("1.5"),
        exposed=Decimal(0),
        cap=Decimal(2),
        began=began,
        ended=began + timedelta(hours=9),
        causes=(cause,),
    )
    head, ended, spent, why, done, dead, late, after = summary_text(summary).splitlines()
    assert head == "incomplete: 11 of 15 dialogues in runs/a b; 4 left"
    assert ended.endswith("after 9:00:00")
    assert spent == "spent $1.5000 of $2; no price is known for c/late"
    assert why == f"  {cause}"
    assert done.startswith("  a/done: all 5 done at ")
    assert dead.endswith(": stopped: the key is not valid")
    assert late == "  c/late: 4 of 5 done; it ended with the run"
    assert after == "next: turntide resume 'runs/a b'"
