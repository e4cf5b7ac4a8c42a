"""One call, step by step, over a real journal and a provider that answers from a script."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from turntide.adapters.base import Answer, Fatal, Fault, TransportFault, Usage, WireRequest
from turntide.engine.calls.calls import request_digest
from turntide.engine.calls.limits.account import AccountLimits, Limits
from turntide.engine.calls.retries import Retries
from turntide.engine.errors import Diverged, Unfinished
from turntide.engine.journal import scan

from ...support.provider import Bench, Reaction, ScriptedProvider, bench, fatal, fault, good, shuffled_latency, writing
from ...support.time import run_jumping


async def _all(setup: Bench, count: int) -> list[Answer | BaseException]:
    return await asyncio.gather(*(setup.ask(f"u{n}") for n in range(count)), return_exceptions=True)


async def test_an_answered_question_is_never_sent_again(tmp_path: Path) -> None:
    scripted = ScriptedProvider(lambda n, body: good(f"answer {n}"))
    async with bench(tmp_path, scripted) as setup:
        first = await setup.ask("u")
    async with bench(tmp_path, scripted) as setup:
        assert await setup.ask("u") == first
    assert len(scripted.sends) == 1


async def test_another_question_at_an_answered_place_is_an_error_that_names_the_place(tmp_path: Path) -> None:
    scripted = ScriptedProvider(lambda n, body: good())
    async with bench(tmp_path, scripted) as setup:
        await setup.ask("NW-1", 3)
        with pytest.raises(Diverged, match="NW-1 step 3"):
            await setup.ask("NW-1", 3, "How many, really?")


@pytest.mark.parametrize("empty", [good(""), Answer(text="SEL", model="m", usage=None, finish="length")])
async def test_empty_and_cut_answers_are_answers_and_replay(tmp_path: Path, empty: Answer) -> None:
    scripted = ScriptedProvider(lambda n, body: empty)
    for _ in range(2):
        async with bench(tmp_path, scripted) as setup:
            assert await setup.ask("u") == empty
    assert len(scripted.sends) == 1


async def test_a_retried_call_keeps_its_idempotency_key_and_counts_its_sends(tmp_path: Path) -> None:
    script: list[Reaction] = [fault(500), TransportFault("network", "sent", "dropped"), good()]
    scripted = ScriptedProvider(lambda n, body: script[n])
    async with bench(tmp_path, scripted, retries=Retries(first=0.001)) as setup:
        await setup.ask("u")
    assert len({key for _, key in scripted.sends}) == 1
    lines = [line for line in scan(tmp_path / "journal.jsonl") if line["k"] == "answer"]
    assert [line["n"] for line in lines] == [3]


async def test_an_answer_whose_price_nobody_knows_is_not_journalled_as_free(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedProvider(lambda n, body: good()), price=None) as setup:
        await setup.ask("u")
    assert [line.get("usd") for line in scan(tmp_path / "journal.jsonl")] == ["0", None]  # sent, answer


async def test_no_retries_means_none(tmp_path: Path) -> None:
    scripted = ScriptedProvider(lambda n, body: fault(500))
    async with bench(tmp_path, scripted, retries=Retries(faults=0)) as setup:
        with pytest.raises(Unfinished, match="after 1 sends"):
            await setup.ask("u")
    assert len(scripted.sends) == 1


def test_a_server_that_never_answers_ends_within_attempts_times_the_time_out(tmp_path: Path) -> None:
    async def main() -> float:
        scripted = ScriptedProvider(lambda n, body: TransportFault("timeout", "sent", "no reply"), latency=lambda: 1e9)
        async with bench(tmp_path, scripted, attempt_timeout=10, retries=Retries(faults=3, first=0.1)) as setup:
            began = asyncio.get_running_loop().time()
            with pytest.raises(Unfinished):
                await setup.ask("u")
            return asyncio.get_running_loop().time() - began

    assert run_jumping(main(), writing) < 10 * 4 + 5


async def test_a_bad_key_stops_the_model_once_with_a_plain_message(tmp_path: Path) -> None:
    scripted = ScriptedProvider(lambda n, body: fatal())
    async with bench(tmp_path, scripted, limits=Limits(in_flight=2, adaptive=False)) as setup:
        ended = await _all(setup, 50)
    assert {str(stop) for stop in ended} == {"m stopped: the key is not valid"}
    assert len(scripted.sends) <= 2


async def test_no_key_reaches_the_journal_whatever_a_host_quotes(tmp_path: Path) -> None:
    script: list[Reaction] = [
        good("You sent sk-planted."),
        Fault(kind="server", message="sk-planted met a 500", status=500),
        TransportFault("network", "sent", "no route for sk-planted"),
        Answer(text="", model="sk-planted", usage=Usage(), finish="refused", detail="sk-planted may not ask this"),
        Fatal(kind="key", message="sk-planted is not a key", status=401),
    ]
    scripted = ScriptedProvider(lambda n, body: script[n])
    async with bench(tmp_path, scripted, retries=Retries(faults=5, first=0.001)) as setup:
        assert (await setup.ask("u")).text == "You sent ***."
        assert (await setup.ask("v")).detail == "*** may not ask this"
        with pytest.raises(Unfinished) as stop:
            await setup.ask("w")
        assert str(stop.value) == "m stopped: *** is not a key"
        assert "sk-planted" not in repr(setup.route.account)
    journal = (tmp_path / "journal.jsonl").read_bytes()
    assert b"sk-planted" not in journal
    assert journal.count(b"***") >= 5


@pytest.mark.parametrize("in_flight", [1, 20, 1000])
async def test_a_cap_holds_at_any_concurrency(tmp_path: Path, in_flight: int) -> None:
    chance = random.Random(7)
    scripted = ScriptedProvider(lambda n, body: good(output_tokens=chance.randrange(1, 50)), shuffled_latency(1))
    limits = Limits(in_flight=in_flight, adaptive=False)
    async with bench(tmp_path, scripted, cap="0.30", limits=limits) as setup:
        ended = await _all(setup, 400)
        assert setup.budget.committed <= Decimal("0.30")
        assert setup.budget.reserved == 0
    assert {stop.why for stop in ended if isinstance(stop, Unfinished)} == {"budget"}


async def test_spend_of_earlier_parts_counts_and_a_higher_cap_continues(tmp_path: Path) -> None:
    scripted = ScriptedProvider(lambda n, body: good(output_tokens=25))
    async with bench(tmp_path, scripted, cap="0.30") as setup:
        await _all(setup, 40)
        spent = setup.budget.known
    async with bench(tmp_path, scripted, cap="0.30") as setup:
        assert setup.budget.known == spent
        await _all(setup, 40)
        assert setup.budget.committed <= Decimal("0.30")
    async with bench(tmp_path, scripted, cap="10") as setup:
        ended = await _all(setup, 40)
        assert all(isinstance(answer, Answer) for answer in ended)
        assert setup.budget.known == Decimal("0.025") * 40
    assert len(scripted.sends) == 40


async def test_a_drop_after_the_send_counts_at_its_worst_case_and_an_error_status_at_nothing(tmp_path: Path) -> None:
    script: list[Reaction] = [TransportFault("network", "sent", "dropped"), fault(500), good()]
    scripted = ScriptedProvider(lambda n, body: script[n])
    for _ in range(2):
        async with bench(tmp_path, scripted, cap="1", retries=Retries(first=0.001)) as setup:
            await setup.ask("u")
            assert setup.budget.exposed == Decimal("0.05")
            assert setup.budget.known == Decimal("0.007")


async def test_a_call_that_was_cut_on_the_wire_stays_exposed_after_a_crash(tmp_path: Path) -> None:
    scripted = ScriptedProvider(lambda n, body: good(), latency=lambda: 3600.0)
    async with bench(tmp_path, scripted, cap="1") as setup:
        task = asyncio.create_task(setup.ask("u"))
        await scripted.reached(1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert setup.budget.exposed == Decimal("0.05")
    async with bench(tmp_path, scripted, cap="1") as setup:
        assert setup.budget.exposed == Decimal("0.05")
        limits = setup.route.turnstile.limits
        assert isinstance(limits, AccountLimits)
        assert limits.flight.now == 0


async def test_draining_lets_calls_in_flight_land_and_turns_the_rest_away(tmp_path: Path) -> None:
    scripted = ScriptedProvider(lambda n, body: good(), latency=lambda: 0.05)
    async with bench(tmp_path, scripted, limits=Limits(in_flight=5, adaptive=False)) as setup:
        asking = asyncio.create_task(_all(setup, 50))
        await scripted.reached(5)
        setup.closing.begin(Unfinished("draining", "interrupted"))
        ended = await asking
    assert sum(isinstance(answer, Answer) for answer in ended) == 5
    assert {stop.why for stop in ended if isinstance(stop, Unfinished)} == {"draining"}


def test_draining_wakes_who_is_backing_off(tmp_path: Path) -> None:
    async def main() -> float:
        scripted = ScriptedProvider(lambda n, body: fault(503, retry_after=300.0))
        async with bench(tmp_path, scripted) as setup:
            loop = asyncio.get_running_loop()
            task = asyncio.create_task(setup.ask("u"))
            await asyncio.sleep(1)
            began = loop.time()
            setup.closing.begin(Unfinished("draining", "interrupted"))
            await asyncio.gather(task, return_exceptions=True)
            return loop.time() - began

    assert run_jumping(main(), writing) < 0.1


def test_a_dialogue_that_is_cancelled_in_back_off_ends_within_one_tick_as_cancelled(tmp_path: Path) -> None:
    async def main() -> tuple[bool, bool, int]:
        scripted = ScriptedProvider(lambda n, body: fault(503, retry_after=300.0))
        async with bench(tmp_path, scripted) as setup:
            task = asyncio.create_task(setup.ask("u"))
            await asyncio.sleep(1)
            limits = setup.route.turnstile.limits
            assert isinstance(limits, AccountLimits)
            before = limits.flight.now
            task.cancel()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            return task.done(), task.cancelled(), before

    assert run_jumping(main(), writing) == (True, True, 0)


async def test_the_throttle_paces_but_never_reorders(tmp_path: Path) -> None:
    scripted = ScriptedProvider(lambda n, body: good(), latency=lambda: 0.0)
    async with bench(tmp_path, scripted, limits=Limits(requests_per_minute=60_000)) as setup:
        await asyncio.gather(*(setup.ask(f"u{n}", text=f"{n:03}") for n in range(200)))
    assert [body for body, _ in scripted.sends] == sorted(body for body, _ in scripted.sends)


def test_queueing_and_backing_off_are_not_model_time(tmp_path: Path) -> None:
    """A call may queue and back off for far longer than an attempt may last; its time-out runs from the send alone."""

    async def main() -> tuple[list[float], list[float], float]:
        scripted = ScriptedProvider(lambda n, body: fault(503, retry_after=90.0) if n == 0 else good(), lambda: 4.0)
        limits = Limits(in_flight=1, adaptive=False)
        async with bench(tmp_path, scripted, limits=limits, attempt_timeout=5.0) as setup:
            ended = await _all(setup, 40)
            assert all(isinstance(answer, Answer) for answer in ended)
        answers = [line for line in scan(tmp_path / "journal.jsonl") if line["k"] == "answer"]
        return [line["took"] for line in answers], [line["queued"] for line in answers], scripted.most

    took, queued, most = run_jumping(main(), writing)
    assert most == 1
    assert all(seconds == pytest.approx(4.0, abs=0.1) for seconds in took)  # pyright: ignore[reportUnknownMemberType]
    assert max(queued) > 100


FLIPS: list[dict[str, Any]] = [
    {"provider": "other"},
    {"alias": "other"},
    {"repeat": 1},
    {"path": "/other"},
    {"body": b"other"},
]


@pytest.mark.parametrize("flip", FLIPS, ids=lambda flip: next(iter(flip)))
async def test_flipping_any_field_of_a_request_changes_its_digest(tmp_path: Path, flip: dict[str, Any]) -> None:
    async with bench(tmp_path, ScriptedProvider(lambda n, body: good())) as setup:
        route = setup.route

        def digest(provider: str = "p", alias: str = "a", repeat: int = 0, path: str = "/x", body: bytes = b"b") -> str:
            route.provider = replace(route.provider, name=provider)
            route.account = replace(route.account, alias=alias)
            return request_digest(route, WireRequest(path, body), repeat)

        assert digest() == digest()
        assert digest() != digest(**flip)


async def test_host_and_port_may_change_between_two_parts_of_a_run(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedProvider(lambda n, body: good())) as setup:
        wire = WireRequest("/x", b"b")
        before = request_digest(setup.route, wire, 0)
        setup.route.account = replace(setup.route.account, base_url="http://elsewhere:1")
        assert request_digest(setup.route, wire, 0) == before
