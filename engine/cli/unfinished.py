"""Why runs are not complete, for commands that read what they came to."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...adapters.base import ConfigurationError

if TYPE_CHECKING:
    from ...results.reading import RunFolder


def why_unfinished(runs: Sequence[RunFolder]) -> Iterator[str]:
    """Yield how each run that is not complete ended, why, and the command that goes on with it."""
    from .status import read_status

    for run in runs:
        status = read_status(run.folder)
        if status.state == "complete":
            continue
        going_on = [f"next: {status.next}"] if status.state == "incomplete" else []
        yield from (f"{run.folder}: {line}" for line in (*status.endings(), *going_on))


def say_why(runs: Sequence[RunFolder]) -> None:
    """Say it on stderr: it is no result, and would make equal answers give different bytes."""
    from ...adapters.printable import printable

    for line in why_unfinished(runs):
        print(printable(line), file=sys.stderr)


@contextmanager
def saying_why() -> Generator[None]:
    """Add to the error that nothing is scored yet how the runs ended, and why."""
    from ...results.reading import NothingScored

    try:
        yield
    except NothingScored as error:
        raise ConfigurationError("\n".join([str(error), *why_unfinished(error.runs)])) from None
