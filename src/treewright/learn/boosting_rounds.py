"""What the rounds of boosting take. In: a dataset and parameters without "auto". Out: settings, bins, an evaluation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np

from treewright.boosting.rounds import BoostRows, BoostSettings, BoostTable, Evaluation, Sampling
from treewright.boosting.statistics import with_ordered_statistics
from treewright.data.bin_rows import bin_rows, codes_of_sparse
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.data.target import weighed
from treewright.exceptions import ParameterError, TreewrightError
from treewright.grow.settings import GradientSettings, Order, columns_of_many_levels
from treewright.learn.boosting_params import DEFAULT_LEAVES, BoostingParams
from treewright.learn.boosting_plan import SYMMETRIC_DEPTH
from treewright.learn.held_out import names_of, number_of_rows
from treewright.learn.params import finite, name_of
from treewright.learn.settings import interaction_groups, signs_of_fit
from treewright.trees.data import Boosting, ListedTrees, ModelData, output_columns, predictions_of_scores

if TYPE_CHECKING:
    from treewright.boosting.losses import Loss

MOST_GROUPS = 64
_MORE_THAN_ALL_ROWS = 2**60  # by far; twice as many fit into 64 bits, too
_ROWS_OF_LEAF, _LEAVES_OF_FEW = 20, 3  # of min_samples_leaf="auto"
FEW_ROWS_IN_BOOSTING = 16  # of a level; forests and trees need 32: an order by a statistic has the noise of one level


# Settings ------------------------------------------------------------------------------------------------------------


def settings_of(
    params: BoostingParams, dataset: Dataset, losses: tuple[Loss, ...], seed: int, n_threads: int
) -> BoostSettings:
    """The settings of the rounds, from parameters without "auto"."""
    return BoostSettings(
        losses=losses,
        tree=tree_settings(params, dataset),
        n_rounds=int(params.n_estimators),
        learning_rate=float(params.learning_rate),
        subsample=float(params.subsample),
        sampling=cast("Sampling", params.sampling),
        top_rate=float(params.top_rate),
        other_rate=float(params.other_rate),
        seed=seed,
        n_threads=n_threads,
        callbacks=params.functions_to_call,
    )


def tree_settings(params: BoostingParams, dataset: Dataset) -> GradientSettings:
    """Parameters of each tree as numbers."""
    schema = dataset.schema
    monotone = signs_of_fit(params, dataset)
    interactions = interaction_groups(params.interaction_cst, schema)
    if interactions is not None and len(interactions) > MOST_GROUPS:
        raise ParameterError(
            f"interaction_cst makes {len(interactions)} groups of columns, boosting allows at most {MOST_GROUPS}: "
            "name the groups that matter, as in interaction_cst=[['age', 'price']]"
        )
    max_depth, max_leaf_nodes = params.max_depth, params.max_leaf_nodes
    if params.growth == "symmetric":
        if max_leaf_nodes not in (None, DEFAULT_LEAVES):
            raise ParameterError(
                f"max_leaf_nodes={max_leaf_nodes} with growth='symmetric': such a tree has up to 2**max_depth leaves; "
                "set max_depth, and leave max_leaf_nodes out"
            )
        max_depth, max_leaf_nodes = max_depth or SYMMETRIC_DEPTH, None
    return GradientSettings(
        order=cast("Order", params.growth),
        max_leaf_nodes=None if max_leaf_nodes is None else int(max_leaf_nodes),
        max_depth=None if max_depth is None else min(int(max_depth), 2**31 - 1),
        min_samples_leaf=rows_of_leaf(params, dataset),
        min_child_weight=finite(params.min_child_weight),
        l1=finite(params.l1),
        l2=finite(params.l2),
        min_gain=finite(params.min_gain),
        level_smoothing=finite(params.level_smoothing),
        level_l2=finite(params.level_l2),
        features_per_tree=float(params.features_per_tree),
        features_per_level=float(params.features_per_level),
        features_per_node=float(params.features_per_node),
        monotone=monotone,
        interactions=interactions,
    )


def rows_of_leaf(params: BoostingParams, dataset: Dataset) -> int:
    """How many rows a branch needs.

    Leaves of 20 rows average noise away, but 39 rows have no two of them. The benchmark of small samples is in
    docs/decisions/0012.
    """
    if not isinstance(params.min_samples_leaf, str):
        return min(int(params.min_samples_leaf), _MORE_THAN_ALL_ROWS)
    return max(1, min(_ROWS_OF_LEAF, number_of_rows(dataset) // _LEAVES_OF_FEW))


def base_scores(init: Any, n_scores: int) -> list[float] | None:
    """The initial scores; None for the best constant of the loss."""
    if init is None:
        return None
    if isinstance(init, str):
        return [0.0] * n_scores
    try:
        scores = np.asarray(init, np.float64).ravel()
    except (TypeError, ValueError, OverflowError):
        scores = np.array([np.nan])
    if len(scores) == 1:
        scores = np.repeat(scores, n_scores)
    if len(scores) != n_scores or not np.isfinite(scores).all():
        raise ParameterError(
            f"init={init!r}: give None, 'zero', a finite number, or one for each of the {n_scores} score(s) of a row"
        )
    numbers: list[float] = scores.tolist()
    return numbers


def bound_losses(dataset: Dataset, params: BoostingParams, validation: Dataset | None) -> tuple[Loss, ...]:
    """A loss per output, bound to the rows; evaluation rows must be in its domain."""
    bound = []
    for output, loss in enumerate(params.losses(dataset.n_outputs, dataset.n_classes)):
        own = np.ascontiguousarray(dataset.target_array[:, output])
        if validation is not None:
            loss.check(np.ascontiguousarray(validation.target_array[:, output]), "y_val")
        bound.append(loss.bound(own, dataset.weights))
    return tuple(bound)


# Bins ----------------------------------------------------------------------------------------------------------------


class Binned(NamedTuple):
    """Rows as bins, and the table that all rows share."""

    table: BoostTable
    rows: BoostRows


def binned(dataset: Dataset, params: BoostingParams, seed: int, n_threads: int) -> Binned:
    """The rows as bins; nominal columns of many levels in the order of a target statistic."""
    bins, codes = dataset.binned(int(params.max_bins), n_threads)
    columns = _ordered_columns_of(dataset, params)
    table = BoostTable(bins, dataset.schema, np.zeros(len(dataset.schema), bool))
    names = names_of(dataset) if samples_rows((params,), dataset) else None
    if len(columns):
        target = np.ascontiguousarray(dataset.target_array[:, 0], np.float64)
        table, codes = with_ordered_statistics(
            table, codes, dataset.matrix, columns, target, dataset.weights, max_bins=int(params.max_bins), seed=seed,
            names=names, n_threads=n_threads,
        )  # fmt: skip
    rows = BoostRows(codes, dataset.target_array, dataset.sample_weight, class_weights_of(dataset), names)
    return Binned(table, rows)


def _ordered_columns_of(dataset: Dataset, params: BoostingParams) -> np.ndarray:
    """See ``ordered_columns``."""
    one_number = dataset.n_outputs == 1 and all(count <= 2 for count in dataset.n_classes)
    return ordered_columns(dataset.schema, params.level_encoding, number_of_rows(dataset), one_number=one_number)


def ordered_columns(schema: Schema, encoding: str, n_rows: int, *, one_number: bool) -> np.ndarray:
    """int64[k]: nominal columns whose levels are ordered by a target statistic.

    ``one_number``: whether the target is one number, or one of two classes, by which levels can be ordered.
    """
    if encoding == "ordered" and not one_number:
        raise ParameterError(
            "level_encoding='ordered' orders levels by one number, but this target has several outputs or "
            "more than two classes: use 'auto' or 'subsets'"
        )
    if encoding == "subsets" or not one_number:
        return np.empty(0, np.int64)
    if encoding == "auto":
        return np.array(columns_of_many_levels(schema, n_rows, FEW_ROWS_IN_BOOSTING), np.int64)
    return np.array([at for at, column in enumerate(schema.columns) if column.kind == "nominal"], np.int64)


def samples_rows(groups: Sequence[BoostingParams], dataset: Dataset) -> bool:
    """Whether rows are sampled: for rounds, or for the order of a target statistic."""
    return any(
        params.subsample != 1.0 or params.sampling != "uniform" or len(_ordered_columns_of(dataset, params)) > 0
        for params in groups
    )


def class_weights_of(dataset: Dataset) -> np.ndarray | None:
    """float64[n]: the weight of each row's classes, rounded to float32, so that it is exact times a number of rows."""
    of_classes = weighed(None, dataset.class_factors, dataset.target_array)
    if of_classes is None:
        return None
    with np.errstate(over="ignore", under="ignore"):  # the rounds refuse what float32 cannot hold
        return of_classes.astype(np.float32).astype(np.float64)


# Evaluation of the rounds ---------------------------------------------------------------------------------------------


def evaluation_rows(validation: Dataset | None, of_all: BoostTable, n_threads: int) -> BoostRows | None:
    """The rows that evaluate rounds, in the bins of the training rows."""
    if validation is None:
        return None
    codes: Any = (
        codes_of_sparse(of_all.bins, validation.matrix)
        if validation.is_sparse
        else bin_rows(of_all.bins, validation.matrix, n_threads)
    )
    return BoostRows(codes, validation.target_array, validation.weights)


def evaluation_of(
    dataset: Dataset, params: BoostingParams, losses: tuple[Loss, ...], rows: BoostRows | None
) -> Evaluation | None:
    """How rounds are evaluated; None if nothing would use the result."""
    if rows is None and not (params.early_stopping or params.verbose or params.scoring or params.functions_to_call):
        return None
    score = None
    if callable(params.scoring):  # a name was refused
        zeros = (0.0,) * sum(loss.n_scores for loss in losses)
        target = dataset.target_array if rows is None else rows.target
        score = UserScore.of(params.scoring, dataset, Boosting(zeros, losses[0].link), target)
    patience = int(params.n_iter_no_change) if params.early_stopping else None
    return Evaluation(rows, score, patience, finite(params.tol))


@dataclass(frozen=True, eq=False)
class UserScore:
    """A user's own score of the rounds, as a number to be lowered.

    ``score``: from true and predicted targets to a number, higher is better.
    ``model``: without trees; it turns scores of rows into predictions.
    ``true``: labels or numbers, as the user gave them.
    """

    score: Callable[[Any, Any], Any]
    model: ModelData
    true: np.ndarray

    @classmethod
    def of(
        cls, score: Callable[[Any, Any], Any], dataset: Dataset, boosting: Boosting, target: np.ndarray
    ) -> UserScore:
        """The score for a target of codes or numbers [n, n_targets]."""
        classes = dataset.classes
        task: Literal["classification", "regression"] = "classification" if classes else "regression"
        n_outputs = len(classes) or boosting.n_scores
        model = ModelData(task, dataset.schema, ListedTrees(), classes, n_outputs, combine="sum", boosting=boosting)
        if hasattr(score, "of_labels"):  # it must distinguish labels from probabilities
            score = score.of_labels(classes)
        columns = [labels.take(codes) for labels, codes in zip(classes, target.T, strict=False)] or list(target.T)
        return cls(score, model, columns[0] if len(columns) == 1 else np.stack(columns, axis=1))

    def __call__(self, scores: np.ndarray) -> float:
        """Minus the score of the rows' scores, float64[n_scores, n]."""
        try:
            value = self.score(self.true, self.predicted(scores))
        except (ValueError, TypeError) as error:
            if isinstance(error, TreewrightError):
                raise
            gets = "numbers" if self.model.task == "regression" else "probabilities (of two classes the second's)"
            raise ParameterError(
                f"scoring={name_of(self.score)} gets the true targets and {gets}, and failed: {error}; wrap it in a "
                "function that makes of them what it needs, or name a score of scikit-learn"
            ) from error
        if not hasattr(value, "__float__") or np.ndim(value) or not math.isfinite(float(value)):
            raise ParameterError(f"scoring={name_of(self.score)} must return a finite number, not {value!r}")
        return -float(value)

    def predicted(self, scores: np.ndarray) -> Any:
        """Predictions from scores: numbers, or class probabilities, of two classes the second's alone."""
        answers = predictions_of_scores(self.model, np.array(scores.T, order="C"))
        if self.model.task == "regression":
            return answers[:, 0] if answers.shape[1] == 1 else answers
        parts = [np.ascontiguousarray(answers[:, columns]) for columns in output_columns(self.model.n_classes)]
        parts = [part[:, 1] if part.shape[1] == 2 else part for part in parts]
        return parts[0] if len(parts) == 1 else parts
