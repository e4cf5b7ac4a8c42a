"""What a run is, frozen: a resume that would send other requests is refused, with the difference shown."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec
import orjson

from ...adapters.base import ConfigurationError, Json
from ..errors import RunError
from ..journal.codec import canonical, loads
from ..system.digests import text_digest
from ..system.files import replace_file, require_plain
from .binding import JOURNAL, SUMMARY, begin_journal, require_journal
from .lock import LOCK

NAME = "manifest.json"
FORMAT: Final = 3
"""Version of what a run folder holds; part of a run's identity."""

_WIDTH = 60
_SHOWN = 20


class _Content(msgspec.Struct):
    """The file."""

    run: str
    identity: dict[str, Any]
    settings: dict[str, Any]
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """`identity` decides every request (data, prompts, models, seeds); `settings` decide none (limits, budget).

    `run` is the run's own name, drawn once: two runs of equal identity have different ones. The file ends with the
    SHA-256 of all this, so that one that was edited by hand is not taken for what was asked.
    """

    run: str
    identity: dict[str, Any]
    settings: dict[str, Any]

    @classmethod
    def load(cls, folder: Path) -> Manifest:
        """Read the manifest of `folder`.

        Raises ConfigurationError when it has none, or one that cannot be read, has another format or was edited.
        """
        path = folder / NAME
        require_plain(folder, (NAME, JOURNAL, SUMMARY, LOCK))
        try:
            content = msgspec.convert(loads(path.read_bytes()), _Content)
        except FileNotFoundError:
            raise ConfigurationError(f"{folder} is not a run: it holds no {NAME}.") from None
        except msgspec.ValidationError as error:
            raise ConfigurationError(f"{path} is not what turntide writes ({error}): restore it from a copy.") from None
        except (ValueError, OSError) as error:
            raise ConfigurationError(f"{path} cannot be read ({error}): restore it from a copy.") from None
        manifest = cls(run=content.run, identity=content.identity, settings=content.settings)
        if (found := manifest.identity.get("format", FORMAT)) != FORMAT:
            raise ConfigurationError(
                f"{folder} has format {found!r}, and this turntide reads {FORMAT}: use the one that ran it."
            )
        if content.sha256 != text_digest(manifest._canonical()):
            raise ConfigurationError(
                f"{path} was changed after the run wrote it: its content does not match its own sha256. Restore it "
                f"from a copy; to ask for something else, start a new run in another folder."
            )
        return manifest

    def save(self, folder: Path) -> None:
        """Write the manifest; a crash leaves all of the old one or all of the new one."""
        text = self._canonical()
        content = {**orjson.loads(text), "sha256": text_digest(text)}
        replace_file(folder / NAME, orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")

    def _canonical(self) -> bytes:
        return canonical({"run": self.run, "identity": self.identity, "settings": self.settings})


Body: TypeAlias = Callable[[Path, str], None]
"""Makes, or requires, what stands beside a manifest, for the run of a name: a journal, or a folder for every shard."""


def open_or_create(
    folder: Path,
    identity: Mapping[str, Json],
    settings: Mapping[str, Json],
    begin: Body = begin_journal,
    require: Body = require_journal,
) -> Manifest:
    """Return the manifest of the run in `folder`, made now if the folder is new, with the latest settings.

    The caller holds the folder's lock. Raises ManifestMismatch when the folder holds another run, and RunError when
    its journal (or what `require` requires) is gone or another run's.
    """
    if not (folder / NAME).exists():
        manifest = Manifest(run=secrets.token_hex(8), identity=dict(identity), settings=dict(settings))
        begin(folder, manifest.run)
        manifest.save(folder)
        return Manifest.load(folder)
    held = Manifest.load(folder)
    if found := tuple(differences(held.identity, dict(identity))):
        raise ManifestMismatch(folder, found)
    require(folder, held.run)
    latest = replace(held, settings=dict(settings))
    if canonical(latest.settings) != canonical(held.settings):
        latest.save(folder)
    return latest


class _Absent(Enum):
    ABSENT = "(absent)"


ABSENT = _Absent.ABSENT
_Side: TypeAlias = "Json | _Absent"


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that is not the same; `path` is like `models[0].options.temperature`."""

    path: str
    old: Json | _Absent
    new: Json | _Absent

    def __str__(self) -> str:
        old, new = _text(self.old), _text(self.new)
        start = max(0, _first_difference(old, new) - _WIDTH // 3) if max(len(old), len(new)) > _WIDTH else 0
        return f"{self.path}: {_window(old, start)} → {_window(new, start)}"


class ManifestMismatch(RunError):
    """The folder holds a run that sends other requests."""

    def __init__(self, folder: Path, found: tuple[Difference, ...]) -> None:
        lines = [f"  {difference}" for difference in found[:_SHOWN]]
        if len(found) > _SHOWN:
            lines.append(f"  … and {len(found) - _SHOWN} more")
        text = "\n".join(lines)
        super().__init__(
            f"{folder} holds another run; what is asked for now differs (there → asked for):\n{text}\n"
            f"Ask for what stands there, or start a new run in another folder; with --seed-from {folder} it takes over "
            f"the answer to every request that is still the same."
        )
        self.differences = found


def differences(old: _Side, new: _Side, path: str = "") -> Iterator[Difference]:
    """Yield what differs between two JSON values, leaf by leaf, in the order of the sorted keys; 1 is not 1.0."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            below = f"{path}.{key}" if path else key
            yield from differences(old.get(key, ABSENT), new.get(key, ABSENT), below)
    elif isinstance(old, list) and isinstance(new, list):
        for position, (left, right) in enumerate(zip_longest(old, new, fillvalue=ABSENT)):
            yield from differences(left, right, f"{path}[{position}]")
    elif _text(old) != _text(new):
        yield Difference(path, old, new)


def _text(value: _Side) -> str:
    return value.value if isinstance(value, _Absent) else canonical(value).decode()


def _first_difference(old: str, new: str) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((position for position, (left, right) in pairs if left != right), min(len(old), len(new)))


def _window(text: str, start: int) -> str:
    before = "…" if start else ""
    after = "…" if len(text) > start + _WIDTH else ""
    return f"{before}{text[start : start + _WIDTH]}{after}"
