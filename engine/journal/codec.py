r"""How one line of the journal is written and read back, exactly.

A line is one JSON object and a newline, readable by any JSON reader:

    {"k":"answer","u":"s1/A/m/0","b":"","s":2,"text":"SELECT 1",...,"prev":"9ae0daaf","crc":"1c291ca3"}

`k` is its kind; `u`, `b` and `s` are unit, branch and sequence where it has a place; the rest belongs to the kind.
`crc` is the CRC-32 (zlib's), as eight hexadecimal digits, of the line's bytes before `,"crc":`. `prev` is the `crc` of
the line before, zeros in the first: so a line can be read alone, and one that was taken out, doubled or moved breaks
the chain. (Whole lines cut off at the end look like a crash before they were written.) What JSON cannot say stands as
an object with one key that begins with a dollar:

    {"$float":"nan"}        nan, inf or -inf
    {"$int":"0x1fffff..."}  beyond 64 bits
    {"$bytes":"AP8="}       base64
    {"$text":"a\\ud800"}    a str with lone surrogates, in Python's unicode_escape
    {"$dict":[[k,v],...]}   a dict that looks like one of these, or has a key that needs `$text`

Such values are rare. The whole line goes to orjson in one call, and only where that call fails or leaves a trace (a
`null`, which is also what orjson makes of nan; a dollar key) is it walked in Python. Tuples come back as lists; all
else comes back equal, of the same type.
"""

from __future__ import annotations

import math
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, TypeAlias, cast

import msgspec
import orjson

from .kinds import heads, require_shape
from .links import FIRST, intact, seal

Fields: TypeAlias = dict[str, Any]


_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_heads = {kind.encode(): msgspec.json.Decoder(head).decode for kind, head in heads().items()}
_KIND = len(b'{"k":"')
_null = re.compile(b"null").search  # half the time of `in` on a usual line


def encode(line: Mapping[str, object], previous: bytes = FIRST) -> bytes:
    """Return the bytes of `line` with its newline, after a line whose checksum is `previous`.

    Raises TypeError when it holds what could not be given back, and ValueError when it has no kind.
    """
    if not isinstance(line.get("k"), str) or "crc" in line or "prev" in line:
        raise ValueError("a line has its kind as `k`, and leaves `prev` and `crc` to the journal")
    body = b'%b,"prev":"%b"' % (dumps(line)[:-1], previous)
    if body.startswith(b'{"$'):
        raise ValueError("the names of a line's own fields are plain text")
    return seal(body)


def decode(raw: bytes) -> Fields:
    """Return the line that `raw` holds; raises ValueError when it is not exactly what `encode` wrote."""
    if not intact(raw):
        raise ValueError("its checksum does not match")
    return parse(raw)


def parse(raw: bytes) -> Fields:
    """Return the line that `raw`, whose checksum was compared, holds.

    Raises ValueError when it is no line, or does not hold what one of its kind does.
    """
    line = loads(raw)
    if not isinstance(line, dict) or "k" not in line or "prev" not in line:
        raise ValueError("it has no kind, or names no line before it")
    fields = cast("Fields", line)
    require_shape(fields)
    del fields["crc"]
    del fields["prev"]
    return fields


def parse_head(raw: bytes) -> Fields:
    """Return at least the head of a line (`kinds.heads`); raises as `parse` does, and takes a third of its time."""
    read = _heads.get(raw[_KIND : raw.find(b'"', _KIND)])
    if read is None:
        return parse(raw)
    try:
        head = cast("Fields", read(raw))
    except (msgspec.MsgspecError, RecursionError):  # a place with a tag in it, or not what it should be
        return parse(raw)
    # A tenth of what its pattern would take; an amount that is written in another way is looked at with it.
    return head if head.get("usd", "0").replace(".", "", 1).isdecimal() else parse(raw)


def dumps(value: object) -> bytes:
    """Return `value` as JSON in which nothing is lost; raises TypeError on types that JSON and the tags do not know."""
    try:
        text = orjson.dumps(value, option=_OPTIONS)
    except TypeError:
        return orjson.dumps(_tag(value), option=_OPTIONS)
    if _null(text) or (b"$" in text and b'{"$' in text):  # one byte is found ten times faster than three
        return orjson.dumps(_tag(value), option=_OPTIONS)
    return text


def loads(text: bytes) -> object:
    """Return the value that `dumps` wrote; raises ValueError when it did not write it."""
    value: object = orjson.loads(text)
    if b"$" not in text:
        return value
    try:
        return _untag(value)
    except (TypeError, RecursionError) as error:  # a tag around what it never holds, or a thousand of them
        raise ValueError(f"it is not what the journal writes: {error}") from error


def canonical(value: object) -> bytes:
    """Return `value` as JSON with sorted keys: equal bytes exactly for equal values, and 1 is not 1.0."""
    return orjson.dumps(_tag(value), option=_OPTIONS | orjson.OPT_SORT_KEYS)


def _tag(value: object) -> object:
    match value:
        case str():
            return value if _writable(value) else {"$text": value.encode("unicode_escape").decode("ascii")}
        case None | bool():
            return value
        case int():
            return value if -(2**63) <= value < 2**64 else {"$int": hex(value)}
        case float():
            return value if math.isfinite(value) else {"$float": repr(float(value))}
        case bytes():
            return {"$bytes": b64encode(value).decode("ascii")}
        case list() | tuple():
            return [_tag(item) for item in cast("list[object]", value)]
        case dict():
            return _tag_dict(cast("dict[object, object]", value))
        case _:
            raise TypeError(f"the journal cannot give back a {type(value).__name__}")


def _tag_dict(value: dict[object, object]) -> object:
    plain = len(value) != 1 or not str(next(iter(value))).startswith("$")
    for key in value:
        if not isinstance(key, str):
            raise TypeError(f"the journal takes only str as keys, not {type(key).__name__}")
        plain = plain and _writable(key)
    if plain:
        return {key: _tag(item) for key, item in value.items()}
    return {"$dict": [[_tag(key), _tag(item)] for key, item in value.items()]}


def _writable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _untag(value: object) -> object:
    if isinstance(value, list):
        return [_untag(item) for item in cast("list[object]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("Fields", value)
    match fields:
        case {"$float": str(text), **rest} if not rest:
            return float(text)
        case {"$int": str(text), **rest} if not rest:
            return int(text, 16)
        case {"$bytes": str(text), **rest} if not rest:
            return b64decode(text)
        case {"$text": str(text), **rest} if not rest:
            return text.encode("ascii").decode("unicode_escape")
        case {"$dict": pairs, **rest} if not rest:
            return {_untag(key): _untag(item) for key, item in cast("list[list[object]]", pairs)}
        case _:
            return {key: _untag(item) for key, item in fields.items()}
