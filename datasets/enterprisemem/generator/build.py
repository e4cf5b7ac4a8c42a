"""Phase 2: sessions from profiles and turn sequences; then phase 3, their verification."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ...draw import Draw
from ...gold import GoldRunner
from ..sessions import PREFIXES, Session, Turn, Value
from ..templates import Template
from .plan import LONG, SEQUENCES, SESSIONS, TURNS, Sequence, Step, metrics
from .profiles import Profile, choose, extract
from .verify import InvariantError, Verification, verify

_Played = tuple[Template, dict[str, Value], str]
"""A turn as one profile plays it: its template, the values its question says, and its gold."""


def generate(runner: GoldRunner, seed: int = 0) -> tuple[tuple[Session, ...], Verification]:
    """Build the 300 sessions over the runner's databases (northwind, sec_edgar, financial) and verify them.

    Raises InvariantError that names the first broken invariant, ConfigurationError for a database of another schema.
    """
    tiers = (_tier(runner, source, tier, Draw("sessions", seed, source, tier)) for source, tier in SESSIONS)
    sessions = tuple(chain.from_iterable(tiers))
    return sessions, verify(sessions, runner)


def _tier(runner: GoldRunner, source: str, tier: int, draw: Draw) -> Iterator[Session]:
    """Yield the sessions of one source and tier, sequence by sequence. A profile's neighbour is the next one drawn."""
    count, sequences = SESSIONS[source, tier], SEQUENCES[source, tier]
    decks = [_deck(runner, source, sequence, -(-count // len(sequences)), draw) for sequence in sequences]
    for number in range(count):
        lap, which = divmod(number, len(sequences))
        deck, sequence = decks[which], sequences[which]
        length = TURNS[tier] + (tier == 3 and number < LONG[source])
        own, neighbour = deck[lap], deck[(lap + 1) % len(deck)]
        turns = tuple(_turns(source, sequence[:length], own, neighbour))
        yield Session(session_id=f"{PREFIXES[source]}-{tier}-{number + 1:03d}", source=source, tier=tier, turns=turns)


def _deck(runner: GoldRunner, source: str, sequence: Sequence, count: int, draw: Draw) -> list[Profile]:
    chosen = choose(extract(runner, source, metrics(sequence)), source, count, draw)
    if len(chosen) < count:
        raise InvariantError(
            f"{source}: {count} distinct profiles are needed for a turn sequence, the database has only {len(chosen)}"
        )
    return chosen


def _turns(source: str, sequence: Sequence, own: Profile, neighbour: Profile) -> Iterator[Turn]:
    played = zip(_play(sequence, own), _play(sequence, neighbour), strict=True)
    for number, ((template, said, gold), (_, _, fallback)) in enumerate(played, 1):
        known = {**own, **said}
        follows = bool(template.needs)
        yield Turn(
            turn_number=number,
            question=template.ask(said),
            ground_truth_sql=gold,
            sql_template=template.with_places(said) if follows else None,
            fallback_sql=fallback if follows else None,
            requires_prior_context=follows,
            memory_benefit_expected=follows,
            referenced_context_keys=template.needs,
            # a session of one turn has nothing to remember, as in the released file
            state_updates={key: known[key] for key in template.binds} if len(sequence) > 1 else {},
            source=source,
        )


def _play(sequence: Sequence, profile: Profile) -> Iterator[_Played]:
    """Yield the turns as `profile` plays them: what a question says stays known until another says otherwise."""
    known = dict(profile)
    for step in sequence:
        said = {key: _value(step, key, profile) for key in step.template.says}
        known |= said
        yield step.template, said, step.template.fill(known)


def _value(step: Step, key: str, profile: Profile) -> Value:
    given = dict(step.instead).get(key, f"@{key}")
    return profile[given[1:]] if given.startswith("@") else given
