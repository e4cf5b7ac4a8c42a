"""No command works in silence."""

from __future__ import annotations

import io
import threading

import pytest
from turntide.engine.cli import working
from turntide.engine.cli.working import Working


class Listener(io.StringIO):
    """A stream that tells when something was written to it."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.spoken = threading.Event()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> int:
        count = super().write(text)
        self.spoken.set()
        return count


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "LIVE_SECONDS", 0.001)
    monkeypatch.setattr(working, "PLAIN_SECONDS", 0.001)


def test_a_terminal_has_one_living_line_that_is_gone_at_the_end() -> None:
    stream = Listener(terminal=True)
    with Working("gold queries: 3 of 9", stream):
        assert stream.spoken.wait(10)
    said = stream.getvalue()
    assert said.startswith("\r\x1b[K0:00  gold queries: 3 of 9")
    assert said.endswith("\r\x1b[K")
    assert "\n" not in said


def test_elsewhere_there_is_a_plain_line_now_and_then_with_what_is_done_by_then() -> None:
    stream = Listener(terminal=False)
    with Working("opening", stream) as busy:
        assert stream.spoken.wait(10)
        busy.on("gold queries: 3 of 9")
        stream.spoken.clear()
        assert stream.spoken.wait(10)
        stream.spoken.clear()
        assert stream.spoken.wait(10)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "0:00  opening"
    assert lines[-1] == "0:00  gold queries: 3 of 9"
    assert "\x1b" not in stream.getvalue()


def test_what_is_over_soon_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "PLAIN_SECONDS", 60)
    stream = Listener(terminal=False)
    with Working("opening", stream):
        pass
    assert not stream.getvalue()


def test_a_stream_that_nobody_reads_any_more_does_not_end_the_work() -> None:
    stream = Listener(terminal=False)
    stream.close()
    with Working("opening", stream) as busy:
        busy._thread.join(10)  # pyright: ignore[reportPrivateUsage]
        assert not busy._thread.is_alive()  # pyright: ignore[reportPrivateUsage]
