"""The provider that sweeps meet here: every fault of networks and providers, thinly spread, and storms of them."""

from __future__ import annotations

from typing import Final

from turntide.adapters.simulated import Config
from turntide.adapters.simulated.config import Fault, Storm

ATTEMPT_TIMEOUT: Final = 2.0
"""Seconds that a sweep gives an attempt: stalls, drips and late answers take longer."""

ENDURING: Final = ("--attempt-timeout", f"{ATTEMPT_TIMEOUT:g}", "--retries", "12", "--backoff", "0.05")
"""Options under which a sweep outlasts this provider."""

_THIN: Final[dict[Fault, float]] = {
    "429": 0.004,
    "500": 0.002,
    "502": 0.001,
    "503": 0.001,
    "529": 0.001,
    "stall": 0.0005,
    "late": 0.0005,
    "drip": 0.0005,
    "reset": 0.003,
    "reset-unread": 0.002,
    "torn": 0.003,
    "malformed": 0.002,
    "duplicate": 0.01,
}
_STORMS: Final = (
    Storm(every=13, lasts=0.6, faults={"429": 0.9}),
    Storm(every=17, lasts=0.5, faults={"500": 0.3, "502": 0.2, "503": 0.2}),
    Storm(every=29, lasts=0.4, faults={"reset": 0.3, "torn": 0.3}),
)


def foul(seed: int) -> Config:
    """Return a provider with every fault there is."""
    return Config(
        seed=seed,
        faults=_THIN,
        storms=_STORMS,
        latency="lognormal:0.01:0.6",
        retry_after=0.3,
        late_after=1.5 * ATTEMPT_TIMEOUT,
        drip_every=0.05,
    )
