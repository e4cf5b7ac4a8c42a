"""Question files as they come: BIRD's, Spider's, SParC's and CoSQL's, one JSON array or one object a line, or triplets.

BIRD           db_id, question, evidence, SQL, question_id
Spider         db_id, question, query
SParC, CoSQL   database_id, final: {utterance, query}: the one question that the whole interaction comes to
ours           a file of triplets: the complete question of each anchor
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from ....adapters.base import ConfigurationError
from ....adapters.wirejson import without_bom
from ..files import load_triplets

_SPLITS = ("train", "dev", "test")
_DATABASE, _QUESTION, _SQL = ("db_id", "database_id"), ("question", "utterance"), ("SQL", "query")


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question with its gold query. `id` is unique in its file, `split` names the part of the source it is from.

    Texts are stripped; one may be empty where the file leaves it so.
    """

    id: str
    database: str
    split: str
    question: str
    evidence: str
    sql: str


def load_questions(path: Path, split: str = "") -> list[Question]:
    """Read a file of questions, gzipped or not; without `split` it is read off the file's name.

    Raises ConfigurationError that names the entry and the field.
    """
    split = split or next((name for name in _SPLITS if name in path.name.lower()), path.name.partition(".")[0])
    entries = _entries(path)
    if isinstance(entries, dict):
        file = load_triplets(path)
        return [
            Question(id=t.id, database=t.database, split=t.split, question=t.question, evidence=t.evidence,
                     sql=t.stages[0].sql)
            for t in file.triplets
        ]  # fmt: skip
    return [_question(path, place, entry, split) for place, entry in enumerate(entries)]


def _entries(path: Path) -> list[Any] | dict[str, Any]:
    try:
        data = path.read_bytes()
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        data = without_bom(data)
        found = list(_lines(data)) if ".jsonl" in path.suffixes else msgspec.json.decode(data)
    except OSError as error:
        raise ConfigurationError(f"cannot read the questions {path}: {error.strerror or error}") from None
    except (EOFError, zlib.error, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigurationError(f"{path} is neither JSON nor JSON lines: {error}") from None
    if isinstance(found, dict) and "format" in found:
        return cast("dict[str, Any]", found)
    if not isinstance(found, list) or not found:
        raise ConfigurationError(f"{path} holds no questions: a JSON array of them is needed, or a file of triplets")
    return cast("list[Any]", found)


def _lines(data: bytes) -> Iterator[object]:
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield _line(line, number)


def _line(line: bytes, number: int) -> object:
    try:
        return msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        raise msgspec.DecodeError(f"line {number}: {error}") from None


def _question(path: Path, place: int, entry: object, split: str) -> Question:
    where = f"{path}: entry {place + 1}"
    if not isinstance(entry, dict):
        raise ConfigurationError(f"{where} is no object")
    fields = cast("dict[str, Any]", entry)
    final = fields.get("final")
    asked = cast("dict[str, Any]", final) if isinstance(final, dict) else fields
    return Question(
        id=str(fields.get("question_id", fields.get("sample_id", place))),
        database=_text(fields, _DATABASE, where),
        split=split,
        question=_text(asked, _QUESTION, where),
        evidence=str(fields.get("evidence") or "").strip(),
        sql=_text(asked, _SQL, where),
    )


def _text(fields: Mapping[str, Any], names: tuple[str, ...], where: str) -> str:
    """Return the first of the fields that says something; "" when those that are there are empty."""
    given = [fields[name] for name in names if name in fields]
    if not given or not all(isinstance(value, str | None) for value in given):
        raise ConfigurationError(f"{where} lacks {' or '.join(names)}")
    return next((value.strip() for value in given if value and value.strip()), "")
