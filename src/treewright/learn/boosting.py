"""Gradient boosting: from a plan to settings, members, derived columns, more rounds under a warm start.

Rows become bins (nominal columns of many levels in the order of a target statistic); ``boosting.rounds`` grows a tree
per score and round on the gradients of the loss. The evaluated losses are kept in the model's facts as ``history``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from treewright.boosting.elsewhere import boost_elsewhere
from treewright.boosting.rounds import (
    MEMBERS_OF_LOOK,
    ROUNDS_OF_LOOK,
    Boosted,
    BoostRows,
    BoostSettings,
    BoostTable,
    History,
    Members,
    Sampling,
    averaged,
    boost,
    grow_members,
    mean_of,
)
from treewright.boosting.sampling import GradientWeights
from treewright.boosting.statistics import with_ordered_statistics
from treewright.core import notices, progress
from treewright.core.progress import bar_where_nobody_listens
from treewright.data.bin_rows import bin_rows
from treewright.data.dataset import Dataset, answers_of
from treewright.data.derived import is_derived, with_derived
from treewright.data.memory import check_fits
from treewright.data.schema import Column, Schema
from treewright.data.target import weighed
from treewright.exceptions import DataError, ParameterError, Phrase, setting
from treewright.grow.settings import GradientSettings, Order, columns_of_many_levels
from treewright.learn.boosting_params import AUTO, DEFAULT_LEAVES, OF_EACH_ROUND, BoostingParams
from treewright.learn.data_checks import (
    is_constant,
    takes_derived,
    warn_of_suspicions,
    with_derived_columns,
    with_rows_of_levels,
)
from treewright.learn.forest import refuse_other_table
from treewright.learn.params import finite
from treewright.learn.plan import (
    FEWEST_OF_MEMBER,
    SYMMETRIC_DEPTH,
    Plan,
    Size,
    pairs_of_levels,
    pairs_of_numbers,
    plan_of,
    with_linear_scores,
)
from treewright.learn.rows_aside import (
    evaluation_of,
    held_out,
    judging_rows,
    names_of,
    number_of_rows,
    parts_of,
    rows_one_by_one,
)
from treewright.learn.settings import interaction_groups, refuse_changed, seed_of, signs_of_fit
from treewright.learn.train import Trained, WarmStart, model_of
from treewright.model import Model
from treewright.trees.arrays import LEAF_RECORD, child_of, kind_of
from treewright.trees.data import Boosting, ModelData, with_grid
from treewright.trees.packed import PackedTrees, leaf_samples_of, leaf_weights_of

if TYPE_CHECKING:
    from treewright.boosting.losses import Loss
    from treewright.data.dataset import Elsewhere

MOST_GROUPS = 64
_MORE_THAN_ALL_ROWS = 2**60  # by far; twice as many fit into 64 bits, too
_ROWS_OF_LEAF, _LEAVES_OF_FEW = 20, 3  # of min_samples_leaf="auto"
_MOST_MADE, _ROUNDS_OF_PROBE = 8, 20  # derived columns that are kept, rounds that choose them
_WORTH_A_GROUP = 0.9  # the share of the loss that pairs of levels and linear scores have to reach
_COUNTED_FROM = 30  # levels of a nominal column
FEW_ROWS_IN_BOOSTING = 16  # of a level; forests and trees need 32: an order by a statistic has the noise of one level
_NOTHING = np.empty(0, np.int64)


def train_boosting(
    dataset: Dataset, params: BoostingParams, n_threads: int, start: Trained | None = None,
    validation: Dataset | None = None,
) -> Trained:  # fmt: skip
    """Grow the rounds, or those that are new; ``validation``, if given, evaluates them."""
    if dataset.is_elsewhere:
        return _trained_elsewhere(dataset, params, n_threads, start, validation)
    began = perf_counter()
    warm = None if start is None else cast("WarmStart", start.warm_start)
    seed = seed_of(params.random_state) if warm is None else warm.seed
    params.check_domain(dataset.target, dataset.kept)  # rows are known by their numbers while they are together
    if params.n_members not in (AUTO, 1) and validation is not None:
        raise ParameterError(
            f"n_members={params.n_members} does not go with your own evaluation rows (X_val, y_val): members hold out "
            "training rows; leave one of them out"
        )
    unbound = params.losses(dataset.n_outputs, dataset.n_classes)
    n_scores = sum(loss.n_scores for loss in unbound)
    can_judge = params.scoring is not None or all(loss.has_values for loss in unbound)
    can_judge = can_judge or params.early_stopping is True  # then it is refused with the reason
    size = _size_of(dataset, n_scores)
    plan = plan_of(params, size, judged_by_user=validation is not None, can_judge=can_judge)
    if params.quality != "balanced" and params.n_estimators == AUTO and (validation is not None or params.warm_start):
        beside = "your own evaluation rows (X_val, y_val)" if validation is not None else "warm_start=True"
        notices.warn(f"quality={params.quality!r} is not used: with {beside} one model is grown; leave one of them out")
    asides: list[np.ndarray] = []
    n_rows = len(dataset)  # as they are given: below a row of weight k may become k rows
    if plan.has_members or _samples_rows(plan.groups, dataset):
        dataset = rows_one_by_one(dataset)
    if plan.has_members:
        n_members = int(plan.groups[0].n_members)
        remedy = "set n_members=1 or quality='fast'"
        check_fits(n_members * size.bytes_of_member, f"boosting with {n_members} members at a time", remedy)
        # Samples and sums depend on the contents of the rows, not on their order.
        dataset = dataset.take(np.argsort(names_of(dataset), kind="stable"))
        try:
            asides = _asides_of(dataset, plan.groups[0], seed)
        except DataError:
            if params.n_members != AUTO or params.early_stopping is True:
                raise
            # Held-out rows were not requested, and the rows are too few, or all alike.
            plan = plan_of(params, size, can_judge=False)
    first = plan.groups[0]
    if params.stops and not first.early_stopping:
        for name in ("validation_fraction", "n_iter_no_change"):
            if getattr(params, name) not in (AUTO, None):
                notices.warn(
                    f"{name} is not used: one model of {first.n_estimators} rounds is grown; set early_stopping=True"
                )
    is_judged_by_user = validation is not None
    if not plan.has_members and validation is None and first.early_stopping and first.validation_fraction is not None:
        share, has_own_score = float(first.validation_fraction), first.scoring is not None
        dataset, validation = parts_of(dataset, share, seed, is_written_out=has_own_score)
    has_derived = first.derived_columns == "all" and takes_derived(first, dataset) and not is_judged_by_user
    if has_derived:
        dataset = with_rows_of_levels(dataset, columns_to_count(dataset.schema))
        validation = None if validation is None else with_derived_columns(validation, dataset.schema)
    elif params.derived_columns == "all":
        notices.warn(
            "derived_columns='all' is not used: no columns are derived with monotonic_cst, interaction_cst, your own "
            "evaluation rows (X_val, y_val), or a sparse table; leave one of them out"
        )
    # Refuses what gradients cannot hold, before losses are bound.
    GradientWeights.of(dataset.sample_weight, _weights_of_classes(dataset))
    losses = _bound_losses(dataset, params, validation)
    base = base_scores(params.init, n_scores)
    settings = settings_of(first, dataset, losses, seed, n_threads)
    with _plan_told(plan, params):
        binned = _binned(dataset, first, seed, n_threads)
        now = WarmStart(dataset.digest(binned.table.bins, binned.rows.codes), params.shared_by_rounds(), seed, _NOTHING)
        if start is not None and _nothing_to_add(start, dataset, now, settings.n_rounds):
            return start
        seconds_on_bins = perf_counter() - began
        if plan.has_members:
            with _Budget(plan).shared() as budget:
                boosted, dataset = _averaged_members(
                    dataset, plan, binned, settings, base, asides, budget, has_derived=has_derived
                )
        else:
            evaluation = evaluation_of(dataset, first, losses, judging_rows(validation, binned.table, n_threads))
            before = None
            if start is not None:
                before = cast("PackedTrees", start.model.trees), cast("Boosting", start.model.boosting)
            boosted = boost(binned.table, binned.rows, replace(settings, evaluation=evaluation), before, base)
        progress.report(boosted.history.last / boosted.history.n_rounds, str(boosted.history))
    model = _model_of_rounds(dataset, params, boosted, losses, start, min(n_rows, len(dataset)))
    importances = model.feature_importances
    column = int(importances.argmax()) if importances.any() else -1
    if column >= 0 and is_derived(dataset.schema.columns[column]):
        column = -1  # it is not a column of the table, so it cannot be a copy of the target
    warn_of_suspicions(dataset.schema, dataset.matrix, dataset.target, column)
    warn_of_silent_trees(boosted.trees, losses, dataset, params)
    if first.early_stopping and start is None and not plan.has_members:
        warn_of_no_better_round(boosted.history, _too_few_sampled(first, dataset, number_of_rows(dataset)))
    boosted.history.stages = {"bins": seconds_on_bins, **boosted.history.stages}
    return Trained(model, warm_start=now, losses=losses, history=boosted.history)


def _trained_elsewhere(
    dataset: Dataset, params: BoostingParams, n_threads: int, start: Trained | None, validation: Dataset | None
) -> Trained:
    """Like ``train_boosting``, for rows that lie elsewhere: one model, whose rounds ask the parts."""
    rows, seed = cast("Elsewhere", dataset.matrix), seed_of(params.random_state)
    losses = params.losses(dataset.n_outputs, dataset.n_classes)
    n_scores = sum(loss.n_scores for loss in losses)
    can_judge = params.scoring is not None or all(loss.has_values for loss in losses)
    plan = plan_of(params, _size_of(dataset, n_scores), judged_by_user=validation is not None, can_judge=can_judge)
    first = plan.groups[0]
    columns = ordered_columns(
        dataset.schema, params.level_encoding, number_of_rows(dataset),
        one_number=dataset.n_outputs == 1 and all(count <= 2 for count in dataset.n_classes),
    )  # fmt: skip
    why: tuple[str | Phrase, ...] = ()
    rounds = setting("n_estimators", 300)
    if plan.has_members:
        why = ("members hold out rows to find the number of rounds: set it (", rounds, ")")
    elif start is not None or params.warm_start:
        why = ("warm_start=True needs the scores of the fit before: fit all rounds at once",)
    elif first.early_stopping and validation is None:
        why = ("early stopping holds out rows: pass evaluation rows (X_val, y_val), or set a number of rounds",)
    elif len(columns):
        names = ", ".join(repr(dataset.schema.columns[at].name) for at in columns.tolist())
        order = setting("level_encoding", "subsets")
        why = (f"levels of {names} would be ordered by a statistic; set ", order)
    if why:
        rows.refuse(*why)
    rows.check_bins(int(first.max_bins))
    answers_of(rows.carrier, "check", losses)
    settings = settings_of(first, dataset, losses, seed, n_threads)
    table = BoostTable(rows.bins, dataset.schema, np.zeros(len(dataset.schema), bool))
    judging = judging_rows(validation, table, n_threads)
    evaluation = evaluation_of(dataset, first, losses, judging)
    with _plan_told(plan, params):
        boosted = boost_elsewhere(
            table, rows.carrier, replace(settings, evaluation=evaluation), dataset.class_factors, dataset.n_classes,
            base_scores(params.init, n_scores),
        )  # fmt: skip
        progress.report(boosted.history.last / boosted.history.n_rounds, str(boosted.history))
    model = _model_of_rounds(dataset, params, boosted, losses, None, len(dataset))
    return Trained(model, losses=losses, history=boosted.history)


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


def _size_of(dataset: Dataset, n_scores: int) -> Size:
    """What the plan depends on."""
    n_rows, p = number_of_rows(dataset), len(dataset.schema)
    n_cells = len(dataset.matrix.stored.data) if dataset.is_sparse else n_rows * p
    return Size(n_rows, p, n_cells, n_scores)


def _samples_rows(groups: Sequence[BoostingParams], dataset: Dataset) -> bool:
    """Whether rows are sampled: for rounds, or for the order of a target statistic."""
    return any(
        params.subsample != 1.0 or params.sampling != "uniform" or len(_ordered_columns_of(dataset, params)) > 0
        for params in groups
    )


def _asides_of(dataset: Dataset, params: BoostingParams, seed: int) -> list[np.ndarray]:
    """The held-out rows of each member, int64[m] each."""
    share, names = float(cast("float", params.validation_fraction)), names_of(dataset)
    by_class = bool(dataset.classes)
    return [
        np.flatnonzero(held_out(dataset.target_array, names, share, seed, by_class=by_class, member=member))
        for member in range(int(params.n_members))
    ]


@contextmanager
def _plan_told(plan: Plan, params: BoostingParams) -> Iterator[None]:
    """Write the plan before the growth, and show the growth while the block runs, if the user wants to see it.

    As a line of its own, because the next report replaces a report at once.
    """
    if params.verbose and not progress.is_heard() and sys.stderr is not None:
        sys.stderr.write(f"{plan}\n")
    with bar_where_nobody_listens(bool(params.verbose)):
        progress.report(0.0, str(plan))
        yield


class _Budget:
    """The rounds of all members: those spent, and those that the group in hand may take. Reports are shares of all."""

    def __init__(self, plan: Plan) -> None:
        self.spent, self.in_hand, self.total = 0, 0, plan.most_rounds

    @contextmanager
    def shared(self) -> Iterator[_Budget]:
        """Report the work of the block, which each group begins at 0, as shares of the budget."""
        if not progress.is_heard():
            yield self
            return
        above = copy_context()

        def heard(done: float, what: str) -> None:
            above.run(progress.report, (self.spent + self.in_hand * done) / self.total, what)

        with progress.listen(heard):
            yield self


def _averaged_members(
    dataset: Dataset, plan: Plan, binned: Binned, settings: BoostSettings, base: list[float] | None,
    asides: list[np.ndarray], budget: _Budget, *, has_derived: bool,
) -> tuple[Boosted, Dataset]:  # fmt: skip
    """The members of all groups, averaged; the dataset with the columns that they use.

    The first group grows again with derived columns, if there can be any (``learn.wider``): columns that lower the loss
    of the held-out rows are kept, and so are the members without them. Pairs of levels and linear scores seldom do: a
    few rounds of a few members first check whether they are worth their time.
    """
    first, names, every_aside = plan.groups[0], names_of(dataset), np.concatenate(asides)
    groups: list[Members] = []

    def grow(params: BoostingParams, wide: _Wide, n_rounds: int, *, is_look: bool = False) -> Members:
        rows = replace(wide.binned.rows, names=names)
        own = settings_of(params, wide.dataset, settings.losses, settings.seed + len(groups), settings.n_threads)
        judged = evaluation_of(wide.dataset, params, settings.losses, rows.take(every_aside))
        own = replace(own, n_rounds=n_rounds, evaluation=judged, doubles_after=plan.doubles_after(n_rounds))
        n_members = min(len(asides), MEMBERS_OF_LOOK) if is_look else len(asides)
        budget.in_hand = n_members * (min(n_rounds, ROUNDS_OF_LOOK) if is_look else n_rounds)
        grown = grow_members(wide.binned.table, rows, own, asides, base, wide.codes_of_members, is_look=is_look)
        budget.in_hand = 0
        budget.spent += n_members * grown.history.last
        return grown

    few = binned.rows.take(np.concatenate(asides[:MEMBERS_OF_LOOK]))
    now, unavoidable = _Wide(dataset, binned), _unavoidable(few, settings.losses)
    n_after = len(plan.groups) - 1  # groups that follow in any case
    most = plan.rounds_of(budget.spent, 1 + bool(has_derived) + n_after)
    groups.append(grow(first, now, most))
    # By a callback. A further group that it ends early would count as much as a whole one: it is left out.
    ended = groups[0].is_called_off
    can_look = all(loss.has_values for loss in settings.losses)
    for way in ("pairs", *(("levels", "linear") if can_look else ())) if has_derived else ():
        # Groups weigh alike, so one with too few rounds is worse than none: the last ones keep half of a first group's.
        if ended or plan.rounds_of(budget.spent, 1 + n_after) < max(FEWEST_OF_MEMBER, most // 2):
            break
        if way == "linear":
            wide = _with_linear_scores(now, asides[:MEMBERS_OF_LOOK], first, settings)
        else:
            made = pairs_of_numbers if way == "pairs" else pairs_of_levels
            wide = _with_the_best(now, made(now.dataset, groups[-1]), first, settings, base)
        if wide is None:
            continue
        if way != "pairs":
            must = unavoidable + _WORTH_A_GROUP * (groups[-1].least_soon - unavoidable)
            if not grow(first, wide, plan.rounds_of(budget.spent, 1 + n_after), is_look=True).least_soon < must:
                continue
        if way == "linear":
            wide = cast("_Wide", _with_linear_scores(now, asides, first, settings))
        group = grow(first, wide, plan.rounds_of(budget.spent, 1 + n_after))
        ended = group.is_called_off
        # One that ends with its budget is compared in as many rounds.
        n = min(len(each.history.validation) for each in (group, groups[-1]))
        if not ended and min(group.history.validation[:n]) < min(groups[-1].history.validation[:n]):
            now = wide
            groups.append(group)
    for params in plan.groups[1:]:
        if ended:
            break
        further = grow(params, now, plan.rounds_of(budget.spent, n_after))
        n_after -= 1
        ended = further.is_called_off
        groups += [] if ended else [further]
    fewest = number_of_rows(dataset) - max(map(len, asides))
    warn_of_no_better_round(
        min((group.history for group in groups), key=lambda each: min(each.validation[1:])),
        _too_few_sampled(first, dataset, fewest),
    )
    return averaged(now.binned.table, groups), now.dataset


def columns_to_count(schema: Schema) -> list[int]:
    """Nominal columns with so many levels that row counts of levels become a derived column."""
    return [
        at
        for at, column in enumerate(schema.columns)
        if column.kind == "nominal" and not column.left_out and len(column.levels) >= _COUNTED_FROM
    ]


def _unavoidable(rows: BoostRows, losses: tuple[Loss, ...]) -> float:
    """The mean loss of the best possible scores: for a deviance without its constant it is not 0."""
    means = [
        mean_of(loss.least(np.ascontiguousarray(rows.target[:, output])), rows.weights)
        for output, loss in enumerate(losses)
    ]
    return sum(means)


class _Wide(NamedTuple):
    """Rows with derived columns, in bins; one set of bins per member if they depend on its held-out rows."""

    dataset: Dataset
    binned: Binned
    codes_of_members: list[np.ndarray] | None = None


def _with_the_best(
    now: _Wide, made: Sequence[Column], params: BoostingParams, settings: BoostSettings, base: list[float] | None
) -> _Wide | None:
    """The rows with the columns of ``made`` that gain most in a few rounds on all rows; None if none gains."""
    dataset, n_given = now.dataset, len(now.dataset.schema)
    wide = with_derived_columns(dataset, with_derived(dataset.schema, made))
    if wide is dataset:
        return None
    binned = _binned(wide, params, settings.seed, settings.n_threads)
    tree = replace(settings.tree, order="leaf", max_leaf_nodes=DEFAULT_LEAVES, max_depth=None)
    probe = replace(settings, tree=tree, n_rounds=_ROUNDS_OF_PROBE, learning_rate=0.1, callbacks=())
    found = boost(binned.table, binned.rows, probe, None, base).trees.importances.sum(axis=0)[n_given:]
    best = sorted(np.argsort(-found, kind="stable")[:_MOST_MADE].tolist())
    chosen = [wide.schema.columns[n_given + at] for at in best if found[at] > 0]
    if not chosen:
        return None
    wide = with_derived_columns(dataset, with_derived(dataset.schema, chosen))
    return _Wide(wide, _binned(wide, params, settings.seed, settings.n_threads))


def _with_linear_scores(
    now: _Wide, asides: list[np.ndarray], params: BoostingParams, settings: BoostSettings
) -> _Wide | None:
    """The rows with linear scores of all columns; None if there are none."""
    wide, cells_of_members = with_linear_scores(now.dataset, asides)
    if not cells_of_members:
        return None
    binned = _binned(wide, params, settings.seed, settings.n_threads)
    n_given, n_all = len(now.dataset.schema), len(wide.schema)
    matrix, codes_of_members = wide.matrix.copy(order="F"), []
    for cells in cells_of_members:
        matrix[:, n_given:] = cells
        codes = binned.rows.codes.copy()
        codes[:, n_given:n_all] = bin_rows(binned.table.bins, matrix, settings.n_threads)[:, n_given:n_all]
        codes_of_members.append(codes)
    return _Wide(wide, binned, codes_of_members)


def _weights_of_classes(dataset: Dataset) -> np.ndarray | None:
    """float64[n]: the weight of each row's classes, rounded to float32, so that it is exact times a number of rows."""
    of_classes = weighed(None, dataset.class_factors, dataset.target_array)
    if of_classes is None:
        return None
    with np.errstate(over="ignore", under="ignore"):  # the rounds refuse what float32 cannot hold
        return of_classes.astype(np.float32).astype(np.float64)


def _bound_losses(dataset: Dataset, params: BoostingParams, validation: Dataset | None) -> tuple[Loss, ...]:
    """A loss per output, bound to the rows; evaluation rows must be in its domain."""
    bound = []
    for output, loss in enumerate(params.losses(dataset.n_outputs, dataset.n_classes)):
        own = np.ascontiguousarray(dataset.target_array[:, output])
        if validation is not None:
            loss.check(np.ascontiguousarray(validation.target_array[:, output]), "y_val")
        bound.append(loss.bound(own, dataset.weights))
    return tuple(bound)


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


# From parameters to numbers.


def rows_of_leaf(params: BoostingParams, dataset: Dataset) -> int:
    """How many rows a branch needs.

    Leaves of 20 rows average noise away, but 39 rows have no two of them. The benchmark of small samples is in
    docs/decisions/0012.
    """
    if not isinstance(params.min_samples_leaf, str):
        return min(int(params.min_samples_leaf), _MORE_THAN_ALL_ROWS)
    return max(1, min(_ROWS_OF_LEAF, number_of_rows(dataset) // _LEAVES_OF_FEW))


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


class Binned(NamedTuple):
    """Rows as bins, and the table that all rows share."""

    table: BoostTable
    rows: BoostRows


def _binned(dataset: Dataset, params: BoostingParams, seed: int, n_threads: int) -> Binned:
    """The rows as bins; nominal columns of many levels in the order of a target statistic."""
    bins, codes = dataset.binned(int(params.max_bins), n_threads)
    columns = _ordered_columns_of(dataset, params)
    table = BoostTable(bins, dataset.schema, np.zeros(len(dataset.schema), bool))
    names = names_of(dataset) if _samples_rows((params,), dataset) else None
    if len(columns):
        target = np.ascontiguousarray(dataset.target_array[:, 0], np.float64)
        table, codes = with_ordered_statistics(
            table, codes, dataset.matrix, columns, target, dataset.weights, max_bins=int(params.max_bins), seed=seed,
            names=names, n_threads=n_threads,
        )  # fmt: skip
    rows = BoostRows(codes, dataset.target_array, dataset.sample_weight, _weights_of_classes(dataset), names)
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


# What a fit leaves in the model.


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


# Warnings after growth.

_MOST_SHRUNK = 20  # a leaf of all rows would predict less than a twentieth of its mean
_SCALE_UP = "scale up the weights (for poisson and tweedie the target)"
_FINEST = 2**32  # the smallest part of the sum of all gradients that growth's whole numbers can represent


def warn_of_silent_trees(trees: PackedTrees, losses: Sequence[Loss], dataset: Dataset, params: BoostingParams) -> None:
    """Warn if no tree has a test, or if all predictions are shrunk to nearly nothing, because of a parameter.

    Parameters
    ----------
    trees : PackedTrees
    losses : sequence of Loss
    given : FitInput
        The training rows.
    parameters : estimator

    Warns
    -----
    DataWarning
        The target is not constant, and neither are the columns; it names the parameter and the number that it exceeds.
    """
    target, matrix, weights = dataset.target_array, dataset.matrix, dataset.weights
    if not (target != target[0]).any() or is_constant(matrix):
        return
    hessian = _first_hessian(trees)
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


def _first_hessian(trees: PackedTrees) -> float:
    """The sum of the hessians of the rows of the first tree."""
    records = trees.records[: trees.roots[1]]
    return float(leaf_weights_of(trees)[child_of(records[kind_of(records) == LEAF_RECORD])].sum())


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

    Parameters
    ----------
    history : History
        It begins before the first tree.
    reason : str
        A reason that is known; by default the columns.

    Warns
    -----
    DataWarning
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
