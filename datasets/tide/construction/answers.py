"""What the models of the construction answer: one JSON object each, as a value, with the schema that asks for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias, TypeVar, cast, get_args

import msgspec

from ....adapters.base import Answer, Json
from ..actions import Malformed, read_object
from ..drift import FineSubtype
from ..samples import VERDICTS
from ..structure import CounterfactualVerdict

JudgedVerdict: TypeAlias = Literal["eliminated", "transformed", "invariant"]


class LayerDraft(msgspec.Struct, frozen=True, kw_only=True):
    """One layer as a generator writes it; `decisions` are numbers from the list in its prompt.

    The first has no verdict, and `counterfactual` is empty unless the verdict is `transformed`.
    """

    term: str
    question: str
    answer: str
    alternative: str
    decisions: tuple[int, ...] = ()
    verdict: CounterfactualVerdict | None = None
    counterfactual: str = ""


class ChainDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A chain as a generator writes it, its outermost layer first."""

    ambiguous_question: str
    layers: tuple[LayerDraft, ...]


class ChainOpinion(msgspec.Struct, frozen=True, kw_only=True):
    """A judge's word on two layers of a chain, one of which hangs on the other (Table 6)."""

    plausibility: bool
    re_ask: bool
    verdict: JudgedVerdict
    reason: str = ""
    counterfactual: str = ""

    def passed(self) -> dict[str, bool]:
        """Return the three criteria in their order."""
        counterfactuality = self.verdict != "invariant"
        return {"plausibility": self.plausibility, "re_ask": self.re_ask, "counterfactuality": counterfactuality}


class DriftOpinion(msgspec.Struct, frozen=True, kw_only=True):
    """A judge's word on a drift (Appendix B.2)."""

    drift_fit: bool
    stability: bool
    reason: str = ""

    def passed(self) -> dict[str, bool]:
        """Return the two criteria in their order."""
        return {"drift_fit": self.drift_fit, "stability": self.stability}


class EvidenceDraft(msgspec.Struct, frozen=True, kw_only=True):
    """Rewritten evidence."""

    evidence: str


class Sql(msgspec.Struct, frozen=True, kw_only=True):
    """A tester's query."""

    sql: str


T = TypeVar("T", bound=msgspec.Struct)


def read(answer: Answer, shape: type[T]) -> T:
    """Return the answer as a `shape`. Raises Malformed that says what is wrong."""
    if answer.finish != "stop":
        raise Malformed("it is a refusal" if answer.finish == "refused" else "it was cut at the token limit")
    try:
        found = msgspec.convert(read_object(answer.text), shape)
    except msgspec.ValidationError as error:
        raise Malformed(str(error).replace("`$", "`")) from None
    if problem := next(_problems("", msgspec.structs.asdict(found)), None):
        raise Malformed(problem)
    return found


_HALF: Final = re.compile("[\ud800-\udfff]")
_MAY_BE_EMPTY: Final = frozenset({"counterfactual", "evidence", "reason"})


def _problems(place: str, fields: Mapping[str, object]) -> Iterator[str]:
    """Yield what is wrong with the texts of an answer, nested ones included."""
    for name, value in fields.items():
        match value:
            case tuple():
                for number, each in enumerate(cast("tuple[object, ...]", value)):
                    if isinstance(each, msgspec.Struct):
                        yield from _problems(f"{place}{name}[{number}].", msgspec.structs.asdict(each))
            case str() if not value.strip() and name not in _MAY_BE_EMPTY:
                yield f"{place}{name} is empty"
            case str() if _HALF.search(value):
                yield f"{place}{name} holds half a character"
            case _:
                pass


def _object(**properties: Json) -> dict[str, Json]:
    """Return the schema of an object with all of these and nothing else, as strict hosts want it."""
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


_TEXT: Final[Json] = {"type": "string"}
_BOOL: Final[Json] = {"type": "boolean"}
_LAYER: Final[Json] = _object(
    term=_TEXT, question=_TEXT, answer=_TEXT, alternative=_TEXT,
    decisions={"type": "array", "items": {"type": "integer"}},
    verdict={"type": ["string", "null"], "enum": [*VERDICTS, None]},
    counterfactual=_TEXT,
)  # fmt: skip

SCHEMAS: Final[Mapping[type[msgspec.Struct], dict[str, Json]]] = {
    ChainDraft: _object(ambiguous_question=_TEXT, layers={"type": "array", "items": _LAYER}),
    ChainOpinion: _object(
        reason=_TEXT,
        plausibility=_BOOL,
        re_ask=_BOOL,
        verdict={"type": "string", "enum": list(get_args(JudgedVerdict))},
        counterfactual=_TEXT,
    ),
    EvidenceDraft: _object(evidence=_TEXT),
    Sql: _object(sql=_TEXT),
    DriftOpinion: _object(reason=_TEXT, drift_fit=_BOOL, stability=_BOOL),
}
"""The JSON Schema of each answer. Every field is required, which the strict modes of some hosts insist on."""

DRIFT_SCHEMA: Final[dict[str, Json]] = _object(
    drift_utterance=_TEXT,
    post_drift_sql=_TEXT,
    fine_subtype={"type": ["string", "null"], "enum": [*get_args(FineSubtype), None]},
)
"""That of a drift candidate (`checks.Candidate`)."""
