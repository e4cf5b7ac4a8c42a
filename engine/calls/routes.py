"""Opens the ways to a run's models: accounts, limits, prices and connections, each account once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Final

from ...adapters.base import ConfigurationError, Json, Message, Question, Transport
from ...adapters.prices import Price, PriceTable, UnknownPrice
from ...adapters.provider import Provider
from ...adapters.transport import HttpxTransport
from .. import registry
from ..errors import Unfinished
from ..journal import Line
from ..spec import ModelSpec, Settings, Spec
from ..system.digests import text_digest
from .budget import Budget
from .choices import resolved, resolved_auxiliary
from .limits.account import Limits
from .limits.clock import Clock, loop_time
from .route import BatchWay, Route, longest_output
from .share import ALONE, Share
from .turnstile import Purse, Turnstile

_TRIAL: Final = (Message("user", "?"),)
"""The smallest question, which shows whether a model's options can be written and where they go."""


@dataclass(slots=True)
class Routes:
    """The ways of one run, by the models' labels. One transport and one turnstile per account."""

    by_label: dict[str, Route] = field(default_factory=dict[str, Route])
    turnstiles: list[Turnstile] = field(default_factory=list[Turnstile])
    transport: Transport = field(default_factory=HttpxTransport)

    def close_turnstiles(self, reason: Unfinished) -> None:
        """Let nobody through any more; calls on the wire land."""
        for turnstile in self.turnstiles:
            turnstile.close(reason)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.transport.aclose()


def open_routes(
    spec: Spec,
    auxiliary: Sequence[ModelSpec],
    purse: Purse,
    clock: Clock,
    journal: Callable[[Line], None],
    environ: Mapping[str, str] = os.environ,
    share: Share = ALONE,
) -> Routes:
    """Return the ways to all of the run's models, and to the auxiliary ones, each of which has limits of its own.

    Raises ConfigurationError: an unknown provider, a missing key, or, under a cap, a price that nobody knows.
    """
    settings = spec.settings
    prices = PriceTable.load(*([Path(settings.prices)] if settings.prices else []))
    routes = Routes()
    shared: dict[tuple[str, ...], Turnstile] = {}
    own = resolved_auxiliary(spec, auxiliary)
    for model in (*resolved(spec).models, *own):
        provider, name, options = spoken(model)
        account = provider.account(environ)
        way = batch_way(prices, model, provider, Question(model=name, messages=_TRIAL, options=options))
        if settings.batch and way is None and model not in own:
            raise ConfigurationError(f"{model.id}: no batch API for this model is known. Run it without --batch.")
        alone = (model.name,) if model in own else ()
        place = (account.provider, account.base_url, account.alias, *alone)
        if place not in shared:
            public = f"{account.provider}/{account.alias}"
            shared[place] = share.turnstile(
                f"{public} {text_digest(repr(place))[:8]}",
                limits_of(settings, model, account.in_flight),
                purse,
                clock,
                partial(_changed, journal, public, clock),
            )
        routes.by_label[model.name] = Route(
            label=model.name,
            name=name,
            provider=provider,
            account=account,
            options=options,
            transport=routes.transport,
            turnstile=shared[place],
            price=price_of(prices, model, provider, purse.budget.cap, batch=settings.batch and way is not None),
            batch=way,
        )
    routes.turnstiles.extend(shared.values())
    return routes


async def check_ways(spec: Spec, auxiliary: Sequence[ModelSpec], environ: Mapping[str, str]) -> None:
    """Raise ConfigurationError for what would stop a run before its first question: it then leaves no folder behind."""
    routes = open_routes(spec, auxiliary, Purse(Budget(cap=spec.settings.cap)), loop_time, lambda line: None, environ)
    await routes.aclose()


def provider_of(model: str) -> tuple[Provider, str]:
    """Return the provider that `provider/model` names, and the model's own name there."""
    name, _, rest = model.partition("/")
    if not rest:
        raise ConfigurationError(f"{model!r} is not provider/model (for example openai/gpt-5-mini).")
    provider = registry.load("adapters", name)
    if not isinstance(provider, Provider):
        raise ConfigurationError(f"the adapter {name!r} does not load to a Provider (adapters/base.py)")
    return provider, rest


def spoken(model: ModelSpec) -> tuple[Provider, str, dict[str, Json]]:
    """Return who a resolved model is asked at, in which format, under which name, and the options that are sent.

    Raises ConfigurationError for an option that the format cannot express: now, and not at the first question.
    """
    provider, name = provider_of(model.id)
    options = dict(model.options)
    try:
        if "api" in options:
            provider = provider.speaking(str(options.pop("api")))
        provider.wire.build(Question(model=name, messages=_TRIAL, options=options))
    except ConfigurationError as error:
        raise ConfigurationError(f"{model.id}: {error}") from None
    return provider, name, options


def batch_way(prices: PriceTable, model: ModelSpec, provider: Provider, trial: Question) -> BatchWay | None:
    """Return how a model's calls travel in batches, or None where they cannot."""
    path = provider.wire.build(trial).path
    api = next((each for each in provider.batches if each.takes(path)), None)
    return BatchWay(api, price_of(prices, model, provider, None, batch=True)) if api else None


def price_of(
    prices: PriceTable, model: ModelSpec, provider: Provider, cap: Decimal | None, *, batch: bool = False
) -> Price | None:
    """Return today's price of a model, in a batch or alone, or None where none is known.

    Raises ConfigurationError under a cap: for an unknown price, for an output that nothing bounds, and for one call
    that may cost more than the cap.
    """
    try:
        known = prices.batch_price if batch else prices.price
        price = known(model.id, datetime.now(UTC).date(), free=provider.free)
    except UnknownPrice:
        if cap is not None:
            raise
        return None
    if cap is not None and (worst := price.worst_case(0, longest_output(model.options))) > cap:
        raise ConfigurationError(
            f"{model.id}: one call may cost up to ${worst:.4f}, more than the whole cap of ${cap}. "
            "Raise --max-cost, or lower what a call may cost with --max-tokens."
        )
    return price


def limits_of(settings: Settings, model: ModelSpec, most_in_flight: int | None = None) -> Limits:
    """Return what is known of the limits of a model's account; the first of its models in a run says what they are."""
    in_flight = model.in_flight or settings.in_flight
    return Limits(
        requests_per_minute=model.rpm or settings.rpm,
        tokens_per_minute=model.tpm or settings.tpm,
        in_flight=min(in_flight, most_in_flight or in_flight),
    )


def _changed(journal: Callable[[Line], None], account: str, clock: Clock, change: Line) -> None:
    journal({"k": "limit", "account": account, "at": round(clock(), 3), **change})
