"""Who judges the subtrees of a report. In: ``Judged``, ``Options``. Out: ``PathJudge``. Caller: reporting.pruning_part.

The errors are those of ``pruning_path``: the same losses, weights and folds (``model_selection.path_judges``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from treewright.core.notices import listening
from treewright.core.threads import resolve_jobs
from treewright.core.whole import is_whole
from treewright.data.take import count_rows
from treewright.data.target import check_weights
from treewright.data.weights import warn_of_small_weights
from treewright.estimators.trees import SingleTree as TreeEstimator
from treewright.exceptions import DataError, TreewrightError
from treewright.fitted import Model
from treewright.judge.folds import Split, as_array, check_tested_once, folds_within, splits_of
from treewright.model.summary import cuts_of, pruning_text
from treewright.model_selection.path import DEFAULT_FOLDS
from treewright.model_selection.path_judges import (
    FoldRows,
    GivenRows,
    View,
    along_path,
    by_encoded_rows,
    by_folds,
    loss_of,
    mean_errors,
    rows_that_judge,
    whole_tree,
)
from treewright.prune.cost_complexity import Path, PathLoss, risks_along
from treewright.prune.costs import Risk
from treewright.prune.methods import METHODS
from treewright.prune.reduced_error import check_holdout
from treewright.prune.requirements import criterion_of
from treewright.reporting.again import estimator_of
from treewright.reporting.judged import Judged
from treewright.reporting.options import Options

RISK: Risk = "impurity"
EncodedRows = tuple[np.ndarray, np.ndarray, "np.ndarray | None"]


class Errors(NamedTuple):
    """Mean losses and their standard errors, float64[m] each."""

    error: np.ndarray
    standard_error: np.ndarray


@dataclass(frozen=True, eq=False)
class PathJudge:
    """Rows, and folds where they judge by folds.

    Attributes
    ----------
    judged : Judged
    loss : str
    scale : float
        What numbers are divided by before their losses are summed; a power of 2.
    stands_for : float
        How many rows the weights stand for.
    rows : FoldRows
    learned : encoded rows of the fit, or None
        None where they are not at hand.
    encoded : encoded rows, or None
        The rows where they judge as they are.
    splits : list of (train, test)
        Empty without folds.
    recipe : estimator, or None
        Grows the trees of the folds.
    entries : tuple of mapping
        The prunings after the fit, which the folds repeat.
    n_threads : int
    notes : tuple of str
    """

    judged: Judged
    loss: PathLoss
    scale: float
    stands_for: float
    rows: FoldRows
    learned: EncodedRows | None
    encoded: EncodedRows | None
    splits: list[Split]
    recipe: Any
    entries: tuple[Any, ...]
    n_threads: int
    notes: tuple[str, ...]

    @property
    def judged_by(self) -> str:
        """``"folds"``, ``"validation"`` or ``"nothing"``."""
        return "folds" if self.splits else "nothing" if self.encoded is None else "validation"

    def on_fit(self, model: Model, path: Path) -> np.ndarray:
        """Errors of subtrees on the rows of the fit, float64[k]; nan where they are not known."""
        if self.learned is not None:
            found = by_encoded_rows(model, path, self.learned, self.scale, self.loss)
            return mean_errors(found, 1.0, self.scale, self.loss)[0]
        if model.missing != "fractional" and (
            model.task == "classification" or criterion_of(model) == self.loss  # what impurities say is the loss itself
        ):
            return risks_along(model, path)
        return np.full(len(path.alphas), np.nan)

    def errors(self, path: Path, others: Sequence[tuple[Model, View | None]]) -> list[Errors | None]:
        """Errors of the subtrees of the path, then of other trees, each as it is.

        Parameters
        ----------
        path : Path
            Of the judged model.
        others : sequence of (Model, View or None)
            The view makes such a tree of what a fold has grown; None where folds cannot.

        Returns
        -------
        list of Errors or None
            None for what cannot be judged.
        """
        n_views = 1 + len(others)
        if self.splits:
            views = [along_path(path, RISK), *(view for _, view in others if view is not None)]
            found = iter(by_folds(self.grow, self.rows, self.splits, views, self.loss, self.n_threads))
            sums = [next(found), *(None if view is None else next(found) for _, view in others)]
        elif self.encoded is not None:
            pairs = [(self.judged.model, path), *((model, whole_tree(model.trees[0])) for model, _ in others)]
            sums = [by_encoded_rows(model, own, self.encoded, self.scale, self.loss) for model, own in pairs]
        else:
            return [None] * n_views
        return [
            None if one is None else Errors(*mean_errors(one, self.stands_for, self.scale, self.loss)) for one in sums
        ]

    def grow(self, X: Any, y: Any, weights: np.ndarray | None) -> Model:
        """A tree on some rows, made in the way in which the judged one was."""
        model: Model = clone(self.recipe).fit(X, y, weights).model_
        for entry in self.entries:
            model = pruned_again(model, entry["method"], (X, y, weights), entry["options"])
        return model


def pruned_again(model: Model, method: str, rows: GivenRows, options: dict[str, Any] | None = None) -> Model:
    """A model cut back by a method that needs no rows kept aside.

    Parameters
    ----------
    model : Model
    method : str
    rows : (X, y, weights)
        Those of its fit.
    options : dict, optional
        As facts hold them: infinite numbers are texts.
    """
    given = {name: float(value) if value in ("inf", "nan") else value for name, value in (options or {}).items()}
    return model.prune(method, *(rows if METHODS[method].needs == "training" else ()), **given)


def path_judge(judged: Judged, options: Options) -> PathJudge:
    """Who judges: folds where the rows are those of the fit or folds are asked for, else the rows themselves.

    Raises
    ------
    ParameterError, DataError
        The folds that were asked for cannot be. Where nobody asked, a note says so.
    """
    model, n = judged.model, count_rows(judged.target_given)
    weights = check_weights(judged.weights_given, n)
    rows, stands_for = rows_that_judge(model, judged.table, judged.target_given, weights, n)
    notes, learned = [], rows_of_fit(judged)
    splits: list[Split] = []
    recipe, entries, encoded = None, (), None
    if options.cv is not None and (options.cv != "auto" or judged.seen is not False):
        recipe, entries, told = recipe_of(judged)
        notes += told
        if recipe is not None:
            splits, told = folds_of(judged, options, n)
            notes += told
    elif judged.seen is not True or options.cv is None:
        encoded = encoded_rows(judged)
        try:
            check_holdout(model, encoded[1])
        except DataError as error:
            encoded = None
            notes.append(nothing_judges(error))
    if splits or encoded is not None:
        notes += notes_on_weights(stands_for, int((rows.weights > 0).sum()))
    return PathJudge(
        judged=judged,
        loss=loss_of(model, None),
        scale=rows.scale,
        stands_for=stands_for,
        rows=FoldRows(judged.table, judged.target_given, weights, rows),
        learned=learned,
        encoded=encoded,
        splits=splits,
        recipe=recipe,
        entries=entries,
        n_threads=resolve_jobs(options.n_jobs),
        notes=tuple(notes),
    )


def nothing_judges(error: Exception) -> str:
    """A note that says why there are no errors but those on the rows of the fit."""
    return f"Nothing judges the subtrees: {str(error).rstrip('.')}."


def encoded_rows(judged: Judged) -> EncodedRows:
    """The judged rows as a pruner takes them: weighed by class as at the fit, those of weight 0 left out."""
    return judged.model.encode_rows(
        judged.table, judged.target_given, judged.weights_given, owner="report", routed=True
    )


def tree_estimator(judged: Judged) -> TreeEstimator | None:
    """The fitted estimator around the tree; None where the report is made from a model."""
    found = judged.estimator
    if not isinstance(found, TreeEstimator):
        found = getattr(found, "estimator_", None)  # of ``PrunedTree``
    return found if isinstance(found, TreeEstimator) else None


def rows_of_fit(judged: Judged) -> EncodedRows | None:
    """The rows of the fit: those that the estimator keeps, or the judged ones where they are the same."""
    table = getattr(tree_estimator(judged), "_rows", None)
    if table is not None:
        return np.ascontiguousarray(table.matrix, np.float64), table.target[0], table.weights
    return encoded_rows(judged) if judged.seen else None


def recipe_of(judged: Judged) -> tuple[Any, tuple[Any, ...], list[str]]:
    """What grows the trees of folds, the prunings that they repeat, and what has to be said about that."""
    recipe = tree_estimator(judged) or estimator_of(judged.model)
    if recipe is None:
        return None, (), ["Nothing judges the subtrees: the model does not tell with which parameters it was grown."]
    entries = entries_of(judged.model)
    if entries is None:
        return recipe, (), ["The trees of the folds are not cut back first as this one was: how is not told."]
    aside = [entry["method"] for entry in entries if METHODS[entry["method"]].needs == "holdout"]
    if aside:
        return recipe, (), [f"The trees of the folds are not cut back by {aside[0]} first: it needs rows of its own."]
    return recipe, entries, []


def entries_of(model: Model) -> tuple[dict[str, Any], ...] | None:
    """The prunings after the fit, first to last; None where the facts, perhaps of a file, do not tell them."""
    told = model.facts.get("pruning") or []
    if not isinstance(told, list | tuple):
        return None
    known = [
        entry for entry in told
        if isinstance(entry, dict) and entry.get("method") in METHODS and isinstance(entry.get("options"), dict)
    ]  # fmt: skip
    return tuple(known) if len(known) == len(told) else None


def folds_of(judged: Judged, options: Options, n: int) -> tuple[list[Split], list[str]]:
    """Folds of the judged rows, and what has to be said about them."""
    auto = isinstance(options.cv, str) and options.cv == "auto"
    cv = min(DEFAULT_FOLDS, n) if auto else options.cv
    classes = judged.is_classification
    try:
        if is_whole(cv):
            cv = folds_within(cv, judged.target_given, is_classification=classes, random_state=options.random_state)
        splits = splits_of(cv, judged.target_given, is_classification=classes, random_state=options.random_state)
        check_tested_once(splits, len(as_array(judged.target_given)))
    except TreewrightError as error:
        if not auto:
            raise
        return [], [nothing_judges(error)]
    return splits, []


def notes_on_weights(stands_for: float, n_judged: int) -> list[str]:
    """What ``pruning_path`` would warn of."""
    with listening() as told:
        warn_of_small_weights(stands_for, n_judged, "the standard error of the report")
    return [f"{text.rstrip('.')}." for text, _ in told.heard.values()]


def notes_on_fit(judged: Judged) -> list[str]:
    """What cut the tree back before the path begins, and that classes have weights."""
    model, notes = judged.model, []
    cuts = [pruning_text(entry) for entry in cuts_of(model)]
    if cuts:
        notes.append(f"The tree was cut back already: {', then '.join(cuts)}. The path begins with what is left.")
    if judged.target.shape[1] > 1:
        notes.append("Errors are means over the outputs.")
    told = model.facts.get("parameters")
    if isinstance(told, dict) and told.get("class_weight") is not None:
        notes.append("Errors count each class by its class weight, as at the fit; a confusion matrix counts the rows.")
    own = {"ccp_alpha": 0.0, "confidence": None}
    for name, off in own.items():
        value = told.get(name) if isinstance(told, dict) else None
        if value is not None and value != off:
            notes.append(f"The fit itself cut the tree back ({name}={value!r}). The path begins with what it left.")
    return notes
