"""Single trees for scikit-learn: their methods, CART's two estimators, and the two with random cuts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from treewright.core.threads import resolve_jobs
from treewright.core.whole import whole_number
from treewright.data.dataset import Dataset
from treewright.data.target import Labels, Numbers
from treewright.estimators.base import Classifier, Estimator, Regressor, keep
from treewright.evaluation.after_fit import Pruned, without_steps
from treewright.exceptions import ParameterError
from treewright.forest.importance import Importances
from treewright.learn.settings import columns_per_node
from treewright.learn.single import problem_and_policy
from treewright.learn.train import Trained
from treewright.model import Model
from treewright.prune.cost_complexity import path_of
from treewright.prune.methods import Rows, request_of
from treewright.trees.summary import cuts_of

if TYPE_CHECKING:
    from sklearn.utils import Bunch

    from treewright.explain.audit import Audit
    from treewright.explain.counterfactual import Counterfactual
    from treewright.explain.trace import Trace
    from treewright.prune.methods import PruneLog
    from treewright.trees.arrays import Tree

_UNPRUNED = {"ccp_alpha": 0.0, "confidence": None}  # values of the pruning parameters that do not prune
IMPORTANCES = ("impurity", "permutation")
SHARE = "share of the impurity that splits removed, on the training rows"


class SingleTree(Estimator):
    """A scikit-learn estimator around one grown tree."""

    def _keep(self, dataset: Dataset, params: Any, trained: Trained) -> None:
        super()._keep(dataset, params, trained)
        self._rows, self._params_of_fit = dataset.copied_if_small(), params
        self._steps = trained.trace if _asks_the_same(trained.model, self.model_) else None
        if hasattr(params, "max_features"):
            self.max_features_ = columns_per_node(params.max_features, len(self.model_.schema))

    def __getstate__(self) -> dict[str, Any]:
        # The training rows are left out: a pickle is for using the model, and may be given to others.
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_rows", None)
        return state

    @property
    def tree_(self) -> Tree:
        """The grown tree as flat arrays."""
        check_is_fitted(self, "model_")
        return self.model_.trees[0]

    def get_depth(self) -> int:
        """Edges from the root to the deepest leaf."""
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """How many leaves the tree has."""
        return self.tree_.n_leaves

    def audit(
        self,
        node: int = 0,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        every: Hashable | None = None,
        log_base: Literal[2, "e"] = 2,
        digits: int = 3,
    ) -> Audit:
        """Show how a node's split was chosen: every column's best candidate, and the arithmetic of the winner.

        Parameters
        ----------
        node : int
            0 is the root; ``show`` numbers the others.
        X, y, sample_weight : optional
            The table to audit on. Without it, the rows of the last fit, which are kept if they are small (32 MB) and
            are not pickled.
        every : hashable, optional
            The name or position of a column whose cuts or partitions are listed one by one.
        log_base : {2, "e"}
            Whether entropies are in bits or in nats.
        digits : int, 1 to 12
            Decimals in texts.

        Returns
        -------
        Audit
            ``print`` writes it out, ``to_dict()`` makes columns for a data frame.

        Raises
        ------
        ParameterError
            There is no such node, or the rows are not available.

        Examples
        --------
        >>> import treewright as tw
        >>> est = tw.ID3Classifier().fit({"sky": ["sun", "rain", "sun"]}, ["out", "in", "out"])
        >>> [round(row.gain, 3) for row in est.audit()]
        [0.918]
        """
        from treewright.explain.audit import audit_rows

        model = self._fitted()
        if (X is None) != (y is None):
            raise ParameterError("pass X and y together or not at all, after the node: audit(0, X, y)")
        if X is None and sample_weight is not None:
            raise ParameterError("pass sample_weight only with X and y; the training rows have their own")
        rows = self.__dict__.get("_rows") if X is None else self._rows_again(X, y, sample_weight)
        if rows is None:
            raise ParameterError(
                "the training rows were not kept (more than 32 MB, or the estimator was pickled or is a member of a "
                "bag): pass them, audit(node, X, y, sample_weight)"
            )
        # The parameters of the fit: the current ones may have been set since.
        problem, policy = problem_and_policy(rows, self._params_of_fit, int(model.facts["n_samples"]))
        return audit_rows(model, problem, policy, rows.matrix, node, every=every, log_base=log_base, digits=digits)

    def _rows_again(self, X: Any, y: Any, sample_weight: Any) -> Dataset:
        """Rows encoded as the fitted model encodes them."""
        model = self._fitted()
        matrix, codes_or_numbers, weights = model.encode_rows(X, y, sample_weight, owner=type(self).__name__)
        target: Labels | Numbers = Numbers(codes_or_numbers, model.target_names, True)
        if model.classes:
            target = Labels(codes_or_numbers, model.classes, model.target_names, True)
        return Dataset(model.schema, matrix, target, weights)

    @property
    def trace_(self) -> Trace:
        """How the tree grew, node by node; only after a fit with ``grow_trace=True``."""
        from treewright.explain.trace import trace_of

        model = self._fitted()
        steps = self.__dict__.get("_steps")
        if steps is None:
            if cuts_of(model):
                raise AttributeError(
                    "the tree was pruned, so its nodes have other numbers: use the estimator before prune"
                )
            raise AttributeError("no trace was kept: fit with grow_trace=True")
        return trace_of(model, steps)

    def prune(self, method: str, X: Any = None, y: Any = None, sample_weight: Any = None, **options: Any) -> Self:
        """Prune the tree; this estimator does not change.

        Parameters
        ----------
        method : {"cost_complexity", "depth", "leaves", "reduced_error", "error_based", "pessimistic", \
"minimum_error", "significance", "description_length", "merge_equal_leaves"}
        X, y, sample_weight : optional
            ``reduced_error`` needs held-out rows. ``error_based`` uses the training rows, which are kept if they are
            small (32 MB) and are not pickled; pass them otherwise. The others use none. In passed rows a class has the
            weight of the fit, also with ``class_weight="balanced"``.
        **options
            The method's own; the guide to pruning lists them.

        Returns
        -------
        estimator
            A fitted copy with the pruned tree; its ``prune_log_`` lists every pruned node. Its ``fit``, and that of its
            clones in folds, prunes in the same way; after ``reduced_error``, which held-out rows decided, they are
            refused: give ``model_selection.PrunedTree``.

        Raises
        ------
        ParameterError
            The method or option is unknown; rows are missing, or given but not used; or the method is undefined for
            this tree.
        DataError
            The rows were refused.

        Examples
        --------
        >>> import treewright as tw
        >>> from sklearn.datasets import load_iris
        >>> est = tw.DecisionTreeClassifier().fit(*load_iris(return_X_y=True))
        >>> small = est.prune("leaves", max_leaves=3)
        >>> est.get_n_leaves(), small.get_n_leaves()
        (9, 3)
        """
        model: Model = self._fitted()
        pruned = copy.copy(self)
        rows = model.rows_to_prune(X, y, sample_weight, owner=type(self).__name__)
        if rows is None:
            chosen, _, needs_rows = request_of(model, method, options)
            rows = self._rows_of_fit(method) if needs_rows and chosen.needs == "training" else None
        pruned.model_ = model.pruned(method, rows, **options)
        pruned._after_fit = (*self._after_fit, Pruned.of(method, options, rows_given=X is not None))
        # Copies, like pickles, drop these rows, but audits need them.
        pruned.__dict__["_rows"] = self.__dict__.get("_rows")
        # If node numbers have changed, the steps of growing no longer fit them.
        pruned.__dict__["_steps"] = self.__dict__.get("_steps") if _asks_the_same(model, pruned.model_) else None
        return pruned

    def _rows_of_fit(self, method: str) -> Rows:
        """The training rows, which a method needs."""
        rows: Dataset | None = self.__dict__.get("_rows")
        if rows is None:
            raise ParameterError(
                f"{method} needs the training rows, but they were not kept (more than 32 MB, or the estimator "
                f"was pickled): pass them, prune({method!r}, X, y)"
            )
        return Rows(rows.matrix, rows.target_array, rows.weights)

    @property
    def prune_log_(self) -> PruneLog:
        """Every pruned node of the last ``prune``, with the numbers that decided."""
        return self._fitted().prune_log

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """The nested subtrees of cost-complexity pruning, in scikit-learn's form.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``; a copy of this estimator is grown on them, unpruned.

        Returns
        -------
        Bunch
            ``ccp_alphas`` float64[k], strictly ascending from 0; ``impurities`` float64[k], the weighted impurity of
            the leaves of each subtree. scikit-learn lists every pruned node, this method each alpha once.

        See Also
        --------
        treewright.model_selection.pruning_path : the same with cross-validated errors.
        """
        from sklearn.utils import Bunch

        grown = clone(without_steps(self))
        grown.set_params(**{name: off for name, off in _UNPRUNED.items() if name in grown.get_params()})
        path = path_of(grown.fit(X, y, sample_weight).model_, "impurity")
        return Bunch(ccp_alphas=path.alphas, impurities=path.risks)

    def importances(
        self,
        kind: str = "impurity",
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        n_repeats: int = 5,
        random_state: int = 0,
    ) -> Importances:
        """How much each column matters to the tree.

        Parameters
        ----------
        kind : {"impurity", "permutation"}, default "impurity"
            ``"impurity"``: the share of the impurity that splits removed, on the training rows: the values of
            ``feature_importances_``. ``"permutation"``: how much the misclassification rate (the cost per row, if costs
            chose the threshold) or the squared error of the rows X rises when the column is shuffled among them
            (Breiman 2001).
        X, y : optional
            Rows for ``"permutation"``, best held-out ones.
        sample_weight : float[n], optional
        n_repeats : int >= 1, default 5
            Shuffles of each column.
        random_state : int >= 0, default 0
            Seed of the shuffles.

        Returns
        -------
        treewright.forest.importance.Importances
            Print it, or use ``names``, ``values``, ``standard_errors``, ``to_dict()`` or ``plot()``.

        Raises
        ------
        ParameterError
            The kind is unknown; rows are missing, or given but not used.
        DataError
            The table was refused, or the squared error is beyond float64.

        Examples
        --------
        >>> import treewright as tw
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> est = tw.DecisionTreeClassifier(max_depth=2).fit(X[::2], y[::2])
        >>> est.importances("permutation", X[1::2], y[1::2]).order[:1].tolist()
        [2]
        """
        model: Model = self._fitted()
        if kind not in IMPORTANCES:
            raise ParameterError(f"kind={kind!r}: choose from {', '.join(map(repr, IMPORTANCES))}")
        if kind == "impurity":
            if X is not None or y is not None or sample_weight is not None:
                raise ParameterError("kind='impurity' uses the training rows only: leave X and y out")
            values = model.feature_importances
            nothing = np.full(len(values), np.nan)
            return Importances(kind, model.task, model.schema.names, values, nothing, 1, sample="", what=SHARE)
        if X is None or y is None:
            raise ParameterError("kind='permutation' needs rows, best held-out ones: importances('permutation', X, y)")
        from treewright.forest.importance import permutation_of_trees

        repeats, seed = whole_number("n_repeats", n_repeats, 1), whole_number("random_state", random_state, 0)
        rows = model.encode_rows(X, y, sample_weight, owner=type(self).__name__, routed=True)
        return permutation_of_trees(model, *rows, n_repeats=repeats, seed=seed, n_jobs=resolve_jobs(self.n_jobs))

    def counterfactual(
        self,
        row: Any,
        to: Any = None,
        *,
        at_least: Any = None,
        at_most: Any = None,
        keep: Iterable[Hashable] = (),
        like: Any = None,
    ) -> Counterfactual:
        """Find the nearest row with another prediction: what would have to change.

        Parameters
        ----------
        row : mapping from column name to cell, sequence of p cells, or table of one row
        to : class label, optional
            The prediction to reach; by default any other.
        at_least, at_most : number, optional
            The same for regression.
        keep : column names or positions
            Columns that must not change.
        like : table, optional
            Rows whose spread sets the unit of each numeric column; by default the cuts of the tree do.

        Returns
        -------
        Counterfactual
            ``print`` shows it; ``row`` is the changed row. See ``treewright.explain.counterfactual.counterfactual``.

        Raises
        ------
        ParameterError
            There is no such class or column, or a regression tree gets neither ``at_least`` nor ``at_most``.
        DataError
            The row was refused.
        """
        return self._fitted().counterfactual(
            row, to, at_least=at_least, at_most=at_most, keep=keep, like=like, owner=type(self).__name__
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """In a notebook a fitted estimator shows its tree: a page in a frame, or a picture without frames."""
        model = self.__dict__.get("model_")
        if model is None:
            bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
            return bundle
        return {
            "text/plain": repr(self),
            "text/html": model._repr_html_(),
            "image/svg+xml": model._repr_svg_(),
        }


def _asks_the_same(one: Model, other: Model) -> bool:
    """Whether the nodes of both have the same numbers and tests."""
    names = ("feature", "threshold", "first_child")
    return all(np.array_equal(getattr(one.trees[0], name), getattr(other.trees[0], name)) for name in names)


class DecisionTreeClassifier(SingleTree, Classifier):
    """A classification tree grown on every candidate split (CART).

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification", "gain_ratio"} or callable, default "gini"
        What a split minimises. ``log_loss`` is ``entropy``. ``gain_ratio`` chooses the column with the largest entropy
        gain relative to its split information, among those of at least average gain. A function of your own takes
        float64[k, n_classes], the weighted class counts of k sets of rows, and returns their k impurities (finite, >=
        0; called once per output).
    splitter : {"best", "hist", "random"}, default "best"
        How a node searches its split. ``best`` tries every cut between two values. ``hist`` first puts the values of
        each column into at most ``max_bins`` bins and tries the cuts between bins: the same tree if no column has more
        distinct values, and much faster on many rows. ``random`` samples one cut for each column (a random set of
        levels if it is nominal), on the bins, and chooses the best of these.
    max_depth : int >= 1, optional
    min_samples_split : int >= 2, or float in (0, 1], default 2
        Rows a node needs to be split; a float is a share of all rows, rounded up.
    min_samples_leaf : int >= 1, or float in (0, 1), default 1
        Rows a branch needs.
    min_weight_fraction_leaf : float in [0, 0.5], default 0.0
        Share of the whole weight a branch needs.
    max_features : int, float, {"sqrt", "log2"}, optional
        Columns sampled at random for each node; all by default.
    random_state : int, RandomState instance or None
        Seed of that sampling, and of random cuts. None means 0: fits are reproducible.
    max_leaf_nodes : int >= 2, optional
        Grow best-first: the leaf whose split gains most is split next.
    min_impurity_decrease : float >= 0, default 0.0
        A split must lower the impurity by this much (weighted by the node's share of all weight).
    max_p_value : float in (0, 1], optional
        A node stays a leaf if the p-value of its chosen test (chi-squared of branches and classes), times the number of
        tests that were possible there (Bonferroni), is larger. Weights count as row counts. Grown node by node.
    class_weight : dict, list of dict, "balanced", optional
        Weight of each class, as in scikit-learn.
    positive : class label, optional
        The positive class of two: what constraints, costs, thresholds, curves and explanations are about. By default
        the second.
    ccp_alpha : float >= 0, default 0.0
        Cost-complexity pruning: the price of a leaf, in units of impurity.
    monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
        The probability of the positive class may only fall (-1) or rise (1) with the column. Two classes, one output.
    interaction_cst : sequence of groups of columns (names or positions), "pairwise", "no_interactions", optional
        Columns that may be tested on one path from the root to a leaf: those of one group. Columns in no group form
        one more group. Needs ``splitter="hist"`` or ``"random"``.
    max_bins : int from 2 to 255, default 255
        Bins of a column, in addition to one for missing cells; for ``splitter="hist"`` and ``"random"``.
    nominal_splits : {"auto", "subset", "runs", "multiway", "one_vs_rest"}, default "auto"
        How a nominal column is split: into any two sets of levels, a run of the first levels in their order (sorted)
        and the rest, a branch per level, or one level against the rest. "auto" is "runs" for columns with 32 levels or
        more and fewer than 32 rows per level (and rows times levels up to 5e8), "subset" for all others: the best set
        of levels with few rows overfits.
    missing : {"direction", "surrogate", "fractional", "branch", "error"}, default "direction"
        The branch that missing values follow, at fit and at predict: the one with the larger gain; that of the
        surrogate tests (see ``max_surrogates``; two-way splits only); every branch, with a part of their weight; a
        branch of their own, or the heavier one if the node saw none; or they are an error.
    max_surrogates : int >= 0, default 5
        Surrogate tests kept per node.
    nominal, numeric : sequence of column names or positions, optional
        Columns to treat as nominal or as numeric, whatever their type. ``nominal`` may also be a mapping from column to
        its levels, or ``"all"``.
    ordinal : dict from column name or position to its levels, lowest first, optional
    calendar : sequence of parts of dates, or mapping from column name or position to these, optional
        Parts that become columns of their own, such as ``["month", "weekday"]``: of every column of dates that has
        them, or of those that are named. "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
    unseen : {"missing", "error", "majority"}, default "missing"
        How predict treats a level that fit never saw: as a missing cell, as an error, or as a cell that takes the
        heavier branch. An ordinal column has no place for such a level: there ``majority`` is ``missing``.
    grow_trace : bool, default False
        Keep the best splits of every node: ``trace_`` shows how the tree grew.
    n_jobs : int, optional
        Threads; all processors by default. The tree does not depend on it.

    Attributes
    ----------
    model_ : Model
        The fitted model: it is self-contained and is what ``save`` writes.
    classes_ : ndarray[n_classes], or a list of them for several outputs
    n_classes_ : int, or a list
    n_outputs_, n_features_in_, max_features_ : int
    feature_names_in_ : ndarray of str
        Only if the table had names that are all strings.
    tree_ : treewright.trees.arrays.Tree
    feature_importances_ : float64[n_features]

    Notes
    -----
    Breiman, Friedman, Olshen and Stone 1984. Every cut between two distinct values is tried, at the middle; ``x <= t``
    goes left. A nominal column is split into two sets of levels: optimal for two classes, and for more classes while at
    most 10 levels are in the node; beyond, levels are ordered along the first principal component of their class
    proportions (Coppersmith, Hong and Hosking 1999), an approximation. Missing cells follow the branch with the larger
    gain; if a node saw none, the heavier branch. A split without gain is allowed: it may prepare one with gain (XOR).
    Ties: the lower column, then the lower threshold or the smaller set of levels, then missing to the right. Rows of
    weight 0 are left out, but their labels and levels are known.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"petal": [1.4, 1.3, 4.7, 4.5, 6.0, 5.9], "colour": ["white", "white", "blue", "white", "blue", None]}
    >>> est = tw.DecisionTreeClassifier(max_depth=2).fit(table, ["setosa", "setosa", "versi", "versi", "virg", "virg"])
    >>> est.predict({"petal": [1.5, 5.0], "colour": ["blue", "blue"]})
    array(['setosa', 'versi'], dtype='<U6')
    >>> est.get_n_leaves(), est.get_depth()
    (3, 2)
    """

    _algorithm = "cart"

    def __init__(
        self,
        *,
        criterion: str | Callable[[np.ndarray], np.ndarray] = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        max_p_value: float | None = None,
        class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None = None,
        positive: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        max_bins: int = 255,
        nominal_splits: str = "auto",
        missing: str = "direction",
        max_surrogates: int = 5,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        grow_trace: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())


class DecisionTreeRegressor(SingleTree, Regressor):
    """A regression tree grown on every candidate split (CART).

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"} or callable, default "squared_error"
        What a split minimises: the variance, the mean distance to the median, or half the Poisson deviance. A function
        of your own takes float64[k, 3], the weight, mean and variance of k sets of rows, and returns their k impurities
        (finite, >= 0; called once per output).
    splitter
        As in ``DecisionTreeClassifier``.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features, random_state
        As in ``DecisionTreeClassifier``.
    max_leaf_nodes, min_impurity_decrease, ccp_alpha
        As in ``DecisionTreeClassifier``.
    max_p_value : float in (0, 1], optional
        As in ``DecisionTreeClassifier``, by the F test of the branches' means; for ``squared_error`` only. It uses row
        counts, not weights: a common factor of the weights changes nothing.
    monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
        The prediction may only fall (-1) or rise (1) with the column. One output.
    interaction_cst, max_bins, nominal_splits, missing, max_surrogates
        As in ``DecisionTreeClassifier``.
    nominal, ordinal, numeric, calendar, unseen, grow_trace, n_jobs
        As in ``DecisionTreeClassifier``.

    Attributes
    ----------
    model_ : Model
    n_outputs_, n_features_in_, max_features_ : int
    feature_names_in_ : ndarray of str
        Only if the table had names that are all strings.
    tree_ : treewright.trees.arrays.Tree
    feature_importances_ : float64[n_features]

    Notes
    -----
    As ``DecisionTreeClassifier``. A nominal column is split at the best place in the order of its levels' means
    (optimal for one output under squared error and Poisson) or medians (an approximation, for absolute error); for
    several outputs as for several classes.

    Examples
    --------
    >>> import treewright as tw
    >>> est = tw.DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0], [8.0], [9.0]], [10.0, 12.0, 30.0, 34.0])
    >>> est.predict([[0.0], [7.0]])
    array([11., 32.])
    """

    _algorithm = "cart"

    def __init__(
        self,
        *,
        criterion: str | Callable[[np.ndarray], np.ndarray] = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        max_p_value: float | None = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        max_bins: int = 255,
        nominal_splits: str = "auto",
        missing: str = "direction",
        max_surrogates: int = 5,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        grow_trace: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())


class ExtraTreeClassifier(SingleTree, Classifier):
    """A classification tree of random cuts: one tree of `ExtraTreesClassifier` (Geurts, Ernst and Wehenkel 2006).

    ``DecisionTreeClassifier`` with other defaults, for ensembles: a single one predicts poorly.

    Parameters
    ----------
    splitter : {"best", "hist", "random"}, default "random"
        As in ``DecisionTreeClassifier``: one cut is sampled for each column that a node considers, and the best of them
        splits it.
    max_features : int, float, {"sqrt", "log2"}, optional, default "sqrt"
        Columns sampled at random for each node.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, random_state, max_leaf_nodes
        As in ``DecisionTreeClassifier``.
    min_impurity_decrease, max_p_value, class_weight, positive, ccp_alpha, monotonic_cst, interaction_cst, max_bins
        As in ``DecisionTreeClassifier``.
    nominal_splits, missing, max_surrogates, nominal, ordinal, numeric, calendar, unseen, grow_trace, n_jobs
        As in ``DecisionTreeClassifier``.

    Attributes
    ----------
    model_, classes_, n_classes_, n_outputs_, n_features_in_, max_features_, feature_names_in_, tree_
        As in ``DecisionTreeClassifier``.
    feature_importances_ : float64[n_features]

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bag = tw.BaggingClassifier(tw.ExtraTreeClassifier(), n_estimators=20).fit(X, y)
    >>> bool(bag.score(X, y) > 0.95)
    True
    """

    _algorithm = "extra_tree"

    def __init__(
        self,
        *,
        criterion: str | Callable[[np.ndarray], np.ndarray] = "gini",
        splitter: str = "random",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = "sqrt",
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        max_p_value: float | None = None,
        class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None = None,
        positive: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        max_bins: int = 255,
        nominal_splits: str = "auto",
        missing: str = "direction",
        max_surrogates: int = 5,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        grow_trace: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())


class ExtraTreeRegressor(SingleTree, Regressor):
    """A regression tree of random cuts: one tree of `ExtraTreesRegressor` (Geurts, Ernst and Wehenkel 2006).

    ``DecisionTreeRegressor`` with other defaults, for ensembles: a single one predicts poorly.

    Parameters
    ----------
    splitter : {"best", "hist", "random"}, default "random"
        As in ``DecisionTreeRegressor``: one cut is sampled for each column that a node considers, and the best of them
        splits it.
    max_features : int, float, {"sqrt", "log2"}, optional, default 1.0
        Columns sampled at random for each node.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, random_state, max_leaf_nodes
        As in ``DecisionTreeRegressor``.
    min_impurity_decrease, max_p_value, ccp_alpha, monotonic_cst, interaction_cst, max_bins
        As in ``DecisionTreeRegressor``.
    nominal_splits, missing, max_surrogates, nominal, ordinal, numeric, calendar, unseen, grow_trace, n_jobs
        As in ``DecisionTreeRegressor``.

    Attributes
    ----------
    model_, n_outputs_, n_features_in_, max_features_, feature_names_in_, tree_, feature_importances_
        As in ``DecisionTreeRegressor``.

    Examples
    --------
    >>> import treewright as tw
    >>> est = tw.ExtraTreeRegressor().fit([[1.0], [2.0], [8.0], [9.0]], [10.0, 12.0, 30.0, 34.0])
    >>> est.predict([[1.0], [9.0]])
    array([10., 34.])
    """

    _algorithm = "extra_tree"

    def __init__(
        self,
        *,
        criterion: str | Callable[[np.ndarray], np.ndarray] = "squared_error",
        splitter: str = "random",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = 1.0,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        max_p_value: float | None = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        max_bins: int = 255,
        nominal_splits: str = "auto",
        missing: str = "direction",
        max_surrogates: int = 5,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        grow_trace: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())
