"""From the models that a user names to the models that are asked: variants and options resolved, once, at the start."""

from __future__ import annotations

import msgspec

from ..adapters.capabilities import resolve
from .spec import ModelSpec, Spec


def resolved(spec: Spec) -> Spec:
    """Return `spec` with every option that will be sent, as the manifest records it; a second time changes nothing.

    Raises ConfigurationError for a variant that does not exist, or an option that a model does not accept.
    """
    return msgspec.structs.replace(spec, models=[_resolved(model) for model in spec.models])


def _resolved(model: ModelSpec) -> ModelSpec:
    name, options = resolve(model.id, model.options)
    # A variant keeps the name it was chosen by: the same model may stand beside it without one.
    label = model.label or (model.id if name != model.id else "")
    return msgspec.structs.replace(model, id=name, label=label, options=options)
