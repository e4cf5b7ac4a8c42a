"""Table 12's measures and the tiers over them."""

from __future__ import annotations

import pytest
from turntide.datasets.tide.parsing import UnparsableSql
from turntide.datasets.tide.structure import Structure, structural_score, structure_of, tier_of

CASES = {
    "SELECT a FROM t": (4, 0, 0, 0, 0),
    "SELECT a FROM t WHERE T1.city = 'Oslo' AND b IN (1) -- why\n;": (16, 2, 0, 0, 0),
    "SELECT a FROM t, u JOIN v ON t.i = v.i": (16, 0, 2, 0, 0),
    "SELECT COUNT(*), MAX(a), MAX(a, b), TOTAL(a), RANK() OVER (ORDER BY a) FROM t": (33, 0, 0, 3, 0),
    "SELECT SUM(a) FILTER (WHERE b = 1) FROM t WHERE c OR d": (18, 1, 0, 1, 0),
    "SELECT a FROM t WHERE b IN (SELECT c FROM u WHERE NOT EXISTS (SELECT 1 FROM v))": (22, 2, 0, 0, 2),
    "SELECT a FROM (SELECT b AS a FROM t) AS q": (13, 0, 0, 0, 1),
    "WITH q AS (SELECT b FROM t) SELECT b FROM q": (13, 0, 0, 0, 1),
    "SELECT a FROM t UNION SELECT b FROM u": (9, 0, 0, 0, 0),
}


@pytest.mark.parametrize("sql", CASES)
def test_each_measure_counts_what_it_says(sql: str) -> None:
    assert structure_of(sql) == Structure(*CASES[sql])


def test_a_replaced_literal_leaves_every_measure_as_it_was() -> None:
    sql = "SELECT a FROM t JOIN u ON t.i = u.i WHERE a BETWEEN {} AND 9 AND b IN (SELECT MAX(c) FROM v)"
    assert structure_of(sql.format(1)) == structure_of(sql.format(123))


def test_the_score_weighs_nesting_twice_and_ten_tokens_once() -> None:
    assert structural_score(Structure(tokens=39, predicates=2, joins=1, aggregations=1, subquery_depth=2)) == 11


@pytest.mark.parametrize(("score", "tier"), [(0, "basic"), (5, "basic"), (6, "intermediate"), (11, "intermediate"),
                                             (12, "advanced"), (40, "advanced")])  # fmt: skip
def test_the_thresholds_are_frozen(score: int, tier: str) -> None:
    assert tier_of(score) == tier


def test_what_does_not_parse_has_no_structure() -> None:
    with pytest.raises(UnparsableSql):
        structure_of("no idea")
