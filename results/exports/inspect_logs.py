"""Runs as logs of Inspect (`.eval`), for its viewer and its readers: one log per model and condition or protocol.

A log is a zip of JSON: `header.json` says what was run and what came of it, `samples/ID_epoch_N.json` holds each
sample, `summaries.json` the list that the viewer opens with, and `_journal/start.json` what was known at the start.
Written for version 2 of the format, which inspect_ai 0.3 reads. Zip entries carry no clock, so equal journals give
equal bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from ...adapters.base import Json
from .dialogue import Dialogue
from .export import Export
from .inspect_header import Tally, header
from .inspect_sample import EPOCHS_FROM, sample_json, summary_json
from .samples import Sample
from .times import began
from .types import clean

_UNFIT = re.compile(r"[^A-Za-z0-9.+@-]+")


class InspectLogs:
    """Writes the logs into a folder; use it as a context. Memory holds a summary of every sample."""

    def __init__(self, folder: Path, export: Export, marks: Mapping[str, str]) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._export = export
        self._marks = marks
        self._logs: dict[tuple[str, str], _Log] = {}

    def add(self, dialogue: Dialogue) -> None:
        """Write the dialogue's samples into their log."""
        for sample in self._export.samples(dialogue):
            self._log(dialogue).add(dialogue, sample)

    def close(self) -> None:
        """Finish every log."""
        for log in self._logs.values():
            log.close(self._export, self._marks)

    def _log(self, dialogue: Dialogue) -> _Log:
        model, cell, _, _ = dialogue.place
        if (model, cell) not in self._logs:
            self._logs[model, cell] = _Log(self._folder, dialogue)
        return self._logs[model, cell]


class _Log:
    def __init__(self, folder: Path, first: Dialogue) -> None:
        model, cell, _, _ = first.place
        created = began(first.run)
        task = f"{first.run.identity['benchmark']}-{cell}"
        name = f"{created:%Y-%m-%dT%H-%M-%S}_{_UNFIT.sub('-', task)}_{_UNFIT.sub('-', model)}.eval"
        self._zip = ZipFile(_unused(folder, name), "x")
        self._summaries: list[Json] = []
        self._tally = Tally(first, task, created)

    def add(self, dialogue: Dialogue, sample: Sample) -> None:
        epoch = dialogue.place[3] + EPOCHS_FROM
        whole = sample_json(dialogue, sample, self._tally.created)
        self._write(f"samples/{sample.id}_epoch_{epoch}.json", whole)
        self._summaries.append(summary_json(whole))
        self._tally.add(sample, epoch)

    def close(self, export: Export, marks: Mapping[str, str]) -> None:
        whole = header(self._tally, export, marks)
        self._write("_journal/start.json", {name: whole[name] for name in ("version", "eval", "plan")})
        self._write("summaries.json", self._summaries)
        self._write("header.json", whole)
        self._zip.close()

    def _write(self, name: str, value: object) -> None:
        entry = ZipInfo(name)  # its time is 1980 unless told: no clock
        entry.external_attr = 0o644 << 16
        content = json.dumps(clean(value), ensure_ascii=False, allow_nan=False)
        self._zip.writestr(entry, content.encode(), ZIP_DEFLATED)


def _unused(folder: Path, name: str) -> Path:
    """Return a path for `name` that no other log has: labels that differ may be spelled alike in a file's name."""
    path, count = folder / name, 1
    while path.exists():
        count += 1
        path = folder / f"{name.removesuffix('.eval')}-{count}.eval"
    return path
