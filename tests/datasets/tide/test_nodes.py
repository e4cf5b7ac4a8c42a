from __future__ import annotations

import pytest
from turntide.datasets.tide.nodes import atomic_nodes, nodes_of
from turntide.datasets.tide.samples import Stage
from turntide.datasets.tide.schema import Schema

from ...support.cases import blocks, headed

CASES = dict(headed(block) for block in blocks("tide/nodes.txt"))
PRE = "SELECT name FROM shop WHERE city = 'Oslo' AND id > 3"


@pytest.mark.parametrize("case", CASES)
def test_each_commitment_is_a_node_with_a_label_and_plain_words(case: str, schema: Schema) -> None:
    sql, *expected = CASES[case].splitlines()
    assert [f"{node.label} | {node.words}" for node in atomic_nodes(sql, schema)] == expected


def test_a_label_names_the_same_place_after_a_changed_literal(schema: Schema) -> None:
    post = PRE.replace("Oslo", "Bergen")
    assert [node.label for node in atomic_nodes(PRE, schema)] == [node.label for node in atomic_nodes(post, schema)]


def test_the_users_own_words_win(schema: Schema) -> None:
    stage = Stage(utterance="q", sql=PRE, tier="basic", nodes={"WHERE shop.city = ?": "only the shops in Oslo"})
    assert {node.label: node.words for node in nodes_of(stage, schema)}[
        "WHERE shop.city = ?"
    ] == "only the shops in Oslo"
