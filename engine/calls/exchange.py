"""One exchange with a provider: bytes out, a classified reply back, and the key in neither."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ...adapters.base import (
    SIMULATED,
    Account,
    Answer,
    Fault,
    LimitHint,
    Question,
    Reply,
    Transport,
    TransportFault,
    WireReply,
    WireRequest,
)
from ...adapters.provider import Provider
from ...adapters.redaction import redact, redact_read, redact_reply
from .pace import Pace


class Exchanged(NamedTuple):
    """What came back: the reply as it was read, and what its headers say of the account's limits."""

    reply: Reply
    hints: tuple[LimitHint, ...] = ()


async def exchange(
    transport: Transport,
    provider: Provider,
    account: Account,
    question: Question,
    wire: WireRequest,
    deadline: float,
    headers: tuple[tuple[str, str], ...] = (),
    pace: Pace | None = None,
) -> Exchanged:
    """Send the bytes that ask `question` once, within `deadline` seconds; a failure of the transport is a Fault.

    With a `pace`, what comes back waits for its turn before it is read.
    """
    came = await carried(transport, provider, account, wire, deadline, headers)
    if pace:
        await pace.turn()
    if isinstance(came, Fault):
        return Exchanged(came)
    return Exchanged(understood(provider, account, came, question), provider.wire.hints(came))


async def carried(
    transport: Transport,
    provider: Provider,
    account: Account,
    wire: WireRequest,
    deadline: float,
    headers: tuple[tuple[str, str], ...] = (),
) -> WireReply | Fault:
    """Send `wire` once, with the account's key; what comes back does not hold it."""
    try:
        authorized = (*await account.authorize(provider.wire, wire), *headers)
        # A host may quote the key that it was sent; nothing behind this line can show or journal it.
        return redact_reply(await transport.send(account, wire, authorized, deadline), account.key)
    except TransportFault as fault:
        return Fault(kind=fault.kind, message=redact(fault.message, account.key), paid=fault.phase == "sent")


def understood(provider: Provider, account: Account, reply: WireReply, question: Question) -> Reply:
    """Return what a reply means; an answer says whether the simulated provider gave it."""
    read = redact_read(provider.wire.read(reply, question), account.key)
    return replace(read, simulated=True) if SIMULATED in reply.headers and isinstance(read, Answer) else read
