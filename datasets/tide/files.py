"""The file of triplets: read with errors that name the place, written so that equal triplets give equal bytes."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import msgspec

from ...adapters.base import ConfigurationError
from ...adapters.wirejson import without_bom
from .samples import FORMAT, Stage, Triplet

Importer: TypeAlias = Callable[[Any], "TripletFile | None"]
"""Takes a decoded JSON document of another format and returns its triplets, or None when it is not that format."""

IMPORTERS: list[Importer] = []
"""Asked in turn about every document that does not say that it is of our format: where a release by others goes."""

_NAME = re.compile(r"[A-Za-z0-9][\w.:-]*", re.ASCII)
"""Names become parts of a dialogue's key, of file names and of options (`--database NAME=PATH`)."""


class TripletFile(msgspec.Struct, frozen=True, kw_only=True):
    """A set of triplets with its name. `synthetic` says that no dialogue in it comes from the paper's authors."""

    format: Literal["turntide-tide-1"]
    name: str
    synthetic: bool
    triplets: tuple[Triplet, ...]


def load_triplets(path: Path) -> TripletFile:
    """Read a file of triplets, plain or gzipped.

    Raises ConfigurationError that names the triplet and field, and says what is expected there.
    """
    document: Any = _decoded(path)
    fields = cast("dict[str, Any]", document) if isinstance(document, dict) else dict[str, Any]()
    found = _own(path, fields) if "format" in fields else _imported(path, cast(object, document))
    if not found.triplets:
        raise ConfigurationError(f"{path} holds no triplet; build some with `turntide data build tide --out F`")
    _check_rules(path, found.triplets)
    return found


def dump_triplets(file: TripletFile) -> bytes:
    """Return the file's JSON; equal files give equal bytes."""
    return msgspec.json.format(msgspec.json.encode(file, order="deterministic"), indent=1) + b"\n"


def write_triplets(path: Path, file: TripletFile) -> None:
    """Write a file of triplets, gzipped when its name ends in `.gz`."""
    data = dump_triplets(file)
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file; the one that is shipped beside this module is this, and a test compares."""
    schema = {"title": "Triplets of TIDE-Bench, as turntide has them"} | msgspec.json.schema(TripletFile)
    return msgspec.json.decode(msgspec.json.encode(schema))


def _decoded(path: Path) -> Any:  # noqa: ANN401 - any JSON
    try:
        data = path.read_bytes()
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        return msgspec.json.decode(without_bom(data))
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise ConfigurationError(f"{path} is a cut or damaged gzip file; fetch or build it again") from None
    except OSError as error:
        raise ConfigurationError(f"cannot read the file of triplets {path}: {error.strerror or error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not JSON: {error}") from None
    except RecursionError:
        raise ConfigurationError(f"{path} is nested too deeply to be a file of triplets") from None


def _imported(path: Path, document: object) -> TripletFile:
    for importer in IMPORTERS:
        if found := importer(document):
            return found
    raise ConfigurationError(f'{path} is no file of triplets: it must be a JSON object with "format": "{FORMAT}"')


def _own(path: Path, document: dict[str, Any]) -> TripletFile:
    if document["format"] != FORMAT:
        raise ConfigurationError(f"{path} is of format {document['format']!r}; this turntide reads {FORMAT!r}")
    try:
        return msgspec.convert(document, TripletFile)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"{path}: {_in_words(str(error), document)}") from None


def _in_words(message: str, document: dict[str, Any]) -> str:
    """Turn msgspec's `Expected str, got int - at $.triplets[2].stages[0].sql` into the file's own terms."""
    message, _, place = message.partition(" - at `$")
    found = re.match(r"\.triplets\[(\d+)\]\.?(.*)`", place)
    if not found:
        return f"{place.strip('.`')}: {message}" if place else message
    triplet: dict[str, Any] | object = document["triplets"][int(found[1])]
    name = cast("dict[str, Any]", triplet).get("id") if isinstance(triplet, dict) else None
    field = re.sub(r"\b(stage|layer)s\[(\d+)\]", lambda part: f"{part[1]} {int(part[2]) + 1}", found[2])
    return f"triplet {name or int(found[1]) + 1}: {field.replace('.', ', ')}: {message}".replace(": :", ":")


def _check_rules(path: Path, triplets: Iterable[Triplet]) -> None:
    seen: set[str] = set()
    for triplet in triplets:
        if triplet.id in seen:
            raise ConfigurationError(f"{path}: triplet id {triplet.id} occurs twice; ids must be unique")
        seen.add(triplet.id)
        if problem := _problem(triplet):
            raise ConfigurationError(f"{path}: triplet {triplet.id or '(no id)'}: {problem}")


def _problem(triplet: Triplet) -> str | None:
    """Return what a well-typed triplet still breaks, or None."""
    for name, value in (("id", triplet.id), ("database", triplet.database)):
        if not _NAME.fullmatch(value):
            return f"its {name} {value!r} must begin with a letter or digit and hold nothing but these and . : _ -"
    if not triplet.stages:
        return "it has no stages"
    for number, stage in enumerate(triplet.stages, 1):
        if problem := _stage_problem(stage, first=number == 1):
            return f"stage {number}: {problem}"
    return _chain_problem(triplet)


def _stage_problem(stage: Stage, *, first: bool) -> str | None:
    if not stage.utterance.strip() or not stage.sql.strip():
        return "its utterance or sql is empty"
    if first and stage.drift:
        return "the first stage has nothing to drift from; give the drift a stage of its own"
    if not first and not stage.drift:
        return "every stage after the first needs a drift with its subtype"
    if bool(stage.layers) != bool(stage.ambiguous.strip()):
        return "layers and an ambiguous utterance belong together"
    return None


def _chain_problem(triplet: Triplet) -> str | None:
    labels = [layer.label for layer in triplet.layers]
    expected = [f"L{number}" for number in range(1, len(labels) + 1)]
    if labels != expected:
        return f"its layers are labelled {', '.join(labels)}; they must be {', '.join(expected)} in order"
    if len(labels) == 1:
        return "one layer is no chain: a second must depend on it"
    for layer in triplet.layers:
        if not all(text.strip() for text in (layer.term, layer.question, layer.answer, layer.alternative)):
            return f"{layer.label}: its term, question, answer or alternative is empty"
        if (layer.verdict is None) != (layer.label == "L1"):
            return f"{layer.label}: every layer but L1, and only these, has a verdict against the layer before"
        if bool(layer.counterfactual) != (layer.verdict == "transformed"):
            return f"{layer.label}: a transformed layer, and no other, has a counterfactual question"
    return None
