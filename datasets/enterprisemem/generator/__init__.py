"""Our own session generator: the paper's three phases (§4.3) over any databases of the three schemas.

Profiles are extracted from the live databases, turn-sequence templates are instantiated with them, and the result is
verified. The same database content and seed give the same sessions.
"""

from __future__ import annotations

from .build import generate
from .verify import InvariantError, Verification, verify

__all__ = ["InvariantError", "Verification", "generate", "verify"]
