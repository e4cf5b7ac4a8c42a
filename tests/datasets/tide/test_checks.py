from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from turntide.datasets.gold import GoldRunner
from turntide.datasets.tide.checks import SIGNALS, Anchor, Candidate, Failure, check_answer
from turntide.datasets.tide.parsing import UnparsableSql
from turntide.datasets.tide.samples import DriftLabel
from turntide.datasets.tide.schema import Schema

from ...support.cases import blocks, headed

CASES = dict(headed(block) for block in blocks("tide/checks.txt"))


@pytest.fixture(scope="module")
def runner(database: Path) -> Iterator[GoldRunner]:
    with GoldRunner({"shop": database}) as gold:
        yield gold


def check(runner: GoldRunner, schema: Schema, anchor: str, label: str, answer: str) -> Candidate | Failure:
    subtype, _, fine = label.partition(" ")
    assigned = msgspec.convert({"subtype": subtype, "fine_subtype": fine or None}, DriftLabel)
    return check_answer(answer, Anchor(anchor, lambda sql: runner.result("shop", sql), schema), assigned)


@pytest.mark.parametrize("case", CASES)
def test_the_first_failing_check_is_the_one_reported(case: str, runner: GoldRunner, schema: Schema) -> None:
    anchor, label, answer, expected = CASES[case].splitlines()
    found = check(runner, schema, anchor, label, answer)
    if isinstance(found, Failure):
        signal, _, detail = expected.partition(" ")
        assert (found.signal, found.detail) == (signal, found.detail)
        assert detail in found.detail
    else:
        assert expected == "passes"


def test_every_signal_of_the_table_has_its_case() -> None:
    shown = {CASES[case].splitlines()[-1].partition(" ")[0] for case in CASES}
    assert shown == {*SIGNALS, "passes"}


def test_an_anchor_that_is_no_query_is_an_error_and_not_a_candidates_failure(
    runner: GoldRunner, schema: Schema
) -> None:
    answer = '{"drift_utterance": "x", "post_drift_sql": "SELECT 1"}'
    with pytest.raises(UnparsableSql):
        check(runner, schema, "no query", "value", answer)
