"""`python -m turntide.adapters.simulated`: the child that `SimulatedServer.start` runs."""

from __future__ import annotations

import sys

from .process import child

if __name__ == "__main__":
    sys.exit(child())
