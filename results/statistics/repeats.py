"""Repeated runs: how much of the spread lies between items, how much between runs of the same item."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .totals import floats


@dataclass(frozen=True, slots=True)
class Components:
    """Variance of one observation, split, and what follows for the mean over all items and repeats.

    `item`: between items; `run`: between whole runs (0 in the one-way split, where it cannot be told apart);
    `residual`: between repeats of one item. Estimates below zero are set to zero. `icc` is the intra-class
    correlation item / (item + run + residual): the correlation of one item's outcomes in two runs; nan without
    variance. `se` is the standard error of `mean` for new items and new runs, `se_rerun` for new runs of these items:
    what repeating the whole evaluation would change.
    """

    mean: float
    items: int
    repeats: float
    item: float
    run: float
    residual: float
    icc: float
    se: float
    se_rerun: float


def one_way(scores: Sequence[Sequence[float]]) -> Components:
    """Split the variance of `scores[item][repeat]` into items and residual; items may have unequal repeats.

    y = μ + aᵢ + eᵢⱼ: residual = MS_within, item = (MS_between − MS_within) / n₀ with n₀ = (N − Σnᵢ²/N)/(I − 1),
    unbiased before the cut at zero. Searle, Casella & McCulloch (1992), Variance Components, ch. 3. Repeats of an item
    must be interchangeable; items independent (take whole sessions as items). The standard errors use the mean over all
    observations, Var = item·Σnᵢ²/N² + residual/N. `repeats` is n₀.

    Raises ValueError unless there are two items and one of them has two repeats.
    """
    rows = [floats(row) for row in scores if len(row)]
    sizes = np.array([len(row) for row in rows], dtype=np.float64)
    items, n = len(rows), float(sizes.sum())
    if items < 2 or n <= items:
        raise ValueError("two items are needed, and one of them with two repeats")
    means = np.array([row.mean() for row in rows])
    grand = float((sizes * means).sum() / n)
    within = sum(float(np.square(row - row.mean()).sum()) for row in rows) / (n - items)
    between = float((sizes * np.square(means - grand)).sum()) / (items - 1)
    squares = float(np.square(sizes).sum())
    size = (n - squares / n) / (items - 1)
    item = max(0.0, (between - within) / size)
    se = math.sqrt(item * squares / n**2 + within / n)
    return Components(grand, items, size, item, 0.0, within, _share(item, 0.0, within), se, math.sqrt(within / n))


def two_way(scores: ArrayLike) -> Components:
    """Split the variance of a full table (items × runs) into items, runs and residual.

    y = μ + aᵢ + bⱼ + eᵢⱼ, all random: residual = MS_error, item = (MS_items − MS_error)/R, run = (MS_runs −
    MS_error)/I, unbiased before the cut at zero; `icc` is ICC(2,1) of Shrout & Fleiss (1979), "Intraclass
    correlations", Psychological Bulletin 86:420-428. Use it where a run as a whole may shift (another day, another
    server state). Var(mean) = item/I + run/R + residual/(IR).

    Raises ValueError unless there are two items, two runs, and no gap.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or min(table.shape) < 2 or not np.isfinite(table).all():
        raise ValueError("a full table of at least two items and two runs is needed")
    items, runs = table.shape
    grand = float(table.mean())
    by_item, by_run = table.mean(axis=1), table.mean(axis=0)
    rest = table - by_item[:, None] - by_run[None, :] + grand
    residual = float(np.square(rest).sum()) / ((items - 1) * (runs - 1))
    item = max(0.0, (runs * float(by_item.var(ddof=1)) - residual) / runs)
    run = max(0.0, (items * float(by_run.var(ddof=1)) - residual) / items)
    rerun = run / runs + residual / (items * runs)
    icc = _share(item, run, residual)
    return Components(grand, items, runs, item, run, residual, icc, math.sqrt(item / items + rerun), math.sqrt(rerun))


def _share(item: float, run: float, residual: float) -> float:
    whole = item + run + residual
    return item / whole if whole > 0 else math.nan
