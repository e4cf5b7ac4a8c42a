"""Vectors on disk, by text: one SQLite file per model, shared by all runs of a user."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from .base import DIMENSIONS, Vector

TABLE = "CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"


class VectorCache:
    """A cache, not a truth: whatever is wrong with the file, or looks wrong in it, is computed again.

    Used in the worker process alone, so that no disk access happens on the event loop.
    """

    def __init__(self, path: Path | None) -> None:
        self._connection: sqlite3.Connection | None = None
        if path is not None:
            with suppress(OSError, sqlite3.Error):
                path.parent.mkdir(parents=True, exist_ok=True)
                self._connection = _open(path)

    def close(self) -> None:
        """Close the file; from then on it is no cache."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def read(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors that are here."""
        found: dict[str, Vector] = {}
        if self._connection is None:
            return found
        with suppress(sqlite3.Error):
            for text in texts:
                row = self._connection.execute("SELECT vector FROM vectors WHERE text = ?", (_key(text),)).fetchone()
                if row is not None and (vector := _unit(row[0])) is not None:
                    found[text] = vector
        return found

    def write(self, vectors: Mapping[str, Vector]) -> None:
        """Keep `vectors`; another process that does the same at the same time is no problem."""
        if self._connection is None or not vectors:
            return
        rows = [(_key(text), vector.astype("<f4").tobytes()) for text, vector in vectors.items()]
        with suppress(sqlite3.Error), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=5)
    try:
        connection.execute("PRAGMA synchronous = OFF")  # losing the newest vectors in a power cut costs nothing
        connection.execute(TABLE)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _unit(raw: bytes) -> Vector | None:
    """Return the stored vector, or None when it is not one."""
    if len(raw) != 4 * DIMENSIONS:
        return None
    vector = np.frombuffer(raw, "<f4").astype(np.float32)
    return vector if abs(float(np.linalg.norm(vector)) - 1.0) < 1e-3 else None
