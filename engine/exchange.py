"""One exchange with a provider: bytes out, a classified reply back, and the key in neither."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ..adapters.base import (
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
from ..adapters.provider import Provider
from ..adapters.redaction import redact, redact_read, redact_reply


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
) -> Exchanged:
    """Send the bytes that ask `question` once, within `deadline` seconds; a failure of the transport is a Fault."""
    try:
        authorized = (*await account.authorize(provider.wire, wire), *headers)
        wired: WireReply = await transport.send(account, wire, authorized, deadline)
    except TransportFault as fault:
        message = redact(fault.message, account.key)
        return Exchanged(Fault(kind=fault.kind, message=message, paid=fault.phase == "sent"))
    # A host may quote the key that it was sent; nothing behind this line can show or journal it.
    wired = redact_reply(wired, account.key)
    reply = redact_read(provider.wire.read(wired, question), account.key)
    if SIMULATED in wired.headers and isinstance(reply, Answer):
        reply = replace(reply, simulated=True)
    return Exchanged(reply, provider.wire.hints(wired))
