"""The source databases: where they are, which bytes they hold, and their schema as prompts show it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from ..adapters.base import ConfigurationError, Json
from ..engine.sql.databases import MAGIC
from ..engine.system.digests import file_digest
from . import synthetic

FILES: Mapping[str, tuple[str, ...]] = {
    "northwind": ("northwind.sqlite", "northwind.db"),
    "sec_edgar": ("sec_edgar.db", "sec_edgar.sqlite"),
    "financial": ("financial.sqlite",),
    "superhero": ("superhero.sqlite",),
}
"""What each database's file may be called inside a data folder, the preferred name first."""


SYNTHETIC: Final = "synthetic"
"""What a benchmark's `--data` says to take the look-alikes on purpose."""


@dataclass(frozen=True, slots=True)
class SourceDatabase:
    """One source database on disk. `synthetic` marks a look-alike of ours, whatever its file is called."""

    name: str
    path: Path
    synthetic: bool


class Absent(ConfigurationError):
    """A folder holds no file of a database's name. One that is there but broken is another error."""


class DatabaseFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Which file something ran on."""

    path: str
    sha256: str
    synthetic: bool


def facts_of(database: SourceDatabase) -> DatabaseFacts:
    """Return what names the file of `database`, its hash included."""
    return DatabaseFacts(path=str(database.path), sha256=file_digest(database.path), synthetic=database.synthetic)


def identities(databases: Mapping[str, SourceDatabase]) -> dict[str, Json]:
    """Return what the databases put into a run's identity: their hashes, and whether they are look-alikes."""
    return {name: {"sha256": file_digest(each.path), "synthetic": each.synthetic} for name, each in databases.items()}


def locate(
    names: Iterable[str],
    data_dir: Path | None = None,
    overrides: Mapping[str, Path] | None = None,
    known: Iterable[str] = (),
) -> dict[str, SourceDatabase]:
    """Find each database of `names`: in `overrides`, else in `data_dir`.

    With neither given, the embedded look-alikes are used (built at first need). Real and synthetic are never mixed
    silently: once either is given, every name must be found there, or ConfigurationError says what was looked for.
    A name beyond `FILES` (any of BIRD's, say) is found as `NAME.sqlite`, or in the folder `NAME` as BIRD has them.
    `overrides` may be of `known` names too, which are not needed now.
    """
    names, named = list(names), dict(overrides or {})
    possible = dict.fromkeys((*names, *known, *FILES))
    if unknown := sorted(named.keys() - possible.keys()):
        raise ConfigurationError(f"unknown database {unknown[0]!r}; the known ones are {', '.join(possible)}")
    if data_dir is None and not named:
        if missing := [name for name in names if name not in synthetic.NAMES]:
            raise ConfigurationError(f"database {missing[0]} has no look-alike: say where it is with --data DIR")
        return {name: SourceDatabase(name, synthetic.ensure(name), synthetic=True) for name in names}
    found = {name: named.get(name) or _in_folder(name, data_dir) for name in names}
    return {name: SourceDatabase(name, path, is_synthetic(_readable(name, path))) for name, path in found.items()}


def placed(
    names: Iterable[str], data: str, databases: Mapping[str, str], known: Iterable[str] = ()
) -> dict[str, SourceDatabase]:
    """Find each database of `names` where a benchmark's options `data` and `databases` say; see `locate`.

    `data` may be the word `synthetic`, for a file over the look-alikes that is not the embedded one.
    """
    overrides = {name: Path(place) for name, place in databases.items()}
    if data == SYNTHETIC and overrides:
        raise ConfigurationError(f"--data {SYNTHETIC} stands for all look-alikes: leave out --database, or --data")
    return locate(names, Path(data) if data not in ("", SYNTHETIC) else None, overrides, known)


def _in_folder(name: str, data_dir: Path | None) -> Path:
    remedy = f"name the file with --database {name}=PATH"
    if data_dir is None:
        raise ConfigurationError(f"no place given for database {name}: {remedy}, or a folder with --data DIR")
    if not data_dir.is_dir():
        raise ConfigurationError(f"the data folder {data_dir} does not exist")
    files = FILES.get(name, (f"{name}.sqlite",))
    for file in (*files, *(f"{name}/{file}" for file in files)):
        if (data_dir / file).is_file():
            return data_dir / file
    raise Absent(f"database {name}: no {' or '.join(files)} in {data_dir}; put it there or {remedy}")


def _readable(name: str, path: Path) -> Path:
    """Return `path` when it is a whole SQLite file at rest, or say what is wrong with it."""
    if not path.is_file():
        raise ConfigurationError(f"database {name}: there is no file {path}")
    header = _header(path)
    if not header.startswith(MAGIC):
        raise ConfigurationError(f"database {name}: {path} is not a SQLite database")
    page_size = int.from_bytes(header[16:18], "big")
    size = int.from_bytes(header[28:32], "big") * (65_536 if page_size == 1 else page_size)
    if path.stat().st_size < max(size, _HEADER):
        raise ConfigurationError(f"database {name}: {path} is cut short; copy or build it again")
    for suffix in ("-wal", "-journal"):
        rest = path.with_name(path.name + suffix)
        if rest.is_file() and rest.stat().st_size:
            raise ConfigurationError(
                f"database {name}: {rest.name} lies beside it, so it is in use or was left mid-write; "
                f"open and close it once with sqlite3, or use a copy made with VACUUM INTO"
            )
    return path


_HEADER = 100
"""Bytes of a SQLite file's header: page size at 16, size in pages at 28, application id at 68."""


def _header(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEADER)


def open_readonly(path: Path) -> sqlite3.Connection:
    """Open a database that nobody may change: read-only, immutable, `query_only`."""
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    connection.execute("PRAGMA query_only = 1")
    return connection


def is_synthetic(path: Path) -> bool:
    """Tell whether a SQLite file carries the mark of our look-alikes (its `application_id`)."""
    return int.from_bytes(_header(path)[68:72], "big") == synthetic.APPLICATION_ID


def schema_text(path: Path) -> str:
    """Return the DDL of every table and view, ordered by type and name (SQLite's own `sqlite_*` tables left out)."""
    with closing(open_readonly(path)) as connection:
        rows = connection.execute(
            "SELECT sql FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
            " ORDER BY type, name"
        ).fetchall()
    return "\n\n".join(f"{ddl.strip()};" for (ddl,) in rows)
