"""From parameters as a user writes them to the numbers that growers use.

A share of the rows becomes a number of rows, ``"sqrt"`` a number of columns, the name of a column its position. Values
without a meaning for this table or target are refused here, with the parameter named.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np

from treewright.data.dataset import Dataset
from treewright.data.schema import Schema, did_you_mean
from treewright.data.target import Labels
from treewright.exceptions import ParameterError
from treewright.grow.by_node.policies import count_of
from treewright.grow.objective import Objective, classification_objective, regression_objective
from treewright.grow.settings import BinnedSettings, GrowSettings
from treewright.learn.params import finite


def grow_settings(params: Any, dataset: Dataset, *, n_rows: int, seed: int, n_threads: int) -> GrowSettings:
    """The limits of a tree that lowers a criterion; shares are of ``n_rows`` rows."""
    monotone = signs_of_fit(params, dataset)
    return GrowSettings(
        criterion="own" if callable(params.criterion) else params.criterion,
        max_depth=None if params.max_depth is None else min(int(params.max_depth), 2**31 - 1),
        min_samples_split=max(2, count_of(params.min_samples_split, n_rows)),
        min_samples_leaf=count_of(params.min_samples_leaf, n_rows),
        min_weight_fraction_leaf=float(params.min_weight_fraction_leaf),
        max_leaf_nodes=None if params.max_leaf_nodes is None else int(params.max_leaf_nodes),
        max_features=_drawn_per_node(params.max_features, dataset.schema),
        min_impurity_decrease=finite(params.min_impurity_decrease),
        monotone=monotone,
        seed=seed,
        n_threads=n_threads,
    )


def binned_settings(params: Any, settings: GrowSettings, schema: Schema, *, random_cuts: bool) -> BinnedSettings:
    """The same, for growing on bins."""
    groups = interaction_groups(params.interaction_cst, schema)
    used = None if len(schema.used) == len(schema) else np.array(schema.used_positions, np.int32)
    return BinnedSettings(**vars(settings), random_cuts=random_cuts, interactions=groups, candidates=used)


def objective_of(dataset: Dataset, criterion: str) -> Objective:
    """The target's statistics, for growers that add them up."""
    target = dataset.target
    if isinstance(target, Labels):
        return classification_objective(target.codes, dataset.n_classes, dataset.weights, criterion)
    return regression_objective(dataset.target_array, dataset.weights, criterion)


def seed_of(random_state: Any) -> int:
    """The seed: ``random_state`` if that is an int, 0 for None (by default a fit is reproducible)."""
    if random_state is None:
        return 0
    return int(random_state) if isinstance(random_state, Integral) else int(random_state.randint(2**31 - 1))


def _drawn_per_node(value: Any, schema: Schema) -> int:
    """How many columns a node may use, of those that are not left out; if that is all of them, every column."""
    n_used = len(schema.used)
    n_drawn = columns_per_node(value, n_used)
    return n_drawn if n_drawn < n_used else len(schema)


def columns_per_node(value: Any, p: int) -> int:
    """How many of ``p`` columns a node may use; a number larger than ``p`` means all of them."""
    if value is None:
        return p
    if value == "sqrt":
        return max(1, int(math.sqrt(p)))
    if value == "log2":
        return max(1, p.bit_length() - 1)
    if isinstance(value, Integral):
        return min(int(value), p)
    return max(1, int(value * p))


def columns_of_each(max_features: float, n_columns: int) -> int:
    """How many columns a member of a bag, or a tree of an isolation forest, gets."""
    if not isinstance(max_features, Integral):
        return max(1, int(max_features * n_columns))
    if max_features > n_columns:
        raise ParameterError(f"max_features={max_features}, but X has {n_columns} columns: give at most {n_columns}")
    return int(max_features)


def signs_of_fit(params: Any, dataset: Dataset) -> tuple[int, ...] | None:
    """Signs of the constraints, as growers use them: of two classes those of the second's probability.

    Parameters are about the positive class. If that is the first, each sign is turned round.
    """
    signs = monotone_signs(params.monotonic_cst, dataset.schema)
    if signs is None or not any(signs):
        return signs
    refuse_no_order(dataset.n_outputs, dataset.n_classes)
    is_first = params.positive_facts(dataset.classes).get("positive") == 0
    return tuple(-sign for sign in signs) if is_first else signs


def monotone_signs(value: Any, schema: Schema) -> tuple[int, ...] | None:
    """One of -1, 0, 1 per column; None if no constraint was given.

    Raises
    ------
    ParameterError
        The number of signs is not that of columns, a column does not exist, a sign is unknown or for a nominal column.
    """
    if value is None:
        return None
    if isinstance(value, Mapping):
        by_position = {_position(key, schema, "monotonic_cst"): sign for key, sign in value.items()}
        signs = [by_position.get(at, 0) for at in range(len(schema))]
    else:
        signs, n_given = np.asarray(value).tolist(), len(schema.given)
        if not isinstance(signs, list) or len(signs) not in (n_given, len(schema)):
            length = len(signs) if isinstance(signs, list) else 1
            raise ParameterError(f"monotonic_cst has shape {length} but the input data X has {n_given} features.")
        signs += [0] * (len(schema) - len(signs))  # parts of dates come last
    for sign, column in zip(signs, schema.columns, strict=True):
        if isinstance(sign, bool) or sign not in (-1, 0, 1):
            raise ParameterError(
                f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {sign!r} "
                f"for column {column.name!r}"
            )
        if sign and column.kind == "nominal":
            raise ParameterError(
                f"monotonic_cst: column {column.name!r} is nominal, its levels have no order; "
                "declare it ordinal, or set 0"
            )
    return tuple(int(sign) for sign in signs)


def refuse_no_order(n_outputs: int, n_classes: Sequence[int]) -> None:
    """Refuse monotone constraints that are undefined for the target; the messages are scikit-learn's."""
    if n_outputs > 1:
        raise ParameterError("Monotonicity constraints are not supported with multiple outputs.")
    if any(several > 2 for several in n_classes):
        raise ParameterError("Monotonicity constraints are not supported with multiclass classification")


def interaction_groups(value: Any, schema: Schema) -> tuple[tuple[int, ...], ...] | None:
    """Groups of columns that may be tested on one path from the root to a leaf, ascending; None if all may.

    Columns that no group names are a group of their own, as in scikit-learn.

    Raises
    ------
    ParameterError
        A group is not a sequence, or names a column that does not exist.
    """
    if value is None:
        return None
    p = len(schema)
    groups: set[tuple[int, ...]] = set()
    if isinstance(value, str):
        groups.update(combinations(range(p), 1 if value == "no_interactions" else 2))
    else:
        for group in _items(value, "give a sequence of groups of columns"):
            keys = _items(group, "a group is a sequence of columns")
            groups.add(tuple(sorted({_position(key, schema, "interaction_cst") for key in keys})))
    rest = set(range(p)).difference(*groups)
    return tuple(sorted((groups | {tuple(sorted(rest))}) - {()}))


def _items(value: Any, wanted: str) -> list[Any]:
    """The items of a sequence that is not a text; an array without dimensions is refused."""
    try:
        if not isinstance(value, str):
            return list(value)
    except TypeError:
        pass
    raise ParameterError(f"interaction_cst: {wanted}, not {value!r}")


def _position(key: Any, schema: Schema, parameter: str) -> int:
    """The position of a column, from its name or position."""
    try:
        return schema.positions[key]
    except (KeyError, TypeError):  # a position, an unknown name, or what cannot be a name
        pass
    if not isinstance(key, bool) and isinstance(key, Integral) and 0 <= int(key) < len(schema):
        return int(key)
    hint = did_you_mean(key, schema.names)
    raise ParameterError(f"{parameter} names a column that X does not have: {key!r}{hint}")


def refuse_changed(
    before: Mapping[str, Any], now: Mapping[str, Any], members: str, may_change: Collection[str] = ()
) -> None:
    """Refuse a warm start with other parameters than those of the fit before, except for some that may change."""
    for name in dict.fromkeys([*now, *before]):
        if name in may_change:
            continue
        # Compared as text: nan is not equal to itself, and 1 column is not a share of 1.0.
        if repr(before.get(name)) != repr(now.get(name)):
            raise ParameterError(
                f"warm_start=True adds {members} of the same kind, but {name} is different from the fit before: set "
                "it back, or warm_start=False"
            )
