"""`python -m turntide.adapters.local`: the child that `LocalServer.start` runs."""

from __future__ import annotations

import sys

from .server import child

if __name__ == "__main__":
    sys.exit(child())
