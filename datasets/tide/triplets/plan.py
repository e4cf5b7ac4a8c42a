"""How many triplets of which kind: the paper's shares (§3.4, Appendix G.1), to the unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ..structure import CounterfactualVerdict, Subtype, Tier

Cell: TypeAlias = "tuple[Subtype, Tier, CounterfactualVerdict]"

TRIPLETS = 514

PLAN: Mapping[Cell, int] = {
    ("value", "basic", "eliminated"): 22,
    ("value", "basic", "transformed"): 22,
    ("value", "intermediate", "eliminated"): 53,
    ("value", "intermediate", "transformed"): 54,
    ("value", "advanced", "eliminated"): 12,
    ("value", "advanced", "transformed"): 12,
    ("constraint", "basic", "eliminated"): 22,
    ("constraint", "basic", "transformed"): 22,
    ("constraint", "intermediate", "eliminated"): 52,
    ("constraint", "intermediate", "transformed"): 52,
    ("constraint", "advanced", "eliminated"): 6,
    ("constraint", "advanced", "transformed"): 7,
    ("projection", "basic", "eliminated"): 24,
    ("projection", "basic", "transformed"): 24,
    ("projection", "intermediate", "eliminated"): 51,
    ("projection", "intermediate", "transformed"): 53,
    ("projection", "advanced", "eliminated"): 12,
    ("projection", "advanced", "transformed"): 14,
}
"""Subtypes 175, 161 and 178; tiers 136, 315 and 63 before the drift, by subtype as in Appendix G.1 (projection is what
is left there); verdicts 254 and 260."""

DOUBLE_DROPS = 0.2
"""How often a constraint drift retracts two filters where two can be dropped: Table 12 has 1.11 on average."""
