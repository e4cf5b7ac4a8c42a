"""What one execution of one statement came to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from ...adapters.base import Json

Status = Literal["ok", "syntax", "runtime", "timeout", "rows", "bytes", "memory", "denied"]
"""`ok`: a result; `syntax`: refused by the tokenizer or parser; `runtime`: a missing table or column and all else
that fails at prepare or while stepping; `denied`: refused by the guards (writes, ATTACH, PRAGMA, several
statements); the rest name the bound that was hit."""

Cell: TypeAlias = "None | int | float | str | bytes"


class Outcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one statement, small whatever the result's size.

    `columns` holds their names, each cut to 128 characters; `rows` counts all rows (those fetched, when a bound was
    hit); `excerpt` holds the first few (bounded in rows and bytes; a cell longer than its share is cut); `digests`
    maps a comparison's name to a digest of the whole result, equal exactly when the comparison holds, and is empty
    unless the status is `ok`. Nothing in it depends on how long the statement took.
    """

    status: Status
    message: str = ""
    columns: tuple[str, ...] = ()
    rows: int = 0
    excerpt: tuple[tuple[Cell, ...], ...] = ()
    digests: dict[str, str] = {}

    def to_json(self) -> dict[str, Json]:
        """Return JSON that any reader keeps whole: what JSON cannot hold is an object with one `$` key."""
        fields: dict[str, Json] = {
            "status": self.status,
            "message": self.message,
            "columns": list(self.columns),
            "rows": self.rows,
            "excerpt": [[_tagged(cell) for cell in row] for row in self.excerpt],
            "digests": dict(self.digests),
        }
        return {name: value for name, value in fields.items() if value}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Outcome:
        """Return the outcome that `to_json` wrote."""
        rest = {name: value for name, value in fields.items() if name not in ("columns", "excerpt")}
        return cls(
            columns=tuple(fields.get("columns", ())),
            excerpt=tuple(tuple(untagged(cell) for cell in row) for row in fields.get("excerpt", ())),
            **rest,
        )


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one statement: its outcome, and beside it what may differ between two runs.

    `seconds` is the time in the worker, without the queue; `worker` its process id, None when none was needed.
    `doubtful` says that the outcome may owe to the machine rather than to the statement (a time-out, a memory bound,
    a worker that died): such a one is confirmed before it is shared.
    """

    outcome: Outcome
    seconds: float
    worker: int | None = None
    doubtful: bool = False


def _tagged(cell: Cell) -> Json:
    match cell:
        case bytes():
            return {"$blob": cell.hex()}
        case float() if not math.isfinite(cell):
            return {"$float": repr(cell)}
        case int() if abs(cell) > 2**53:  # beyond what readers that hold numbers as doubles can keep
            return {"$int": str(cell)}
        case str() if not _is_unicode(cell):
            return {"$text": cell.encode("utf-8", "surrogatepass").hex()}
        case _:
            return cell


def untagged(value: Json) -> Cell:
    """Return the cell that stands so in JSON; raises ValueError when none does."""
    match value:
        case {"$blob": str(digits)}:
            return bytes.fromhex(digits)
        case {"$float": str(printed)}:
            return float(printed)
        case {"$int": str(printed)}:
            return int(printed)
        case {"$text": str(digits)}:
            return bytes.fromhex(digits).decode("utf-8", "surrogatepass")
        case None | int() | float() | str():
            return value
        case _:
            raise ValueError(f"not a cell: {value!r}")


def _is_unicode(text: str) -> bool:
    """Return whether `text` can be encoded: a lone surrogate, which stands for a byte that is no UTF-8, cannot."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
