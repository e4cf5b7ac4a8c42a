"""Names in figures: short, never equal for different models, and telling what makes the difference."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.results.figures.names import LONGEST, short

LLAMA = "together/meta-llama/Llama-4"
SCOUT, MAVERICK = f"{LLAMA}-Scout-17B-16E-Instruct", f"{LLAMA}-Maverick-17B-128E-Instruct"


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["sim/one", "sim/two"], ["one", "two"]),
        (["a/one", "b/two"], ["a/one", "b/two"]),
        ([SCOUT, "openai/gpt-5"], ["Llama-4-Scout-17B-16E…", "gpt-5"]),
        ([SCOUT, SCOUT.replace("together", "groq")], ["together/Llama-4-Scout", "groq/Llama-4-Scout"]),
        ([SCOUT, MAVERICK], ["Llama-4-Scout-16E", "Llama-4-Maverick-128E"]),
        ([SCOUT, MAVERICK, "openai/gpt-5"], ["Llama-4-Scout-17B-16E…", "Llama-4-Maverick-17B…", "gpt-5"]),
        ([SCOUT, f"{SCOUT}-Turbo"], ["Llama-4-Scout-17B", "Llama-4-Scout-17B-Turbo"]),
        (["anthropic/claude-opus-4.6-20260101@thinking"], ["claude-opus-4.6…thinking"]),
        (["x/" + "a" * 30 + middle + "b" * 31 for middle in "12"],
         ["…aaaaaaaaaaaaaaaaaaaaa1…", "…aaaaaaaaaaaaaaaaaaaaa2…"]),
        (["sim/" + "-".join(["word"] * 30) + f"-{end}" for end in ("alpha", "beta")], ["alpha", "beta"]),
        (["sim/" + "x" * 168], ["x" * 11 + "…" + "x" * 12]),
    ],
)  # fmt: skip
def test_what_distinguishes_stays_and_what_is_shared_goes_first(names: Sequence[str], shown: Sequence[str]) -> None:
    assert [*short(names).values()] == shown


PIECES = st.sampled_from(["a", "b", "/", "-", "word", "x" * 12, "…", "模型"])
NAMES = st.one_of(st.lists(PIECES, min_size=1, max_size=9).map("".join), st.text(min_size=1))


@given(st.lists(NAMES, min_size=1, max_size=6, unique=True))
def test_distinct_names_stay_distinct_and_none_grows(names: Sequence[str]) -> None:
    found = short(names)
    assert [*found] == names
    assert len({*found.values()}) == len(names)
    assert all(0 < len(shown) <= max(LONGEST, len(name)) for name, shown in found.items())


@given(st.lists(st.text("ab1-", min_size=LONGEST - 1, max_size=70), min_size=1, unique_by=lambda name: name[:23]))
def test_names_that_differ_early_keep_the_bound(names: Sequence[str]) -> None:
    assert max(map(len, short(names).values())) <= LONGEST
