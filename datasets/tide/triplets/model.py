"""What a template is made of: a subject with its conditions, a chain of forks, and the drifts of its output side.

The same values serve both ends. The generator *says* a request: its question, complete or ambiguous, the answers to the
layers and the drift turn. A reader *hears* them (`hearing`) and builds the same SQL from what was said.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import msgspec
from sqlglot import exp

from ..editing import Value, grouped_by, having, selecting, turned_round, with_limit, without

Path: TypeAlias = "tuple[int, ...]"
"""The choices on the way to a reading: the option, 0 or 1, at each fork."""


class Condition(msgspec.Struct, frozen=True, kw_only=True, eq=False, forbid_unknown_fields=True):
    """A filter that a question may carry.

    `phrase` follows the subject's noun and has `{}` for the value, `sql` is the predicate with `{}` for its literal.
    The values are listed, listed as codes with how one speaks of them (`spoken`), or found by a `query` (texts). A
    condition is not `droppable` when it sits on a join that loses rows whose key is missing: dropping it would leave in
    doubt whether these rows are meant. It `excludes` those that say nothing beside it.
    """

    name: str
    phrase: str
    sql: str
    values: tuple[str | int, ...] = ()
    spoken: dict[str, str] = {}
    query: str = ""
    droppable: bool = True
    excludes: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        """Whether the literal is a number."""
        return any(isinstance(value, int) for value in self.values)

    def say(self, value: Value) -> str:
        """Return the phrase for `value`."""
        return self.phrase.format(self.spoken.get(str(value), value))

    def predicate(self, value: Value) -> str:
        """Return the predicate for `value`."""
        return self.sql.format("'" + value.replace("'", "''") + "'" if isinstance(value, str) else value)


class Subject(msgspec.Struct, frozen=True, kw_only=True, eq=False, forbid_unknown_fields=True):
    """What a family of questions is about: the rows of one table and what is joined to each of them.

    `table` is aliased T1; `joins` are added in order, each only if a query uses its alias. `codes` explains what names
    and codes in the schema mean, by the column whose use makes it evidence.
    """

    noun: str
    table: str
    joins: tuple[str, ...] = ()
    conditions: tuple[Condition, ...]
    codes: dict[str, str] = {}


class Option(msgspec.Struct, frozen=True, kw_only=True, eq=False, forbid_unknown_fields=True):
    """An interpretation at a fork, as the user `say`s it, with what follows from it.

    Either it leaves something open, then `ask` and `options` are the next fork; or it completes a reading, then
    `phrase` says that reading in the question and `sql` gives the fragments that it fills into the query.
    """

    say: str
    ask: str = ""
    options: tuple[Option, ...] = ()
    phrase: str = ""
    sql: dict[str, str] = {}


class Projection(msgspec.Struct, frozen=True, kw_only=True, eq=False, forbid_unknown_fields=True):
    """A drift of the output side: what the user says, with `{n}` for a number, and how the outermost block changes.

    `drop` removes clauses (group, having, order, limit); `group` and `having` replace theirs, `show` the select items;
    `reverse` turns the order round and `limit` sets the number of rows to `{n}`.
    """

    say: str
    show: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    group: str = ""
    having: str = ""
    reverse: bool = False
    limit: bool = False

    def apply(self, tree: exp.Query, number: int) -> exp.Query:
        """Return `tree` with the changes."""
        tree = without(tree, *self.drop)
        if self.group:
            tree = grouped_by(tree, self.group)
        if self.having:
            tree = having(tree, self.having.format(n=number))
        if self.show:
            tree = selecting(tree, *self.show)
        if self.reverse:
            tree = turned_round(tree)
        return with_limit(tree, number) if self.limit else tree


class Template(msgspec.Struct, frozen=True, kw_only=True, eq=False, forbid_unknown_fields=True):
    """One kind of question over a subject.

    `question` and `ambiguous` have `{where}` after the noun and a place for each of `numbers`; `question` has
    `{reading}` too. `sql` has `{tables}`, `{where}`, the numbers, and the fragments of the readings. `term` is what is
    ambiguous; `ask` and `options` are the first fork. `apart` names conditions that do not go with the readings.
    """

    name: str
    database: str
    subject: Subject
    term: str
    ambiguous: str
    question: str
    sql: str
    ask: str
    options: tuple[Option, ...]
    projections: tuple[Projection, ...]
    numbers: dict[str, tuple[int, ...]] = {}
    apart: tuple[str, ...] = ()

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that its questions may carry, in the order in which they are said."""
        return tuple(condition for condition in self.subject.conditions if condition.name not in self.apart)

    @property
    def depth(self) -> int:
        """How many layers its longest chain has. It serves chains of that depth; shorter readings are alternatives."""
        return max(map(len, self.readings()))

    @property
    def narrows(self) -> bool:
        """Whether its readings differ in which rows they take, and not only in what is shown, ranked or grouped."""
        return "WHERE {where} AND {" in self.sql

    @property
    def chain(self) -> Option:
        """The first fork, as what the question itself leaves open."""
        return Option(say="", ask=self.ask, options=self.options)

    def readings(self) -> dict[Path, Option]:
        """Return the option that completes each reading, by its path."""
        return dict(_readings(self.chain, ()))

    def along(self, path: Path) -> list[Option]:
        """Return what is passed on the way along `path`, the first fork included."""
        passed = [self.chain]
        for step in path:
            passed.append(passed[-1].options[step])
        return passed


def _readings(option: Option, path: Path) -> Iterator[tuple[Path, Option]]:
    if not option.options:
        yield path, option
    for place, following in enumerate(option.options):
        yield from _readings(following, (*path, place))
