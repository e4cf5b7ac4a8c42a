"""Whole sessions talked through with a reader: real memory and real prompts, without server, engine or database."""

from __future__ import annotations

from collections.abc import Sequence

from turntide.adapters.simulated.chance import digest, seeded
from turntide.adapters.simulated.reader import Reader
from turntide.datasets.enterprisemem.conditions import BY_NAME
from turntide.datasets.enterprisemem.extraction import extract_sql
from turntide.datasets.enterprisemem.memory.horizon import SessionOrder
from turntide.datasets.enterprisemem.prompts import compose
from turntide.datasets.enterprisemem.sessions import Session, turn_id

from .episodes import episode, memory

SCHEMA = "CREATE TABLE t (a);"


async def replay(sessions: Sequence[Session], condition: str, reader: Reader, *, state: bool = True) -> dict[str, str]:
    """Return the answer to every turn by its id. Sessions share episodes in `sequential` order.

    `state` writes the sessions' state updates to memory, as the benchmark's default does.
    """
    remembered, order = memory(BY_NAME[condition]), SessionOrder.parse("sequential")
    starts, answers = list[int](), dict[str, str]()
    for place, session in enumerate(sessions):
        starts.append(len(answers))
        for turn in session.turns:
            horizon = order.horizon(starts, place, turn.turn_number)
            keys = turn.referenced_context_keys
            recalled = await remembered.recall(
                session.session_id, turn.turn_number, horizon, session.source, turn.question, keys
            )
            parts = (recalled.recent, recalled.episodes, recalled.resolved, recalled.hints)
            messages = compose(session.source, SCHEMA, *parts, turn.question)
            chance = seeded(digest(messages[1].content.encode(), purpose=b"replay"))
            answer = answers[turn_id(session, turn)] = reader.answer(messages, {}, chance)
            await remembered.remember(
                episode(
                    horizon.position,
                    turn.question,
                    session=session.session_id,
                    turn=turn.turn_number,
                    sql=extract_sql(answer),
                    state=turn.state_updates if state else {},
                )
            )
        await remembered.end(session.session_id)
    return answers
