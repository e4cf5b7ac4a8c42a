"""Readers of the cases in tests/fixtures."""

from __future__ import annotations

import re
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"


def blocks(name: str) -> list[str]:
    """Return the blocks of a fixture file, which stand apart by empty lines; the first one explains the file."""
    return re.split(r"\n\n+", (FIXTURES / name).read_text().strip())[1:]


def headed(block: str) -> tuple[str, str]:
    """Return a block's first line without its `-- `, and the rest."""
    head, _, rest = block.partition("\n")
    return head.removeprefix("-- "), rest


def expanded(text: str) -> str:
    """Write out every `<<text * n>>`."""
    return re.sub(r"<<(.*?) \* (\d+)>>", lambda match: match[1] * int(match[2]), text, flags=re.DOTALL)
