"""Gradient boosting: hold out rows, grow one model or members, under a warm start more rounds; then the model's facts.

What "auto" stands for is a plan (``learn.boosting_plan``), whose parameters become settings and rows become bins
(``learn.boosting_rounds``); ``boosting.rounds`` grows a tree per score and round on the gradients of the loss, for one
model or for groups of members (``learn.boosting_members``). The evaluated losses are kept in the model's facts as
``history``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from treewright.boosting.distributed import boost_distributed
from treewright.boosting.rounds import Boosted, BoostTable, History, boost
from treewright.boosting.sampling import GradientWeights
from treewright.core import notices, progress
from treewright.core.progress import bar_where_nobody_listens
from treewright.data.dataset import Dataset, replies_of
from treewright.data.derived import is_derived
from treewright.data.memory import check_fits
from treewright.exceptions import DataError, ParameterError, setting
from treewright.learn.boosting_members import Groups, Table, takes_derived, with_derived_columns, with_rows_of_levels
from treewright.learn.boosting_params import OF_EACH_ROUND, BoostingParams
from treewright.learn.boosting_plan import Plan, Size, plan_of
from treewright.learn.boosting_rounds import (
    base_scores,
    binned,
    bound_losses,
    class_weights_of,
    evaluation_of,
    evaluation_rows,
    ordered_columns,
    rows_of_leaf,
    samples_rows,
    settings_of,
)
from treewright.learn.data_checks import is_constant, warn_of_odd_columns
from treewright.learn.forest import refuse_other_table
from treewright.learn.held_out import held_out, names_of, number_of_rows, parts_of, rows_one_by_one
from treewright.learn.params import AUTO
from treewright.learn.settings import refuse_changed, seed_of
from treewright.learn.train import Trained, WarmStart, model_of, rows_elsewhere
from treewright.model import Model
from treewright.trees.arrays import LEAF_RECORD, child_of, kind_of
from treewright.trees.data import Boosting, ModelData, with_grid
from treewright.trees.packed import PackedTrees, leaf_samples_of, leaf_weights_of

if TYPE_CHECKING:
    from treewright.boosting.losses import Loss

_NOTHING = np.empty(0, np.int64)


def train_boosting(
    dataset: Dataset, params: BoostingParams, n_threads: int, start: Trained | None = None,
    validation: Dataset | None = None,
) -> Trained:  # fmt: skip
    """Grow the rounds, or those that are new; ``validation``, if given, evaluates them."""
    if dataset.is_remote:
        return _train_elsewhere(dataset, params, n_threads, start, validation)
    began = perf_counter()
    seed = seed_of(params.random_state) if start is None else cast("WarmStart", start.warm_start).seed
    n_rows = len(dataset)  # as they are given: below a row of weight k may become k rows
    plan, dataset, held_out_of_members, evaluated = _with_held_out(dataset, params, seed, validation)
    first = plan.groups[0]
    has_derived = first.derived_columns == "all" and takes_derived(first, dataset) and validation is None
    if has_derived:
        dataset = with_rows_of_levels(dataset)
        evaluated = None if evaluated is None else with_derived_columns(evaluated, dataset.schema)
    elif params.derived_columns == "all":
        notices.warn(
            "derived_columns='all' is not used: no columns are derived with monotonic_cst, interaction_cst, your own "
            "evaluation rows (X_val, y_val), or a sparse table; leave one of them out"
        )
    # Refuses what gradients cannot hold, before losses are bound.
    GradientWeights.of(dataset.sample_weight, class_weights_of(dataset))
    losses = bound_losses(dataset, params, evaluated)
    base = base_scores(params.init, sum(loss.n_scores for loss in losses))
    settings = settings_of(first, dataset, losses, seed, n_threads)
    with _shown_plan(plan, params):
        table, rows = in_bins = binned(dataset, first, seed, n_threads)
        warm = WarmStart(dataset.digest(table.bins, rows.codes), params.shared_by_rounds(), seed, _NOTHING)
        if start is not None and _nothing_to_add(start, dataset, warm, settings.n_rounds):
            return start
        seconds_on_bins = perf_counter() - began
        if plan.has_members:
            groups = Groups(Table(dataset, in_bins), plan, settings, base, held_out_of_members)
            groups.grow(has_derived=has_derived)
            fewest = number_of_rows(dataset) - max(map(len, held_out_of_members))
            best = min((group.history for group in groups.kept), key=lambda each: min(each.validation[1:]))
            warn_of_no_better_round(best, _too_few_sampled(first, dataset, fewest))
            boosted, dataset = groups.averaged(), groups.table.dataset
        else:
            evaluation = evaluation_of(dataset, first, losses, evaluation_rows(evaluated, table, n_threads))
            before = None
            if start is not None:
                before = cast("PackedTrees", start.model.trees), cast("Boosting", start.model.boosting)
            boosted = boost(table, rows, replace(settings, evaluation=evaluation), before, base)
        progress.report(boosted.history.last / boosted.history.n_rounds, str(boosted.history))
    model = _model_of_rounds(dataset, params, boosted, losses, start, min(n_rows, len(dataset)))
    importances = model.feature_importances
    column = int(importances.argmax()) if importances.any() else -1
    if column >= 0 and is_derived(dataset.schema.columns[column]):
        column = -1  # it is not a column of the table, so it cannot be a copy of the target
    warn_of_odd_columns(dataset.schema, dataset.matrix, dataset.target, column)
    warn_of_silent_trees(boosted.trees, losses, dataset, params)
    if first.early_stopping and start is None and not plan.has_members:
        warn_of_no_better_round(boosted.history, _too_few_sampled(first, dataset, number_of_rows(dataset)))
    boosted.history.stages = {"bins": seconds_on_bins, **boosted.history.stages}
    return Trained(model, warm_start=warm, losses=losses, history=boosted.history)


def _train_elsewhere(
    dataset: Dataset, params: BoostingParams, n_threads: int, start: Trained | None, validation: Dataset | None
) -> Trained:
    """Like ``train_boosting``, for rows that lie elsewhere: one model, whose rounds ask the parts."""
    seed = seed_of(params.random_state)
    losses = params.losses(dataset.n_outputs, dataset.n_classes)
    plan, _ = _plan_for(dataset, params, validation)
    first = plan.groups[0]
    columns = ordered_columns(
        dataset.schema, params.level_encoding, number_of_rows(dataset),
        one_number=dataset.n_outputs == 1 and all(count <= 2 for count in dataset.n_classes),
    )  # fmt: skip
    names = ", ".join(repr(dataset.schema.columns[at].name) for at in columns.tolist())
    rounds, order = setting("n_estimators", 300), setting("level_encoding", "subsets")
    of_warm_start = "warm_start=True needs the scores of the fit before: fit all rounds at once"
    of_stopping = "early stopping holds out rows: pass evaluation rows (X_val, y_val), or set a number of rounds"
    rows = rows_elsewhere(
        dataset, first,
        (plan.has_members, ("members hold out rows to find the number of rounds: set it (", rounds, ")")),
        (start is not None or params.warm_start, (of_warm_start,)),
        (bool(first.early_stopping) and validation is None, (of_stopping,)),
        (len(columns) > 0, (f"levels of {names} would be ordered by a statistic; set ", order)),
    )  # fmt: skip
    replies_of(rows.carrier, "check", losses)
    settings = settings_of(first, dataset, losses, seed, n_threads)
    table = BoostTable(rows.bins, dataset.schema, np.zeros(len(dataset.schema), bool))
    evaluation = evaluation_of(dataset, first, losses, evaluation_rows(validation, table, n_threads))
    with _shown_plan(plan, params):
        boosted = boost_distributed(
            table, rows.carrier, replace(settings, evaluation=evaluation), dataset.class_factors, dataset.n_classes,
            base_scores(params.init, sum(loss.n_scores for loss in losses)),
        )  # fmt: skip
        progress.report(boosted.history.last / boosted.history.n_rounds, str(boosted.history))
    model = _model_of_rounds(dataset, params, boosted, losses, None, len(dataset))
    return Trained(model, losses=losses, history=boosted.history)


# The plan, and what it holds out --------------------------------------------------------------------------------------


class _Planned(NamedTuple):
    """A plan, the rows on which trees grow, the held-out rows of each member, and those that evaluate one model."""

    plan: Plan
    dataset: Dataset
    held_out: list[np.ndarray]
    evaluated: Dataset | None


def _with_held_out(dataset: Dataset, params: BoostingParams, seed: int, validation: Dataset | None) -> _Planned:
    """Plan a fit, and hold out the rows that its members or its early stopping need."""
    params.check_domain(dataset.target, dataset.kept)  # rows are known by their numbers while they are together
    if params.n_members not in (AUTO, 1) and validation is not None:
        raise ParameterError(
            f"n_members={params.n_members} does not go with your own evaluation rows (X_val, y_val): members hold out "
            "training rows; leave one of them out"
        )
    plan, size = _plan_for(dataset, params, validation)
    if params.quality != "balanced" and params.n_estimators == AUTO and (validation is not None or params.warm_start):
        beside = "your own evaluation rows (X_val, y_val)" if validation is not None else "warm_start=True"
        notices.warn(f"quality={params.quality!r} is not used: with {beside} one model is grown; leave one of them out")
    held_out_of_members: list[np.ndarray] = []
    if plan.has_members or samples_rows(plan.groups, dataset):
        dataset = rows_one_by_one(dataset)
    if plan.has_members:
        n_members = int(plan.groups[0].n_members)
        remedy = "set n_members=1 or quality='fast'"
        check_fits(n_members * size.bytes_of_member, f"boosting with {n_members} members at a time", remedy)
        # Samples and sums depend on the contents of the rows, not on their order.
        dataset = dataset.take(np.argsort(names_of(dataset), kind="stable"))
        try:
            held_out_of_members = _held_out_of_members(dataset, plan.groups[0], seed)
        except DataError:
            if params.n_members != AUTO or params.early_stopping is True:
                raise
            # Held-out rows were not requested, and the rows are too few, or all alike.
            plan = plan_of(params, size, can_evaluate=False)
    first = plan.groups[0]
    if params.stops and not first.early_stopping:
        for name in ("validation_fraction", "n_iter_no_change"):
            if getattr(params, name) not in (AUTO, None):
                notices.warn(
                    f"{name} is not used: one model of {first.n_estimators} rounds is grown; set early_stopping=True"
                )
    if not plan.has_members and validation is None and first.early_stopping and first.validation_fraction is not None:
        share, has_own_score = float(first.validation_fraction), first.scoring is not None
        dataset, validation = parts_of(dataset, share, seed, is_written_out=has_own_score)
    return _Planned(plan, dataset, held_out_of_members, validation)


def _plan_for(dataset: Dataset, params: BoostingParams, validation: Dataset | None) -> tuple[Plan, Size]:
    """The plan of a fit, and what it depends on."""
    losses = params.losses(dataset.n_outputs, dataset.n_classes)
    can_evaluate = params.scoring is not None or all(loss.has_values for loss in losses)
    if not dataset.is_remote:
        can_evaluate = can_evaluate or params.early_stopping is True  # then it is refused with the reason
    n_rows, p = number_of_rows(dataset), len(dataset.schema)
    n_cells = len(dataset.matrix.stored.data) if dataset.is_sparse else n_rows * p
    size = Size(n_rows, p, n_cells, sum(loss.n_scores for loss in losses))
    return plan_of(params, size, evaluated_by_user=validation is not None, can_evaluate=can_evaluate), size


def _held_out_of_members(dataset: Dataset, params: BoostingParams, seed: int) -> list[np.ndarray]:
    """The held-out rows of each member, int64[m] each."""
    share, names = float(cast("float", params.validation_fraction)), names_of(dataset)
    by_class = bool(dataset.classes)
    return [
        np.flatnonzero(held_out(dataset.target_array, names, share, seed, by_class=by_class, member=member))
        for member in range(int(params.n_members))
    ]


@contextmanager
def _shown_plan(plan: Plan, params: BoostingParams) -> Iterator[None]:
    """Write the plan before the growth, and show the growth while the block runs, if the user wants to see it.

    As a line of its own, because the next report replaces a report at once.
    """
    if params.verbose and not progress.is_heard() and sys.stderr is not None:
        sys.stderr.write(f"{plan}\n")
    with bar_where_nobody_listens(bool(params.verbose)):
        progress.report(0.0, str(plan))
        yield


# Warm start -----------------------------------------------------------------------------------------------------------


def _nothing_to_add(start: Trained, dataset: Dataset, now: WarmStart, n_rounds: int) -> bool:
    """Whether a warm start already has all requested rounds; refuses fewer, and other rows or parameters."""
    if start.model.facts.get("members"):
        raise ParameterError(
            "warm_start=True: the model has members, which stop on their held-out rows and take no further rounds; "
            "begin with a fit with warm_start=True, or with another estimator"
        )
    warm, n_before = cast("WarmStart", start.warm_start), n_rounds_of(start.model)
    if n_rounds < n_before:
        raise ParameterError(
            f"n_estimators={n_rounds} must be larger or equal to the {n_before} fitted rounds, with warm_start=True"
        )
    refuse_changed(warm.parameters, now.parameters, "trees", OF_EACH_ROUND)
    refuse_other_table(warm, start.model, dataset, now.digest)
    if n_before < n_rounds:
        return False
    notices.warn("Warm-start fitting without increasing n_estimators does not fit new trees.")
    return True


def n_rounds_of(model: ModelData) -> int:
    """Number of rounds of a boosted model."""
    return len(model.trees) // model.aggregation.n_scores


# What a fit leaves in the model -------------------------------------------------------------------------------------


def _model_of_rounds(
    dataset: Dataset, params: BoostingParams, boosted: Boosted, losses: tuple[Loss, ...], start: Trained | None,
    n_rows: int,
) -> Model:  # fmt: skip
    """The model, with the evaluated losses among its facts."""
    history, best = _history_with_best(boosted.history, start)
    loss = facts_of(losses)
    model = model_of(
        dataset, boosted.trees, params, combine="sum", criterion="gradient", missing="direction",
        loss=loss, best_iteration=best, history=history, scored=params.scoring is not None, n_samples=n_rows,
        **({"members": list(boosted.members)} if boosted.members else {}),
    )  # fmt: skip
    model = with_grid(replace(model, boosting=boosted.boosting))
    n_scores = boosted.boosting.n_scores
    if model.classes or n_scores == model.n_outputs:
        return model
    # Several levels of one target.
    levels = loss.get("quantile", range(n_scores))
    names = tuple(f"{name} {level}" for name in model.target_names for level in levels)
    return replace(model, n_outputs=n_scores, target_names=names)


# The number of a loss, by the loss's name, and the parameter that is called otherwise.
_NUMBER_OF_LOSS = {
    "quantile": ("levels", "quantile"),
    "huber": ("delta", "huber_delta"),
    "tweedie": ("power", "tweedie_power"),
    "expectile": ("level", "expectile"),
}


def facts_of(losses: Sequence[Loss]) -> dict[str, Any]:
    """The loss as plain JSON: its name and its numbers under the parameter names, a list for several outputs."""
    name = losses[0].name
    if name not in _NUMBER_OF_LOSS:
        return {"name": name}
    attribute, parameter = _NUMBER_OF_LOSS[name]
    own = [getattr(loss, attribute) for loss in losses]
    if isinstance(own[0], tuple):
        return {"name": name, parameter: list(own[0]) if len(own[0]) > 1 else own[0][0]}
    return {"name": name, parameter: own[0] if all(value == own[0] for value in own) else own}


def _history_with_best(history: History, start: Trained | None) -> tuple[dict[str, list[float | None]], int]:
    """The evaluated losses, as plain JSON, after those of the rounds before; and the best round of all."""
    new = {
        name: [value if math.isfinite(value) else None for value in map(float, values)]
        for name, values in (("train", history.train), ("validation", history.validation))
        if values
    }
    if start is None:
        return new, history.best
    before, kept = start.model.facts["history"], n_rounds_of(start.model)
    joined = {name: [*before[name][:kept], *values] for name, values in new.items() if len(before.get(name, ())) > kept}
    curve, best = joined.get("validation") or joined.get("train"), history.best
    if curve is not None:
        # An earlier round may be better than all new ones.
        known = [math.inf if value is None else value for value in curve]
        first = min(range(1, kept + 1), key=known.__getitem__)
        best = first if known[first] <= known[best] else best
    return joined, best


# Warnings after growth ----------------------------------------------------------------------------------------------

_MOST_SHRUNK = 20  # a leaf of all rows would predict less than a twentieth of its mean
_SCALE_UP = "scale up the weights (for poisson and tweedie the target)"
_FINEST = 2**32  # the smallest part of the sum of all gradients that growth's whole numbers can represent


def warn_of_silent_trees(trees: PackedTrees, losses: Sequence[Loss], dataset: Dataset, params: BoostingParams) -> None:
    """Warn if no tree has a test, or if all predictions are shrunk to nearly nothing, because of a parameter.

    Target and columns are not constant then; the warning names the parameter and the number that it exceeds.
    """
    target, matrix, weights = dataset.target_array, dataset.matrix, dataset.weights
    if not (target != target[0]).any() or is_constant(matrix):
        return
    of_first = trees.records[: trees.roots[1]]
    leaves = child_of(of_first[kind_of(of_first) == LEAF_RECORD])
    hessian = float(leaf_weights_of(trees)[leaves].sum())  # of the rows of the first tree
    if trees.n_nodes > trees.n_trees:
        if _MOST_SHRUNK * hessian < params.l2 and not any(loss.renews for loss in losses):
            notices.warn(
                f"l2={params.l2:g} is added to the hessians of each leaf, and those of all rows add up to "
                f"{hessian:g}: all predictions are nearly 0; lower it, or {_SCALE_UP}"
            )
        return
    repeats = GradientWeights.of(dataset.sample_weight).repeats
    n_rows = len(matrix) if repeats is None else int(repeats.sum())
    n_rows = n_rows * int(leaf_samples_of(trees).max()) // len(matrix)  # of a round that samples some of them
    reason = ""
    least = rows_of_leaf(params, dataset)
    if n_rows < 2 * least:
        given = least if isinstance(params.min_samples_leaf, str) else params.min_samples_leaf
        reason = f"{n_rows} row(s) are fewer than twice min_samples_leaf={given}: lower it"
    elif hessian < 2 * params.min_child_weight:
        reason = (
            f"the hessians of all rows add up to {hessian:g}, less than twice min_child_weight="
            f"{params.min_child_weight:g}: lower it, or {_SCALE_UP}"
        )
    elif weights is not None and float(np.median(weights)) * _FINEST < float(weights.sum()):
        reason = (
            f"half of the rows weigh less than 1/{_FINEST} of the total, too little for their gradients to count: "
            "bring the weights closer together"
        )
    elif params.min_gain > 0:
        reason = f"no split gains more than min_gain={params.min_gain:g}: lower it"
    if reason:
        notices.warn(f"no tree has a test, so every row gets the same prediction; {reason}")


def _too_few_sampled(params: BoostingParams, dataset: Dataset, n_rows: int) -> str:
    """Why hardly any tree can have a test, if each samples a share of so many rows; empty if that is not the reason."""
    n_sampled, least = int(n_rows * float(params.subsample)), rows_of_leaf(params, dataset)
    if params.subsample == 1 or n_sampled >= 2 * least:
        return ""
    return (
        f"each tree samples about {n_sampled} of {n_rows} rows (subsample={params.subsample:g}), fewer than the "
        f"{2 * least} of two leaves (min_samples_leaf): raise subsample or lower min_samples_leaf"
    )


def warn_of_no_better_round(history: History, reason: str = "") -> None:
    """Warn if early stopping found no round better than none, or a score that never changed.

    ``history`` begins before the first tree; ``reason`` is one that is known, by default the columns.
    """
    before, *after = history.validation or history.train
    if history.scored and len(after) > 1 and min(after) == max(after):
        notices.warn(
            f"early stopping: the score is {-min(after):g} in all {len(after)} rounds, so round {history.best} is "
            "kept; a score of probabilities, such as 'neg_log_loss', tells rounds apart"
        )
        return
    is_perfect = not history.scored and bool(after) and min(after) == 0  # as of a constant target
    if after and before <= min(after) and not is_perfect:
        notices.warn(
            f"early stopping: no round is better than none ({before:g} before the first tree, {min(after):g} at the "
            f"best); round {history.best} is kept, but "
            + (reason or "the columns seem to predict nothing about other rows")
        )
