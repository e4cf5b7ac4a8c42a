"""A data set folder as Hugging Face's hub and `datasets.load_dataset(folder)` read it: Parquet, and a card."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .dialogue import Dialogue
from .export import Export
from .parquet_files import ParquetFiles
from .types import writable

SPLIT = "test"
"""The one split: these are results on a test set, nothing to train on."""


class HuggingFaceFolder:
    """Writes the folder; use it as a context. `models` are the ids of the evaluated models."""

    def __init__(self, folder: Path, export: Export, marks: Mapping[str, str], models: Sequence[str]) -> None:
        self._tables = ParquetFiles(folder, export, marks, f"{{}}/{SPLIT}-00000-of-00001.parquet")
        (folder / "README.md").write_text(card(export, marks, models), encoding="utf-8")

    def add(self, dialogue: Dialogue) -> None:
        """Write the dialogue's rows."""
        self._tables.add(dialogue)

    def close(self) -> None:
        """Finish every file."""
        self._tables.close()


def card(export: Export, marks: Mapping[str, str], models: Sequence[str]) -> str:
    """Return the data set's card: a YAML header that names the files of every config, then Markdown."""
    return "\n".join([*_header(export, marks), *_body(export, marks, models)]) + "\n"


def _header(export: Export, marks: Mapping[str, str]) -> Iterator[str]:
    tags = ["text-to-sql", "evaluation", "turntide", *(mark.lower() for mark in marks)]
    yield "---"
    yield f"pretty_name: {_quoted(f'{export.title} runs by turntide')}"
    yield "license: other"
    yield "license_name: those-of-the-databases"
    yield "language: [en]"
    yield f"tags: [{', '.join(map(_quoted, tags))}]"
    yield "configs:"
    for place, table in enumerate(export.tables):
        yield f"- config_name: {table.key}"
        if place == 0:
            yield "  default: true"
        yield "  data_files:"
        yield f"  - split: {SPLIT}"
        yield f"    path: {table.key}/{SPLIT}-*.parquet"
    yield "---"


def _body(export: Export, marks: Mapping[str, str], models: Sequence[str]) -> Iterator[str]:
    yield f"# {export.title} runs by turntide"
    yield ""
    for mark, meaning in marks.items():
        yield f"> **{mark}** {_text(meaning)}"
        yield ">"
    yield ""
    yield f"Models: {', '.join(f'`{_text(model)}`' for model in models)}."
    yield ""
    for table in export.tables:
        yield f"## `{table.key}`: {table.meaning}"
        yield ""
        yield from table.described()
        yield ""
    yield "## Licence"
    yield ""
    yield export.data
    yield ""
    yield "Answers are the models': their providers' terms apply."


def _quoted(text: str) -> str:
    return json.dumps(text)  # every JSON string is a YAML string


def _text(text: str) -> str:
    return " ".join(writable(text).split())
