"""Long names of models, shortened together: what tells them apart stays, and what they share goes first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

LONGEST: Final = 24
"""Characters of a name beside a panel of a phone's width."""

_BETWEEN: Final = "-_/:@?& "
_WORD: Final = re.compile(f"[^{_BETWEEN}]+")


def short(names: Sequence[str]) -> dict[str, str]:
    """Return names as figures show them: distinct ones stay distinct, in `LONGEST` characters unless that takes more.

    A provider that all share goes in any case. While one name is too long, all lose their paths, then words that all
    share, from the last on; those that are still too long are cut.
    """
    given = list(dict.fromkeys(names))
    shown = given
    if shared := _shared_provider(given):
        shown = _changed(given, lambda name: name.removeprefix(shared))
    for step in (_without_path, _base, *(partial(_without, word) for word in _shared_words(given))):
        if any(len(name) > LONGEST for name in shown):
            shown = _changed(shown, step)
    found = list[str]()
    for place, name in enumerate(shown):
        others = [*found, *shown[:place], *shown[place + 1 :]]
        found.append(name if len(name) <= LONGEST else _cut(name, others))
    return dict(zip(given, found, strict=True))


def _shared_provider(names: Sequence[str]) -> str:
    starts = {name[: name.find("/") + 1] for name in names}
    return starts.pop() if len(starts) == 1 else ""


def _shared_words(names: Sequence[str]) -> list[str]:
    """Return the words that stand in all of several names, from the last on."""
    if len(names) < 2:
        return []
    first, *others = ([*dict.fromkeys(_WORD.findall(name))] for name in names)
    return [word for word in reversed(first) if all(word in words for words in others)]


def _changed(names: list[str], step: Callable[[str], str]) -> list[str]:
    """Return the names after a step that leaves something of each and keeps them distinct, else as they are."""
    changed = [step(name) for name in names]
    return changed if all(changed) and len(set(changed)) == len(names) else names


def _without_path(name: str) -> str:
    """Return provider and model: what a provider serves may stand under a path."""
    return re.sub("/.*/", "/", name)


def _base(name: str) -> str:
    return name.rpartition("/")[2]


def _without(word: str, name: str) -> str:
    return re.sub(f"(?:^|[{_BETWEEN}]+){re.escape(word)}(?=[{_BETWEEN}]|$)", "", name).lstrip(_BETWEEN)


class _Rest(NamedTuple):
    """What is left of a name that is cut: its two ends, or a piece from within it."""

    head: str = ""
    tail: str = ""
    within: str = ""

    def __str__(self) -> str:
        return f"…{self.within}…" if self.within else f"{self.head}…{self.tail}"

    def fits(self, name: str) -> bool:
        return name.startswith(self.head) and name.endswith(self.tail) and self.within in name


def _cut(name: str, others: Sequence[str]) -> str:
    """Return what tells a name from all `others`, in `LONGEST` characters or as few more as that takes."""
    for size in range(LONGEST, len(name)):
        for rest in _rests(name, size):
            if str(rest) not in others and not any(map(rest.fits, others)):
                return str(rest)
    return name


def _rests(name: str, size: int) -> Iterator[_Rest]:
    """Yield what can be left in `size` characters: whole words, else both halves, uneven ends, a piece from within."""
    words = list(_WORD.finditer(name))
    for head in (name[: word.end()] for word in reversed(words)):
        for tail in (name[word.start() :] for word in words):
            if size // 2 <= len(head) + len(tail) < size:
                yield _Rest(head, tail)
        if size // 2 <= len(head) < size:
            yield _Rest(head)
    kept = size - 1
    for head in sorted(range(kept + 1), key=lambda head: abs(2 * head - kept)):
        yield _Rest(name[:head], name[len(name) - (kept - head) :])
    for start in range(len(name) - size + 3):
        yield _Rest(within=name[start : start + size - 2])
