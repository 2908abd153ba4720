"""Forests: from parameters to settings, more trees under a warm start, predictions for out-of-bag rows.

Rows become bins once; `forest.grower` grows a tree per task on them, each on rows that it samples. The votes and the
draws of a fit are kept next to the model, so that a warm start can continue from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

import numpy as np

from treewright.core import notices, progress
from treewright.core.progress import bar_where_nobody_listens
from treewright.core.threads import resolve_jobs
from treewright.data.bins import Bins
from treewright.data.dataset import Dataset
from treewright.data.memory import check_fits
from treewright.data.target import Factors, Labels, Numbers, factors_by_code
from treewright.exceptions import DataError, ParameterError, setting
from treewright.forest.draws import Draws, counts_of_rows, number_of_draws
from treewright.forest.grower import (
    EXACT_CRITERIA,
    ClassWeights,
    ForestSettings,
    Growth,
    Size,
    grow_forest,
    refuse_too_many,
)
from treewright.forest.out_of_bag import Votes, votes_after
from treewright.forest.quantiles import leaf_targets_of
from treewright.grow.settings import REGRESSION_CRITERIA, columns_of_many_levels
from treewright.learn.boosting_members import in_order_of_levels, takes_derived, with_rows_of_levels
from treewright.learn.data_checks import warn_of_odd_columns
from treewright.learn.params import (
    CLASS_WEIGHT_KIND,
    CLASSES,
    FLAG,
    FUNCTION,
    INTERACTIONS,
    LIST,
    LOUDNESS,
    MAPPING,
    MAX_BINS,
    MONOTONE,
    NOTHING,
    NUMBERS,
    POSITIVE,
    RANDOM_STATE,
    WARM_START,
    ClassWeight,
    ColumnParams,
    Groups,
    Parameter,
    Seed,
    Signs,
    by_task,
    bytes_of_leaves,
    needs,
    param,
    plain,
    real,
    refuse_other_function,
    share,
    stated,
    whole,
    words,
)
from treewright.learn.registry import EXTRA_TREES, FOREST
from treewright.learn.settings import binned_settings, columns_per_node, grow_settings, refuse_changed, seed_of
from treewright.learn.train import (
    WARM_START_OF_TREES,
    Shared,
    Trained,
    WarmStart,
    model_of,
    refuse_not_counts,
    rows_elsewhere,
    trees_at_once,
    with_every_cell,
)
from treewright.predict.walks import Walk
from treewright.trees.class_criteria import CLASSIFICATION_CRITERIA
from treewright.trees.data import ListedTrees, ModelData
from treewright.trees.packed import PackedTrees, join
from treewright.trees.writing import written_name

if TYPE_CHECKING:
    from treewright.data.dataset import GatheredRows

_PER_TREE = "balanced_subsample"
_BOOTSTRAP = Parameter(
    True, (FLAG,), help="whether each tree samples its rows, with replacement", more="Else all rows are used."
)
_DRAWS = needs("otherwise every tree uses all rows", bootstrap=True)
# They only shape the trees grown with them: a warm start may change them.
_OF_EACH_TREE = frozenset({
    "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_features", "max_leaf_nodes",
    "min_impurity_decrease",
})  # fmt: skip
_LARGEST_WEIGHT = 1e300  # of a packed tree, so that sums over its leaves stay in range in any order


@dataclass(frozen=True, kw_only=True)
class ForestParams(ColumnParams):
    """Random forests (Breiman 2001)."""

    algorithm_name: ClassVar[str] = FOREST.name
    learns_elsewhere: ClassVar[bool] = True
    random_cuts: ClassVar[bool] = False
    grows_sparse: ClassVar[bool] = True
    by_position: ClassVar[tuple[str, ...]] = ("n_estimators",)

    n_estimators: int = param(100, whole(1), unit="trees", help="trees")
    criterion: str = param(
        by_task("gini", "squared_error"), by_task(words(*CLASSIFICATION_CRITERIA), words(*REGRESSION_CRITERIA)),
        help="what a split minimises",
        more=by_task(
            '"log_loss" is "entropy".',
            "the variance, the mean distance to the median, or half the Poisson deviance. Trees of a random forest "
            'with "absolute_error" are grown on the values themselves, not on bins, which is much slower; they take '
            "more memory.",
        ),
    )  # fmt: skip
    max_depth: int | None = param(
        None, whole(1), NOTHING, unit="edges", help="depth of the deepest leaf; the root has depth 0"
    )
    min_samples_split: float = param(
        2, whole(2), share(0.0, 1.0, "right"), unit="rows or share of the rows", help="rows a node needs to be split",
        more="A float is a share of the rows of the tree, rounded up. A row that was drawn twice counts as two.",
    )  # fmt: skip
    min_samples_leaf: float = param(
        1, whole(1), share(0.0, 1.0, "neither"), unit="rows or share of the rows", help="rows a branch needs"
    )
    min_weight_fraction_leaf: float = param(
        0.0, real(0.0, 0.5, "both"), unit="share of the weight", help="share of the whole weight a branch needs"
    )
    max_features: float | str | None = param(
        by_task("sqrt", 1.0), whole(1), share(0.0, 1.0, "right"), words("sqrt", "log2"), NOTHING,
        unit="columns or share of the columns", help="columns sampled for each node",
        more=by_task("None takes all.", "1.0 and None take all, as in scikit-learn. Breiman 2001 has a third."),
    )  # fmt: skip
    max_features_per_tree: float | str | None = param(
        None, whole(1), share(0.0, 1.0, "right"), words("sqrt", "log2"), NOTHING,
        unit="columns or share of the columns",
        help="columns sampled once for each tree, from which its nodes sample theirs; None is all",
        more="With ``max_features=None`` all nodes of a tree use the same columns.",
    )  # fmt: skip
    max_leaf_nodes: int | None = param(
        None, whole(2), NOTHING, unit="leaves", help="grow best-first: the leaf whose split gains most is split next"
    )
    min_impurity_decrease: float = param(
        0.0,
        real(0.0, None, "left"),
        unit="impurity",
        help="a split must lower the impurity of the tree's rows by this much",
        more="That of a node counts by its share of the weight.",
    )
    bootstrap: bool = stated(_BOOTSTRAP)
    oob_score: bool | Callable[[np.ndarray, np.ndarray], float] = param(
        False, FLAG, FUNCTION, shapes_model=False,
        help="score each row by the trees that did not sample it; or a function of true and predicted targets",
        more="That is nearly as good as a test on new rows. The function replaces the score of ``score``.",
        needs=_DRAWS,
    )  # fmt: skip
    random_state: Seed = stated(RANDOM_STATE)
    verbose: int = stated(LOUDNESS)
    warm_start: bool = stated(
        replace(
            WARM_START,
            more="The result is that of one fit, so the table must be the same. Parameters that only shape a tree may "
            "change, such as ``max_depth`` or ``max_features``; the model's facts hold those of the last fit.",
        )
    )
    class_weight: ClassWeight = param(
        None, MAPPING, LIST, words("balanced", _PER_TREE), NOTHING, only=CLASSES,
        help="weights of the classes, applied after sampling; 'balanced_subsample': balanced in each tree",
        more="Neither the sampled rows nor limits in rows depend on them, and a common factor changes nothing.",
        kind=f'{CLASS_WEIGHT_KIND}, "balanced_subsample"',
    )  # fmt: skip
    positive: Any = stated(POSITIVE)
    max_samples: float | None = param(
        None, share(0.0, 1.0, "right"), whole(1), NOTHING, unit="rows or share of the rows",
        help="rows that each tree samples; None is as many as there are", needs=_DRAWS,
        more="A float is a share of all rows.",
    )  # fmt: skip
    monotonic_cst: Signs = stated(MONOTONE)
    interaction_cst: Groups = stated(INTERACTIONS)
    voting: str = param(
        "soft", words("soft", "hard"), only=CLASSES, help="average class probabilities, or one vote for each tree"
    )
    quantiles: bool = param(
        False, FLAG, only=NUMBERS, help="keep the targets in the model, for predict_quantile and predict_interval",
        more="At most 8 bytes for each row of each tree.",
    )  # fmt: skip
    max_bins: int = stated(MAX_BINS)
    level_encoding: str = param(
        "auto", words("auto", "subsets", "ordered"),
        help="nominal columns: subsets of levels, or the first levels in their order",
        more='"subsets" tests whether the level is one of these, "ordered" whether it is one of the first levels, in '
        'their order (as sorted, or as declared). "auto": subsets, but ordered for columns with more than 254 levels '
        "and for those with 32 levels or more and fewer than 32 rows per level, whose subsets would overfit. With "
        '``criterion="absolute_error"`` always subsets.',
    )  # fmt: skip
    derived_columns: str = param(
        "auto", words("auto", "none"), help="trees may test row counts of levels",
        more='"auto": of nominal columns with "ordered" tests. The model computes these columns itself; no table needs '
        "to have them. With constraints and sparse tables there are none.",
    )  # fmt: skip
    missing: str = param(
        "direction", words("direction", "error"),
        help="the branch that missing values follow, or that they are refused",
        more="It is the branch with the larger gain.",
    )  # fmt: skip

    @property
    def criterion_name(self) -> str:
        """The name of the criterion in the model's facts."""
        return self.criterion

    @property
    def class_weight_of_fit(self) -> Any:
        """The class weights on average over the trees, for the facts."""
        return "balanced" if self.class_weight == _PER_TREE else self.class_weight

    def check_size(self, n_rows: int, n_columns: int) -> None:
        """One byte per cell, for all rows and for those of each thread's tree, and 40 bytes per row."""
        refuse_too_many(int(self.n_estimators), n_columns)
        needed = n_rows * (n_columns + 8 + resolve_jobs(self.n_jobs) * (n_columns + 48))
        check_fits(needed, f"growing on {n_rows} rows x {n_columns} columns")

    def bytes_of_classes(self, n_rows: int, n_classes: Sequence[int]) -> int:
        """Those in the leaves of all trees, and what each thread's tree has besides while it grows."""
        n_trees = int(self.n_estimators)
        # At least 1 - 1/e of the draws are of different rows.
        n_sampled = int(0.63 * number_of_draws(self.max_samples, n_rows)) + 1 if self.bootstrap else n_rows
        return (n_trees + 5 * min(n_trees, resolve_jobs(self.n_jobs))) * bytes_of_leaves(self, n_sampled, n_classes)

    def check_together(self) -> None:
        """Refuse values that contradict each other."""
        if callable(self.oob_score):
            refuse_other_function(
                self.oob_score, "oob_score", "two arguments, the true targets and the predicted ones", 2
            )

    def check_target(self, target: Labels | Numbers) -> None:
        """Refuse numbers for which the criterion is not defined."""
        if self.criterion == "poisson":
            refuse_not_counts(target[0])

    def shared_by_trees(self) -> dict[str, Any]:
        """The parameters that all trees of a forest must share, as plain JSON."""
        facts = self.facts()
        del facts["n_estimators"]
        return {**facts, "oob_score": bool(self.oob_score), "positive": plain(self.positive)}


@dataclass(frozen=True, kw_only=True)
class ExtraTreesParams(ForestParams):
    """Extremely randomised trees (Geurts, Ernst and Wehenkel 2006)."""

    algorithm_name: ClassVar[str] = EXTRA_TREES.name
    random_cuts: ClassVar[bool] = True

    bootstrap: bool = stated(replace(_BOOTSTRAP, default=False))


def train_forest(dataset: Dataset, params: ForestParams, n_threads: int, start: Trained | None = None) -> Trained:
    """Grow the trees, or those that are new."""
    if dataset.is_remote:
        return _trained_elsewhere(dataset, params, start)
    # Rows are sampled by the caller's weights; class weights are applied afterwards.
    if _asks_for_cells(dataset, params):
        dataset = with_every_cell(dataset, params)
    with bar_where_nobody_listens(bool(params.verbose)):
        dataset, rows, bins, codes, in_runs = prepared(dataset, params, n_threads)
        digest, shared = rows.digest(bins, codes), params.shared_by_trees()
        if start is None:
            seed, n_before = seed_of(params.random_state), 0
        else:
            refuse_other_start(start, rows, digest, shared, int(params.n_estimators))
            seed, n_before = cast("WarmStart", start.warm_start).seed, start.model.n_trees
            if n_before == params.n_estimators:
                notices.warn("Warm-start fitting without increasing n_estimators does not fit new trees.")
                return start
        settings = forest_settings(rows, params, seed, n_before, n_threads, in_runs)
        grown = grow_forest(codes, rows.matrix, bins, rows.schema, rows.target_array, rows.weights, settings)
    trees, votes = grown.trees, grown.votes
    if start is not None:
        before: Any = start.model.trees
        new = cast("PackedTrees", grown.trees)
        trees = ListedTrees((*before, *new)) if settings.is_exact else join([before, new])
        votes = start.votes.plus(votes) if start.votes is not None and votes is not None else None
    model = _model_of(dataset, trees, params)
    if params.quantiles:
        leaf_targets = leaf_targets_of(
            trees, codes, rows.matrix, rows.target_array, rows.weights, grown.draws, n_threads
        )
        model = replace(model, leaf_targets=leaf_targets)
    importances = model.feature_importances
    column = int(importances.argmax()) if len(importances) and importances.any() else -1
    warn_of_odd_columns(rows.schema, rows.matrix, rows.target, column)
    positions = np.arange(len(rows)) if rows.kept is None else np.flatnonzero(rows.kept)
    cells = None if rows.is_sparse else Walk(trees).chosen(codes, rows.matrix)
    warm = WarmStart(digest, shared, seed, positions)
    return Trained(model, warm_start=warm, draws=grown.draws, cells=cells, votes=votes)


def _model_of(dataset: Dataset, trees: Any, params: ForestParams) -> Any:
    return model_of(
        dataset, trees, params, combine="vote" if params.voting == "hard" else "mean", criterion=params.criterion_name,
        missing=params.missing,
    )  # fmt: skip


# Rows that lie elsewhere ----------------------------------------------------------------------------------------------


def _trained_elsewhere(dataset: Dataset, params: ForestParams, start: Trained | None) -> Trained:
    """Like ``train_forest``, for rows that lie elsewhere: each part grows a share of the trees (``learn.train``)."""
    of_cells = f"criterion={params.criterion!r} needs the cells, and these rows are bins"
    rows_elsewhere(
        dataset, params,
        (params.criterion in EXACT_CRITERIA, (of_cells,)),
        (params.quantiles, ("quantiles=True keeps all targets in the model",)),
        (start is not None or params.warm_start, (WARM_START_OF_TREES,)),
    )  # fmt: skip
    n_trees, seed = int(params.n_estimators), seed_of(params.random_state)
    size, trees = Size(n_trees, 1, is_packed=True), list[PackedTrees]()
    own = replace(params, oob_score=False)  # trees vote once all of them are there
    with bar_where_nobody_listens(bool(params.verbose)), Shared(dataset, _GrowthElsewhere, (own, seed)) as shared:
        for tree in shared.each(n_trees):
            trees.append(tree)
            size.heed(len(trees) - 1, tree, len(trees))
            progress.report(len(trees) / n_trees, "growing")
        voted: dict[str, Any] = {}
        if params.oob_score:
            voted = _votes_of_parts(dataset, shared.ask(_votes_on_rows_left_out, trees, params.voting == "hard"))
    return Trained(_model_of(dataset, join(trees), params), **voted)


class _GrowthElsewhere:
    """A part's share of a forest."""

    def __init__(self, rows: GatheredRows, dataset: Dataset, params: ForestParams, seed: int) -> None:
        params.check_target(dataset.target)
        _, own, bins, codes, in_runs = prepared(dataset, params, rows.n_threads)
        settings = forest_settings(own, params, seed, 0, rows.n_threads, in_runs)
        n_drawn = None if settings.n_draws is None else min(settings.n_draws, len(own))
        settings = replace(settings, n_threads=trees_at_once(rows, params, n_drawn))
        self.growth = Growth(codes, None, bins, own.schema, own.target_array, own.weights, settings, room=rows.room)
        self.rows = own

    def __call__(self, numbers: range) -> list[Any]:
        """Grow some of the trees."""
        return self.growth.trees(numbers)


def _votes_on_rows_left_out(
    rows: GatheredRows, trees: list[PackedTrees], one_each: bool
) -> tuple[Votes | None, Any, Any]:
    """Predictions of the part's trees for out-of-bag rows; the first part also returns targets and weights."""
    number, n_parts = rows.share
    known: _GrowthElsewhere = rows.kept
    growth, numbers = known.growth, range(number, len(trees), n_parts)
    draws, votes = cast("Draws", growth.draws), None
    if numbers:
        (votes,) = votes_after(
            join([trees[at] for at in numbers]), growth.codes, growth.target, lambda at: draws.left_out(numbers[at]),
            [len(numbers)], known.rows.n_classes, one_each=one_each, n_threads=growth.settings.n_threads,
        )  # fmt: skip
    return (votes, growth.target, growth.weights) if number == 0 else (votes, None, None)


def _votes_of_parts(dataset: Dataset, of_parts: list[tuple[Votes | None, Any, Any]]) -> dict[str, Any]:
    """The votes of all parts, and their rows, as fields of ``Trained``."""
    votes: Any = reduce(lambda some, more: some.plus(more), [own for own, _, _ in of_parts if own is not None])
    _, target, weights = of_parts[0]
    known: Any = dataset.target
    rows = replace(dataset, target=known._replace(**{known._fields[0]: target}), weights=weights, sample_weight=weights)
    return {"votes": votes, "oob_rows": rows}


# Rows that are here ---------------------------------------------------------------------------------------------------


class Prepared(NamedTuple):
    """A dataset as forests grow on it."""

    dataset: Dataset
    rows: Dataset
    bins: Bins
    codes: Any
    in_runs: tuple[int, ...]


def prepared(dataset: Dataset, params: ForestParams, n_threads: int) -> Prepared:
    """The dataset with derived columns; its rows with the caller's weights; their bins.

    Raises ``DataError``: weights are beyond what trees on all rows can count.
    """
    in_runs = runs_of_forest(params, dataset)
    if in_runs and dataset.is_remote:
        names = ", ".join(repr(dataset.schema.columns[at].name) for at in in_runs)
        dataset.matrix.refuse(f"tests of runs of the levels of {names}; set ", setting("level_encoding", "subsets"))
    if params.derived_columns == "auto" and takes_derived(params, dataset):
        dataset = with_rows_of_levels(dataset, [at for at in in_runs if at in _of_many_levels(dataset)])
    rows = replace(dataset, weights=dataset.sample_weight)
    if rows.weights is not None and not params.bootstrap and not rows.weights.sum() <= _LARGEST_WEIGHT:
        raise DataError(f"the weights add up to more than {_LARGEST_WEIGHT:g}: scale them down")
    bins, codes = rows.binned(int(params.max_bins), n_threads)
    if in_runs:
        bins, codes = in_order_of_levels(bins, codes, rows, in_runs, int(params.max_bins))
    return Prepared(dataset, rows, bins, codes, in_runs)


def runs_of_forest(params: ForestParams, dataset: Dataset) -> tuple[int, ...]:
    """Nominal columns whose tests are runs of the first levels, not any subset."""
    on_cells = params.criterion in EXACT_CRITERIA and not params.random_cuts
    if params.level_encoding == "subsets" or dataset.is_sparse or on_cells:
        return ()
    if params.level_encoding == "auto":
        return _of_many_levels(dataset)
    return tuple(at for at, column in enumerate(dataset.schema.columns) if column.kind == "nominal")


def _of_many_levels(dataset: Dataset) -> tuple[int, ...]:
    counts = counts_of_rows(dataset.sample_weight)
    n_rows = len(dataset) if counts is None else int(counts.sum(dtype=np.int64))
    return columns_of_many_levels(dataset.schema, n_rows)


def _asks_for_cells(dataset: Dataset, params: ForestParams) -> bool:
    """Whether the parameters need more than growth on the stored cells of a sparse table supports."""
    without_sums = dataset.n_outputs > 1 or params.criterion == "poisson"
    return params.criterion in EXACT_CRITERIA or params.quantiles or (params.random_cuts and without_sums)


def forest_settings(
    dataset: Dataset, params: ForestParams, seed: int, first_tree: int, n_threads: int, in_runs: tuple[int, ...]
) -> ForestSettings:
    """Parameters as numbers."""
    n, p = len(dataset), len(dataset.schema.used)
    n_draws = number_of_draws(params.max_samples if params.bootstrap else None, n, dataset.weights)
    per_tree = params.max_features_per_tree
    settings = grow_settings(params, dataset, n_rows=n_draws, seed=seed, n_threads=n_threads)
    return ForestSettings(
        tree=replace(
            binned_settings(params, settings, dataset.schema, random_cuts=params.random_cuts), in_runs=in_runs
        ),
        n_trees=int(params.n_estimators) - first_tree,
        n_classes=dataset.n_classes,
        seed=seed,
        n_draws=n_draws if params.bootstrap else None,
        class_factors=_factors_after_draw(dataset, params),
        max_features_per_tree=None if per_tree is None else columns_per_node(per_tree, p),
        out_of_bag=bool(params.oob_score),
        one_vote_each=params.voting == "hard",
        n_threads=n_threads,
        first_tree=first_tree,
    )


def _factors_after_draw(dataset: Dataset, params: ForestParams) -> ClassWeights:
    """Class weights among the rows that a tree sampled; None if all are the same."""
    if params.class_weight != _PER_TREE:
        return dataset.class_factors
    return partial(_balanced, dataset.classes)


def _balanced(classes: tuple[np.ndarray, ...], codes: np.ndarray, weights: np.ndarray | None) -> Factors:
    return factors_by_code(["balanced"] * len(classes), codes, classes, weights)


# Warm starts. The digest of a table knows its bins and codes, not what columns, levels and labels are called; names are
# compared with those that the model holds.


def refuse_other_start(start: Trained, dataset: Dataset, digest: str, parameters: dict[str, Any], n_trees: int) -> None:
    """Refuse to add trees of another kind or table, or fewer than there are."""
    warm, n_before = cast("WarmStart", start.warm_start), start.model.n_trees
    if n_before > n_trees:
        raise ParameterError(
            f"n_estimators={n_trees} must be larger or equal to the {n_before} fitted trees, with warm_start=True"
        )
    refuse_changed(warm.parameters, parameters, "trees", _OF_EACH_TREE)
    refuse_other_table(warm, start.model, dataset, digest)


def refuse_other_table(warm: WarmStart, model: ModelData, dataset: Dataset, digest: str) -> None:
    """Refuse a warm start on another table."""
    other = what_differs(warm, model, dataset, digest)
    if other:
        raise ParameterError(
            f"warm_start=True adds trees on the same table, but {other} than in the fit before: pass the same "
            "ones, or set warm_start=False"
        )


def what_differs(warm: WarmStart, model: ModelData, dataset: Dataset, digest: str) -> str:
    """What differs in a table since the fit, in words before "than"; empty if it is the same table."""
    if digest != warm.digest:
        return "rows, target or weights are different"
    schema = model.schema
    if dataset.schema.named != schema.named or not _same(dataset.schema.names, schema.names):
        return "columns have other names"
    for mine, its in zip(schema.columns, dataset.schema.columns, strict=True):
        if not _same(mine.levels, its.levels):
            return f"column {written_name(mine.name)} has other levels"
        if mine != its:
            return f"column {written_name(mine.name)} is of a different kind"
    for known, given in zip(model.classes, dataset.classes, strict=True):
        if not _same(known.tolist(), given.tolist()):
            return "labels are different"
    return ""


def _same(known: Iterable[Any], given: Iterable[Any]) -> bool:
    """Whether names are the same and of the same types: True is not 1."""
    return [(type(each), each) for each in known] == [(type(each), each) for each in given]
