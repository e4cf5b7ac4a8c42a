"""The templates of each database, read from the TOML file of its name beside this module."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from ..structure import CounterfactualVerdict
from .model import Option, Subject, Template

DATABASES: tuple[str, ...] = ("financial", "superhero", "northwind", "sec_edgar")
"""The databases that templates exist for."""


@cache
def templates(database: str) -> tuple[Template, ...]:
    """Return the templates over `database`, none for a database that has none."""
    if database not in DATABASES:
        return ()
    text = resources.files(__package__ or "").joinpath(f"{database}.toml").read_text(encoding="utf-8")
    file = tomllib.loads(text)
    return tuple(_template(database, fields, file["subjects"]) for fields in file["templates"])


@cache
def counts(database: str) -> tuple[Template, ...]:
    """Return the plain questions over `database`, which leave nothing open: how many there are, for each subject."""
    subjects = {template.subject.noun: template.subject for template in templates(database)}
    return tuple(_count(database, subject) for subject in subjects.values())


def _count(database: str, subject: Subject) -> Template:
    asked = f"How many {subject.noun}{{where}} are there?"
    return Template(
        name=f"number of {subject.noun}",
        database=database,
        subject=subject,
        term="",
        ambiguous=asked,
        question=asked,
        sql="SELECT COUNT(*) FROM {tables} WHERE {where}",
        ask="",
        options=(),
        projections=(),
    )


@cache
def words(database: str) -> dict[str, str]:
    """Return how a user speaks of the columns of `database`, by `table.column` in lower case."""
    text = resources.files(__package__ or "").joinpath(f"{database}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["words"]


def deepest() -> int:
    """Return how many layers the deepest template has."""
    return max(template.depth for database in DATABASES for template in templates(database))


def verdict_of(template: Template) -> CounterfactualVerdict:
    """Return the counterfactual verdict of the template's second layer, which the tree of its forks decides (§2.1)."""
    return "transformed" if all(option.options for option in template.options) else "eliminated"


def _template(database: str, fields: dict[str, Any], subjects: dict[str, Any]) -> Template:
    subject = subjects[fields["subject"]]
    for condition in subject["conditions"]:  # codes are listed once, with how one speaks of them
        condition.setdefault("values", list(condition.get("spoken", ())))
    template = msgspec.convert({**fields, "database": database, "subject": subject}, Template)
    _check_chain(template.name, template.chain)
    return template


def _check_chain(name: str, option: Option) -> None:
    """Refuse a chain that cannot be asked or whose layers do not depend on each other (§2.1)."""
    if not option.options:
        return
    asked = [following.ask for following in option.options if following.options]
    if len(option.options) != 2 or not option.ask or len(set(asked)) != len(asked):
        raise ValueError(
            f"template {name}: at {option.say or 'its start'!r} two options, and different questions after"
        )
    for following in option.options:
        _check_chain(name, following)
