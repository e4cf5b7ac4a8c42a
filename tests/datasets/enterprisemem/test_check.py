from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from turntide.datasets.databases import SourceDatabase
from turntide.datasets.enterprisemem.check import CheckReport, check
from turntide.datasets.enterprisemem.sessions import Session

replace = msgspec.structs.replace


@pytest.fixture(scope="session")
def report(released: tuple[Session, ...], shared_data: Path) -> CheckReport:
    """The released EDGAR and BIRD sessions on their real databases."""
    files = {"sec_edgar": "enterprisemem/sec_edgar.db", "financial": "bird/financial.sqlite"}
    sources = {name: SourceDatabase(name, shared_data / file, synthetic=False) for name, file in files.items()}
    return check([one for one in released if one.source != "northwind"], sources)


def test_every_released_gold_and_fallback_runs(report: CheckReport) -> None:
    assert (report.sessions, report.turns, report.gold_ok) == (200, 933, 933)
    assert (report.gold_empty, report.gold_failed, report.fallback_failed, report.errors) == ((), (), (), {})
    assert report.memory_critical == 479 + 254


def test_the_released_fallbacks_coincide_on_a_hundred_turns(report: CheckReport) -> None:
    by_source = {"SEC": 0, "BIRD": 0}
    for name in report.fallback_same:
        by_source[name.split("-")[0]] += 1
    assert by_source == {"SEC": 90, "BIRD": 10}


def test_the_releases_quirks_are_found_by_rule(report: CheckReport) -> None:
    region_only = tuple(f"BIRD-3-{number:03d}:10" for number in range(1, 5))
    assert report.quirks["gold_beyond_dialogue"] == region_only
    assert report.quirks["fallback_is_another_query"] == region_only
    assert report.quirks["filer_never_asked_about"] == ("MA",)
    assert len(report.quirks["repeated_content"]) == 58
    assert all(name.startswith("SEC") for name in report.quirks["repeated_content"])
    assert report.distinct_content == 200 - 58
    for rule in ("unknown_question", "critical_without_fallback", "flags_differ"):
        assert report.quirks[rule] == ()


def test_the_critical_share_of_tier_three_is_the_files_own(report: CheckReport) -> None:
    assert report.critical_share["sec_edgar/3"] == pytest.approx(0.8916, abs=1e-4)
    assert report.critical_share["bird/3"] == pytest.approx(0.8913, abs=1e-4)


def test_failures_and_oddities_are_named_by_turn(embedded: tuple[Session, ...], databases: Mapping[str, Path]) -> None:
    one = next(session for session in embedded if session.session_id == "BIRD-2-001")
    first, second, third, fourth = one.turns
    odd = replace(
        one,
        turns=(
            replace(first, ground_truth_sql="SELECT loan_id FROM loans"),
            replace(second, question="How much is the fish?"),
            replace(third, fallback_sql=None, memory_benefit_expected=False),
            replace(fourth, ground_truth_sql="SELECT 1 WHERE 0", fallback_sql="SELECT broken"),
        ),
    )
    report = check([odd], {"financial": SourceDatabase("financial", databases["financial"], synthetic=True)})
    assert report.gold_failed == ("BIRD-2-001:1",)
    assert report.gold_empty == ("BIRD-2-001:4",)
    assert report.fallback_failed == ("BIRD-2-001:4",)
    assert report.errors == {
        "BIRD-2-001:1": "no such table: loans",
        "BIRD-2-001:4": "no such column: broken",
    }
    assert report.quirks["unknown_question"] == ("BIRD-2-001:2",)
    assert report.quirks["critical_without_fallback"] == ("BIRD-2-001:3",)
    assert report.quirks["flags_differ"] == ("BIRD-2-001:3",)
    assert report.quirks["gold_beyond_dialogue"] == ("BIRD-2-001:4",)
    assert report.databases["financial"].synthetic
