"""The messages of each call of the construction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ....adapters.base import Message
from ..editing import Value
from ..nodes import Node
from ..samples import DriftLabel, Layer
from ..units import keyword
from .anchors import AnchorQuery
from .words import words


@dataclass(frozen=True, slots=True)
class Rejected:
    """An answer that did not do: what was said, the failing signal, and the detail in words."""

    text: str
    signal: str
    detail: str


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """A chain: the question that leaves it open, and its layers."""

    question: str
    layers: tuple[Layer, ...]


@dataclass(frozen=True, slots=True)
class Moment:
    """What the user has said when a piece is made, complete and the latest last, and the query for it."""

    said: tuple[str, ...]
    sql: str

    @property
    def question(self) -> str:
        """What was said last: the question itself, or the last change of mind."""
        return self.said[-1]

    def earlier(self) -> dict[str, str]:
        """Return the section on what was said before that; none where that was nothing."""
        return {words().headings.earlier: "\n".join(self.said[:-1])} if len(self.said) > 1 else {}


def chain_prompt(
    anchor: AnchorQuery, moment: Moment, ddl: str, nodes: Sequence[Node], depth: int, rejected: Sequence[Rejected]
) -> list[Message]:
    """Return the messages that ask for a chain; earlier answers follow, each with why it did not do."""
    headings, role = words().headings, words().chain
    sections = {
        headings.schema: ddl,
        **moment.earlier(),
        headings.question: moment.question,
        headings.evidence: anchor.evidence,
        headings.query: moment.sql,
        headings.decisions: _listed(nodes),
    }
    return [*_opening(role.system.replace("{depth}", str(depth)), sections), *_again(role.again, rejected)]


def chain_judge_prompt(anchor: AnchorQuery, moment: Moment, chain: Ambiguity, second: int) -> list[Message]:
    """Return the messages that put two layers of a chain to a judge, who sees no verdict on them.

    `second` is the place of the one that hangs on the other; what comes before both is shown as clarified.
    """
    headings = words().headings
    known = chain.layers[: second - 1]
    sections = {
        **moment.earlier(),
        headings.question: moment.question,
        headings.evidence: anchor.evidence,
        headings.query: moment.sql,
        headings.ambiguous: chain.question,
        **({headings.clarified: _dialogue(known)} if known else {}),
        headings.layers: _layers(chain.layers[second - 1 : second + 1]),
    }
    return _opening(words().chain_judge.system, sections)


def evidence_prompt(
    anchor: AnchorQuery, moment: Moment, chain: Ambiguity, rejected: Sequence[Rejected]
) -> list[Message]:
    """Return the messages that ask for the evidence without what settles the chain (Appendix B.3)."""
    headings, role = words().headings, words().evidence
    sections = {
        headings.evidence: anchor.evidence,
        headings.query: moment.sql,
        headings.ambiguous: chain.question,
        headings.layers: _layers(chain.layers),
    }
    return [*_opening(role.system, sections), *_again(role.again, rejected)]


def tester_prompt(ddl: str, evidence: str, question: str, clarified: Iterable[Layer]) -> list[Message]:
    """Return the messages that ask for a query under one condition of Table 8."""
    headings = words().headings
    sections = {
        headings.schema: ddl,
        headings.evidence: evidence,
        headings.question: question,
        headings.clarified: _dialogue(clarified),
    }
    return _opening(words().tester.system, sections)


def drift_prompt(
    anchor: AnchorQuery, moment: Moment, label: DriftLabel, ddl: str, nodes: Sequence[Node],
    rejected: Sequence[Rejected],
) -> list[Message]:  # fmt: skip
    """Return the messages that ask for a drift of the assigned label."""
    headings, role = words().headings, words().drift
    fine = label.fine_subtype
    clause = keyword(fine) if fine and fine != "limit_offset" else "LIMIT/OFFSET"
    definition = getattr(role, label.subtype).strip().replace("{clause}", clause)
    form = role.fine_form % fine if fine else role.form
    system = role.system.replace("{definition}", definition).replace("{form}", form)
    sections = {
        headings.schema: ddl,
        headings.question: "\n".join(moment.said),
        headings.evidence: anchor.evidence,
        headings.query: moment.sql,
        headings.decisions: _listed(nodes),
        headings.kind: " ".join(filter(None, (label.subtype, fine))),
    }
    if label.subtype == "value":
        sections[headings.values] = _values(anchor.values)
    return [*_opening(system, sections), *_again(role.again, rejected)]


def drift_judge_prompt(moment: Moment, label: DriftLabel, utterance: str, sql: str) -> list[Message]:
    """Return the messages that put a drift to a judge: anchor SQL, utterance, post-drift SQL (Appendix B.2)."""
    headings = words().headings
    sections = {
        headings.question: "\n".join(moment.said),
        headings.before: moment.sql,
        headings.kind: " ".join(filter(None, (label.subtype, label.fine_subtype))),
        headings.said: utterance,
        headings.after: sql,
    }
    return _opening(words().drift_judge.system, sections)


def once_more(prompt: Sequence[Message], answer: str) -> list[Message]:
    """Return `prompt` with an answer that was not usable, and the note on the format."""
    notes = words().notes
    return [*prompt, Message("assistant", answer.strip() or notes.unusable), Message("user", notes.json)]


def _opening(system: str, sections: Mapping[str, str]) -> list[Message]:
    none = words().notes.none
    body = "\n\n".join(f"## {title}\n{text.strip() or none}" for title, text in sections.items())
    return [Message("system", system.strip()), Message("user", body)]


def _again(text: str, rejected: Sequence[Rejected]) -> list[Message]:
    messages: list[Message] = []
    for each in rejected:
        problem = text.strip().format(signal=each.signal, detail=each.detail)
        messages += [Message("assistant", each.text.strip() or words().notes.unusable), Message("user", problem)]
    return messages


def _listed(nodes: Sequence[Node]) -> str:
    return "\n".join(f"{number}. {node.sql} ({node.words})" for number, node in enumerate(nodes, 1))


def _dialogue(clarified: Iterable[Layer]) -> str:
    return "\n".join(f"Analyst: {layer.question}\nUser: {layer.answer}" for layer in clarified)


def _layers(layers: Iterable[Layer]) -> str:
    return "\n".join(
        json.dumps(
            {
                "layer": layer.label,
                "about": layer.term,
                "question": layer.question,
                "chosen": layer.answer,
                "alternative": layer.alternative,
            },
            ensure_ascii=False,
        )
        for layer in layers
    )


def _values(values: Mapping[str, Sequence[Value]]) -> str:
    return "\n".join(
        f"{predicate}: {json.dumps(list(found), ensure_ascii=False)}" for predicate, found in values.items()
    )
