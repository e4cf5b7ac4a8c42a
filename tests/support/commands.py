"""The command line, called in the test's own process."""

from __future__ import annotations

from collections.abc import Sequence

from turntide.engine.cli import main


def exit_code(words: Sequence[str]) -> int | str | None:
    """Return the exit code of a command, also where the parser itself ends it."""
    try:
        return main(words)
    except SystemExit as ended:
        return ended.code
