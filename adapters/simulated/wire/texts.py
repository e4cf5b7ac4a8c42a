"""Shapes that several formats share: a text, or a list of parts of which only text is understood; and safe encoding."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from ...base import Json
from ..failure import Failure

T = TypeVar("T")


class TextPart(Struct):
    """A part of a message; whatever its type, it must hold text."""

    text: str


Content: TypeAlias = "str | list[TextPart]"


def decoded(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """Return what `body` holds, or raise a `bad_request` Failure that names the place."""
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Failure("bad_request", f"The request body is not understood: {error}") from None


def joined(content: str | Sequence[TextPart] | None) -> str:
    """Return a content's text; parts are joined."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.text for part in content)


def present(options: Mapping[str, Json]) -> dict[str, Json]:
    """Return the options that a request set."""
    return {name: value for name, value in options.items() if value is not None}


def encoded(body: object) -> bytes:
    """Return `body` as JSON; a lone surrogate is legal there as an escape, which only the standard library writes."""
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        return json.dumps(body).encode()
