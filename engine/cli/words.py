"""How the command line says amounts and durations."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal


def money(known: Decimal, exposed: Decimal, cap: Decimal | None) -> str:
    """Return what was spent, what may have been, and the cap."""
    text = f"spent ${known:.4f}"
    if exposed:
        text += f" + ${exposed:.4f} exposed"
    return text + (f" of ${cap}" if cap is not None else "")


def clock(seconds: float) -> str:
    """Return a duration as m:ss or h:mm:ss."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def local(moment: datetime) -> str:
    """Return a moment as this machine's clock shows it."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S %Z}"
