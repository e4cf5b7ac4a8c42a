"""One tiny call to a model, and what it shows: whether key, base URL, model, options, limits and price are in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final, Literal

import orjson

from ...adapters.base import (
    Account,
    Answer,
    Fatal,
    FatalKind,
    Fault,
    Json,
    LimitHint,
    Message,
    Question,
    Transport,
    WireRequest,
)
from ...adapters.capabilities import capability, notice
from ...adapters.description import describe
from ...adapters.modelids import spellings
from ...adapters.prices import FREE, Price
from ...adapters.provider import Provider
from ...adapters.redaction import public_url
from ..spec import ModelSpec, Spec
from .choices import resolved
from .exchange import Exchanged, exchange
from .route import cost_of, most
from .routes import spoken

MESSAGES: Final = (Message("user", "Reply with the single word OK."),)
MAX_TOKENS: Final = 64
"""Sent where a model takes `max_tokens` and nothing else was asked for: one call shall cost next to nothing."""

_PROMPT: Final = frozenset({"model", "messages", "input", "contents", "system", "instructions", "systemInstruction"})
"""What a request is made of besides its options, in all formats."""

Check = Literal["key", "base URL", "model", "options", "limits", "price", "answer"]
State = Literal["ok", "note", "problem"]

_AT_FAULT: Final[Mapping[FatalKind, tuple[Check, str]]] = {
    "key": ("key", "was not accepted. Set the right one, with access to this model"),
    "quota": ("key", "was accepted, but its account has no money or quota left"),
    "not_found": ("model", "is not there under this id (or the base URL leads elsewhere)"),
    "bad_request": ("options", "or another part of the request were not accepted as they were sent"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What the probe found of one thing. A `problem` would stop a run; a `note` is something to know before it."""

    check: Check
    state: State
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A model as a run would ask it, and what its calls cost; `price` is None where nobody knows."""

    model: ModelSpec
    name: str
    provider: Provider
    account: Account
    key_variable: str
    question: Question
    wire: WireRequest
    price: Price | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What came of a probe. `seconds` is the time on the wire, `usd` what the call cost where that is known."""

    target: Target
    exchanged: Exchanged
    seconds: float
    findings: tuple[Finding, ...]
    usd: Decimal | None

    @property
    def ok(self) -> bool:
        """Whether a run of this model could start."""
        return all(finding.state != "problem" for finding in self.findings)

    def to_json(self) -> dict[str, Json]:
        """Return everything but the key."""
        target, reply = self.target, self.exchanged.reply
        answer = reply if isinstance(reply, Answer) else None
        usage = answer.usage if answer else None
        return {
            "model": target.model.name,
            "ok": self.ok,
            "base_url": public_url(target.account.base_url),
            "options": dict(target.question.options),
            "requested": target.name,
            "returned": answer.model if answer else None,
            "seconds": round(self.seconds, 3),
            "input_tokens": usage.input_tokens if usage else None,
            "output_tokens": usage.output_tokens if usage else None,
            "usd": None if self.usd is None else str(self.usd),
            "limits": [
                {"resource": hint.resource, "limit": hint.limit, "remaining": hint.remaining, "seconds": hint.window}
                for hint in self.exchanged.hints
            ],
            "findings": [{"check": each.check, "state": each.state, "said": each.said} for each in self.findings],
        }


def target_of(
    choice: str,
    options: Mapping[str, Json],
    price: Callable[[ModelSpec, Provider], Price | None],
    environ: Mapping[str, str],
) -> Target:
    """Return how `provider/model[@variant]` is asked; ConfigurationError for what can be refused without a call."""
    asked = ModelSpec(id=choice, options=dict(options))
    model = resolved(Spec(benchmark="", models=[asked])).models[0]
    provider, name, sent = spoken(model)
    known = capability(model.id)
    takes_limit = known is None or known.accepts is None or "max_tokens" in known.accepts
    if takes_limit and not {"max_tokens", "thinking_budget"} & sent.keys():
        sent["max_tokens"] = MAX_TOKENS
    question = Question(model=name, messages=MESSAGES, options=sent)
    return Target(
        model=model,
        name=name,
        provider=provider,
        account=provider.account(environ),
        key_variable=next((name for name in provider.key_variables if environ.get(name, "").strip()), ""),
        question=question,
        wire=provider.wire.build(question),
        price=price(model, provider),
    )


async def probe(target: Target, transport: Transport, timeout: float) -> Probe:
    """Ask once, without a retry, and judge what comes within `timeout` seconds."""
    began = time.monotonic()
    found = await exchange(transport, target.provider, target.account, target.question, target.wire, timeout)
    return Probe(
        target=target,
        exchanged=found,
        seconds=time.monotonic() - began,
        findings=findings(target, found),
        usd=cost_of(target.price, found.reply.usage) if isinstance(found.reply, Answer) else None,
    )


def findings(target: Target, found: Exchanged) -> tuple[Finding, ...]:
    """Return what an exchange shows of the target."""
    return (*_reply(target, found), *_limits(found), *_price(target))


def _reply(target: Target, found: Exchanged) -> Iterator[Finding]:
    key = target.key_variable or "no key"
    url = public_url(target.account.base_url)
    match found.reply:
        case Answer() as answer:
            yield Finding("base URL", "ok", f"{url} answers")
            taken = "was accepted" if target.key_variable else "is set, and none was asked for"
            yield Finding("key", "ok", f"{key} {taken}")
            yield _returned(target, answer)
            configured = describe(target.model.id, target.question.options)
            yield Finding("options", "ok", f"{_sent(target)} were accepted: {configured}")
            yield from _answer(answer)
        case Fatal(status=int(status), message=message) if 300 <= status < 400:
            yield Finding("base URL", "problem", f"{url} leads elsewhere. It says: {message}")
        case Fatal(kind=kind, message=message):
            check, what = _AT_FAULT[kind]
            subject = {"key": key, "model": target.name, "options": _sent(target)}.get(check, check)
            yield Finding("base URL", "ok", f"{url} answers")
            yield Finding(check, "problem", f"{subject} {what}. It says: {message}")
        case Fault(kind="rate_limit" | "overloaded") as fault:
            wait = f"asks to wait {fault.retry_after:.0f} s" if fault.retry_after is not None else "is busy"
            yield Finding("base URL", "ok", f"{url} answers")
            yield Finding("limits", "problem", f"the server {wait}, so that nothing else was checked: {fault.message}")
        case Fault(kind="network" | "timeout", paid=False) as fault:
            yield Finding("base URL", "problem", f"no connection to {url}: {fault.message}")
        case Fault() as fault:
            yield Finding("answer", "problem", f"{url} took the call and gave none ({fault.kind}): {fault.message}")


def _returned(target: Target, answer: Answer) -> Finding:
    """Compare the id that came back with the one that was asked for."""
    if answer.model == target.name:
        return Finding("model", "ok", f"{answer.model} answered, as asked")
    if set(spellings(answer.model)) & set(spellings(target.name)):
        return Finding("model", "ok", f"{answer.model} answered, a version of {target.name}")
    return Finding("model", "note", f"{answer.model!r} answered, and not {target.name!r} that was asked for")


def _sent(target: Target) -> str:
    """Name the members of the request that options became, as this format spells them."""
    body: dict[str, Json] = orjson.loads(target.wire.body)
    inner = body.pop("generationConfig", None)
    names = (body.keys() | (inner.keys() if isinstance(inner, dict) else set[str]())) - _PROMPT
    return f"the options ({', '.join(sorted(names)) or 'none'})"


def _answer(answer: Answer) -> Iterator[Finding]:
    if answer.finish == "refused":
        yield Finding("answer", "note", f"the model refused the question: {answer.detail}")
    if answer.finish == "stop" and not answer.text.strip():
        yield Finding("answer", "note", "it holds no text: a run would score it as an empty answer")
    if answer.finish == "length":
        yield Finding("answer", "note", "it was cut at max_tokens, which therefore holds (reasoning counts too)")
    if answer.usage is None:
        yield Finding("answer", "note", "no usage was reported: under a cap every call would count at its worst case")


def _limits(found: Exchanged) -> Iterator[Finding]:
    said = "; ".join(_limit(hint) for hint in found.hints)
    if any(hint.limit == 0 for hint in found.hints):
        yield Finding("limits", "note", f"the headers say {said}; a limit of 0 is passed over: give --rpm and --tpm")
    elif said:
        yield Finding("limits", "ok", f"the headers say {said}")
    elif isinstance(found.reply, Answer):
        yield Finding("limits", "note", "no header speaks of limits: give --rpm and --tpm, or they are found by trying")


def _limit(hint: LimitHint) -> str:
    limit = f"{hint.limit:,}" if hint.limit is not None else "an unknown number of"
    left = f", {hint.remaining:,} left" if hint.remaining is not None else ""
    return f"{limit} {hint.resource} per {hint.window:,.0f} s{left}"


def _price(target: Target) -> Iterator[Finding]:
    if retired := notice(target.model.id, datetime.now(UTC).date()):
        yield Finding("model", "note", retired)
    price = target.price
    if price is None:
        yield Finding("price", "note", "unknown: --max-cost needs it in a file (--prices FILE)")
    elif price is FREE:
        yield Finding("price", "ok", "free: this provider bills nothing")
    else:
        bound = "" if most(price, 0, target.model.options) is not None else "; --max-cost needs --max-tokens too"
        rates = f"${price.input} in, ${price.output} out per million tokens{bound}"
        yield Finding("price", "ok", f"{rates} (source: {price.source})")
