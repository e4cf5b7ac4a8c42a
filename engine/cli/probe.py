"""`turntide probe`: one tiny call that says whether a run of a model could start."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .arguments import at_least, model_id, not_negative, positive

if TYPE_CHECKING:
    from ..benchmark import Subparsers
    from ..calls.probe import Probe

_MARKS: Final = {"ok": "ok  ", "note": "note", "problem": "FAIL"}


def add_parser(commands: Subparsers, words: Sequence[str]) -> None:
    """Add `probe`."""
    parser = commands.add_parser(
        "probe",
        help="one tiny call that checks key, base URL, model, options, limits and price",
        description=(
            "Ask a model one tiny question and say what that shows of its key, base URL, id, options, limits and price."
            " Nothing is retried or written. Exit code 0: a run could start; 2: something is not in order."
        ),
    )
    parser.add_argument("model", type=model_id, metavar="P/ID[@VARIANT]", help="as in `turntide run --model`")
    parser.add_argument("--max-tokens", type=at_least(1), metavar="N", help="sent with the question (64 if accepted)")
    parser.add_argument("--temperature", type=not_negative, metavar="T", help="sent with the question")
    parser.add_argument("--prices", metavar="FILE", help="a price table that goes before the built-in one")
    parser.add_argument("--timeout", type=positive, default=60.0, metavar="S", help="seconds for the answer (60)")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print what was found; return 0 or 2. Raises ConfigurationError for what needs no call to be refused."""
    from ..system.loop import run_loop

    found = run_loop(_probe(args))
    print(json.dumps(found.to_json()) if args.json else _text(found))
    return 0 if found.ok else 2


async def _probe(args: argparse.Namespace) -> Probe:
    from ...adapters.prices import PriceTable
    from ...adapters.transport import HttpxTransport
    from ..calls.probe import probe, target_of
    from ..calls.routes import price_of
    from .servers import OwnServers

    options = {name: value for name in ("max_tokens", "temperature") if (value := getattr(args, name)) is not None}
    prices = PriceTable.load(*([Path(args.prices)] if args.prices else []))
    async with OwnServers() as servers:
        environ = await servers.environ([args.model])
        target = target_of(args.model, options, lambda model, by: price_of(prices, model, by, None), environ)
        transport = HttpxTransport()
        try:
            return await probe(target, transport, args.timeout)
        finally:
            await transport.aclose()


def _text(found: Probe) -> str:
    from ...adapters.printable import printable

    cost: Decimal | None = found.usd
    paid = f", and cost ${cost:.6f}" if cost is not None else ""
    lines = [f"{_MARKS[each.state]} {each.check}: {each.said}" for each in found.findings]
    verdict = "a run could start" if found.ok else "not ready for a run"
    lines.append(f"{found.target.model.name}: {verdict}. The call took {found.seconds:.2f} s{paid}.")
    return "\n".join(map(printable, lines))
