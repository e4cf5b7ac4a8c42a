"""How long a simulated model takes to answer, written as one short word wherever a latency is set."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import TypeAlias

from ..base import ConfigurationError

Latency: TypeAlias = Callable[[float], float]
"""Maps a draw in [0, 1) to seconds, rising with it."""

_STANDARD_NORMAL = NormalDist()
_SMALLEST_DRAW = 1e-12
_GRAMMAR = "a number of seconds, uniform:LOW:HIGH, or lognormal:MEDIAN:SIGMA"


def latency(spec: float | str) -> Latency:
    """Return the latency that `spec` names: `0.2`, `uniform:0.1:0.5` or `lognormal:0.3:0.5`.

    Seconds throughout; SIGMA is the standard deviation of the logarithm. Raises ConfigurationError.
    """
    kind, *numbers = str(spec).split(":")
    try:
        match kind, [float(number) for number in numbers]:
            case "uniform", [low, high] if 0 <= low <= high < math.inf:
                return lambda draw: low + (high - low) * draw
            case "lognormal", [median, sigma] if 0 < median < math.inf and 0 <= sigma < math.inf:
                return lambda draw: median * math.exp(sigma * _STANDARD_NORMAL.inv_cdf(max(draw, _SMALLEST_DRAW)))
            case _, [] if 0 <= float(kind) < math.inf:
                seconds = float(kind)
                return lambda draw: seconds
            case _:
                pass
    except ValueError:
        pass
    raise ConfigurationError(f"latency {spec!r} is not understood: give {_GRAMMAR}.")
