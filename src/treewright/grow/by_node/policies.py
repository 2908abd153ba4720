"""An algorithm's problem and policy from its parameters. In: names and values. Out: ``Problem``, ``Policy``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, cast

import numpy as np

from treewright.data.schema import Schema
from treewright.exceptions import ParameterError
from treewright.grow.by_node.c45 import C45Policy, C45Search
from treewright.grow.by_node.chaid import BinnedProblem, ChaidPolicy, ChaidRules, bin_numbers
from treewright.grow.by_node.cuts import Rules
from treewright.grow.by_node.search import GainPolicy, Policy, RatioPolicy, Search
from treewright.grow.criteria.costs import NUMBERS, Criterion
from treewright.grow.problem import Problem, class_problem, number_problem
from treewright.grow.settings import columns_in_runs
from treewright.trees.arrays import Missing

ALGORITHMS = ("cart", "id3", "c45", "chaid", "optimal")


def count_of(value: Any, n: int) -> int:
    """A number of rows, as given or as a share of ``n`` rows, rounded up."""
    # Larger numbers have the same effect, as no table has more rows, and this fits a machine word.
    return min(int(value), 2**31 - 1) if isinstance(value, Integral) else math.ceil(value * n)


def problem_of(
    algorithm: str,
    parameters: Mapping[str, Any],
    missing: Missing,
    matrix: np.ndarray,
    schema: Schema,
    target: np.ndarray,
    weights: np.ndarray | None,
    n_classes: Sequence[int] = (),
) -> Problem:
    """The ``Problem`` of an algorithm.

    Parameters
    ----------
    algorithm : {"cart", "id3", "c45", "chaid", "optimal"}
    parameters : mapping
        Those of its estimator.
    target : int32[n, n_outputs] class codes, or float64[n, n_outputs]
    n_classes : sequence of int
        Classes per output; empty for regression.
    """
    cuts = algorithm not in ("id3", "chaid")
    if n_classes:
        problem = class_problem(matrix, schema, target, n_classes, weights, missing, cut_ordinal=cuts)
    else:
        is_poisson = parameters.get("criterion") == "poisson"
        problem = number_problem(matrix, schema, target, weights, missing, is_poisson=is_poisson, cut_ordinal=cuts)
    return bin_numbers(problem, int(parameters["n_bins"])) if algorithm == "chaid" else problem


def policy_of(algorithm: str, parameters: Mapping[str, Any], problem: Problem, n_rows: int) -> Policy:
    """The ``Policy`` of an algorithm: how it chooses a test.

    Parameters
    ----------
    algorithm, parameters
        As in `problem_of`.
    problem : Problem
    n_rows : int
        Number of training rows, which shares refer to.
    """
    least = count_of(parameters.get("min_samples_leaf", 1), n_rows)
    if algorithm == "id3":
        return GainPolicy(Search(problem, Criterion.of("entropy"), Rules("multiway", least)))
    if algorithm == "c45":
        # C4.5 counts weight where CART counts rows.
        least_weight = least / problem.weight_unit
        return C45Policy(C45Search(problem, least_weight, grouping=parameters["nominal_splits"] == "grouped"))
    if algorithm == "chaid":
        rules = ChaidRules(
            alpha=float(parameters["alpha"]),
            alpha_merge=float(parameters["alpha_merge"]),
            min_rows=least,
            exhaustive=bool(parameters["exhaustive"]),
            bonferroni=bool(parameters["bonferroni"]),
            test=parameters.get("test", "pearson"),
        )
        return ChaidPolicy(cast("BinnedProblem", problem), rules)
    if algorithm in ("cart", "optimal"):  # an optimal tree is compared with what CART would choose
        return _cart_policy(parameters, problem, least, n_rows)
    raise ParameterError(f"algorithm {algorithm!r} is not one of {', '.join(ALGORITHMS)}")


def _cart_policy(parameters: Mapping[str, Any], problem: Problem, least: int, n_rows: int) -> Policy:
    """The policy of CART."""
    criterion, nominal_splits = parameters["criterion"], parameters.get("nominal_splits", "subset")
    if problem.missing == "surrogate" and nominal_splits == "multiway":
        raise ParameterError(
            "missing='surrogate' needs two-way splits: choose nominal_splits='subset' or 'one_vs_rest', or another "
            "treatment of missing values"
        )
    if not callable(criterion) and criterion not in NUMBERS:
        raise ParameterError(
            "the criterion was a function, which a model file does not hold: audit the fitted estimator"
        )
    least_weight = float(parameters["min_weight_fraction_leaf"]) * float(problem.weights.sum()) * (1.0 - 1e-12)
    in_runs = columns_in_runs(problem.schema, nominal_splits, n_rows)
    nominal_splits = "subset" if nominal_splits == "auto" else nominal_splits
    search = Search(problem, Criterion.of(criterion), Rules(nominal_splits, least, least_weight, in_runs))
    return RatioPolicy(search) if criterion == "gain_ratio" else GainPolicy(search)
