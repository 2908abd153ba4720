"""Single trees: CART, ID3, C4.5 and CHAID, each from its parameters to a grown and pruned tree.

CART has three growers that give the same tree where they overlap: the exact one (columns sorted once), the one on bins
(``splitter="hist"`` and ``"random"``), and a slower one by node for what the exact one does not support: several
branches, rows in several branches, tests of significance, a user's own criterion. The other algorithms grow by node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from treewright.data.bin_rows import EVERY_VALUE
from treewright.data.cells import shown
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.data.target import weighed
from treewright.exceptions import ColumnError, ParameterError, Phrase, setting
from treewright.grow.binned.grower import grow_binned
from treewright.grow.by_node.grower import Stops, grow_by_node, retrace
from treewright.grow.by_node.policies import count_of, policy_of, problem_of
from treewright.grow.criteria.costs import Criterion
from treewright.grow.exact.grower import grow
from treewright.grow.exact.presort import presort
from treewright.grow.objective import are_whole
from treewright.grow.settings import REGRESSION_CRITERIA, GrowSettings, columns_in_runs
from treewright.learn.boosting_members import in_order_of_levels
from treewright.learn.data_checks import warn_of_odd_columns
from treewright.learn.params import (
    CLASS_WEIGHT,
    CLASSES,
    FLAG,
    FUNCTION,
    GROW_TRACE,
    INTERACTIONS,
    MAX_BINS,
    MIN_WEIGHT_FRACTION_LEAF,
    MONOTONE,
    NOTHING,
    POSITIVE,
    RANDOM_STATE,
    ClassWeight,
    Groups,
    Need,
    Parameter,
    Seed,
    Signs,
    TreeLimits,
    any_real,
    any_share,
    any_whole,
    by_task,
    bytes_of_leaves,
    finite,
    needs,
    param,
    real,
    stated,
    words,
)
from treewright.learn.registry import C45, CART, CHAID, ID3
from treewright.learn.settings import binned_settings, columns_per_node, grow_settings, objective_of, seed_of
from treewright.learn.train import (
    Shared,
    Trained,
    model_of,
    refuse_not_counts,
    rows_elsewhere,
    trees_at_once,
    with_every_cell,
)
from treewright.prune.cost_complexity import prune_at
from treewright.trees.class_criteria import CLASSIFICATION_CRITERIA
from treewright.trees.edit import with_complete_runs

if TYPE_CHECKING:
    from treewright.data.dataset import GatheredRows
    from treewright.data.target import Labels, Numbers
    from treewright.grow.by_node.grower import Step
    from treewright.grow.by_node.search import Policy
    from treewright.grow.problem import Problem
    from treewright.trees.arrays import Tree

_LEVEL_SPLITS = "how a nominal column is split"


def _on_bins(what: str) -> Need:
    return needs(f"the exact search does not use {what}", splitter=("hist", "random"))


_MAX_P_VALUE = Parameter(
    None, (real(0.0, 1.0, "right"), NOTHING), unit="probability",
    help="no split with a larger p-value (multiplied by the number of possible tests)",
    more=by_task(
        "The test is chi-squared, of branches and classes; the number is Bonferroni's. Weights, and parts of rows, "
        "count as row counts.",
        'The F test of the branches\' means; for "squared_error" only. It uses row counts, not weights: a common '
        "factor of the weights changes nothing.",
    ),
)  # fmt: skip
_SPLITTER = Parameter(
    "best", (words("best", "hist", "random"),),
    help="'best' tries every cut, 'hist' those between bins, 'random' one random cut for each column",
    more='The bins of a column are at most ``max_bins``; "hist" grows the same tree as "best" if no column has more '
    'distinct values, and is much faster on many rows. "random" samples a random set of levels if a column is nominal, '
    "and chooses the best of the cuts.",
)  # fmt: skip
_MAX_FEATURES = Parameter(
    None, (any_whole(1), any_share(0.0, 1.0, "right"), words("sqrt", "log2"), NOTHING),
    unit="columns or share of the columns", help="columns sampled for each node; None is all",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TreeParams(TreeLimits):
    """CART (Breiman, Friedman, Olshen and Stone 1984)."""

    algorithm_name: ClassVar[str] = CART.name
    shown_first: ClassVar[tuple[str, ...]] = ("criterion", "splitter")
    learns_elsewhere: ClassVar[bool] = True
    grows_sparse: ClassVar[bool] = True

    criterion: str | Callable[..., Any] = param(
        by_task("gini", "squared_error"),
        by_task(words(*CLASSIFICATION_CRITERIA, "gain_ratio"), words(*REGRESSION_CRITERIA)), FUNCTION,
        help="what a split minimises: a name, or a function of your own",
        more=by_task(
            '"log_loss" is "entropy". "gain_ratio" chooses the column with the largest entropy gain relative to its '
            "split information, among those of at least average gain. A function takes float64[k, n_classes], the "
            "weighted class counts of k sets of rows, and returns their k impurities (finite, >= 0; called once per "
            "output).",
            "By name the variance, the mean distance to the median, or half the Poisson deviance. A function takes "
            "float64[k, 3], the weight, mean and variance of k sets of rows, and returns their k impurities (finite, "
            ">= 0; called once per output).",
        ),
    )  # fmt: skip
    splitter: str = stated(_SPLITTER)
    min_weight_fraction_leaf: float = stated(MIN_WEIGHT_FRACTION_LEAF)
    max_features: float | str | None = stated(_MAX_FEATURES)
    random_state: Seed = stated(RANDOM_STATE)
    max_leaf_nodes: int | None = param(
        None,
        any_whole(2),
        NOTHING,
        unit="leaves",
        help="grow best-first: the leaf whose split gains most is split next",
    )
    min_impurity_decrease: float = param(
        0.0,
        any_real(0.0, None, "left"),
        unit="impurity",
        help="a split must lower the impurity of the whole table by this much",
        more="That of a node counts by its share of all weight.",
    )
    max_p_value: float | None = stated(_MAX_P_VALUE)
    class_weight: ClassWeight = stated(CLASS_WEIGHT)
    positive: Any = stated(POSITIVE)
    ccp_alpha: float = param(
        0.0,
        any_real(0.0, None, "left"),
        unit="impurity",
        help="cost-complexity pruning: the price of a leaf",
        more="In units of impurity.",
    )
    monotonic_cst: Signs = stated(MONOTONE)
    interaction_cst: Groups = stated(
        replace(
            INTERACTIONS,
            needs=(_on_bins("groups"),),
            more='Columns in no group form one more group. Needs ``splitter="hist"`` or "random".',
        )
    )
    max_bins: int = stated(
        replace(
            MAX_BINS,
            needs=(_on_bins("bins"),),
            more='One more is for missing cells. For ``splitter="hist"`` and "random".',
        )
    )
    nominal_splits: str = param(
        "auto", words("auto", "subset", "runs", "multiway", "one_vs_rest"), help=_LEVEL_SPLITS,
        more="into any two sets of levels, a run of the first levels in their order (sorted) and the rest, a branch "
        'per level, or one level against the rest. "auto" is "runs" for columns with 32 levels or more and fewer than '
        '32 rows per level (and rows times levels up to 5e8), "subset" for all others: the best set of levels with few '
        "rows overfits.",
    )  # fmt: skip
    missing: str = param(
        "direction",
        words("direction", "surrogate", "fractional", "branch", "error"),
        help="the branch that missing values follow",
        more="the one with the larger gain; that of the surrogate tests (see "
        "``max_surrogates``; two-way splits only); every branch, with a part of their weight; a branch of their own, "
        "or the heavier one if the node saw none; or they are an error.",
    )
    max_surrogates: int = param(
        5, any_whole(0), unit="tests", help="surrogate tests kept per node", needs=needs(missing="surrogate")
    )
    grow_trace: bool = stated(GROW_TRACE)

    @property
    def criterion_name(self) -> str:
        """The name of the criterion in the model's facts."""
        return str(Criterion.of(self.criterion).name)

    def bytes_of_classes(self, n_rows: int, n_classes: Sequence[int]) -> int:
        """Inner nodes have as many as leaves, and growth has whole numbers besides the proportions.

        1,500 classes of 1 to 4 rows took 6 to 7 times the counts of the leaves at most, and kept twice as much.
        """
        return 6 * bytes_of_leaves(self, n_rows, n_classes)

    def check_target(self, target: Labels | Numbers) -> None:
        """Refuse numbers for which the criterion is not defined."""
        if self.criterion_name == "poisson":
            refuse_not_counts(target[0])


@dataclass(frozen=True, kw_only=True)
class ExtraTreeParams(TreeParams):
    """One tree of random cuts (Geurts, Ernst and Wehenkel 2006): CART with other defaults, and "cart" in its facts."""

    splitter: str = stated(replace(_SPLITTER, default="random"))
    max_features: float | str | None = stated(replace(_MAX_FEATURES, default=by_task("sqrt", 1.0)))


@dataclass(frozen=True, kw_only=True)
class ID3Params(TreeLimits):
    """ID3 (Quinlan 1986); classes only."""

    algorithm_name: ClassVar[str] = ID3.name
    criterion_name: ClassVar[str] = "entropy"

    min_impurity_decrease: float = param(
        0.0,
        any_real(0.0, None, "left"),
        unit="bits",
        help="gain that a split needs; with 0 a split without gain is allowed",
        more="It may prepare one with gain (XOR). The gain of a node counts by its share of all weight.",
    )
    max_p_value: float | None = stated(_MAX_P_VALUE)
    class_weight: ClassWeight = stated(CLASS_WEIGHT)
    positive: Any = stated(POSITIVE)
    missing: str = param(
        "branch", words("branch", "direction", "fractional", "error"), help="the branch that missing values follow",
        more="one of their own (the heaviest branch if the node saw none); the one where that costs least; every "
        "branch, with a part of their weight; or they are an error.",
    )  # fmt: skip
    grow_trace: bool = stated(GROW_TRACE)


@dataclass(frozen=True, kw_only=True)
class C45Params(TreeLimits):
    """C4.5 (Quinlan 1993), as J48 of Weka 3.6; classes only."""

    algorithm_name: ClassVar[str] = C45.name
    shown_first: ClassVar[tuple[str, ...]] = ("confidence", "subtree_raising")
    criterion_name: ClassVar[str] = "gain_ratio"

    min_samples_leaf: float = param(
        2, any_whole(1), any_share(0.0, 1.0, "neither"), unit="weight or share of the rows",
        help="weight that at least two branches need", more="That is rows, if there are no weights.",
    )  # fmt: skip
    confidence: float | None = param(
        0.25, any_real(0.0, 0.5, "right"), NOTHING, unit="probability",
        help="confidence level of the error's upper limit in pruning; None does not prune",
        more="The smaller, the more is pruned.",
    )  # fmt: skip
    subtree_raising: bool = param(
        True, FLAG, help="pruning may replace a node by its largest branch", needs=needs(confidence=...)
    )
    max_p_value: float | None = stated(_MAX_P_VALUE)
    nominal_splits: str = param(
        "multiway", words("multiway", "grouped"), help=_LEVEL_SPLITS,
        more="a branch per level, or levels merged into groups while the gain ratio does not fall.",
    )  # fmt: skip
    class_weight: ClassWeight = stated(CLASS_WEIGHT)
    positive: Any = stated(POSITIVE)
    missing: str = param(
        "fractional", words("fractional", "error"), help="the branch that missing values follow",
        more="every branch, with a part of their weight; or they are an error.",
    )  # fmt: skip
    grow_trace: bool = stated(GROW_TRACE)

    def bytes_of_classes(self, n_rows: int, n_classes: Sequence[int]) -> int:
        """Inner nodes have as many as leaves, and records of nodes exist alongside the arrays of two trees.

        1,500 classes of 1 to 4 rows took 8 to 12 times the counts of the leaves.
        """
        return 8 * bytes_of_leaves(self, n_rows, n_classes)


@dataclass(frozen=True, kw_only=True)
class ChaidParams(TreeLimits):
    """CHAID (Kass 1980)."""

    algorithm_name: ClassVar[str] = CHAID.name
    shown_first: ClassVar[tuple[str, ...]] = ("alpha", "alpha_merge", "test", "exhaustive", "bonferroni", "n_bins")

    alpha: float = param(
        0.05, any_real(0.0, 1.0, "right"), unit="probability", help="largest adjusted p-value of a split"
    )
    alpha_merge: float = param(
        0.05, any_real(0.0, 1.0, "right"), unit="probability", help="groups with a larger p-value are merged",
        more="1 merges only groups that are too small.",
        needs=needs(exhaustive=False),
    )  # fmt: skip
    test: str = param(
        "pearson",
        words("pearson", "likelihood_ratio"),
        only=CLASSES,
        help="chi-squared statistic that compares groups",
    )
    exhaustive: bool = param(
        False, FLAG, help="merge down to two groups and take the best step",
        more="Exhaustive CHAID: the best is the one with the smallest adjusted p-value.",
    )  # fmt: skip
    bonferroni: bool = param(True, FLAG, help="multiply a column's p-value by the number of ways to merge its levels")
    n_bins: int = param(
        10, any_whole(2), unit="bins", help="bins into which a numeric column is divided first",
        more="If it has more values; bins are of about equal weight, and are made once, at the root.",
    )  # fmt: skip
    max_depth: int | None = param(
        3, any_whole(1), NOTHING, unit="edges", help="depth of the deepest leaf; the root has 0; None for no limit"
    )
    class_weight: ClassWeight = stated(CLASS_WEIGHT)
    positive: Any = stated(POSITIVE)
    missing: str = param(
        "branch",
        words("branch", "error"),
        help="'branch': missing values are a level that may join any group; 'error' refuses them",
    )
    grow_trace: bool = stated(GROW_TRACE)

    @property
    def criterion_name(self) -> str:
        """The name of the criterion in the model's facts."""
        return "chi_squared" if self.task == CLASSES else "f_test"


def train_tree(dataset: Dataset, params: Any, n_threads: int) -> Trained:
    """Grow and prune one tree; the class of the parameters decides the algorithm."""
    if dataset.is_remote:
        in_runs = columns_in_runs(dataset.schema, params.nominal_splits, len(dataset))
        rows_elsewhere(
            dataset, params,
            (params.splitter == "best", ("splitter='best' needs every cell; set ", setting("splitter", "hist"))),
            (bool(in_runs), ("tests of runs of levels; set ", setting("nominal_splits", "subset"))),
        )  # fmt: skip
        _refuse_beside_bins(params, _what_asks_for_nodes(dataset.schema, params))
        with Shared(dataset, _begin_tree, (params,)) as shared:
            (tree,), trace = shared.each(1), None
    else:
        tree, trace = _GROWERS[type(params)](dataset, params, n_threads)
        warn_of_odd_columns(dataset.schema, dataset.matrix, dataset.target, int(tree.feature[0]))
    model = model_of(
        dataset, (tree,), params, combine="single", criterion=params.criterion_name, missing=params.missing
    )
    return Trained(model, trace)


def _begin_tree(rows: GatheredRows, dataset: Dataset, params: Any) -> Callable[[range], list[Tree]]:
    """The function that grows the tree, at one of the parts."""
    params.check_target(dataset.target)
    trees_at_once(rows, params, None)  # refuses what does not fit
    weights = weighed(dataset.sample_weight, dataset.class_factors, dataset.target_array)
    whole = replace(dataset, weights=weights)
    return lambda numbers: [grow_cart(whole, params, rows.n_threads)[0] for _ in numbers]


Grown = tuple["Tree", "tuple[Step, ...] | None"]


def grow_cart(dataset: Dataset, params: TreeParams, n_threads: int) -> Grown:
    """The tree of CART by the grower that its parameters ask for, and its trace if that is asked for."""
    if dataset.is_sparse:
        dataset = dataset if dataset.cache is not None else dataset.shared()  # bins are needed twice
        if not _grows_on_stored_cells(dataset, params):
            remedy = "set splitter='hist', which grows on the stored cells" if params.splitter == "best" else ""
            dataset = with_every_cell(dataset, params, remedy)
    n, p = dataset.matrix.shape
    is_random = params.splitter == "random" or columns_per_node(params.max_features, p) < p
    seed = seed_of(params.random_state) if is_random else 0
    in_runs = columns_in_runs(dataset.schema, params.nominal_splits, n)
    settings = replace(
        grow_settings(params, dataset, n_rows=n, seed=seed, n_threads=n_threads),
        in_runs=() if dataset.is_sparse else in_runs,
    )
    trace: tuple[Step, ...] | None = None
    by_node = _what_asks_for_nodes(dataset.schema, params)
    if params.splitter != "best" or dataset.is_sparse:
        _refuse_beside_bins(params, by_node)
        on_bins = binned_settings(params, settings, dataset.schema, random_cuts=params.splitter == "random")
        bins, codes = dataset.binned(EVERY_VALUE if params.splitter == "best" else int(params.max_bins), n_threads)
        if settings.in_runs:
            bins, codes = in_order_of_levels(bins, codes, dataset, in_runs, int(params.max_bins))
        tree = grow_binned(codes, bins, dataset.schema, objective_of(dataset, params.criterion_name), on_bins)
    elif by_node:
        tree, trace = _grow_cart_by_node(dataset, params, settings)
    else:
        tree = _grow_exactly(dataset, params, settings)
        if params.grow_trace:
            trace = retrace(tree, *problem_and_policy(dataset, params))
    if settings.in_runs:
        tree = with_complete_runs(tree, in_runs, dataset.schema)
    return prune_at(tree, finite(params.ccp_alpha)), trace


def _grows_on_stored_cells(dataset: Dataset, params: TreeParams) -> bool:
    """Whether the tree of a sparse table grows on its stored cells.

    On bins of one value each the grower on bins makes the exact grower's tree. It samples columns in another way, and
    adds up deviances and fractional weights in another order, which changes the last bit of an impurity.
    """
    if params.splitter == "random":
        return dataset.n_outputs == 1 and params.criterion not in ("poisson", "absolute_error")
    if params.splitter == "hist":
        return True
    if _what_asks_for_nodes(dataset.schema, params) or params.grow_trace:
        return False
    if columns_per_node(params.max_features, len(dataset.schema)) < len(dataset.schema):
        return False
    return (
        bool(dataset.classes)
        or params.criterion == "absolute_error"
        or (params.criterion != "poisson" and are_whole(dataset.weights))
    )


def _grow_exactly(dataset: Dataset, params: TreeParams, settings: GrowSettings) -> Tree:
    """Grow with every cut of every column; if a dataset is shared by many fits, columns are sorted once."""
    objective, columns = objective_of(dataset, params.criterion_name), None
    if dataset.cache is not None:
        targets = objective.sorted_targets()
        what = ("columns", len(targets) > 0, settings.monotone, settings.in_runs)
        columns = dataset.once(what, lambda: presort(dataset.matrix, dataset.schema, targets, settings))
        columns = columns._replace(order=columns.order.copy())  # growing permutes the order
    return grow(dataset.matrix, dataset.schema, objective, settings, columns)


def _grow_cart_by_node(dataset: Dataset, params: TreeParams, settings: GrowSettings) -> Grown:
    if settings.monotone is not None and any(settings.monotone):
        raise ParameterError(
            "monotonic_cst needs a named criterion, nominal_splits='auto', missing='direction' or "
            "'error', and no max_p_value: leave one of them out"
        )
    if params.max_p_value is not None:
        if dataset.classes:  # numbers count rows, not weights
            dataset.warn_of_small_weights("max_p_value")
        elif params.criterion != "squared_error":
            name = "a function of your own" if callable(params.criterion) else repr(params.criterion)
            raise ParameterError(
                f"max_p_value compares means by the F test, but the criterion is {name}: choose "
                "criterion='squared_error', or leave max_p_value out (min_impurity_decrease stops growth too)"
            )
    p = len(dataset.schema)
    stops = Stops(
        max_depth=settings.max_depth,
        min_samples_split=settings.min_samples_split,
        min_impurity_decrease=settings.min_impurity_decrease,
        max_p_value=None if params.max_p_value is None else float(params.max_p_value),
        max_leaf_nodes=settings.max_leaf_nodes,
        max_features=settings.max_features if (settings.max_features or p) < p else None,
        max_surrogates=int(params.max_surrogates),
        seed=settings.seed,
    )
    return _grow_by_node(dataset, params, stops)


def _what_asks_for_nodes(schema: Schema, params: TreeParams) -> str:
    """The parameter that only the grower by nodes supports; empty if there is none."""
    if callable(params.criterion):
        return "a criterion of your own"
    if params.criterion == "gain_ratio":
        return "criterion='gain_ratio'"
    if params.max_p_value is not None:
        return f"max_p_value={params.max_p_value}"
    if params.nominal_splits in ("multiway", "one_vs_rest") and any(
        column.kind == "nominal" for column in schema.columns
    ):
        return f"nominal_splits={params.nominal_splits!r}"
    # Without a missing cell the other two grow the same tree.
    is_asked = params.missing in ("fractional", "branch") and any(column.missing_seen for column in schema.columns)
    return f"missing={params.missing!r}" if is_asked or params.missing == "surrogate" else ""


def _refuse_beside_bins(params: TreeParams, by_node: str) -> None:
    """Refuse what only the exact growers support."""
    without = by_node or ("grow_trace=True" if params.grow_trace else "")
    if without:
        raise ParameterError(f"{without} needs splitter='best', not {params.splitter!r}: leave one of them out")


def _grow_id3(dataset: Dataset, params: ID3Params, n_threads: int) -> Grown:  # noqa: ARG001 - this grower has one thread
    numbers = [column.name for column in dataset.schema.used if column.kind == "numeric"]
    if numbers:
        others = f" (and {len(numbers) - 1} more)" if len(numbers) > 1 else ""
        raise ColumnError(
            f"column {shown(numbers[0])}{others} is numeric, but ID3 needs nominal columns: discretise it (bins, or ",
            Phrase(f"nominal=[{shown(numbers[0])}]", "setting", "nominal", shown(numbers[0])),
            " to make each number a level), or use ",
            Phrase("C4.5 (C45Classifier)", "algorithm", value="c45"),
            ", which cuts numbers",
            column=numbers[0],
        )
    if params.max_p_value is not None:
        dataset.warn_of_small_weights("max_p_value")
    stops = Stops(
        max_depth=params.max_depth,
        min_samples_split=max(2, count_of(params.min_samples_split, len(dataset))),
        min_impurity_decrease=finite(params.min_impurity_decrease),
        max_p_value=None if params.max_p_value is None else float(params.max_p_value),
    )
    return _grow_by_node(dataset, params, stops)


def _grow_c45(dataset: Dataset, params: C45Params, n_threads: int) -> Grown:  # noqa: ARG001 - this grower has one thread
    if dataset.n_outputs > 1:
        raise ParameterError(
            f"C4.5 takes one target, but y has {dataset.n_outputs}: fit one tree each, or use DecisionTreeClassifier"
        )
    dataset.warn_of_small_weights("C4.5")
    stops = Stops(
        max_depth=params.max_depth,
        min_samples_split=max(2, count_of(params.min_samples_split, len(dataset))),
        max_p_value=None if params.max_p_value is None else float(params.max_p_value),
    )
    tree, trace = _grow_by_node(dataset, params, stops)
    if params.confidence is not None:
        from treewright.prune.error_based import prune_error_based

        tree = prune_error_based(
            tree, dataset.matrix, dataset.target_array[:, 0], dataset.weights,
            confidence=float(params.confidence), raising=bool(params.subtree_raising), schema=dataset.schema,
        )  # fmt: skip
    return tree, trace


def _grow_chaid(dataset: Dataset, params: ChaidParams, n_threads: int) -> Grown:  # noqa: ARG001 - this grower has one thread
    dataset.warn_of_small_weights("CHAID")
    stops = Stops(
        max_depth=params.max_depth, min_samples_split=max(2, count_of(params.min_samples_split, len(dataset)))
    )
    return _grow_by_node(dataset, params, stops)


_GROWERS: dict[type, Callable[..., Grown]] = {
    TreeParams: grow_cart,
    ExtraTreeParams: grow_cart,
    ID3Params: _grow_id3,
    C45Params: _grow_c45,
    ChaidParams: _grow_chaid,
}


def _grow_by_node(dataset: Dataset, params: Any, stops: Stops) -> Grown:
    problem, policy = problem_and_policy(dataset, params)
    grown = grow_by_node(problem, policy, stops, keep_trace=params.grow_trace)
    return grown.tree, grown.trace if params.grow_trace else None


def problem_and_policy(dataset: Dataset, params: Any, n_rows: int | None = None) -> tuple[Problem, Policy]:
    """The rows for the grower by nodes, and how a node chooses its test: for growing and for audits.

    ``n_rows``: number of training rows, of which shares are taken, if the dataset holds others.
    """
    values = params.values()
    problem = problem_of(
        params.algorithm_name, values, params.missing, dataset.matrix, dataset.schema, dataset.target_array,
        dataset.weights, dataset.n_classes,
    )  # fmt: skip
    return problem, policy_of(params.algorithm_name, values, problem, problem.n_rows if n_rows is None else n_rows)
