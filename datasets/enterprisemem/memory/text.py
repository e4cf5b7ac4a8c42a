"""Text that prompts can hold whatever a model or a database put into it."""

from __future__ import annotations


def bounded(text: str, limit: int) -> str:
    """Return `text` in at most `limit` characters plus a mark that says how many were cut; always encodable."""
    cut = len(text) - limit
    kept = text if cut <= 0 else f"{text[:limit]}… (+{cut} characters)"
    return kept.encode("utf-8", "backslashreplace").decode()
