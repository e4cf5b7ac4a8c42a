"""The ratios that were recorded last, and the comparison with them."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from .figures import Figure

FILE: Final = Path(__file__).with_name("recorded.json")
REGRESSION: Final = 1.2
"""A ratio of this much over the recorded one fails."""


def load() -> dict[str, float]:
    """Return the recorded ratios by `bench/name`."""
    return json.loads(FILE.read_text())["ratios"] if FILE.exists() else {}


def save(figures: Mapping[str, Figure]) -> None:
    """Record the ratios among `figures` (by `bench/name`); those that were not measured now stay as they were."""
    ratios = load() | {name: round(figure.value, 3) for name, figure in figures.items() if figure.ratio}
    FILE.write_text(json.dumps({**circumstances(), "ratios": dict(sorted(ratios.items()))}, indent=2) + "\n")


def regressed(figure: Figure, recorded: float | None) -> bool:
    """Return whether a ratio is more than 20 % over the recorded one."""
    return figure.ratio and recorded is not None and figure.value > REGRESSION * recorded


def circumstances() -> dict[str, str]:
    """Return when this is, on what class of machine, and how busy that is."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "load": f"{os.getloadavg()[0]:.1f} before",
    }
