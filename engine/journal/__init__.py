"""The run's journal: every answer, statement and record, on disk before it is used."""

from .codec import Fields, canonical
from .errors import DamagedJournal, DuplicateKey, JournalError, JournalGone, JournalStopped
from .journal import Journal, Tail, Visitor, scan
from .keys import Key, Line, key_of, place
from .lines import Lines, LinesOfShards
from .writer import Statistics

__all__ = [
    "DamagedJournal",
    "DuplicateKey",
    "Fields",
    "Journal",
    "JournalError",
    "JournalGone",
    "JournalStopped",
    "Key",
    "Line",
    "Lines",
    "LinesOfShards",
    "Statistics",
    "Tail",
    "Visitor",
    "canonical",
    "key_of",
    "place",
    "scan",
]
