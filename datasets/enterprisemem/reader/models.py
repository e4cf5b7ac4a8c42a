"""The line-up: simulated models from perfect to poor, each a reader under its own name (`turntide.readers`).

They resemble no product. Each but the first has one trait that some condition brings out, as the paper found in real
models (section 6): a few errors, a weak source, forgetting, and belief in whatever retrieval brings.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import msgspec

from .reader import PromptReader, Settings

MODELS: Final[Mapping[str, Settings]] = {
    "reader-perfect": Settings(),
    "reader-strong": Settings(asks=0.05, slips=0.02, errors=0.03),
    "reader-good": Settings(asks=0.1, slips=0.04, errors={"northwind": 0.06, "sec_edgar": 0.2, "bird": 0.05}),
    "reader-forgetful": Settings(recalls=0.85, asks=0.2, slips=0.04, errors=0.04),
    "reader-credulous": Settings(episodes="always", swayed=0.15, asks=0.3, slips=0.03, errors=0.05),
}


def make(model: str, /, **changes: object) -> PromptReader:
    """Return the reader of a named model, with `changes` to its settings. Raises ValueError for one that is wrong."""
    settings = {**msgspec.to_builtins(MODELS[model]), **changes}
    return PromptReader(msgspec.convert(settings, Settings, strict=False))


perfect = partial(make, "reader-perfect")
strong = partial(make, "reader-strong")
good = partial(make, "reader-good")
forgetful = partial(make, "reader-forgetful")
credulous = partial(make, "reader-credulous")
