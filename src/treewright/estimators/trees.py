"""Single trees for scikit-learn: their methods, and the estimators of each algorithm that grows one."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from treewright.core.elementary import whole_number
from treewright.core.threads import resolve_jobs
from treewright.data.dataset import Dataset
from treewright.data.target import Labels, Numbers
from treewright.estimators import signatures
from treewright.estimators.base import Classifier, Estimator, Regressor
from treewright.estimators.documentation import as_model
from treewright.evaluation.after_fit import Pruned, without_steps
from treewright.exceptions import ParameterError
from treewright.forest.importance import Importances
from treewright.learn.settings import columns_per_node
from treewright.learn.single import problem_and_policy
from treewright.learn.train import Trained
from treewright.model import Model
from treewright.prune.cost_complexity import path_of
from treewright.prune.methods import Rows, request_of
from treewright.trees.facts import cuts_of, gap_of, search_of

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
    """A scikit-learn estimator around one grown tree.

    Attributes
    ----------
    tree_ : treewright.trees.arrays.Tree
    feature_importances_ : float64[n_features]
    """

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
            if cuts_of(model.facts):
                raise AttributeError(
                    "the tree was pruned, so its nodes have other numbers: use the estimator before prune"
                )
            if not hasattr(self, "grow_trace"):
                raise AttributeError("this tree did not grow node by node: audit(node) compares the tests of a node")
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

    @as_model
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
        """Find the nearest row with another prediction: what would have to change."""
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


class DecisionTreeClassifier(signatures.DecisionTreeClassifier, SingleTree, Classifier):
    """A classification tree grown on every candidate split (CART).

    Attributes
    ----------
    max_features_ : int
        Columns sampled for each node.

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


class DecisionTreeRegressor(signatures.DecisionTreeRegressor, SingleTree, Regressor):
    """A regression tree grown on every candidate split (CART).

    Attributes
    ----------
    max_features_ : int
        Columns sampled for each node.

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


class ExtraTreeClassifier(signatures.ExtraTreeClassifier, SingleTree, Classifier):
    """A classification tree of random cuts: one tree of `ExtraTreesClassifier` (Geurts, Ernst and Wehenkel 2006).

    ``DecisionTreeClassifier`` with other defaults, for ensembles: a single one predicts poorly.

    Attributes
    ----------
    max_features_ : int
        Columns sampled for each node.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bag = tw.BaggingClassifier(tw.ExtraTreeClassifier(), n_estimators=20).fit(X, y)
    >>> bool(bag.score(X, y) > 0.95)
    True
    """


class ExtraTreeRegressor(signatures.ExtraTreeRegressor, SingleTree, Regressor):
    """A regression tree of random cuts: one tree of `ExtraTreesRegressor` (Geurts, Ernst and Wehenkel 2006).

    ``DecisionTreeRegressor`` with other defaults, for ensembles: a single one predicts poorly.

    Attributes
    ----------
    max_features_ : int
        Columns sampled for each node.

    Examples
    --------
    >>> import treewright as tw
    >>> est = tw.ExtraTreeRegressor().fit([[1.0], [2.0], [8.0], [9.0]], [10.0, 12.0, 30.0, 34.0])
    >>> est.predict([[1.0], [9.0]])
    array([10., 34.])
    """


class ID3Classifier(signatures.ID3Classifier, SingleTree, Classifier):
    """ID3, Quinlan's first tree: split by the column with the largest information gain, a branch per level.

    Notes
    -----
    Quinlan 1986, "Induction of decision trees". Information gain is in bits. Numeric columns are refused; the levels of
    ordinal ones are branches, in order. A level that the column has but the node's rows lack gets a branch without
    rows, which predicts like the node, and which ``min_samples_leaf`` does not count. A column is tested once on a
    path: after that it is constant. Growth stops at a pure node and if every column is constant. Ties: the lower
    column.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"sky": ["sun", "sun", "rain", "rain"], "wind": ["no", "yes", "no", "yes"]}
    >>> est = tw.ID3Classifier().fit(table, ["out", "out", "out", "in"])
    >>> print(est.predict({"sky": ["rain"], "wind": ["yes"]})[0])
    in
    """


class C45Classifier(signatures.C45Classifier, SingleTree, Classifier):
    """Quinlan's C4.5: gain ratio, a branch per level, fractional missing values, error-based pruning.

    Notes
    -----
    Quinlan 1993, *C4.5: Programs for Machine Learning*, with the details of J48 in Weka 3.6, whose trees it grows (the
    guide to C4.5 lists the differences). The column of the largest gain ratio among those of at least average gain. A
    cut pays log2(cuts tried) / rows for the choice, leaves a tenth of the rows per class on both sides (at least
    ``min_samples_leaf``, at most 25), and stands at a value of the column. Gains count the known rows only, times their
    share. Ordinal columns are split like numeric ones. Pruned bottom-up by the upper confidence limit of the error.
    Ties within 1e-6: the lower column, the lower cut.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"age": [20, 30, 40, 50, 60, None], "smokes": ["no", "no", "no", "yes", "yes", "yes"]}
    >>> est = tw.C45Classifier().fit(table, ["well", "well", "well", "ill", "ill", "ill"])
    >>> print(est.predict({"age": [33], "smokes": ["no"]})[0])
    well
    """

    _one_target = True


class CHAIDClassifier(signatures.CHAIDClassifier, SingleTree, Classifier):
    """CHAID for classification: levels merged by chi-squared tests, a branch per group of levels.

    Notes
    -----
    Kass 1980; Biggs, de Ville and Suen 1991 for ``exhaustive``. The pair of groups that differs least merges while its
    p-value is above ``alpha_merge`` and more than two are left; a group below ``min_samples_leaf`` merges with any
    p-value. In ordinal and numeric columns only neighbours merge; missing cells then join the group from which they
    differ least, or stay alone, whichever has the smaller adjusted p-value. Merged groups are not split again. The
    column with the smallest adjusted p-value splits the node; ties: the larger statistic, then the lower column. The
    test of a pair leaves out classes that neither group holds. Weights are counts, as in SPSS: a row of weight 2 is two
    rows (but one row for ``min_samples_*``), so weights that are not counts should add up to the number of rows.
    SPSS needs 100 rows to split a node, and 50 in a branch. The impurity in the tree is Gini impurity. One target.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"town": ["A", "B", "C", "D"] * 10, "age": [20 + 7 * at % 40 for at in range(40)]}
    >>> answers = ["yes", "yes", "no", "no"] * 10
    >>> est = tw.CHAIDClassifier().fit(table, answers)
    >>> est.get_n_leaves(), est.predict({"town": ["B", "D"], "age": [1, 1]}).tolist()
    (2, ['yes', 'no'])
    """

    _one_target = True


class CHAIDRegressor(signatures.CHAIDRegressor, SingleTree, Regressor):
    """CHAID for regression: levels merged by F tests, a branch per group of levels.

    Notes
    -----
    As ``CHAIDClassifier``, with the F test of a one-way analysis of variance: of two groups by themselves for merging,
    of all groups for the column. Levels with one row cannot be compared: in a nominal column they merge first. The
    impurity in the tree is the variance.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"town": ["A", "B", "C"] * 4}
    >>> est = tw.CHAIDRegressor().fit(table, [1.0, 1.0, 9.0, 2.0, 2.0, 8.0, 1.0, 2.0, 9.0, 2.0, 1.0, 8.0])
    >>> est.predict({"town": ["B", "C"]})
    array([1.5, 8.5])
    """

    _one_target = True


class _Searched(SingleTree):
    """An optimal tree: a single tree with what the search proved.

    Attributes
    ----------
    objective_ : float
        Loss of the tree on the training rows, per unit of weight, plus ``ccp_alpha`` for each leaf; its leaves, if
        ``objective="smallest"``.
    lower_bound_ : float
        No tree that the search considers has a smaller objective.
    gap_ : float, 0 to 1
        Share of the objective by which it may be above the least one of all trees.
    proven_ : bool
        Whether the search ended with a proof: no tree that it considers has a smaller objective. With ``optimal_depth``
        these are the trees that are greedy below the first levels, and ``gap_`` may be above 0 nevertheless.
    """

    _one_target = True

    @property
    def _proof(self) -> Mapping[str, Any]:
        """What the search found, by its names in the facts."""
        found = search_of(self._fitted().facts)
        if found is None:
            raise AttributeError("the tree was pruned, so nothing is proved of it: use the estimator before prune")
        return found

    @property
    def objective_(self) -> float:
        """Loss of the tree per unit of weight, with the price of its leaves."""
        return float(self._proof["objective"])

    @property
    def lower_bound_(self) -> float:
        """No tree that the search considers has a smaller objective."""
        return float(self._proof["lower_bound"])

    @property
    def gap_(self) -> float:
        """Share of the objective by which it may be above the least one."""
        return gap_of(self._proof)

    @property
    def proven_(self) -> bool:
        """Whether no tree that the search considers has a smaller objective."""
        return bool(self._proof["is_proven"])


class OptimalTreeClassifier(signatures.OptimalTreeClassifier, _Searched, Classifier):
    """The classification tree with the fewest errors, or the least impurity, of all trees within the limits.

    Notes
    -----
    Every cut between two distinct values of a column is searched, at every depth, with missing cells on either side. A
    level of a nominal column is tested against the rest at every depth; a test with two leaves below may also be any
    set of levels, if there are two classes. The search begins with the trees that `DecisionTreeClassifier` grows within
    the same limits, so that the result is never worse; of trees with equal loss it prefers the one with fewer leaves.
    With ``optimal_depth`` the tests of the first levels are searched, and a node below them has its greedy tree, pruned
    (Babbar, McTavish, Rudin and Seltzer 2025).
    Branch and bound as in Mazumder, Meng and Wang 2022 and in van der Linden, de Weerdt and Demirovic 2025 (intervals
    of cuts); what is new is described in the decision record on optimal trees.

    ``objective="smallest"`` searches the same tests for the tree with the fewest leaves that makes no error on the
    training rows, without a limit of depth unless there is a ``max_depth``. Rows that are equal in every column but
    have different classes are an error that names them. ``objective_`` and ``lower_bound_`` are then leaves, and
    ``gap_`` is the share of the leaves that may be too many.

    Examples
    --------
    >>> import treewright as tw
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> est = tw.OptimalTreeClassifier(max_depth=2).fit(X, ["no", "yes", "yes", "no"])
    >>> est.proven_, est.objective_, est.get_n_leaves()
    (True, 0.0, 4)
    >>> smallest = tw.OptimalTreeClassifier(objective="smallest").fit(X, ["no", "yes", "yes", "yes"])
    >>> smallest.proven_, smallest.objective_, smallest.lower_bound_
    (True, 3.0, 3.0)
    """


class OptimalTreeRegressor(signatures.OptimalTreeRegressor, _Searched, Regressor):
    """The regression tree with the least squared error, or deviance, of all trees within the limits.

    Notes
    -----
    As ``OptimalTreeClassifier``. A test with two leaves below may be any set of levels of a nominal column.

    Examples
    --------
    >>> import treewright as tw
    >>> est = tw.OptimalTreeRegressor(max_depth=2).fit([[1], [2], [3], [4]], [1.0, 5.0, 1.0, 5.0])
    >>> est.proven_, round(est.objective_, 3), round(est.lower_bound_, 3)
    (True, 0.0, 0.0)
    """
