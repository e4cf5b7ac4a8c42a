"""Says what a command is busy with before its result is there: nobody should look at a silent terminal."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Final, Self, TextIO

from .words import clock

LIVE_SECONDS: Final = 0.25
PLAIN_SECONDS: Final = 5.0


class Working:
    """Keeps one line alive on a terminal and takes it away at the end; elsewhere prints a line every few seconds.

    Use it as a context manager, and call `on` with every step. A thread does the printing, for a step may hold the
    caller for a minute. What is over before the first line is due says nothing.
    """

    def __init__(self, what: str, stream: TextIO | None = None) -> None:
        self._what = what
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._speak, name="working", daemon=True)

    def on(self, what: str) -> None:
        """Say from now on that this is being done."""
        self._what = what

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """Fall silent; may be repeated."""
        self._over.set()
        self._thread.join()

    def _speak(self) -> None:
        shown = False
        while not self._over.wait(LIVE_SECONDS if self._live else PLAIN_SECONDS):
            line = f"{clock(time.monotonic() - self._began)}  {self._what}"
            self._write(f"\r\x1b[K{line}" if self._live else f"{line}\n")
            shown = True
        if shown and self._live:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads it any more: no reason to end the work
            self._over.set()
