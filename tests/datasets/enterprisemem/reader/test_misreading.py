"""Misreadings run and are wrong; slips are a reader's own."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from turntide.datasets.enterprisemem.reader.knowledge import GUESSES
from turntide.datasets.enterprisemem.reader.misreading import misname, misread
from turntide.datasets.enterprisemem.sessions import Session
from turntide.datasets.enterprisemem.templates import TEMPLATES, Template
from turntide.datasets.enterprisemem.templates.northwind import ORDERS_BY_YEAR
from turntide.datasets.gold import GoldRunner

ALL = [template for templates in TEMPLATES.values() for template in templates]


@pytest.mark.parametrize("template", ALL, ids=lambda template: template.pattern)
def test_every_kind_of_answer_can_be_misread(template: Template) -> None:
    sql = template.fill(GUESSES)
    wrong = {misread(sql, random.Random(n)) for n in range(20)}
    assert sql not in wrong
    assert len(wrong) > (template is not ORDERS_BY_YEAR)


@pytest.mark.parametrize("template", ALL, ids=lambda template: template.pattern)
def test_every_kind_of_answer_can_slip(template: Template) -> None:
    sql = template.fill(GUESSES)
    assert sql not in {misname(sql, "", random.Random(n)) for n in range(20)}


def test_misreadings_run_and_nearly_always_differ_in_the_result(
    embedded: tuple[Session, ...], runner: GoldRunner
) -> None:
    """Rounding what is round already, say, changes nothing: a few may coincide."""
    found: Counter[str] = Counter()
    for session in embedded[::5]:
        for turn in session.turns:
            right = runner.result(session.database, turn.ground_truth_sql)
            wrong = runner.result(session.database, misread(turn.ground_truth_sql, random.Random(turn.question)))
            found["fails" if wrong.error else "same" if wrong.digest == right.digest else "differs"] += 1
    assert found["fails"] == 0
    assert found["same"] < found["differs"] / 20
