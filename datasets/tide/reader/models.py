"""The line-up: simulated agents under their own names, and the model that plays the user (`turntide.readers`).

They resemble no product. Each agent but the first has one trait, and known values of the seven metrics follow from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import msgspec

from .agent import Agent, Settings
from .user import UserReader

AGENTS: Final[Mapping[str, Settings]] = {
    "tide-perfect": Settings(),
    "tide-always-asks": Settings(asks="always"),
    "tide-never-asks": Settings(asks="never"),
    "tide-asks-first-only": Settings(asks="first"),
    "tide-asks-second-first": Settings(asks="second_first"),
    "tide-forgets-drift": Settings(drifts="forgets"),
    "tide-keeps-retracted": Settings(drifts="keeps"),
    "tide-asks-after-drift": Settings(drifts="asks"),
    "tide-abstains-after-drift": Settings(drifts="abstains"),
    "tide-unparsable-after-drift": Settings(drifts="unparsable"),
    "tide-malformed-once": Settings(malformed="once"),
    "tide-malformed-always": Settings(malformed="always"),
}


def make(model: str, /, **changes: object) -> Agent:
    """Return the agent of that name, with `changes` to its settings. Raises ValueError for one that is wrong."""
    settings = {**msgspec.to_builtins(AGENTS[model]), **changes}
    return Agent(msgspec.convert(settings, Settings, strict=False))


perfect = partial(make, "tide-perfect")
always_asks = partial(make, "tide-always-asks")
never_asks = partial(make, "tide-never-asks")
asks_first_only = partial(make, "tide-asks-first-only")
asks_second_first = partial(make, "tide-asks-second-first")
forgets_drift = partial(make, "tide-forgets-drift")
keeps_retracted = partial(make, "tide-keeps-retracted")
asks_after_drift = partial(make, "tide-asks-after-drift")
abstains_after_drift = partial(make, "tide-abstains-after-drift")
unparsable_after_drift = partial(make, "tide-unparsable-after-drift")
malformed_once = partial(make, "tide-malformed-once")
malformed_always = partial(make, "tide-malformed-always")
user = UserReader
