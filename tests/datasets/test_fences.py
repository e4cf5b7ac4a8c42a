"""One fence around an answer, read as the two benchmarks read it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.datasets.fences import unfenced

_AS_A_PATTERN = re.compile(
    r"\A\s*```[^\S\n]*(?:sql)?[^\S\n]*\n(?P<inside>.*?)\n?[^\S\n]*```\s*\Z", re.DOTALL | re.IGNORECASE
)


@given(st.lists(st.sampled_from(["```", "`", "sql", "SQL", "x", " ", "\n", "\t"]), max_size=14).map("".join))
def test_a_fence_is_what_the_pattern_says(text: str) -> None:
    found = _AS_A_PATTERN.match(text)
    expected = found["inside"] if found and "```" not in found["inside"] else None
    actual = unfenced(text, ("sql",))
    assert (actual is None) == (expected is None)
    assert (actual or "").rstrip(" \t") == (expected or "").rstrip(" \t")


@pytest.mark.parametrize("inside", [" " * 2_000_000 + "x", "\n" * 2_000_000 + "x", "x" * 2_000_000])
def test_an_endless_fence_is_read_in_one_pass(inside: str) -> None:
    assert unfenced(f"```sql\n{inside}\n```", ("sql",)) == inside
    assert unfenced(f"```sql\n{inside}", ("sql",)) is None
