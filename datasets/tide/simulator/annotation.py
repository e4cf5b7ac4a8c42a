"""The one annotation that an answer rests on: a layer's choice, or one atomic node in the user's words."""

from __future__ import annotations

from .situation import UNA, Situation, Target


def annotation(situation: Situation, target: Target) -> str | None:
    """Return what the user may say for `target`; None for what they cannot answer, withhold or have no wish about.

    A layer gives its chosen answer, a detail the words of exactly one atomic node (Appendix E's second adaptation).
    """
    if layer := situation.layer(target.aim):
        return layer.answer
    node = None if target.aim == UNA else situation.node(target.node)
    return node.words if node else None
