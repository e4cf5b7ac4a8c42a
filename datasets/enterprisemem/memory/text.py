"""Text that prompts can hold whatever a model or a database put into it."""

from __future__ import annotations

from urllib.parse import urlsplit


def bounded(text: str, limit: int) -> str:
    """Return `text` in at most `limit` characters plus a mark that says how many were cut; always encodable."""
    cut = len(text) - limit
    kept = text if cut <= 0 else f"{text[:limit]}… (+{cut} characters)"
    return kept.encode("utf-8", "backslashreplace").decode()


def without_login(url: str) -> str:
    """Return `url` as it may be shown: user name and password taken out."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
