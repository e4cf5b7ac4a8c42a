"""What can go wrong, and who may catch it.

ConfigurationError   the user can mend it: says how; exit code 2          (defined in adapters.misuse)
RunError             a run cannot go on or be read
  Diverged           a question differs from the journalled one at its place
  ManifestMismatch   the run folder belongs to another run                (defined in engine.folder.manifest)
  JournalError       the journal cannot be trusted or written             (defined in engine.journal)
Unfinished           a dialogue stops here and is resumed later; derives from BaseException, so that no
                     `except Exception` in a benchmark turns a provider's failure into a wrong answer
"""

from __future__ import annotations

from typing import Literal

Why = Literal["provider", "model", "parked", "budget", "draining", "until", "crash", "disk", "infrastructure"]
"""`provider`: retries ran out; `model`: its lane stopped (key, quota, not found); `parked`: its lane rests for this
part (too many failed dialogues, or a server that asks for a long wait); `budget`: the cap is reached; `draining`: the
run is ending; `until`: its time is over; `crash`: an error of the benchmark itself; `disk`: the journal cannot be
written; `infrastructure`: a part of our own (a memory store, a worker) failed."""


class RunError(Exception):
    """A run cannot go on; the message says what to do."""


def first_of(group: BaseExceptionGroup[RunError]) -> RunError:
    """Return the first error of a group of groups."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, RunError)
    return error


class Diverged(RunError):
    """The journal holds another question at this place: prompt, data or code changed since it was asked."""

    def __init__(self, unit: str, branch: str, seq: int, what: str) -> None:
        place = f"{unit}{'/' + branch if branch else ''} step {seq}"
        super().__init__(
            f"the run has diverged at {place}: {what}. Prompts, data or code changed since this run began. "
            "Restore what changed, or start a new run (another --out) that takes over the answers to what is still the "
            "same (--seed-from)."
        )
        self.unit, self.branch, self.seq = unit, branch, seq


class Unfinished(BaseException):
    """A dialogue that cannot go on now. Its unit gets no end line, and the next `run` continues it."""

    def __init__(self, why: Why, message: str) -> None:
        super().__init__(message)
        self.why: Why = why
        self.message = message
