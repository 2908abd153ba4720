"""The classics for scikit-learn: ID3, C4.5 and CHAID."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from treewright.estimators.base import Classifier, Regressor, keep
from treewright.estimators.trees import SingleTree


class ID3Classifier(SingleTree, Classifier):
    """ID3, Quinlan's first tree: split by the column with the largest information gain, a branch per level.

    Parameters
    ----------
    max_depth : int >= 1, optional
    min_samples_split : int >= 2, or float in (0, 1], default 2
        Rows a node needs to be split; a float is a share of all rows, rounded up.
    min_samples_leaf : int >= 1, or float in (0, 1), default 1
        Rows each branch needs that has any.
    min_impurity_decrease : float >= 0, default 0.0
        A split must lower the entropy (in bits) by this much, weighted by the node's share of all weight. With 0 a
        split without gain is allowed too: it may prepare one with gain (XOR).
    max_p_value : float in (0, 1], optional
        A node stays a leaf if the p-value of its chosen test (chi-squared of branches and classes), times the number of
        columns that could be tested there (Bonferroni), is larger. Weights count as row counts.
    class_weight : dict, list of dict, "balanced", optional
    positive : class label, optional
        The positive class of two: what constraints, costs, thresholds, curves and explanations are about. By default
        the second.
    nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
        Columns to treat as nominal, whatever their type.
    numeric : sequence of column names or positions, optional
        Refused like any numeric column.
    ordinal : dict from column name or position to its levels, lowest first, optional
        Their levels are branches, in order.
    calendar : sequence of parts of dates, or mapping from column name or position to these, optional
        Parts that become columns of their own, such as ``["month", "weekday"]``: of every column of dates that has
        them, or of those that are named. "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
    missing : {"branch", "direction", "fractional", "error"}, default "branch"
        Missing values have a branch of their own (the heaviest branch if the node saw none), follow the branch where
        that costs least, follow every branch with a part of their weight, or are an error.
    unseen : {"missing", "error", "majority"}, default "missing"
        How predict treats a level that fit never saw.
    grow_trace : bool, default False
        Keep the best splits of every node: ``trace_`` shows how the tree grew.
    n_jobs : int, optional
        Threads for prediction.

    Attributes
    ----------
    model_ : Model
    classes_ : ndarray[n_classes], or a list of them for several outputs
    n_classes_, n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table had names that are all strings.
    tree_ : treewright.trees.arrays.Tree
    feature_importances_ : float64[n_features]

    Notes
    -----
    Quinlan 1986, "Induction of decision trees". Information gain is in bits. A level that the column has but the node's
    rows lack gets a branch without rows, which predicts like the node. A column is tested once on a path: after
    that it is constant. Growth stops at a pure node and if every column is constant. Ties: the lower column.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"sky": ["sun", "sun", "rain", "rain"], "wind": ["no", "yes", "no", "yes"]}
    >>> est = tw.ID3Classifier().fit(table, ["out", "out", "out", "in"])
    >>> print(est.predict({"sky": ["rain"], "wind": ["yes"]})[0])
    in
    """

    _algorithm = "id3"

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_impurity_decrease: float = 0.0,
        max_p_value: float | None = None,
        class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None = None,
        positive: Any = None,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        missing: str = "branch",
        unseen: str = "missing",
        grow_trace: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())


class C45Classifier(SingleTree, Classifier):
    """Quinlan's C4.5: gain ratio, a branch per level, fractional missing values, error-based pruning.

    Parameters
    ----------
    confidence : float in (0, 0.5], or None, default 0.25
        Level of the upper limit of a leaf's error; the smaller, the more is pruned. None does not prune.
    subtree_raising : bool, default True
        Whether pruning may replace a node by its largest branch.
    min_samples_leaf : int >= 1, or float in (0, 1), default 2
        Weight (rows, if there are no weights) that at least two branches need.
    max_depth : int >= 1, optional
    min_samples_split : int >= 2, or float in (0, 1], default 2
    max_p_value : float in (0, 1], optional
        A node stays a leaf if the p-value of its chosen test (chi-squared of branches and classes), times the number of
        tests that were possible there (Bonferroni), is larger. Weights, and parts of rows, count as row counts.
    nominal_splits : {"multiway", "grouped"}, default "multiway"
        A branch per level, or levels merged into groups while the gain ratio does not fall.
    class_weight : dict, list of dict, "balanced", optional
    positive : class label, optional
        The positive class of two: what constraints, costs, thresholds, curves and explanations are about. By default
        the second.
    nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
    numeric : sequence of column names or positions, optional
    ordinal : dict from column name or position to its levels, lowest first, optional
        Split like numeric columns.
    calendar : sequence of parts of dates, or mapping from column name or position to these, optional
        Parts that become columns of their own, such as ``["month", "weekday"]``: of every column of dates that has
        them, or of those that are named. "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
    missing : {"fractional", "error"}, default "fractional"
        A missing value follows every branch with a part of its weight, or is an error.
    unseen : {"missing", "error", "majority"}, default "missing"
        How predict treats a level that fit never saw.
    grow_trace : bool, default False
        Keep the best splits of every node: ``trace_`` shows how the tree grew.
    n_jobs : int, optional
        Threads for prediction.

    Attributes
    ----------
    model_ : Model
    classes_ : ndarray[n_classes]
    n_classes_, n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table had names that are all strings.
    tree_ : treewright.trees.arrays.Tree
    feature_importances_ : float64[n_features]

    Notes
    -----
    Quinlan 1993, *C4.5: Programs for Machine Learning*, with the details of J48 in Weka 3.6, whose trees it grows (the
    guide to C4.5 lists the differences). The column of the largest gain ratio among those of at least average gain. A
    cut pays log2(cuts tried) / rows for the choice, leaves a tenth of the rows per class on both sides (at least
    ``min_samples_leaf``, at most 25), and stands at a value of the column. Gains count the known rows only, times their
    share. Pruned bottom-up by the upper confidence limit of the error. Ties within 1e-6: the lower column, the lower
    cut.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"age": [20, 30, 40, 50, 60, None], "smokes": ["no", "no", "no", "yes", "yes", "yes"]}
    >>> est = tw.C45Classifier().fit(table, ["well", "well", "well", "ill", "ill", "ill"])
    >>> print(est.predict({"age": [33], "smokes": ["no"]})[0])
    well
    """

    _algorithm = "c45"
    _one_target = True

    def __init__(
        self,
        *,
        confidence: float | None = 0.25,
        subtree_raising: bool = True,
        min_samples_leaf: float = 2,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        max_p_value: float | None = None,
        nominal_splits: str = "multiway",
        class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None = None,
        positive: Any = None,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        missing: str = "fractional",
        unseen: str = "missing",
        grow_trace: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())


class CHAIDClassifier(SingleTree, Classifier):
    """CHAID for classification: levels merged by chi-squared tests, a branch per group of levels.

    Parameters
    ----------
    alpha : float in (0, 1], default 0.05
        A node is split if the smallest adjusted p-value is not above it.
    alpha_merge : float in (0, 1], default 0.05
        Two groups of levels merge while their p-value is above it; 1 merges only groups that are too small.
    test : {"pearson", "likelihood_ratio"}, default "pearson"
        The chi-squared statistic.
    exhaustive : bool, default False
        Exhaustive CHAID: merge down to two groups, then take the step with the smallest adjusted p-value.
    bonferroni : bool, default True
        Multiply the p-value of a column by the number of ways in which its levels could have been merged.
    n_bins : int >= 2, default 10
        A numeric column with more values than this is divided into so many bins of about equal weight, once, at the
        root.
    max_depth : int >= 1, optional, default 3
    min_samples_split : int >= 2, or float in (0, 1], default 2
        Rows a node needs to be split; a float is a share of all rows, rounded up. SPSS has 100.
    min_samples_leaf : int >= 1, or float in (0, 1), default 1
        Rows a branch needs: a smaller group merges with the one from which it differs least. SPSS has 50.
    class_weight : dict, list of dict, "balanced", optional
    positive : class label, optional
        The positive class of two: what constraints, costs, thresholds, curves and explanations are about. By default
        the second.
    nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
    ordinal : dict from column name or position to its levels, lowest first, optional
        Only neighbours merge.
    numeric : sequence of column names or positions, optional
    calendar : sequence of parts of dates, or mapping from column name or position to these, optional
        Parts that become columns of their own, such as ``["month", "weekday"]``: of every column of dates that has
        them, or of those that are named. "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
    missing : {"branch", "error"}, default "branch"
        A missing value is a level that may merge with any group, or is an error.
    unseen : {"missing", "error", "majority"}, default "missing"
        How predict treats a level that fit never saw.
    grow_trace : bool, default False
        Keep the best splits of every node: ``trace_`` shows how the tree grew.
    n_jobs : int, optional
        Threads for prediction.

    Attributes
    ----------
    model_ : Model
    classes_ : ndarray[n_classes]
    n_classes_, n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table had names that are all strings.
    tree_ : treewright.trees.arrays.Tree
    feature_importances_ : float64[n_features]

    Notes
    -----
    Kass 1980; Biggs, de Ville and Suen 1991 for ``exhaustive``. The pair of groups that differs least merges while its
    p-value is above ``alpha_merge`` and more than two are left; a group below ``min_samples_leaf`` merges with any
    p-value. In ordinal and numeric columns only neighbours merge; missing cells then join the group from which they
    differ least, or stay alone, whichever has the smaller adjusted p-value. Merged groups are not split again. The
    column with the smallest adjusted p-value splits the node; ties: the larger statistic, then the lower column. The
    test of a pair leaves out classes that neither group holds. Weights are counts, as in SPSS: a row of weight 2 is two
    rows (but one row for ``min_samples_*``), so weights that are not counts should add up to the number of rows.
    The impurity in the tree is Gini impurity. One target.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"town": ["A", "B", "C", "D"] * 10, "age": [20 + 7 * at % 40 for at in range(40)]}
    >>> answers = ["yes", "yes", "no", "no"] * 10
    >>> est = tw.CHAIDClassifier().fit(table, answers)
    >>> est.get_n_leaves(), est.predict({"town": ["B", "D"], "age": [1, 1]}).tolist()
    (2, ['yes', 'no'])
    """

    _algorithm = "chaid"
    _one_target = True

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
        positive: Any = None,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        missing: str = "branch",
        unseen: str = "missing",
        grow_trace: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())


class CHAIDRegressor(SingleTree, Regressor):
    """CHAID for regression: levels merged by F tests, a branch per group of levels.

    Parameters
    ----------
    alpha, alpha_merge, exhaustive, bonferroni, n_bins, max_depth, min_samples_split, min_samples_leaf
        As in ``CHAIDClassifier``.
    nominal, ordinal, numeric, calendar, missing, unseen, grow_trace, n_jobs
        As in ``CHAIDClassifier``.

    Attributes
    ----------
    model_ : Model
    n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table had names that are all strings.
    tree_ : treewright.trees.arrays.Tree
    feature_importances_ : float64[n_features]

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

    _algorithm = "chaid"
    _one_target = True

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
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        missing: str = "branch",
        unseen: str = "missing",
        grow_trace: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())
