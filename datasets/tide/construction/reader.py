"""Simulated models of the construction: they answer from their prompts alone, with seeded mistakes.

They write no good dialogues. They give every stage something that is right in form, and make the mistakes that the
stages exist to catch, at rates that their settings name.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from msgspec import structs
from sqlglot import exp

from ....adapters.base import Json, Message
from ..drift import drift
from ..editing import Value, tree_drifts, written
from ..parsing import UnparsableSql, parse
from ..samples import Layer
from ..triplets.hearing import hear_question
from ..triplets.library import DATABASES, templates
from ..triplets.request import Request
from .evidence import without_resolutions
from .record import CHAIN_CRITERIA
from .words import words

LOST: Final = "I do not know what this is about."
_DEPTH: Final = re.compile(r"calls for (\d+) clarifications")
_DETAIL: Final = re.compile(r"^(\d+)\. .* \((.*)\)$", re.MULTILINE)


class Generator:
    """Writes chains and drifts. Rates are shares of prompts: `invariant` chains, drifts of another subtype
    (`wrong_subtype`), and queries that repeat the one before (`unchanged`).
    """

    def __init__(self, *, invariant: float = 0.0, wrong_subtype: float = 0.0, unchanged: float = 0.0) -> None:
        self._invariant = float(invariant)
        self._wrong = float(wrong_subtype)
        self._unchanged = float(unchanged)

    def answer(self, messages: Sequence[Message], options: Mapping[str, Json], chance: random.Random) -> str:
        """Return a chain, a drift or rewritten evidence, whichever the prompt asks for."""
        said = sections(messages)
        if _asks(messages, words().chain.system):
            return self._chain(said, _depth(messages[0].content), chance)
        if _asks(messages, words().evidence.system):
            return rewritten(said)
        if _asks(messages, words().drift.system):
            return self._drift(said, chance)
        return LOST

    def _chain(self, said: Mapping[str, str], depth: int, chance: random.Random) -> str:
        headings = words().headings
        details = dict(_DETAIL.findall(said[headings.decisions]))
        chosen = _spread(sorted(details, key=int), depth)
        request = _request(said[headings.question])
        layers = list(request.layers()) if request else []
        if request and len(layers) == depth:
            question = request.ambiguous_question()
        else:
            question = f"Roughly: {said[headings.question]}"
            layers = [_layer(f"L{n}", details[detail]) for n, detail in enumerate(chosen, 1)]
            layers[1:] = [
                _dependent(layer, f"And if it is not that: how is {details[before]} meant?", chance)
                for layer, before in zip(layers[1:], chosen, strict=False)
            ]
        if chance.random() < self._invariant:
            layers[-1] = structs.replace(layers[-1], verdict="transformed", counterfactual=layers[-1].question)
        drafts = [_drafted(layer, int(detail)) for layer, detail in zip(layers, chosen, strict=True)]
        return json.dumps({"ambiguous_question": question, "layers": cast("list[Json]", drafts)})

    def _drift(self, said: Mapping[str, str], chance: random.Random) -> str:
        headings = words().headings
        sql, (subtype, _, fine) = said[headings.query], said[headings.kind].partition(" ")
        values = _values(said.get(headings.values, ""))
        edits = list(tree_drifts(sql, lambda _, literal: _others(literal, values)))
        right = [edit for edit in edits if (edit.subtype, edit.fine_subtype or "") == (subtype, fine)]
        wrong = [edit for edit in edits if edit.subtype != subtype]
        drawn = chance.random()
        if drawn < self._unchanged:
            right = []
        elif drawn < self._unchanged + self._wrong and wrong:
            right = wrong
        post = right[int(chance.random() * len(right))].sql if right else sql
        return json.dumps({
            "drift_utterance": "Actually, I have changed my mind about one thing.",
            "post_drift_sql": post,
            "fine_subtype": fine or None,
        })  # fmt: skip


class Judge:
    """Judges chains and drifts by what can be seen in the prompt; `rejects` is the share that it rejects besides."""

    def __init__(self, *, rejects: float = 0.0) -> None:
        self._rejects = float(rejects)

    def answer(self, messages: Sequence[Message], options: Mapping[str, Json], chance: random.Random) -> str:
        """Return an opinion."""
        said = sections(messages)
        whim = chance.random() < self._rejects
        if _asks(messages, words().chain_judge.system):
            return json.dumps(_chain_opinion(said, chance, whim=whim))
        if _asks(messages, words().drift_judge.system):
            return json.dumps(_drift_opinion(said, whim=whim))
        return LOST


class Rewriter:
    """Rewrites evidence by the rules (`evidence.without_resolutions`)."""

    def answer(self, messages: Sequence[Message], options: Mapping[str, Json], chance: random.Random) -> str:
        """Return what remains."""
        return rewritten(sections(messages)) if _asks(messages, words().evidence.system) else LOST


class Tester:
    """Rebuilds the queries of questions that are ours; of others it understands nothing, and says so in SQL."""

    def answer(self, messages: Sequence[Message], options: Mapping[str, Json], chance: random.Random) -> str:
        """Return a query; what is open in it is guessed."""
        if not _asks(messages, words().tester.system):
            return LOST
        said, headings = sections(messages), words().headings
        request = _request(said[headings.question])
        for line in said[headings.clarified].splitlines():
            speaker, _, text = line.partition(": ")
            if request and speaker == "User":
                request = request.answered(text) or request
        while request and (fork := request.open):
            request = request.answered(fork.options[0].say)
        return json.dumps({"sql": written(request.tree()) if request else "SELECT NULL"})


def sections(messages: Sequence[Message]) -> dict[str, str]:
    """Return the sections of a prompt's first user message by their titles."""
    text = next((message.content for message in messages if message.role == "user"), "")
    parts = (part.partition("\n") for part in f"\n{text}".split("\n## ")[1:])
    return {title: body.strip("\n") for title, _, body in parts}


def rewritten(said: Mapping[str, str]) -> str:
    """Return the evidence of a prompt without what speaks of its layers' terms."""
    headings = words().headings
    layers = [_layer(each["layer"], "", term=each["about"]) for each in _json_lines(said[headings.layers])]
    return json.dumps({"evidence": without_resolutions(said[headings.evidence], layers)})


def _asks(messages: Sequence[Message], system: str) -> bool:
    lead = system.strip().partition("\n")[0].partition("{")[0]
    return bool(messages) and messages[0].role == "system" and messages[0].content.startswith(lead)


def _chain_opinion(said: Mapping[str, str], chance: random.Random, *, whim: bool) -> dict[str, Json]:
    headings = words().headings
    layers = _json_lines(said[headings.layers])
    distinct = all(each["chosen"] != each["alternative"] for each in layers)
    criterion = CHAIN_CRITERIA[int(chance.random() * len(CHAIN_CRITERIA))] if whim else ""
    verdict, counterfactual = _reading(said[headings.question], layers[1]["question"])
    if criterion == "counterfactuality":
        verdict, counterfactual = "invariant", ""
    return {
        "reason": "It reads badly." if whim else "It holds.",
        "plausibility": distinct and criterion != "plausibility",
        "re_ask": criterion != "re_ask",
        "verdict": verdict,
        "counterfactual": counterfactual,
    }


def _reading(question: str, second: str) -> tuple[str, str]:
    """Return verdict and counterfactual: a template's own, or else one that follows from the words of the layer."""
    request = _request(question)
    for layer in request.layers() if request else ():
        if layer.question == second:
            return layer.verdict or "eliminated", layer.counterfactual
    if len(second) % 2:
        return "transformed", f"In that case, rather: {second}"
    return "eliminated", ""


def _drift_opinion(said: Mapping[str, str], *, whim: bool) -> dict[str, Json]:
    headings = words().headings
    try:
        found = drift(said[headings.before], said[headings.after]).verdict
    except UnparsableSql:
        found = "reject"
    fits = found == said[headings.kind].partition(" ")[0]
    return {"reason": "Too much changes." if whim else "It holds.", "drift_fit": fits, "stability": not whim}


def _layer(label: str, about: str, term: str = "") -> Layer:
    return Layer(
        label=label,
        term=term or about,
        question=f"{label}: do you insist on this: {about}?",
        answer=f"Yes, {about}.",
        alternative="No, anything that comes near it.",
    )


def _drafted(layer: Layer, decision: int) -> dict[str, Json]:
    return {
        "term": layer.term,
        "question": layer.question,
        "answer": layer.answer,
        "alternative": layer.alternative,
        "decisions": [decision],
        "verdict": layer.verdict,
        "counterfactual": layer.counterfactual,
    }


def _dependent(layer: Layer, instead: str, chance: random.Random) -> Layer:
    """Return a layer with one verdict or the other, and the question that takes its place where it needs one."""
    transformed = chance.random() < 0.5
    verdict = "transformed" if transformed else "eliminated"
    return structs.replace(layer, verdict=verdict, counterfactual=instead if transformed else "")


def _depth(system: str) -> int:
    found = _DEPTH.search(system)
    return int(found[1]) if found else 2


def _spread(numbers: Sequence[str], count: int) -> list[str]:
    """Return `count` of the numbers, the first and the last among them and the others as even as may be."""
    return [numbers[place * (len(numbers) - 1) // (count - 1)] for place in range(count)]


def _request(question: str) -> Request | None:
    found = (hear_question(templates(database), question) for database in DATABASES)
    return next((request for request in found if request), None)


def _json_lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def _values(text: str) -> dict[str, list[Value]]:
    """Return the other values by predicate, as the prompt lists them."""
    lines = (line.rpartition(": [") for line in text.splitlines() if ": [" in line)
    return {predicate: cast("list[Value]", json.loads(f"[{values}")) for predicate, _, values in lines}


def _others(literal: exp.Literal, values: Mapping[str, list[Value]]) -> list[Value]:
    predicate = literal.parent
    known = values.get(written(parse(f"SELECT {predicate.sql('sqlite')}").expressions[0])) if predicate else None
    return known or ([] if literal.is_string else [int(float(literal.name)) + 1])
