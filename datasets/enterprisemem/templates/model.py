"""A question template: the wording with named places, and the SQL that answers it.

The same value serves both ends. The generator *asks*: it fills wording and SQL from a profile. A reader *listens*: it
recognises a question (or the SQL of an earlier turn), takes the values from it, and fills the SQL with what it knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..sessions import Value


@dataclass(frozen=True, slots=True)
class Key:
    """How one key of a session's state is spoken and typed."""

    spoken: str = ".+?"
    """What it may look like in a question, as a regular expression."""
    number: bool = False
    say: Callable[[str], str] = str
    read: Callable[[str], str] = str


KEYS: Mapping[str, Key] = {
    "customer_id": Key(),
    "company_name": Key(),
    "focus_year": Key(r"\d{4}"),
    "ticker": Key(),
    "metric": Key(
        "revenue|net income|cash|total assets|total liabilities",
        say=lambda stored: stored.replace("_", " "),
        read=lambda spoken: spoken.replace(" ", "_"),
    ),
    "older_year": Key(r"\d{4}", number=True),
    "newer_year": Key(r"\d{4}", number=True),
    "region": Key(),
    "loan_status": Key("[A-D]"),
}
"""Every state key. Northwind's `focus_year` is text, as `strftime` gives it; EDGAR's years are numbers."""

LOOKUPS: Mapping[str, tuple[str, str]] = {
    "customer_id": ("company_name", "(SELECT CustomerID FROM Customers WHERE CompanyName = :company_name)"),
    "ticker": ("company_name", "(SELECT ticker FROM companies WHERE company_name = :company_name)"),
}
"""Ids that a question never says, each with the key that stands for it and the query that finds it."""

_PLACE = re.compile(r"\{(\w+)\}")
_PARAMETER = re.compile(r":([a-z_]+)")


@dataclass(frozen=True, slots=True)
class Template:
    """One kind of question.

    `pattern` is the wording with `{key}` places; `sql` the answer with `:key` parameters; `needs` the keys that the
    question leaves to earlier turns (a turn's `referenced_context_keys`); `binds` the keys that it introduces (its
    `state_updates`).
    """

    source: str
    pattern: str
    sql: str
    needs: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()

    @property
    def says(self) -> tuple[str, ...]:
        """The keys whose values the wording contains."""
        return tuple(_PLACE.findall(self.pattern))

    def ask(self, values: Mapping[str, Value]) -> str:
        """Return the question about `values`."""
        return _PLACE.sub(lambda place: KEYS[place[1]].say(str(values[place[1]])), self.pattern)

    def hear(self, question: str) -> dict[str, Value] | None:
        """Return the values that `question` says, or None when it is no question of this kind."""
        heard = _question_pattern(self.pattern).fullmatch(question)
        if heard is None:
            return None
        return {key: _typed(key, KEYS[key].read(text)) for key, text in heard.groupdict().items()}

    def missing(self, values: Mapping[str, Value]) -> tuple[str, ...]:
        """Return the keys that `fill` would still need beyond `values`."""
        keys = dict.fromkeys(_PARAMETER.findall(self.sql))
        return tuple(key for key in keys if key not in values and _stand_in(key) not in values)

    def fill(self, values: Mapping[str, Value]) -> str:
        """Return the SQL for `values`. An id that is not among them is looked up by name; KeyError when neither is."""
        return _PARAMETER.sub(lambda parameter: _expression(parameter[1], values), self.sql)

    def with_places(self, said: Mapping[str, Value]) -> str:
        """Return the SQL as a session file's `sql_template`: `said` filled in, `{key}` for what earlier turns bind."""

        def expression(parameter: re.Match[str]) -> str:
            key = parameter[1]
            if key in said:
                return _literal(said[key])
            return f"{{{key}}}" if KEYS[key].number else f"'{{{key}}}'"

        return _PARAMETER.sub(expression, self.sql)

    def values_in(self, sql: str) -> dict[str, Value] | None:
        """Return the values in SQL that `fill` wrote, or None when it is not this template's."""
        found = _sql_pattern(self.sql).fullmatch(sql)
        if found is None:
            return None
        return {key: _typed(key, _unquoted(text)) for key, text in found.groupdict().items() if text is not None}


def learn(known: Mapping[str, Value], news: Mapping[str, Value]) -> dict[str, Value]:
    """Return `known` with `news` on top. A newly named entity voids the id of the one before it."""
    stale = {key for key, (name, _) in LOOKUPS.items() if news.get(name, known.get(name)) != known.get(name)}
    return {key: value for key, value in known.items() if key not in stale} | dict(news)


def first_match(templates: Iterable[Template], question: str) -> tuple[Template, dict[str, Value]] | None:
    """Return the first template that recognises `question`, with the values it says."""
    for template in templates:
        if (values := template.hear(question)) is not None:
            return template, values
    return None


def _typed(key: str, text: str) -> Value:
    return int(text) if KEYS[key].number else text


def _literal(value: Value) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def _unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'") if text.startswith("'") else text


def _stand_in(key: str) -> str | None:
    return LOOKUPS[key][0] if key in LOOKUPS else None


def _expression(key: str, values: Mapping[str, Value]) -> str:
    if key not in values and key in LOOKUPS:
        name, query = LOOKUPS[key]
        return query.replace(f":{name}", _literal(values[name]))
    return _literal(values[key])


@cache
def _question_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a wording: its text as it stands, each place as a named group."""
    return _compiled(_PLACE.split(pattern), lambda key: f"(?P<{key}>{KEYS[key].spoken})")


@cache
def _sql_pattern(sql: str) -> re.Pattern[str]:
    """Compile filled SQL: its text as it stands, each parameter as a literal or as the lookup that stands for it."""
    return _compiled(_PARAMETER.split(sql), _slot)


def _compiled(parts: list[str], group: Callable[[str], str]) -> re.Pattern[str]:
    """Compile a text of which every other part is a key: a group where a key first stands, the same text after that."""
    texts, keys = parts[::2], parts[1::2]
    groups = [f"(?P={key})" if key in keys[:place] else group(key) for place, key in enumerate(keys)]
    return re.compile("".join(re.escape(text) + slot for text, slot in zip(texts, [*groups, ""], strict=True)))


def _slot(key: str) -> str:
    if key not in LOOKUPS:
        return _group(key)
    name, query = LOOKUPS[key]
    before, after = map(re.escape, query.split(f":{name}"))
    return f"(?:{before}{_group(name)}{after}|{_group(key)})"


def _group(key: str) -> str:
    return rf"(?P<{key}>\d+)" if KEYS[key].number else rf"(?P<{key}>'(?:[^']|'')*')"
