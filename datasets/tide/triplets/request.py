"""A request: a template with its values. It can be said, completely or ambiguously, and it has its SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from sqlglot import exp

from ..editing import Value, expression
from ..parsing import parse
from ..samples import Layer
from .model import Condition, Option, Path, Subject, Template

TreeT = TypeVar("TreeT", bound=exp.Expr)

_ALIAS = re.compile(r"\bT\d\b")


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: the conditions by name, the numbers by name, and the path of choices made so far."""

    template: Template
    values: Mapping[str, Value]
    numbers: Mapping[str, int]
    path: Path = ()

    @property
    def open(self) -> Option | None:
        """The fork that is to be resolved next; None when the path has come to a reading."""
        last = self.template.along(self.path)[-1]
        return last if last.options else None

    def unanswered(self) -> Request:
        """Return the same request with every layer open."""
        return replace(self, path=())

    def answered(self, answer: str) -> Request | None:
        """Return the request after an answer to its open fork, or None when the answer gives neither option."""
        options = self.open.options if self.open else ()
        said = [place for place, option in enumerate(options) if option.say.lower() in answer.lower()]
        return replace(self, path=(*self.path, said[0])) if len(said) == 1 else None

    def conditions(self) -> Iterator[tuple[Condition, Value]]:
        """Yield the conditions that are asked for, with their values."""
        for condition in self.template.conditions:
            if condition.name in self.values:
                yield condition, self.values[condition.name]

    def ambiguous_question(self) -> str:
        """Return the question that leaves every layer open."""
        return self.template.ambiguous.format(where=self._said(), **self.numbers)

    def question(self) -> str:
        """Return the complete question. Raises KeyError when layers are open."""
        return self.template.question.format(where=self._said(), reading=self.reading().phrase, **self.numbers)

    def reading(self) -> Option:
        """Return the option that completes the reading. Raises KeyError when layers are open."""
        return self.template.readings()[self.path]

    def layers(self) -> Iterator[Layer]:
        """Yield the layers on the path; the counterfactual test is read off the tree of forks (§2.1)."""
        aside: Option | None = None
        for number, (fork, choice) in enumerate(zip(self.template.along(self.path), self.path, strict=False), 1):
            chosen, other = fork.options[choice], fork.options[1 - choice]
            yield Layer(
                label=f"L{number}",
                term=self.template.term,
                question=fork.ask,
                answer=chosen.say,
                alternative=other.say,
                verdict=None if aside is None else "transformed" if aside.options else "eliminated",
                counterfactual=aside.ask if aside else "",
            )
            aside = other

    def sql(self) -> str:
        """Return the query as the template has it. Raises KeyError when layers are open."""
        where = " AND ".join(condition.predicate(value) for condition, value in self.conditions())
        fragments = {**self.reading().sql, **self.numbers, "where": where}
        subject = self.template.subject
        joins = joins_for(subject, self.template.sql.format(tables="", **fragments))
        return self.template.sql.format(tables=" ".join((f"{subject.table} AS T1", *joins)), **fragments)

    def tree(self) -> exp.Query:
        """Return the tree of the query, without the alias where one table needs none. Raises KeyError as `sql`."""
        return _shortened(parse(self.sql()))

    def _said(self) -> str:
        """Return the phrases of the conditions as they follow the noun: `a`, `a and b`, `a, b and c`."""
        phrases = [condition.say(value) for condition, value in self.conditions()]
        listed = ", ".join(phrases[:-1])
        return f" {listed} and {phrases[-1]}" if listed else f" {phrases[-1]}"


def joins_for(subject: Subject, used: str) -> list[str]:
    """Return the joins of `subject` whose aliases the query `used` mentions, or that lead to one that is mentioned."""
    mentioned = set(_ALIAS.findall(used))
    joins: list[str] = []
    for join in reversed(subject.joins):
        alias, *others = _ALIAS.findall(join)
        if alias in mentioned:
            mentioned.update(others)
            joins.insert(0, join)
    return joins


def predicate_in(tree: exp.Query, condition: Condition, value: Value) -> exp.Expr:
    """Return the predicate of a condition as it stands in `tree`, whose names may or may not be qualified."""
    return spelled_as_in(tree, expression(condition.predicate(value)))


def spelled_as_in(tree: exp.Query, part: TreeT) -> TreeT:
    """Return `part` without the alias T1 when the tables of `tree` have no aliases. `part` is used up."""
    if not any(table.alias for table in tree.find_all(exp.Table)):
        for column in part.find_all(exp.Column):
            column.set("table", None)
    return part


def _shortened(tree: exp.Query) -> exp.Query:
    """Return a query over one table without the alias that nothing needs."""
    if tree.args.get("joins") or sum(1 for _ in tree.find_all(exp.Select)) > 1:
        return tree
    for table in tree.find_all(exp.Table):
        table.set("alias", None)
    return spelled_as_in(tree, tree)
