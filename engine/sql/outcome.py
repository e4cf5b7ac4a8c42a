"""What one execution of one statement came to."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Status = Literal["ok", "syntax", "runtime", "timeout", "rows", "bytes", "memory", "denied"]
"""`ok`: a result; `syntax`: refused by the tokenizer or parser; `runtime`: a missing table or column and all else
that fails at prepare or while stepping; `denied`: refused by the guards (writes, ATTACH, PRAGMA, several
statements); the rest name the bound that was hit."""

Cell: TypeAlias = "None | int | float | str | bytes"


class Outcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one statement, small whatever the result's size.

    `rows` counts all rows, `excerpt` holds the first few (bounded in rows and bytes); `digests` maps a comparison's
    name to an order-free digest of the whole result, equal exactly when the comparison holds.
    """

    status: Status
    message: str = ""
    columns: tuple[str, ...] = ()
    rows: int = 0
    excerpt: tuple[tuple[Cell, ...], ...] = ()
    digests: dict[str, str] = {}
