"""Sessions and turns (§3.2 of the paper), and the JSON file that carries them.

The file is the authors' released format: a JSON list of sessions, plain or gzipped. Optional fields that a turn does
not have are left out when written, so the released file survives a round trip field by field.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from ...adapters.base import ConfigurationError
from ...adapters.wirejson import without_bom

Value: TypeAlias = "str | int"

DATABASES: Mapping[str, str] = {"northwind": "northwind", "sec_edgar": "sec_edgar", "bird": "financial"}
"""The database that each source's sessions run on, in the paper's source order."""

TIERS: Sequence[int] = (1, 2, 3)
"""Sessions of 1, of 4, and of 9 or 10 turns (§3.2)."""

PREFIXES: Mapping[str, str] = {"northwind": "NW", "sec_edgar": "SEC", "bird": "BIRD"}
"""The first part of a session id, `PREFIX-TIER-INDEX`."""


class Turn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One question with its gold answer and its place in the session's flow of information.

    `sql_template` is the gold query with `{key}` where a value comes from an earlier turn; `fallback_sql` is the gold
    of a neighbouring session's profile (§4.7). First turns have neither.
    """

    turn_number: int
    question: str
    ground_truth_sql: str
    sql_template: str | None = None
    fallback_sql: str | None = None
    requires_prior_context: bool
    requires_semantic_memory: bool = False
    memory_benefit_expected: bool
    referenced_context_keys: tuple[str, ...] = ()
    state_updates: dict[str, Value]
    source: str = ""


class Session(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An ordered sequence of turns that share an entity set. Tier 1 has 1 turn, tier 2 has 4, tier 3 has 9 or 10."""

    session_id: str
    source: str
    tier: int
    turns: tuple[Turn, ...]

    @property
    def database(self) -> str:
        """The name of the database that the session runs on."""
        return DATABASES[self.source]

    @property
    def content_key(self) -> str:
        """A hash of the questions and gold queries: sessions of equal content are one cluster, whatever their ids."""
        content = [(turn.question, turn.ground_truth_sql) for turn in self.turns]
        return hashlib.sha256(msgspec.json.encode(content)).hexdigest()[:16]

    def memory_critical(self) -> tuple[bool, ...]:
        """Tell for each turn whether it is memory-critical.

        §3.2: its `referenced_context_keys` are not empty, and every one of them was bound by a state update of an
        earlier turn of the session.
        """
        bound: set[str] = set()
        critical: list[bool] = []
        for turn in self.turns:
            keys = turn.referenced_context_keys
            critical.append(bool(keys) and bound.issuperset(keys))
            bound.update(turn.state_updates)
        return tuple(critical)


def turn_id(session: Session, turn: Turn) -> str:
    """Return the id by which reports name a turn, such as `SEC-3-012:9`."""
    return f"{session.session_id}:{turn.turn_number}"


def load_sessions(path: Path) -> tuple[Session, ...]:
    """Read a session file. Raises ConfigurationError that names the session and turn, and says what is expected."""
    data = _read(path)
    try:
        items = msgspec.json.decode(data, type=list[msgspec.Raw])
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"{path}: a session file is a JSON list of sessions. {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not JSON: {error}") from None
    except RecursionError:
        raise ConfigurationError(f"{path} is nested too deeply; a session file is a JSON list of sessions.") from None
    if not items:
        raise ConfigurationError(f"{path} holds no session; build one with `turntide data build enterprisemem --out F`")
    sessions = tuple(_session(path, place, item) for place, item in enumerate(items, 1))
    _check_distinct_ids(path, sessions)
    return sessions


def dump_sessions(sessions: Sequence[Session]) -> bytes:
    """Return the file's JSON; equal sessions give equal bytes."""
    return msgspec.json.format(msgspec.json.encode(sessions), indent=2) + b"\n"


def write_sessions(path: Path, sessions: Sequence[Session]) -> None:
    """Write a session file, gzipped when its name ends in `.gz`."""
    data = dump_sessions(sessions)
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise ConfigurationError(f"{path} is a cut or damaged gzip file; fetch or build it again") from None
    except OSError as error:
        raise ConfigurationError(f"cannot read the session file {path}: {error.strerror or error}") from None
    if not data.strip():
        raise ConfigurationError(f"{path} is empty; a session file is a JSON list of sessions, plain or gzipped")
    return without_bom(data)


def _session(path: Path, place: int, item: msgspec.Raw) -> Session:
    try:
        session = msgspec.json.decode(item, type=Session)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"{path}: session {_name(item) or place}: {_in_words(str(error))}") from None
    if problem := _problem(session):
        raise ConfigurationError(f"{path}: session {session.session_id.strip() or place}: {problem}")
    return session


class _Named(msgspec.Struct):
    session_id: str


def _name(item: msgspec.Raw) -> str:
    """Return the id of a session that is otherwise broken, or nothing."""
    try:
        return msgspec.json.decode(item, type=_Named).session_id
    except msgspec.ValidationError:
        return ""


def _in_words(message: str) -> str:
    """Turn msgspec's `Expected str, got int - at $.turns[2].question` into the file's own terms."""
    message, _, place = message.partition(" - at `$")
    if unknown := re.fullmatch(r"Object contains unknown field (`.*`)", message):
        what, shape = ("turn", Turn) if ".turns[" in place else ("session", Session)
        message = f"unknown field {unknown[1]}; a {what} has {', '.join(shape.__struct_fields__)}"
    if turn := re.match(r"\.turns\[(\d+)\]\.?(.*)`", place):
        field = f", {turn[2]}" if turn[2] else ""
        return f"turn {int(turn[1]) + 1}{field}: {message}"
    field = place.strip(".`")
    return f"{field}: {message}" if field else message


def _problem(session: Session) -> str | None:
    """Return what a well-typed session still breaks, or None."""
    if not re.fullmatch(r"[^\s/:]+", session.session_id):
        return (
            f"session_id {session.session_id!r}: expected a name without spaces, slashes and colons, such as NW-2-001"
        )
    if session.source not in DATABASES:
        return f"unknown source {session.source!r}; the known ones are {', '.join(DATABASES)}"
    if session.tier not in TIERS:
        return f"tier {session.tier}: expected one of {', '.join(map(str, TIERS))}"
    if not session.turns:
        return "it has no turns"
    for expected, turn in enumerate(session.turns, 1):
        if turn.turn_number != expected:
            return f"turn number {turn.turn_number} stands where {expected} should; number the turns 1 to n"
        if problem := _turn_problem(session, turn):
            return f"turn {expected} {problem}"
    return None


def _turn_problem(session: Session, turn: Turn) -> str | None:
    if turn.source not in ("", session.source):
        return f"says source {turn.source!r}, the session {session.source!r}"
    if not turn.question.strip() or not turn.ground_truth_sql.strip():
        return "has an empty question or ground_truth_sql"
    for name in ("sql_template", "fallback_sql"):
        if (sql := getattr(turn, name)) is not None and not sql.strip():
            return f"has an empty {name}; leave it out where there is none"
    if not all(map(str.strip, (*turn.referenced_context_keys, *turn.state_updates))):
        return "has a context key without a name in referenced_context_keys or state_updates"
    return None


def _check_distinct_ids(path: Path, sessions: Iterable[Session]) -> None:
    seen: set[str] = set()
    for session in sessions:
        if session.session_id in seen:
            raise ConfigurationError(f"{path}: session id {session.session_id} occurs twice; ids must be unique")
        seen.add(session.session_id)
