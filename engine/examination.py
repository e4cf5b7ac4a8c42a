"""The run's gold, examined beside the dialogues: what is found goes into the journal once, for every report to come."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson

from ..adapters.base import Json
from .closing import Closing
from .journal import Journal, Line
from .progress import Progress
from .sql.quality import VERSION, Abandoned, Examiner, Finding
from .system.cache import cache_folder
from .system.digests import file_digest
from .system.files import replace_file
from .unit import Experiment

GOLD: Final = "gold"
"""The kind of the line: how many statements were examined, and the findings by the names of their references."""


class Examination:
    """Begun beside the dialogues, in a thread; a run whose journal holds the line already examines nothing."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._known = False
        self._stopped = False
        self._work: asyncio.Future[Line] | None = None

    def visit(self, line: Mapping[str, Any]) -> None:
        """Take in a line of the journal as it is opened."""
        self._known = self._known or line["k"] == GOLD

    def begin(self, progress: Progress) -> None:
        """Begin, unless it was done by an earlier part of the run."""
        if not self._known:
            self._work = asyncio.ensure_future(asyncio.to_thread(self._examine, progress))

    async def line(self) -> Line:
        """Begin if need be, wait for it, and return what was found as a line of a journal."""
        if self._work is None:
            self.begin(Progress())
        assert self._work is not None
        return await self._work

    async def end(self, journal: Journal, *, complete: bool, closing: Closing) -> None:
        """Wait for it if the run is complete, and put what was found on record; else end it as soon as may be."""
        if self._work is None:
            return
        if complete:
            await closing.during(self._record(self._work, journal))
        self._stopped = True
        with suppress(Abandoned):
            await self._work

    async def _record(self, work: asyncio.Future[Line], journal: Journal) -> None:
        journal.append(await asyncio.shield(work))

    def _examine(self, progress: Progress) -> Line:
        references = tuple(self._experiment.references())
        progress.to_examine = len(references)
        examiner = Examiner(lambda: self._stopped)
        known = {name: _Known(path) for name, path in self._experiment.databases.items()}
        findings: list[Json] = []
        try:
            for each in references:
                if found := known[each.database].findings(examiner, each.sql):
                    findings.append({"name": each.name, "database": each.database, "found": list[Json](found)})
                progress.examined += 1
        finally:
            examiner.close()
            for each in known.values():
                each.save()
        return {"k": GOLD, "examined": len(references), "findings": findings}


class _Known:
    """What is known of one database's statements, kept on disk by its content: they are examined once for all runs."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._path = cache_folder() / "quality" / f"{file_digest(database)}.json"
        self._found = self._load()
        self._grown = False

    def findings(self, examiner: Examiner, sql: str) -> list[Finding]:
        """Return what was found in `sql`, now or before."""
        if sql not in self._found:
            self._found[sql] = examiner.findings(self._database, sql)
            self._grown = True
        return self._found[sql]

    def save(self) -> None:
        """Keep what was found. Not being able to costs the next run time and nothing else."""
        if self._grown:
            with suppress(OSError):
                self._path.parent.mkdir(parents=True, exist_ok=True)
                replace_file(self._path, orjson.dumps({"version": VERSION, "found": self._found}))

    def _load(self) -> dict[str, list[Finding]]:
        with suppress(OSError, ValueError, KeyError, TypeError):
            content: dict[str, Any] = orjson.loads(self._path.read_bytes())
            if content["version"] == VERSION:
                return dict(content["found"])
        return {}
