"""JSON as it really travels: orjson where it can, the standard library for what orjson refuses.

orjson raises on a lone surrogate, on integers over 64 bits and on NaN. A model can write the first in the middle of a
good answer (half an emoji at a cut), and such an answer was paid for: it must not pass for a broken reply. Nor may it
break the next question, which quotes it: servers refuse a body that holds half a character, even as an escape.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping

import orjson

from .base import ConfigurationError, Json

_DIGITS = re.compile(r"[0-9]{1,13}")


def encode(value: Json) -> bytes:
    """Return `value` as JSON in the order of its keys; U+FFFD stands for a lone surrogate, as in any decoder."""
    try:
        # Copied: orjson hands out its whole buffer, up to six times as long, and thousands of bodies wait at once.
        return bytes(memoryview(orjson.dumps(value)))
    except TypeError:
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def decode(data: bytes) -> Json:
    """Return the value that `data` holds, or raise ValueError."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("JSON nested too deep") from None


def without_bom(data: bytes) -> bytes:
    """Return what a user's file holds behind the mark that some editors put before UTF-8; JSON and TOML know none."""
    return data.removeprefix(codecs.BOM_UTF8)


def canonical(value: Json) -> Json:
    """Return `value` with the keys of every object sorted, so that equal values encode to equal bytes."""
    if isinstance(value, dict):
        return {key: canonical(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [canonical(item) for item in value]
    return value


def merge(fields: dict[str, Json], more: Mapping[str, Json], place: str = "") -> None:
    """Add a copy of `more` to `fields`, object by object; ConfigurationError when a member is there already."""
    for name, value in more.items():
        present = fields.get(name)
        if isinstance(value, dict) and (name not in fields or isinstance(present, dict)):
            below = present if isinstance(present, dict) else {}
            merge(below, value, f"{place}{name}.")
            fields[name] = below
        elif name in fields:
            raise ConfigurationError(f"the options set `{place}{name}` twice; take it out of `extra`.")
        else:
            fields[name] = value


def by_name(fields: Mapping[str, Json]) -> dict[str, Json]:
    """Return `fields` with its own keys sorted; the objects below keep their order, as a JSON schema must."""
    return {name: fields[name] for name in sorted(fields)}


def as_object(value: Json) -> dict[str, Json]:
    """Return `value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Json) -> list[Json]:
    """Return `value` if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: Json) -> str:
    """Return `value` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_count(value: Json) -> int | None:
    """Return `value` if it can count tokens (a whole number from 0 to 10¹², also as `5.0` or `"5"`), else None."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 10**12:
        return None
    return int(value) if value == int(value) else None
