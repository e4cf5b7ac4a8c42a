"""Intervals, comparisons and agreement for clustered evaluation results.

A library of pure functions: it imports nothing of ours, and at run time only NumPy and the standard library.
Observations come as one value per turn or sample beside one label for its cluster (session, anchor); what comes back is
an `Estimate` or a `Comparison`. `docs/statistics.md` says which function is for what.
"""

from __future__ import annotations

from .agreement import (
    cohen_kappa,
    fleiss_kappa,
    majority_acceptance,
    raw_agreement,
    sample_verdicts,
    strict_acceptance,
    verdict_counts,
)
from .bootstrap import bootstrap_mean, bootstrap_ratio, bootstrap_statistic, resampled_totals
from .bounds import Bounds, difference_bounds, rate_bounds
from .clustered import clustered_proportion, design_effect, difference, mean, ratio, strata_mean
from .estimate import Comparison, Estimate, Interval
from .independence import Independence, joint_against_parts
from .intervals import clopper_pearson, proportion, wilson
from .multiple import bonferroni, holm
from .paired import mcnemar, paired_bootstrap, paired_means, paired_proportions, sign_flip
from .power import detectable_from_error, detectable_paired, detectable_unpaired
from .repeats import Components, one_way, two_way
from .totals import cluster_totals

__all__ = [
    "Bounds",
    "Comparison",
    "Components",
    "Estimate",
    "Independence",
    "Interval",
    "bonferroni",
    "bootstrap_mean",
    "bootstrap_ratio",
    "bootstrap_statistic",
    "clopper_pearson",
    "cluster_totals",
    "clustered_proportion",
    "cohen_kappa",
    "design_effect",
    "detectable_from_error",
    "detectable_paired",
    "detectable_unpaired",
    "difference",
    "difference_bounds",
    "fleiss_kappa",
    "holm",
    "joint_against_parts",
    "majority_acceptance",
    "mcnemar",
    "mean",
    "one_way",
    "paired_bootstrap",
    "paired_means",
    "paired_proportions",
    "proportion",
    "rate_bounds",
    "ratio",
    "raw_agreement",
    "resampled_totals",
    "sample_verdicts",
    "sign_flip",
    "strata_mean",
    "strict_acceptance",
    "two_way",
    "verdict_counts",
    "wilson",
]
