from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turntide.adapters.base import ConfigurationError
from turntide.datasets.enterprisemem.sessions import (
    Session,
    Turn,
    dump_sessions,
    load_sessions,
    turn_id,
    write_sessions,
)

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "enterprisemem" / "broken_sessions.json").read_text()
)


def turn(number: int, keys: tuple[str, ...] = (), state: dict[str, str | int] | None = None) -> Turn:
    return Turn(
        turn_number=number,
        question=f"Question {number}?",
        ground_truth_sql="SELECT 1",
        requires_prior_context=bool(keys),
        memory_benefit_expected=bool(keys),
        referenced_context_keys=keys,
        state_updates=state or {},
    )


def session(*turns: Turn, session_id: str = "NW-2-001") -> Session:
    return Session(session_id=session_id, source="northwind", tier=2, turns=turns)


TWO = session(turn(1, state={"customer_id": "A"}), turn(2, ("customer_id",)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_broken_file_is_refused_with_the_place_and_the_remedy(case: dict[str, Any], tmp_path: Path) -> None:
    raw: dict[str, Any] = json.loads(msgspec.json.encode(TWO)) | case.get("session", {})
    if "turn" in case:
        raw["turns"][1] |= case["turn"]
    path = tmp_path / "sessions.json"
    path.write_text(case["text"] if "text" in case else json.dumps([raw]))
    with pytest.raises(ConfigurationError) as caught:
        load_sessions(path)
    assert case["message"] in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_session_id_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    write_sessions(tmp_path / "twice.json", [TWO, TWO])
    with pytest.raises(ConfigurationError, match="session id NW-2-001 occurs twice"):
        load_sessions(tmp_path / "twice.json")


@pytest.mark.parametrize("within", ["{}", '[{{"session_id": "NW-2-001", "turns": {}}}]'], ids=["file", "session"])
def test_a_file_that_is_nested_too_deeply_is_refused(within: str, tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text(within.format("[" * 100_000 + "]" * 100_000))
    with pytest.raises(ConfigurationError, match="nested too deeply"):
        load_sessions(path)


def test_a_missing_or_damaged_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot read the session file .*No such file"):
        load_sessions(tmp_path / "nothing.json")
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(gzip.compress(dump_sessions([TWO]))[:-20])
    with pytest.raises(ConfigurationError, match="cut or damaged gzip"):
        load_sessions(cut)


@pytest.mark.parametrize("name", ["sessions.json", "sessions.json.gz"])
def test_what_is_written_is_read_back(name: str, tmp_path: Path) -> None:
    write_sessions(tmp_path / name, [TWO])
    assert load_sessions(tmp_path / name) == (TWO,)


@settings(max_examples=50, deadline=None)
@given(st.text(min_size=1).filter(str.strip), st.dictionaries(st.text(), st.text() | st.integers(-(2**60), 2**60)))
def test_any_text_and_state_survive_the_file(question: str, state: dict[str, str | int]) -> None:
    one = session(msgspec.structs.replace(turn(1, state=state), question=question))
    assert msgspec.json.decode(dump_sessions([one]), type=list[Session]) == [one]


def test_equal_sessions_give_equal_bytes() -> None:
    assert dump_sessions([TWO]) == dump_sessions([msgspec.convert(msgspec.to_builtins(TWO), Session)])


def test_a_turn_is_critical_when_all_its_keys_were_bound_before() -> None:
    one = session(
        turn(1, ("focus_year",), {"customer_id": "A"}),
        turn(2, ("customer_id",), {"focus_year": "2020"}),
        turn(3, ("customer_id", "focus_year", "region")),
        turn(4, ("customer_id", "focus_year")),
        turn(5),
    )
    assert one.memory_critical() == (False, True, False, True, False)


def test_a_key_that_the_turn_itself_binds_does_not_make_it_critical() -> None:
    assert session(turn(1, ("region",), {"region": "north"})).memory_critical() == (False,)


def test_the_content_key_ignores_the_id_and_sees_every_question() -> None:
    assert TWO.content_key == session(*TWO.turns, session_id="NW-2-040").content_key
    asked = msgspec.structs.replace(TWO.turns[1], question="Another?")
    assert TWO.content_key != session(TWO.turns[0], asked).content_key


def test_turns_are_named_by_session_and_number() -> None:
    assert turn_id(TWO, TWO.turns[1]) == "NW-2-001:2"


def test_the_released_file_survives_a_round_trip(shared_data: Path, released: tuple[Session, ...]) -> None:
    raw = gzip.decompress((shared_data / "enterprisemem" / "all_sessions.json.gz").read_bytes())
    assert json.loads(dump_sessions(released)) == json.loads(raw)
    assert len(released) == 300
    assert sum(len(one.turns) for one in released) == 1_400
    assert sum(sum(one.memory_critical()) for one in released) == 1_100
    assert len({one.content_key for one in released}) == 242
