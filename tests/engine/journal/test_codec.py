"""A line is plain JSONL, and gives back exactly what was put in."""

from __future__ import annotations

import json
import zlib
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from turntide.engine.journal.codec import canonical, decode, dumps, encode, loads, parse_head

from .conftest import step

texts = st.text(st.characters(exclude_categories=()))
keys = texts | st.sampled_from(["$float", "$int", "$bytes", "$text", "$dict", "$", "null"])
leaves = st.none() | st.booleans() | st.integers() | st.floats() | texts | st.binary() | st.just("null")
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4))


@given(values)
@example({"$float": "nan"})
@example({"$dict": [["$dict", []]]})
@example({"$new": 1, "other": float("-inf")})
@example([float("nan"), None, -0.0, 2**64, 2**64 - 1, -(2**63) - 1, 10**5000])
@example("\ud83d\ude00 two lone surrogates are not one character")
@example({"\udcff": "a key may hold one too", "n": None})
def test_every_value_survives_a_round_trip_exactly(value: object) -> None:
    back = loads(dumps(value))
    assert repr_of(back) == repr_of(value)  # tells nan, -0.0, 1 and 1.0, True and 1 apart


@given(st.dictionaries(keys.filter(lambda key: key not in ("crc", "prev")), values, max_size=4), texts)
def test_a_line_is_one_json_object_whose_checksum_anyone_can_verify(data: dict[str, object], unit: str) -> None:
    line = {"k": "note", "u": unit, "data": data}
    raw = encode(line)
    assert raw.count(b"\n") == 1
    assert int(json.loads(raw)["crc"], 16) == zlib.crc32(raw[: raw.rindex(b',"crc":')])
    assert decode(raw).keys() == line.keys()
    assert repr_of(decode(raw)) == repr_of(line)


HEADS = {
    "sent": ["n", "h", "m", "usd", "batch"],
    "answer": ["n", "h", "usd", "batch"],
    "fail": ["n", "paid", "batch"],
    "sql": ["h"],
    "record": [],
}


@given(st.sampled_from([*HEADS]), texts, texts, st.integers(), st.sets(st.sampled_from(["batch", "usd", "h"])))
def test_the_head_of_a_line_is_the_same_read_alone(kind: str, unit: str, text: str, seq: int, left: set[str]) -> None:
    full = {**step(kind, seq, text, unit=unit), "batch": text, "h": text, "usd": "1E-7"}
    needed = {"usd", "h"} if kind == "sent" else {"h"} if kind == "answer" else set[str]()
    raw = encode({name: value for name, value in full.items() if name in needed or name not in left})
    head, whole = parse_head(raw), decode(raw)
    assert {"k", "u", "b", "s"} <= head.keys()
    for name in ["k", "u", "b", "s", *HEADS[kind]]:
        assert repr_of(head.get(name)) == repr_of(whole.get(name))


def test_a_usual_line_reads_as_it_was_written() -> None:
    body = '{"k":"answer","u":"é","b":"","s":2,"text":"SELECT 1","prev":"9ae0daaf"'
    crc = zlib.crc32(body.encode())
    line = {"k": "answer", "u": "é", "b": "", "s": 2, "text": "SELECT 1"}
    assert encode(line, b"9ae0daaf").decode() == f'{body},"crc":"{crc:08x}"}}\n'


def test_ten_megabytes_of_hostile_text_survive() -> None:
    text = "\x00\u202e\U0001f600'\"\\\n\r\u2028" * 600_000
    assert decode(encode({"k": "note", "text": text})) == {"k": "note", "text": text}


@pytest.mark.parametrize("line", [{}, {"k": 1}, {"k": "answer", "crc": "00000000"}, {"k": "answer", "prev": ""}])
def test_a_line_without_a_kind_or_with_a_checksum_of_its_own_is_refused(line: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="kind"):
        encode(line)


@pytest.mark.parametrize("value", [{1: "a"}, {1, 2}, object(), datetime.now(UTC), {"null": {None: 1}}])
def test_what_cannot_be_given_back_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        dumps(value)


def checked(body: bytes) -> bytes:
    return b'%b,"crc":"%08x"}\n' % (body, zlib.crc32(body))


@pytest.mark.parametrize(
    "raw", [b"\n", b"{}\n", b"\x00" * 40 + b"\n", checked(b'{"x":1'), checked(b'{"k":"answer"')[:-1]]
)
def test_what_is_no_line_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"kind|checksum"):
        decode(raw)


@pytest.mark.parametrize("raw", [b"{}\n", checked(b'{"x":1')])
def test_what_is_no_line_has_no_head(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"kind|unexpected"):
        parse_head(raw)


def test_equal_values_have_equal_canonical_bytes_and_others_do_not() -> None:
    assert canonical({"b": [1, {"y": 2, "x": 3}], "a": "é"}) == canonical({"a": "é", "b": [1, {"x": 3, "y": 2}]})
    distinct: list[object] = [1, 1.0, True, "1", None, float("nan"), "nan", {"$float": "nan"}, [], {}, -0.0, 0.0]
    assert len({canonical(value) for value in distinct}) == len(distinct)


def repr_of(value: object) -> object:
    """Return what compares equal exactly for equal values of equal types; repr alone refuses huge integers."""
    if isinstance(value, dict):
        return [(key, repr_of(item)) for key, item in value.items()]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list):
        return [repr_of(item) for item in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return (type(value).__name__, hex(value) if isinstance(value, int) else repr(value))


def test_a_field_whose_name_cannot_be_written_is_refused() -> None:
    with pytest.raises(ValueError, match="plain text"):
        encode({"k": "answer", "\ud800": 1})
