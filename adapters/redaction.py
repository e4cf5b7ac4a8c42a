"""Takes a key out of whatever a host sends back, before anything is read, shown or written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from .base import Answer, Json, Reply, Secret, WireReply

SHORTEST: Final = 8
"""A shorter key is a placeholder for a server that wants none (`none`, `EMPTY`), and may be a word of any answer."""

MASK: Final = "***"


def redact(text: str, key: Secret) -> str:
    """Return `text` with every occurrence of the key masked."""
    secret = key.reveal()
    return text.replace(secret, MASK) if len(secret) >= SHORTEST else text


def public_url(url: str) -> str:
    """Return a URL without the name, password or query that a user may have put into it."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def without_logins(value: Json) -> Json:
    """Return options as they may be written down: every URL among them as `public_url` has it."""
    match value:
        case str() if "://" in value:
            return public_url(value)
        case list():
            return [without_logins(each) for each in value]
        case dict():
            return {name: without_logins(each) for name, each in value.items()}
        case _:
            return value


def redact_reply(reply: WireReply, key: Secret) -> WireReply:
    """Return a reply in whose bytes the key does not stand, so that no cut through a message leaves a part of it."""
    secret = key.reveal()
    if len(secret) < SHORTEST:
        return reply
    headers: Mapping[str, str] = reply.headers
    if any(secret in value for value in headers.values()):
        headers = {name: value.replace(secret, MASK) for name, value in headers.items()}
    body = reply.body
    for spelling in (secret, secret.replace("/", "\\/")):  # some encoders escape slashes
        body = body.replace(spelling.encode(), MASK.encode())
    return WireReply(status=reply.status, headers=headers, body=body)


def redact_read(read: Reply, key: Secret) -> Reply:
    """Return what was read of a reply without the key, also where the bytes spelled it in escapes."""
    secret = key.reveal()
    if len(secret) < SHORTEST:
        return read
    names = ("text", "model", "reasoning", "detail") if isinstance(read, Answer) else ("message",)
    told = [name for name in names if secret in getattr(read, name)]
    return replace(read, **{name: redact(getattr(read, name), key) for name in told}) if told else read
