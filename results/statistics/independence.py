"""Do two difficulties that meet in one task fail independently? (TIDE-Bench, §5.4)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .bootstrap import RESAMPLES, bootstrap_statistic, resampled_totals
from .estimate import Estimate
from .totals import Array, Labels, Values, cluster_totals, floats

_JOINT, _TOGETHER, _PRODUCT = range(3)


@dataclass(frozen=True, slots=True)
class Independence:
    """Success on the joint task against what its parts predict, each with a paired cluster-bootstrap interval.

    `joint`: share solved of the joint samples. `product`: product of the shares solved of each part alone, the
    prediction when failures are independent over all anchors. `excess` = joint − product: above zero when the
    failures fall on the same samples. `together`: share of anchors whose parts were all solved, each in its own sample;
    `shared` = together − product is the part of the excess that comes from anchors being hard or easy for every
    part alike, `added` = joint − together what meeting in one dialogue adds to it (or, below zero, costs).
    """

    joint: Estimate
    product: Estimate
    excess: Estimate
    together: Estimate
    shared: Estimate
    added: Estimate


def joint_against_parts(
    parts: Sequence[Values],
    joint: Values,
    anchors: Labels,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Independence:
    """Compare `joint` successes with the product of the `parts`' (0 or 1 each), matched by anchor, one row per triplet.

    §5.4 of TIDE-Bench compares Joint DEA with Chain-only × Drift-only accuracy. All of an anchor's outcomes are drawn
    together, so that the interval of the excess respects that the three shares rest on the same anchors. Rows that
    share an anchor (repeats, models) form one cluster. Anchors with an unscored part must be left out of all.

    Raises ValueError for unequal lengths, and for fewer than two parts.
    """
    if len(parts) < 2:
        raise ValueError("at least two parts are needed")
    rows = [floats(part) for part in parts]
    if {len(row) for row in rows} != {len(joint)}:
        raise ValueError("parts and joint must be matched by anchor")
    n = len(joint)
    totals = cluster_totals(anchors, np.ones(n), joint, np.prod(rows, axis=0), *rows)
    drawn = resampled_totals(totals, resamples, seed)

    def estimate(plus: int, minus: int | None = None) -> Estimate:
        def statistic(sums: Array) -> Array:
            shares = _shares(sums)
            return shares[plus] if minus is None else shares[plus] - shares[minus]

        return bootstrap_statistic(totals, drawn, statistic, n=n, level=level)

    return Independence(
        joint=estimate(_JOINT),
        product=estimate(_PRODUCT),
        excess=estimate(_JOINT, _PRODUCT),
        together=estimate(_TOGETHER),
        shared=estimate(_TOGETHER, _PRODUCT),
        added=estimate(_JOINT, _TOGETHER),
    )


def _shares(sums: Array) -> tuple[Array, Array, Array]:
    """Joint, together and product from totals (n, joint, together, parts…)."""
    n = sums[..., :1]
    shares = np.divide(sums[..., 1:], n, out=np.full(sums[..., 1:].shape, np.nan), where=n != 0)
    return shares[..., 0], shares[..., 1], shares[..., 2:].prod(axis=-1)
