"""Talks one sample through: the agent's turns, the simulated user's answers, and the record of both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...adapters.base import Answer, Message
from ...engine.unit import Context
from .actions import Action, Clarify, Malformed, Query, read_action
from .desk import Desk
from .record import Asked, Ending, Queried
from .scoring import judge
from .simulator.situation import SimulatorFault, Situation, taken_in
from .simulator.user import Reply, UserSimulator
from .state import DialogueState, Exchange
from .words import words

_PLACE = re.compile(r"\{(schema|evidence)\}")


@dataclass(slots=True)
class Trace:
    """What a dialogue came to, in the order of its turns. `detail` says why a simulator failed."""

    asked: list[Asked] = field(default_factory=list[Asked])
    queried: list[Queried] = field(default_factory=list[Queried])
    retries: int = 0
    detail: str = ""


async def talk(ctx: Context, state: DialogueState, model: str, desk: Desk, user: UserSimulator, evidence: str) -> Trace:
    """Take `state` to its ending. `model` is the agent's label; `evidence` is what it sees beside the DDL."""
    trace = Trace()
    system = agent_system(desk.ddl, evidence)
    while state.ending is None:
        taken = await _take_turn(ctx, model, [system, *map(_message, state.history)], trace)
        if isinstance(taken, str):
            state.abandon(taken)
            continue
        stage = state.stage
        state.act(taken)
        match taken:
            case Clarify():
                await _answer(ctx, state, desk, user, trace)
            case Query(sql):
                before = trace.queried[-1].sql if trace.queried else None
                gold = state.sample.golds[stage]
                place = {"turn": state.turns, "stage": stage}
                trace.queried.append(await judge(ctx, desk.database, desk.committed, sql, gold, before, **place))
    return trace


def agent_system(ddl: str, evidence: str) -> Message:
    """Return the agent's system prompt, the same for all models: actions, DDL and evidence (Appendix D, Figure 8)."""
    parts = {"schema": ddl.strip(), "evidence": evidence.strip() or words().agent.no_evidence}
    return Message("system", _PLACE.sub(lambda place: parts[place[1]], words().agent.system.strip()))


async def _take_turn(ctx: Context, model: str, prompt: Sequence[Message], trace: Trace) -> Action | Ending:
    """Ask the agent for one action; a malformed answer is met once with the note on the format, outside the history."""
    answer = await ctx.ask(model, prompt)
    action = _action(answer)
    if action:
        return action
    trace.retries += 1
    bad = Message("assistant", answer.text.strip() or words().agent.unusable)
    again = await ctx.ask(model, [*prompt, bad, Message("user", words().agent.note.strip())])
    return _action(again) or _failure(again)


def _action(answer: Answer) -> Action | None:
    if answer.finish == "refused":
        return None
    try:
        return read_action(answer.text)
    except Malformed:
        return None


def _failure(answer: Answer) -> Ending:
    match answer.finish:
        case "length":
            return "cut"
        case "refused":
            return "refused"
        case "stop":
            return "abstained"


async def _answer(ctx: Context, state: DialogueState, desk: Desk, user: UserSimulator, trace: Trace) -> None:
    """Let the user answer the question that waits, and record the decision; a fault of theirs ends the dialogue."""
    assert state.question is not None
    situation = Situation(
        question=taken_in(state.question),
        conversation=state.conversation[:-1],
        layers=state.layers,
        resolved=frozenset(state.resolved),
        nodes=desk.nodes(state.current),
    )
    try:
        reply = await user.reply(ctx, situation, desk.identifiers)
    except SimulatorFault as fault:
        trace.detail = str(fault)
        state.abandon("simulator_error")
        return
    trace.asked.append(_asked(state, state.question, reply))
    state.hear(reply)


def _asked(state: DialogueState, question: str, reply: Reply) -> Asked:
    return Asked(
        turn=state.turns,
        stage=state.stage,
        question=question,
        reply=reply.text,
        decided=reply.decided.aim,
        acted=reply.target.aim,
        rho=reply.target.rho,
        node=reply.target.node,
        rejected=reply.rejected,
        neutral=reply.neutral,
    )


def _message(exchange: Exchange) -> Message:
    return Message("user" if exchange.action is None else "assistant", exchange.said)
