"""A look-alike of BIRD's `superhero`: 750 heroes of 25 publishers with traits and powers, all invented."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..draw import Draw
from .names import FAMILY, GIVEN
from .tables import Row, Tables

HEROES, ATTRIBUTED, HERO_POWERS = 750, 623, 5_825
"""Heroes in all, heroes with six attribute values each (3,738), and pairs of hero and power."""

_SEED = "superhero"
_COLOURS = (
    "No Colour/Amber/Ash/Azure/Black/Blond/Blue/Bronze/Brown/Chestnut/Copper/Coral/Crimson/Cyan/Emerald/Gold/Green/"
    "Grey/Hazel/Indigo/Ivory/Jade/Lilac/Magenta/Ochre/Olive/Orange/Pink/Purple/Red/Silver/Teal/Violet/White/Yellow"
).split("/")
_PEOPLES = (
    "-", "Human", "Automaton", "Changeling", "Deep Dweller", "Ember Folk", "Frost Giant", "Galewing", "Half-Spirit",
    "Moonborn", "Rootkin", "Stone Kin", "Sun Child",
)  # fmt: skip
_CLANS = ("of Ash", "of Brine", "of Dusk", "of Flint")
_HOUSES = ("Amberline", "Bluegate", "Corvid", "Daybreak", "Eleventh Hour", "Foxglove", "Greywater", "Heron")
_IMPRINTS = ("Comics", "Press", "Pictures")
_FORMS = (
    "Bolt", "Chant", "Claw", "Drift", "Echo", "Fang", "Gale", "Halo", "Lance", "Mantle", "Rune", "Shade", "Spark",
    "Veil",
)  # fmt: skip
_ELEMENTS = ("Ash", "Bone", "Dream", "Ember", "Fate", "Frost", "Iron", "Light", "Mind", "Salt", "Storm", "Void")
_TITLES = ("Captain", "Doctor", "Lady", "Lord", "Madam", "Mister", "Professor", "Saint", "The")
_BEINGS = (
    "Badger", "Comet", "Dynamo", "Falcon", "Golem", "Harrier", "Juggler", "Kraken", "Lantern", "Marten", "Needle",
    "Otter", "Phantom", "Pike", "Quill", "Raptor", "Sentinel", "Thorn", "Urchin", "Vortex", "Warden", "Zephyr",
)  # fmt: skip


def rows() -> Tables:
    """Yield every table's rows, referenced tables first."""
    peoples = [*_PEOPLES, *(f"{people} {clan}" for people in _PEOPLES[1:] for clan in _CLANS)]
    publishers = ["", *(f"{house} {imprint}" for house in _HOUSES for imprint in _IMPRINTS)]
    powers = [f"{element} {form}" for element in _ELEMENTS for form in _FORMS][:167]
    yield "alignment", enumerate(("Good", "Bad", "Neutral", "N/A"), 1)
    yield "attribute", enumerate(("Wit", "Might", "Pace", "Grit", "Reach", "Craft"), 1)
    yield "colour", enumerate(_COLOURS, 1)
    yield "gender", enumerate(("Male", "Female", "N/A"), 1)
    yield "publisher", enumerate(publishers, 1)
    yield "race", enumerate(peoples, 1)
    yield "superhero", _heroes(Draw(_SEED, "heroes"), len(peoples), len(publishers))
    yield "hero_attribute", _attributes(Draw(_SEED, "attributes"))
    yield "superpower", enumerate(powers, 1)
    yield "hero_power", _powers(Draw(_SEED, "powers"), len(powers))


def _skewed(draw: Draw, count: int) -> int:
    """Return an id in 1..count, small ones far more often: half of all heroes share a few publishers and races."""
    part = draw.random()
    return 1 + int(count * part * part * part)  # no `**`: the last bit of pow() differs between machines


def _heroes(draw: Draw, peoples: int, publishers: int) -> Iterator[Row]:
    for hero, alias in enumerate(_aliases(draw), 1):
        full_name = None if draw.chance(0.16) else f"{draw.pick(GIVEN)} {draw.pick(FAMILY)}"
        height = draw.pick((None, 0, 0, *(draw.between(140, 240) for _ in range(9))))
        weight = height and draw.between(45, 160) + (height - 140) // 2
        yield (
            hero, alias, full_name, draw.pick((1, 1, 1, 2, 2, 3)), *(_skewed(draw, len(_COLOURS)) for _ in range(3)),
            _skewed(draw, peoples), None if draw.chance(0.01) else _skewed(draw, publishers),
            draw.pick((1, 1, 1, 1, 2, 2, 3, 4)), height, weight,
        )  # fmt: skip


def _aliases(draw: Draw) -> Sequence[str]:
    """Return 750 names; as in the real file a few heroes share one."""
    pool = [f"{title} {being}" for title in _TITLES for being in _BEINGS]
    pool += [f"{element} {being}" for element in _ELEMENTS for being in _BEINGS]
    pool += [f"{form}{being.lower()}" for form in _FORMS for being in _BEINGS]
    distinct = draw.shuffled(pool)[: HEROES - 7]
    return sorted(distinct + distinct[:7])


def _attributes(draw: Draw) -> Iterator[Row]:
    heroes = sorted(draw.shuffled(range(1, HEROES + 1))[:ATTRIBUTED])
    for attribute in range(1, 7):
        for hero in heroes:
            yield hero, attribute, draw.between(1, 20) * 5


def _powers(draw: Draw, powers: int) -> Iterator[Row]:
    """Yield 5,825 distinct pairs over 652 heroes: nine powers each but for the last ones drawn."""
    heroes = draw.shuffled(range(1, HEROES + 1))[:652]
    held = {hero: draw.shuffled(range(1, powers + 1))[:9] for hero in heroes}
    pairs = [(hero, held[hero][place]) for place in range(9) for hero in heroes]
    yield from sorted(pairs[:HERO_POWERS])
