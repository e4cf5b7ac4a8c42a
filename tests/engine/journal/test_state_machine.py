"""Any order of appends, waits, crashes and reopenings leaves what the model says."""

from __future__ import annotations

import asyncio
import tempfile
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from turntide.engine.journal import DuplicateKey, Fields, Journal, Key, scan
from turntide.engine.journal.keys import place_of

from tests.support.journals import chained

from .conftest import step

MEMORY = Path("/dev/shm")
keys = st.builds(Key, st.sampled_from("uv"), st.sampled_from(["", "b"]), st.integers(0, 3))
kinds = st.sampled_from(["answer", "sql", "record", "fail"])


class JournalMachine(RuleBasedStateMachine):
    """The model is a list of lines, and how many of them are durable."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)
        self.loop = asyncio.new_event_loop()
        self.names = count()
        self.lines: list[Fields] = []
        self.durable = 0
        self.open(b"")

    def open(self, content: bytes) -> None:
        self.path = Path(self.folder.name) / f"{next(self.names)}.jsonl"
        self.path.write_bytes(content)
        self.journal = Journal.open(self.path)

    @rule(kind=kinds, key=keys, text=st.text(max_size=20))
    def append(self, kind: str, key: Key, text: str) -> None:
        line = step(kind, key.seq, text, unit=key.unit, branch=key.branch)
        place = place_of(line)
        if place and place in {place_of(other) for other in self.lines}:
            with pytest.raises(DuplicateKey):
                self.journal.append(line)
        else:
            self.journal.append(line)
            self.lines.append(line)

    @rule()
    def wait_for_the_disk(self) -> None:
        self.loop.run_until_complete(self.journal.durable())
        self.durable = len(self.lines)

    @rule()
    def close_and_reopen(self) -> None:
        self.journal.close()
        self.durable = len(self.lines)
        self.open(self.path.read_bytes())

    @rule(share=st.floats(0, 1))
    def crash(self, share: float) -> None:
        """Keep what is durable and any part of the rest, as a kernel may have."""
        safe = chained(self.lines[: self.durable])
        rest = chained(self.lines)[len(safe) :]
        assert self.path.read_bytes().startswith(safe)
        content = safe + rest[: round(share * len(rest))]
        self.lines = self.lines[: content.count(b"\n")]
        self.durable = len(self.lines)
        self.journal.close()
        self.open(content)
        assert list(scan(self.path)) == self.lines

    @invariant()
    def every_line_is_found_where_it_belongs(self) -> None:
        for line in self.lines:
            if line["k"] != "fail":
                assert self.journal.find(Key(line["u"], line["b"], line["s"])) == line
        for unit in "uv":
            records = [line for line in self.lines if (line["k"], line["u"]) == ("record", unit)]
            records.sort(key=lambda line: (line["b"], line["s"]))
            assert self.journal.records(unit) == [line["fields"] for line in records]

    def teardown(self) -> None:
        self.journal.close()
        self.loop.close()
        self.folder.cleanup()


TestJournalMachine = JournalMachine.TestCase
TestJournalMachine.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
