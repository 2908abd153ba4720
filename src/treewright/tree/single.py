"""One of many trees as a model of its own. In: a model, a tree's number. Out: a model. Callers: model, tree.summary."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from treewright.tree.growth import GRADIENT_BOOSTING
from treewright.tree.model import ModelData

AnyModel = TypeVar("AnyModel", bound=ModelData)


def single_tree(model: AnyModel, i: int) -> AnyModel:
    """One of the trees as a model, with the same columns.

    Parameters
    ----------
    model : ModelData
    i : int, 0 to len(model.trees) - 1

    Returns
    -------
    ModelData
        Of the same type. A tree of a boosted model predicts a number: what it adds to its score, which its target is
        named after.
    """
    alone: dict[str, Any] = {"trees": (model.trees[i],), "combine": "single", "leaf_targets": None}
    alone["tree_weights"] = None
    if model.boosting is not None:
        name = score_names(model)[i % model.boosting.n_scores]
        alone |= {"boosting": None, "task": "regression", "classes": (), "n_outputs": 1}
        alone["target_names"] = (name,) if name else ()
        # Readers of one tree tell by these two that it adds to a score.
        alone["facts"] = {**model.facts, "algorithm": GRADIENT_BOOSTING, "criterion": "gradient"}
    return replace(model, **alone)


def score_names(model: ModelData) -> tuple[str, ...]:
    """What each score of a boosted model is of; empty text where there is one and its target has no name.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.schema import Column, Schema
    >>> from treewright.tree.boosting import Boosting
    >>> schema, labels = Schema((Column("x", "numeric"),)), (np.array(["no", "yes"]),)
    >>> boosting = Boosting((0.0,), "classes")
    >>> score_names(ModelData("classification", schema, (), labels, combine="sum", boosting=boosting))
    ('log odds of yes',)
    """
    names = []
    before = "log of " if model.boosting is not None and model.boosting.link == "log" else ""
    for output in range(model.n_outputs):
        name = model.target_names[output] if output < len(model.target_names) else ""
        if not name and model.n_outputs > 1:
            name = f"y{output}"
        if not model.classes:
            names.append(f"{before}{name}" if name else "")
            continue
        labels = [str(label) for label in model.classes[output]]
        scores = [f"score of {label}" for label in labels] if len(labels) > 2 else [f"log odds of {labels[-1]}"]
        names += [f"{name}: {score}" if model.n_outputs > 1 else score for score in scores]
    return tuple(names)
