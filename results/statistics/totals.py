"""Observations summed by cluster: what every clustered method here works on."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Values: TypeAlias = Sequence[float] | NDArray[Any]
Labels: TypeAlias = Sequence[Hashable] | NDArray[Any]


def floats(values: Values) -> Array:
    """Return `values` as one row of floats. Raises ValueError for nan, infinity or more than one dimension."""
    row = np.asarray(values, dtype=np.float64)
    if row.ndim != 1:
        raise ValueError(f"one value per observation is needed, not an array of shape {row.shape}")
    if not np.isfinite(row).all():
        raise ValueError("values must be finite: leave unscored observations out")
    return row


def cluster_totals(clusters: Labels, *columns: Values) -> Array:
    """Sum each column over the observations of each cluster: an array (clusters × columns).

    `clusters` holds one hashable label per observation. Neither the order of the observations nor the labels leave a
    trace in the result, down to the last bit: values are added in sorted order, and the rows are sorted. So whatever
    is drawn from it by a seeded generator depends on the data alone.

    Raises ValueError when the lengths differ.
    """
    codes_by_label: dict[Hashable, int] = {}
    codes = np.array([codes_by_label.setdefault(label, len(codes_by_label)) for label in clusters], dtype=np.intp)
    totals = np.empty((len(codes_by_label), len(columns)))
    for index, column in enumerate(columns):
        row = floats(column)
        if len(row) != len(codes):
            raise ValueError(f"{len(row)} values but {len(codes)} cluster labels")
        order = np.lexsort((row, codes))
        totals[:, index] = np.bincount(codes[order], weights=row[order], minlength=len(codes_by_label))
    return totals[np.lexsort(totals.T[::-1])]
