"""CHAID for scikit-learn. In: parameters, a table, a target. Out: ``CHAIDClassifier``, ``CHAIDRegressor``.

Callers: users, cli.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils._param_validation import Interval

from treewright.estimators.classifier import ClassifierTree
from treewright.estimators.constraints import Words
from treewright.estimators.regressor import RegressorTree
from treewright.estimators.single import TreeEstimator
from treewright.grow.by_node.grower import Stops, grow_by_node
from treewright.grow.by_node.policies import count_of

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from treewright.estimators.table import FitTable
    from treewright.grow.by_node.grower import Step
    from treewright.tree.arrays import Tree


class ChaidEstimator(TreeEstimator):
    """CHAID's parameters, and how they grow a tree."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeEstimator._parameter_constraints,
        "alpha": [Interval(Real, 0.0, 1.0, closed="right")],
        "alpha_merge": [Interval(Real, 0.0, 1.0, closed="right")],
        "exhaustive": ["boolean"],
        "bonferroni": ["boolean"],
        "n_bins": [Interval(Integral, 2, None, closed="left")],
        "missing": [Words({"branch", "error"})],
    }
    _algorithm = "chaid"

    # Set by __init__ of the estimators.
    alpha: float
    alpha_merge: float
    exhaustive: bool
    bonferroni: bool
    n_bins: int
    max_depth: int | None
    min_samples_split: float
    min_samples_leaf: float
    missing: str
    grow_trace: bool

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        return tags

    def _grow(self, table: FitTable, n_threads: int) -> tuple[Tree, tuple[Step, ...] | None]:  # noqa: ARG002 - this grower has one thread
        table.warn_of_small_weights("CHAID")
        problem = self._problem(table)
        stops = Stops(
            max_depth=self.max_depth,
            min_samples_split=max(2, count_of(self.min_samples_split, problem.n_rows)),
        )
        grown = grow_by_node(problem, self._policy(problem), stops, keep_trace=self.grow_trace)
        return grown.tree, grown.trace if self.grow_trace else None


class CHAIDClassifier(ChaidEstimator, ClassifierTree):
    """CHAID for classes: levels merged by chi-squared tests, a branch per group of levels.

    Parameters
    ----------
    alpha : float in (0, 1], default 0.05
        A node splits where the smallest adjusted p-value is not above it.
    alpha_merge : float in (0, 1], default 0.05
        Two groups of levels merge while their p-value is above it; 1 merges nothing but groups that are too small.
    test : {"pearson", "likelihood_ratio"}, default "pearson"
        Which chi-squared statistic.
    exhaustive : bool, default False
        Exhaustive CHAID: merge down to two groups, then take the step with the smallest adjusted p-value.
    bonferroni : bool, default True
        Multiply the p-value of a column by the number of ways in which its levels could have been merged.
    n_bins : int >= 2, default 10
        A numeric column with more values than this is cut into so many bins of about equal weight, once, at the root.
    max_depth : int >= 1, optional, default 3
    min_samples_split : int >= 2, or float in (0, 1], default 2
        Rows a node needs to be split; a float is a share of all rows, rounded up. SPSS has 100.
    min_samples_leaf : int >= 1, or float in (0, 1), default 1
        Rows a branch needs: a smaller group merges with the one that it differs least from. SPSS has 50.
    class_weight : dict, list of dict, "balanced", optional
    nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
    ordinal : dict from column name or position to its levels, lowest first, optional
        Only neighbours merge.
    numeric : sequence of column names or positions, optional
    missing : {"branch", "error"}, default "branch"
        A missing value is a level that may merge with any group, or is an error.
    unseen : {"missing", "error", "majority"}, default "missing"
        What a level that fit never saw is taken for at predict.
    grow_trace : bool, default False
        Keep what every node was offered: ``trace_`` tells how the tree grew.
    n_jobs : int, optional
        Threads for prediction.

    Attributes
    ----------
    model_ : Model
    classes_ : ndarray[n_classes]
    n_classes_, n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where the table had names that are all strings.
    tree_ : treewright.tree.arrays.Tree
    feature_importances_ : float64[n_features_in_]

    Notes
    -----
    Kass 1980; Biggs, de Ville and Suen 1991 for ``exhaustive``. The pair of groups that differs least merges while its
    p-value is above ``alpha_merge`` and more than two are left; a group below ``min_samples_leaf`` merges whatever its
    p-value. In order (ordinal and numeric columns) only neighbours merge; missing cells then join the group that they
    differ least from, or stay alone, whichever has the smaller adjusted p-value. Merged groups are not split again. The
    column with the smallest adjusted p-value splits the node; ties: the larger statistic, then the lower column. The
    test of a pair leaves out classes that neither group holds. Weights are counts, as in SPSS: a row of weight 2 is two
    rows (but one row for ``min_samples_*``), so weights that are not counts should add up to the number of rows.
    Impurity in the tree is Gini's. One target.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"town": ["A", "B", "C", "D"] * 10, "age": list(range(40))}
    >>> answers = ["yes", "yes", "no", "no"] * 10
    >>> est = tw.CHAIDClassifier().fit(table, answers)
    >>> est.get_n_leaves(), est.predict({"town": ["B", "D"], "age": [1, 1]}).tolist()
    (2, ['yes', 'no'])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ClassifierTree._parameter_constraints,
        **ChaidEstimator._parameter_constraints,
        "test": [Words({"pearson", "likelihood_ratio"})],
    }

    def __init__(
        self,
        *,
        alpha: float = 0.05,
        alpha_merge: float = 0.05,
        test: str = "pearson",
        exhaustive: bool = False,
        bonferroni: bool = True,
        n_bins: int = 10,
        max_depth: int | None = 3,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None = None,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        missing: str = "branch",
        unseen: str = "missing",
        grow_trace: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.alpha_merge = alpha_merge
        self.test = test
        self.exhaustive = exhaustive
        self.bonferroni = bonferroni
        self.n_bins = n_bins
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.nominal = nominal
        self.ordinal = ordinal
        self.numeric = numeric
        self.missing = missing
        self.unseen = unseen
        self.grow_trace = grow_trace
        self.n_jobs = n_jobs

    def _criterion_name(self) -> str:
        return "chi_squared"


class CHAIDRegressor(ChaidEstimator, RegressorTree):
    """CHAID for numbers: levels merged by F tests, a branch per group of levels.

    Parameters
    ----------
    alpha, alpha_merge, exhaustive, bonferroni, n_bins, max_depth, min_samples_split, min_samples_leaf
        As in ``CHAIDClassifier``.
    nominal, ordinal, numeric, missing, unseen, grow_trace, n_jobs
        As in ``CHAIDClassifier``.

    Attributes
    ----------
    model_ : Model
    n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where the table had names that are all strings.
    tree_ : treewright.tree.arrays.Tree
    feature_importances_ : float64[n_features_in_]

    Notes
    -----
    As ``CHAIDClassifier``, with the F test of a one-way analysis of variance: of two groups by themselves for merging,
    of all groups for the column. Levels of one row cannot be told apart: in a
    nominal column they merge first. Impurity in the tree is the
    variance.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"town": ["A", "B", "C"] * 4}
    >>> est = tw.CHAIDRegressor().fit(table, [1.0, 1.0, 9.0, 2.0, 2.0, 8.0, 1.0, 2.0, 9.0, 2.0, 1.0, 8.0])
    >>> est.predict({"town": ["B", "C"]})
    array([1.5, 8.5])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RegressorTree._parameter_constraints,
        **ChaidEstimator._parameter_constraints,
    }

    def __init__(
        self,
        *,
        alpha: float = 0.05,
        alpha_merge: float = 0.05,
        exhaustive: bool = False,
        bonferroni: bool = True,
        n_bins: int = 10,
        max_depth: int | None = 3,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        missing: str = "branch",
        unseen: str = "missing",
        grow_trace: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.alpha_merge = alpha_merge
        self.exhaustive = exhaustive
        self.bonferroni = bonferroni
        self.n_bins = n_bins
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.nominal = nominal
        self.ordinal = ordinal
        self.numeric = numeric
        self.missing = missing
        self.unseen = unseen
        self.grow_trace = grow_trace
        self.n_jobs = n_jobs

    def _criterion_name(self) -> str:
        return "f_test"
