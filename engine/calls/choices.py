"""From the models that a user names to the models that are asked: variants and options resolved, once, at the start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from ...adapters.base import ConfigurationError
from ...adapters.capabilities import resolve
from ..spec import ModelSpec, Spec


def resolved(spec: Spec) -> Spec:
    """Return `spec` with every option that will be sent, as the manifest records it; a second time changes nothing.

    Raises ConfigurationError for a variant that does not exist, or an option that a model does not accept.
    """
    return msgspec.structs.replace(spec, models=[_resolved(model) for model in spec.models])


DECODING: Final = ("temperature", "top_p", "max_tokens", "seed")
"""Options that say how an answer is drawn, whatever the model."""


def resolved_auxiliary(spec: Spec, auxiliary: Sequence[ModelSpec]) -> list[ModelSpec]:
    """Return the models that a benchmark asks itself, as they will be asked.

    What all models of the run are sent of `DECODING`, they are sent too, unless they have a value of their own. Raises
    ConfigurationError as `resolved` does, and when one bears the name of another model of the run.
    """
    first, *others = resolved(spec).models
    shared = {
        name: first.options[name]
        for name in DECODING
        if name in first.options and all(model.options.get(name) == first.options[name] for model in others)
    }
    found = [_resolved(msgspec.structs.replace(model, options={**shared, **model.options})) for model in auxiliary]
    names = [model.name for model in (first, *others, *found)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigurationError(f"{twice[0]!r} names two of the run's models; give one of them another label.")
    return found


def _resolved(model: ModelSpec) -> ModelSpec:
    name, options = resolve(model.id, model.options)
    # A variant keeps the name it was chosen by: the same model may stand beside it without one.
    label = model.label or (model.id if name != model.id else "")
    return msgspec.structs.replace(model, id=name, label=label, options=options)
