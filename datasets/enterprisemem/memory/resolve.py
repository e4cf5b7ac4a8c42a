"""Context resolution (paper §5.5): the values of the keys that a turn refers to, from the turns it can see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from .episode import Episode, StateValue


def resolve(keys: Sequence[str], recent: Sequence[Episode], own: Iterable[Episode] = ()) -> dict[str, StateValue]:
    """Return the newest value of each of `keys`, in their order; a key that nobody set is left out.

    `recent` is working memory, oldest turn first; `own` the session's own earlier turns in episodic memory, newest
    first. Both belong to one session: the state of other sessions is never resolved (§3.2: keys are bound within it).
    """
    found: dict[str, StateValue] = {}
    wanted = set(keys)
    for episode in chain(reversed(recent), own):
        if not wanted:
            break
        for key in wanted & episode.state.keys():
            found[key] = episode.state[key]
            wanted.remove(key)
    return {key: found[key] for key in keys if key in found}
