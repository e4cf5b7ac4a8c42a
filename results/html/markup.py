"""HTML from values: every text is escaped, and only what was made here is markup."""

from __future__ import annotations

from html import escape
from typing import Final

from ...adapters.printable import printable

_VOID: Final = frozenset({"meta"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: str | None, **attributes: str | int | float | bool | None) -> Markup:
    """Return an element. Children that are no Markup are text; None and False leave something out.

    Attribute names lose a trailing underscore (`class_`), and other underscores become hyphens.
    """
    given = ((key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    shown = "".join(
        f" {key}" if value is True else f' {key}="{escape(printable(str(value)))}"'
        for key, value in given
        if value is not None and value is not False
    )
    if name in _VOID:
        return Markup(f"<{name}{shown}>")
    return Markup(f"<{name}{shown}>{join(*children)}</{name}>")


def join(*children: str | None) -> Markup:
    """Return the children one after another."""
    return Markup("".join(child if isinstance(child, Markup) else text(child) for child in children if child))


def text(value: str) -> Markup:
    """Return text that no browser can take for anything else."""
    return Markup(escape("\n".join(map(printable, value.split("\n"))), quote=False))
