"""One model of many fitted trees. In: members. Out: ``Model``, or why there is none. Callers: bagging, AdaBoost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from treewright.estimators.bagging_columns import BagColumns
from treewright.model import Model

_ALIKE = ("task", "n_outputs", "unseen", "missing", "schema")


def model_of(
    members: Sequence[Any],
    features: Sequence[Any],
    columns: BagColumns | None,
    target_names: tuple[str, ...],
    combine: Literal["mean", "vote", "median"],
    facts: Mapping[str, Any],
    weights: np.ndarray | None = None,
) -> Model | str:
    """The members' trees as one model.

    Parameters
    ----------
    members : sequence of fitted estimators
    features : sequence of int64[k]
        The columns of each.
    columns : BagColumns or None
    target_names : tuple of str
    combine : {"mean", "vote", "median"}
    facts : mapping
        Of the ensemble; those of the first member are added as ``member``.
    weights : float64[n_members], optional
        Of the members in a vote or a median.

    Returns
    -------
    Model or str
        Why there is none: a member is no single tree, has not all columns, or knows other levels or classes.
    """
    models: list[Any] = [getattr(member, "model_", None) for member in members]
    first = models[0]
    for number, model in enumerate(models):
        name = type(members[number]).__name__
        if not isinstance(model, Model) or model.combine != "single":
            return f"member {number} ({name}) is not a single tree of Treewright"
        if columns is None or not columns.is_every(features[number]):
            return "its members have not all columns (max_features, bootstrap_features)"
        same_classes = [one.tolist() for one in model.classes] == [one.tolist() for one in first.classes]
        if not same_classes or any(getattr(model, field) != getattr(first, field) for field in _ALIKE):
            return f"member {number} ({name}) knows other levels or classes than member 0"
    about_member = {
        "algorithm": first.facts["algorithm"],
        # Each member has a seed of its own.
        "parameters": {name: value for name, value in first.facts["parameters"].items() if name != "random_state"},
    }
    return Model(
        task=first.task,
        schema=first.schema,
        trees=tuple(model.trees[0] for model in models),
        classes=first.classes,
        n_outputs=first.n_outputs,
        combine=combine,
        unseen=first.unseen,
        missing=first.missing,
        target_names=target_names,
        facts={"criterion": first.facts["criterion"], **facts, "member": about_member},
        tree_weights=weights,
    )
