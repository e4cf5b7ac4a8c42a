"""What annotators are asked: a yes or no for each criterion (Appendix C.2), or what a clarification is about (E)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import msgspec

from ....datasets.tide.samples import Layer, Sample
from ....datasets.tide.simulator.situation import LOC, UNA
from .content import change_name

ROUTING: Final = "aim"
"""The key of the one item about a router decision."""

COUNTERFACTUAL: Final = "Counterfactual dependency"
RETRACTION: Final = "Non-monotonic retraction"
COHERENCE: Final = "Joint transition coherence"
"""As Table 9 names its three criteria."""


class Choice(msgspec.Struct, frozen=True):
    """One possible answer: what is stored, what the button says, and the key that gives it."""

    value: str
    label: str
    key: str


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One question of a checklist. `key` is stored with each answer, `name` is what reports call the criterion."""

    key: str
    name: str
    text: str
    choices: tuple[Choice, ...]


YES: Final = "yes"
YES_OR_NO: Final = (Choice(YES, "Yes", "y"), Choice("no", "No", "n"))


def checklist(sample: Sample) -> tuple[Item, ...]:
    """Return the items that apply to a sample, in the order of Appendix C.2.

    The paper's plan gives four chain items, three drift items and one for joint samples. Every layer beyond the second
    and every drift beyond the first adds its own.
    """
    return tuple(
        Item(key=key, name=name, text=text, choices=YES_OR_NO)
        for key, name, text in (*_chain(sample.layers), *_drifts(len(sample.stages) - 1), *_joint(sample))
    )


def routing(layers: Sequence[Layer]) -> Item:
    """Return the item about one clarification: which layer it asks for, another detail, or what no user can say."""
    points = (Choice(layer.label, f"{layer.label}: {layer.term}", layer.label.removeprefix("L")) for layer in layers)
    return Item(
        key=ROUTING,
        name="What the clarification is about",
        text="What is this question about? One that covers several points is about the first of them.",
        choices=(
            *points,
            Choice(LOC, "Another detail of the request", "d"),
            Choice(UNA, "Nothing that a user can answer", "u"),
        ),
    )


_Asked = tuple[str, str, str]


def _chain(layers: Sequence[Layer]) -> Iterator[_Asked]:
    if not layers:
        return
    first = layers[0].label
    yield (
        "underspecified",
        "Initial underspecification",
        f"Does the user's wording leave open what {first} asks?",
    )
    for layer in layers:
        label = layer.label
        yield f"options_{label}", f"{label} options plausible", f"Might a real user mean either option of {label}?"
    for before, layer in pairwise(layers):
        further = "" if before.label == first else f", {layer.label}"
        yield (
            f"counterfactual_{layer.label}",
            f"{COUNTERFACTUAL}{further}",
            f"Had the user taken the other option of {before.label}, would {layer.label} fall away, or have to be "
            "asked differently?",
        )


def _drifts(count: int) -> Iterator[_Asked]:
    for number in range(1, count + 1):
        key, name = ("", "") if number == 1 else (f"_{number}", f", change {number}")
        change = change_name(number, count)
        yield (
            f"retraction{key}",
            f"{RETRACTION}{name}",
            f"Does {change} take back or replace something that was asked for, and not only add to it?",
        )
        yield f"fidelity{key}", f"Post-drift SQL fidelity{name}", f"Does the SQL after {change} do what it asks for?"
        yield (
            f"preservation{key}",
            f"Untargeted commitments preserved{name}",
            f"Does the SQL after {change} keep all else as it was?",
        )


def _joint(sample: Sample) -> Iterator[_Asked]:
    if sample.kind == "joint":
        start, *further = _course(sample)
        way = f"from {start} to {' and on to '.join(further)}"
        yield "coherence", COHERENCE, f"Does the dialogue read on {way}, without a jump or a contradiction?"


def _course(sample: Sample) -> Iterator[str]:
    """Yield the clarifications and the changes in the order in which a dialogue comes to them."""
    for number, stage in enumerate(sample.stages):
        if number:
            yield change_name(number, len(sample.stages) - 1)
        if stage.layers:
            yield "the clarifications"
