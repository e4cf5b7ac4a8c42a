"""Options that more than one command takes, and their checks."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation


def at_least(smallest: int) -> Callable[[str], int]:
    """Return a converter for whole numbers from `smallest` on."""

    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if number < smallest:
            raise argparse.ArgumentTypeError(f"{number} is too small: at least {smallest}")
        return number

    return convert


def positive(text: str) -> float:
    """Convert a number above zero."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} must be above zero")
    return number


def dollars(text: str) -> str:
    """Convert an amount of money; it stays text, so that no cent is lost."""
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount in USD") from None
    if not amount.is_finite() or not 0 <= amount < 10**9:
        raise argparse.ArgumentTypeError(f"{text} is not an amount that can be spent")
    return format(amount, "f")


def assignment(text: str) -> tuple[str, str]:
    """Convert NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def model_id(text: str) -> str:
    """Convert `provider/model`."""
    if not re.fullmatch(r"[A-Za-z0-9_.-]+/\S+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not provider/model (for example openai/gpt-5-mini)")
    return text
