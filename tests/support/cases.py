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
    """Write out every `<<U+1B>>`, and every `<<text * n>>`, in which `{n}` counts from 1 and `{m}` from 0."""
    text = re.sub(r"<<U\+([0-9A-F]+)>>", lambda code: chr(int(code[1], 16)), text)
    return re.sub(r"<<(.*?) \* (\d+)>>", lambda part: _repeated(part[1], int(part[2])), text, flags=re.DOTALL)


def _repeated(text: str, count: int) -> str:
    if "{" not in text:
        return text * count
    return "".join(text.replace("{n}", str(place + 1)).replace("{m}", str(place)) for place in range(count))
