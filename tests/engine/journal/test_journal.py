"""What was appended is found again, whatever happened to the end of the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from turntide.engine.journal import DamagedJournal, DuplicateKey, Fields, Journal, JournalStopped, Key, scan
from turntide.engine.journal.codec import encode, parse_head

from tests.support.journals import chained

from .conftest import answer, step

LINES = [
    answer(0, "naïve 🙂"),
    step("record", 1, "𝔘"),
    {"k": "end", "u": "u", "m": "m"},
]


def write(path: Path, *written: Fields) -> None:
    with Journal.open(path) as journal:
        for line in written:
            journal.append(line)


def test_a_journal_cut_at_every_byte_opens_keeps_the_tail_aside_and_goes_on(folder: Path) -> None:
    write(folder / "whole.jsonl", *LINES)
    content = (folder / "whole.jsonl").read_bytes()
    for cut in range(len(content) + 1):
        path = folder / f"{cut}.jsonl"
        path.write_bytes(content[:cut])
        whole = content[:cut].count(b"\n")
        tail = content[:cut].rpartition(b"\n")[2]
        with Journal.open(path) as journal:
            assert journal.ended("u") == (whole == 3)
            journal.append(answer(7))
        assert list(scan(path)) == [*LINES[:whole], answer(7)]
        torn = path.with_suffix(".torn")
        assert (torn.read_bytes() if torn.exists() else b"") == (tail + b"\n" if tail else b"")


def test_every_torn_tail_is_kept(journal_path: Path) -> None:
    for tail in (b"first", b"\xf0\x9f", b"x" * 200_000):
        with journal_path.open("ab") as file:
            file.write(tail)
        Journal.open(journal_path).close()
    assert journal_path.with_suffix(".torn").read_bytes() == b"first\n\xf0\x9f\n" + b"x" * 200_000 + b"\n"
    assert journal_path.read_bytes() == b""


def test_any_changed_byte_before_the_tail_is_an_error_that_names_the_line(journal_path: Path) -> None:
    write(journal_path, *LINES)
    content = journal_path.read_bytes()
    starts = [0, *(at + 1 for at, byte in enumerate(content) if byte == ord("\n"))]
    for position in range(len(content) - 1):
        damaged = bytearray(content)
        damaged[position] ^= 0x01
        journal_path.write_bytes(damaged)
        with pytest.raises(DamagedJournal) as caught:
            list(scan(journal_path))
        assert caught.value.offset == max(start for start in starts if start <= position)


def test_a_damaged_journal_is_left_as_it_was(journal_path: Path) -> None:
    write(journal_path, *LINES)
    damaged = journal_path.read_bytes().replace(b'"end"', b'"eng"') + b"torn"
    journal_path.write_bytes(damaged)
    offset = damaged.index(b'{"k":"eng"')
    with pytest.raises(DamagedJournal, match=rf"line 3, at byte {offset}, .*checksum"):
        Journal.open(journal_path)
    assert journal_path.read_bytes() == damaged
    assert not journal_path.with_suffix(".torn").exists()


@pytest.mark.parametrize(
    ("kept", "astray"),
    [
        pytest.param([1, 2, 3], 0, id="the first is taken out"),
        pytest.param([0, 2, 3], 1, id="one is taken out"),
        pytest.param([0, 1, 1, 2], 2, id="one stands twice"),
        pytest.param([0, 1, 2, 1], 3, id="one is copied to the end"),
        pytest.param([0, 2, 1, 3], 1, id="two have changed places"),
    ],
)
def test_a_line_taken_out_doubled_or_moved_is_an_error_that_names_the_first_astray(
    journal_path: Path, kept: list[int], astray: int
) -> None:
    lines = [step("fail", number, f"fault {number}") for number in range(4)]
    write(journal_path, *lines[:2])
    write(journal_path, *lines[2:])
    written = journal_path.read_bytes().splitlines(keepends=True)
    changed = [written[number] for number in kept]
    journal_path.write_bytes(b"".join(changed))
    with pytest.raises(DamagedJournal, match="missing, stands twice or moved") as opened:
        Journal.open(journal_path)
    with pytest.raises(DamagedJournal, match="missing, stands twice or moved") as scanned:
        list(scan(journal_path))
    assert opened.value.offset == scanned.value.offset == sum(map(len, changed[:astray]))
    assert journal_path.read_bytes() == b"".join(changed)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (answer(1), step("sql", 1)),
        (step("record", 0, branch="b"), step("answer", 0, branch="b")),
        ({"k": "end", "u": "u", "m": "m"}, {"k": "end", "u": "u", "m": "m"}),
    ],
)
def test_a_filled_place_is_filled_once(journal_path: Path, first: Fields, second: Fields) -> None:
    with Journal.open(journal_path) as journal:
        journal.append(first)
        with pytest.raises(DuplicateKey):
            journal.append(second)
    size = journal_path.stat().st_size
    journal_path.write_bytes(chained([first, second]))
    with pytest.raises(DuplicateKey) as caught:
        Journal.open(journal_path)
    assert (caught.value.first, caught.value.second) == (0, size)


def test_many_lines_may_speak_of_one_attempt_or_of_one_account(journal_path: Path) -> None:
    pause = {"k": "limit", "account": "a", "limit": "pause", "why": "overloaded", "new": 1}
    many = [step("sent", 0), step("fail", 0), step("fail", 0), pause]
    write(journal_path, *many, *many)
    write(journal_path, *many)
    assert list(scan(journal_path)) == many * 3


def test_lines_are_found_before_and_after_they_reach_the_disk(journal_path: Path) -> None:
    written = [answer(0, "x" * 100_000), answer(1), step("sql", 0, "é", branch="judge"), step("record", 2)]
    keys = [Key(line["u"], line["b"], line["s"]) for line in written]
    with Journal.open(journal_path) as journal:
        for line in written:
            journal.append(line)
        assert [journal.find(key) for key in keys] == written
    with Journal.open(journal_path) as journal:
        assert [journal.find(key) for key in keys] == written
        assert journal.find(Key("u", "", 3)) is None
        assert not journal.ended("u")


def test_records_come_back_in_their_order_branch_by_branch(journal_path: Path) -> None:
    places = [("u", "", 0), ("u", "b", 0), ("v", "", 0), ("u", "a", 0), ("u", "", 4), ("u", "b", 2), ("u", "a", 3)]
    write(
        journal_path, *(step("record", seq, f"{branch}{seq}", unit=unit, branch=branch) for unit, branch, seq in places)
    )
    with Journal.open(journal_path) as journal:
        assert [fields["text"] for fields in journal.records("u")] == ["0", "4", "a0", "a3", "b0", "b2"]
        assert journal.records("nobody") == []


def test_hashes_that_collide_mix_nothing_up(journal_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def always_seven(_: object) -> int:
        return 7

    monkeypatch.setattr("turntide.engine.journal.index.hash", always_seven, raising=False)
    units = ["u", "v", "w"]
    write(
        journal_path, *(line for unit in units for line in (answer(0, unit, unit=unit), step("record", 1, unit=unit)))
    )
    with Journal.open(journal_path) as journal:
        for unit in units:
            assert journal.find(Key(unit)) == answer(0, unit, unit=unit)
            assert len(journal.records(unit)) == 1
        assert journal.find(Key("x")) is None
        with pytest.raises(DuplicateKey):
            journal.append(answer(0, unit="w"))


def test_opening_shows_the_head_of_each_line_once_to_each_visitor(journal_path: Path) -> None:
    write(journal_path, *LINES)
    first: list[Fields] = []
    second: list[Fields] = []
    Journal.open(journal_path, visitors=[first.append, second.append]).close()
    assert first == second == [parse_head(encode(line)) for line in LINES]


def test_a_reader_needs_no_lock_and_stops_at_a_growing_tail(journal_path: Path) -> None:
    write(journal_path, *LINES)
    whole = journal_path.read_bytes()
    journal_path.write_bytes(whole + b'{"k":"ans')
    assert list(scan(journal_path)) == LINES
    assert journal_path.read_bytes() == whole + b'{"k":"ans'


def test_a_closed_journal_takes_no_more_and_closes_again(journal_path: Path) -> None:
    journal = Journal.open(journal_path)
    journal.close()
    journal.close()
    with pytest.raises(JournalStopped, match="closed"):
        journal.append(answer(0))
