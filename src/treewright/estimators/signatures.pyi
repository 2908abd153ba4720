"""The signature of every estimator for editors and type checkers: ``signatures.py`` writes this file."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

class DecisionTreeClassifier:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        *,
        criterion: str | Callable[..., Any] = "gini",
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
        grow_trace: bool = False,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        criterion : {"gini", "entropy", "log_loss", "misclassification", "gain_ratio"} or callable, default "gini"
            What a split minimises: a name, or a function of your own. "log_loss" is "entropy". "gain_ratio" chooses the
            column with the largest entropy gain relative to its split information, among those of at least average
            gain. A function takes float64[k, n_classes], the weighted class counts of k sets of rows, and returns their
            k impurities (finite, >= 0; called once per output).
        splitter : {"best", "hist", "random"}, default "best"
            'best' tries every cut, 'hist' those between bins, 'random' one random cut for each column. The bins of a
            column are at most ``max_bins``; "hist" grows the same tree as "best" if no column has more distinct values,
            and is much faster on many rows. "random" samples a random set of levels if a column is nominal, and chooses
            the best of the cuts.
        max_depth : int >= 1, optional
            Depth of the deepest leaf; the root has depth 0.
        min_samples_split : int >= 2 or float in (0, 1], default 2
            Rows a node needs to be split. A float is a share of all rows, rounded up.
        min_samples_leaf : int >= 1 or float in (0, 1), default 1
            Rows a branch needs.
        min_weight_fraction_leaf : float in [0, 0.5], default 0.0
            Share of the whole weight a branch needs.
        max_features : int >= 1, float in (0, 1] or {"sqrt", "log2"}, optional
            Columns sampled for each node; None is all.
        random_state : int, RandomState instance, optional
            Seed of all sampling; None means 0. Fits are reproducible.
        max_leaf_nodes : int >= 2, optional
            Grow best-first: the leaf whose split gains most is split next.
        min_impurity_decrease : float >= 0, default 0.0
            A split must lower the impurity of the whole table by this much. That of a node counts by its share of all
            weight.
        max_p_value : float in (0, 1], optional
            No split with a larger p-value (multiplied by the number of possible tests). The test is chi-squared, of
            branches and classes; the number is Bonferroni's. Weights, and parts of rows, count as row counts.
        class_weight : dict, list of dict, "balanced", optional
            Weights of the classes: a dict from label to weight, 'balanced', or a list of them.
        positive : class label, optional
            The positive class of two: constraints, costs, thresholds and curves are about it; None is the second.
        ccp_alpha : float >= 0, default 0.0
            Cost-complexity pruning: the price of a leaf. In units of impurity.
        monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
            Per column -1, 0 or 1: the prediction (of classes the positive one's) may only fall or rise with the column.
            Two classes, one output.
        interaction_cst : sequence of groups of columns (names or positions), "pairwise", "no_interactions", optional
            Groups of columns that may be tested on one path from the root to a leaf. Columns in no group form one more
            group. Needs ``splitter="hist"`` or "random".
        max_bins : int from 2 to 255, default 255
            Bins of a column. One more is for missing cells. For ``splitter="hist"`` and "random".
        nominal_splits : {"auto", "subset", "runs", "multiway", "one_vs_rest"}, default "auto"
            How a nominal column is split: into any two sets of levels, a run of the first levels in their order
            (sorted) and the rest, a branch per level, or one level against the rest. "auto" is "runs" for columns with
            32 levels or more and fewer than 32 rows per level (and rows times levels up to 5e8), "subset" for all
            others: the best set of levels with few rows overfits.
        missing : {"direction", "surrogate", "fractional", "branch", "error"}, default "direction"
            The branch that missing values follow: the one with the larger gain; that of the surrogate tests (see
            ``max_surrogates``; two-way splits only); every branch, with a part of their weight; a branch of their own,
            or the heavier one if the node saw none; or they are an error.
        max_surrogates : int >= 0, default 5
            Surrogate tests kept per node.
        grow_trace : bool, default False
            Keep the best splits of every node: ``trace_`` shows how the tree grew.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class DecisionTreeRegressor:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        *,
        criterion: str | Callable[..., Any] = "squared_error",
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
        grow_trace: bool = False,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        criterion : {"squared_error", "absolute_error", "poisson"} or callable, default "squared_error"
            What a split minimises: a name, or a function of your own. By name the variance, the mean distance to the
            median, or half the Poisson deviance. A function takes float64[k, 3], the weight, mean and variance of k
            sets of rows, and returns their k impurities (finite, >= 0; called once per output).
        splitter : {"best", "hist", "random"}, default "best"
            'best' tries every cut, 'hist' those between bins, 'random' one random cut for each column. The bins of a
            column are at most ``max_bins``; "hist" grows the same tree as "best" if no column has more distinct values,
            and is much faster on many rows. "random" samples a random set of levels if a column is nominal, and chooses
            the best of the cuts.
        max_depth : int >= 1, optional
            Depth of the deepest leaf; the root has depth 0.
        min_samples_split : int >= 2 or float in (0, 1], default 2
            Rows a node needs to be split. A float is a share of all rows, rounded up.
        min_samples_leaf : int >= 1 or float in (0, 1), default 1
            Rows a branch needs.
        min_weight_fraction_leaf : float in [0, 0.5], default 0.0
            Share of the whole weight a branch needs.
        max_features : int >= 1, float in (0, 1] or {"sqrt", "log2"}, optional
            Columns sampled for each node; None is all.
        random_state : int, RandomState instance, optional
            Seed of all sampling; None means 0. Fits are reproducible.
        max_leaf_nodes : int >= 2, optional
            Grow best-first: the leaf whose split gains most is split next.
        min_impurity_decrease : float >= 0, default 0.0
            A split must lower the impurity of the whole table by this much. That of a node counts by its share of all
            weight.
        max_p_value : float in (0, 1], optional
            No split with a larger p-value (multiplied by the number of possible tests). The F test of the branches'
            means; for "squared_error" only. It uses row counts, not weights: a common factor of the weights changes
            nothing.
        ccp_alpha : float >= 0, default 0.0
            Cost-complexity pruning: the price of a leaf. In units of impurity.
        monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
            Per column -1, 0 or 1: the prediction (of classes the positive one's) may only fall or rise with the column.
            One output.
        interaction_cst : sequence of groups of columns (names or positions), "pairwise", "no_interactions", optional
            Groups of columns that may be tested on one path from the root to a leaf. Columns in no group form one more
            group. Needs ``splitter="hist"`` or "random".
        max_bins : int from 2 to 255, default 255
            Bins of a column. One more is for missing cells. For ``splitter="hist"`` and "random".
        nominal_splits : {"auto", "subset", "runs", "multiway", "one_vs_rest"}, default "auto"
            How a nominal column is split: into any two sets of levels, a run of the first levels in their order
            (sorted) and the rest, a branch per level, or one level against the rest. "auto" is "runs" for columns with
            32 levels or more and fewer than 32 rows per level (and rows times levels up to 5e8), "subset" for all
            others: the best set of levels with few rows overfits.
        missing : {"direction", "surrogate", "fractional", "branch", "error"}, default "direction"
            The branch that missing values follow: the one with the larger gain; that of the surrogate tests (see
            ``max_surrogates``; two-way splits only); every branch, with a part of their weight; a branch of their own,
            or the heavier one if the node saw none; or they are an error.
        max_surrogates : int >= 0, default 5
            Surrogate tests kept per node.
        grow_trace : bool, default False
            Keep the best splits of every node: ``trace_`` shows how the tree grew.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class ID3Classifier:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
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
        missing: str = "branch",
        grow_trace: bool = False,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        max_depth : int >= 1, optional
            Depth of the deepest leaf; the root has depth 0.
        min_samples_split : int >= 2 or float in (0, 1], default 2
            Rows a node needs to be split. A float is a share of all rows, rounded up.
        min_samples_leaf : int >= 1 or float in (0, 1), default 1
            Rows a branch needs.
        min_impurity_decrease : float >= 0, default 0.0
            Gain that a split needs; with 0 a split without gain is allowed. It may prepare one with gain (XOR). The
            gain of a node counts by its share of all weight.
        max_p_value : float in (0, 1], optional
            No split with a larger p-value (multiplied by the number of possible tests). The test is chi-squared, of
            branches and classes; the number is Bonferroni's. Weights, and parts of rows, count as row counts.
        class_weight : dict, list of dict, "balanced", optional
            Weights of the classes: a dict from label to weight, 'balanced', or a list of them.
        positive : class label, optional
            The positive class of two: constraints, costs, thresholds and curves are about it; None is the second.
        missing : {"branch", "direction", "fractional", "error"}, default "branch"
            The branch that missing values follow: one of their own (the heaviest branch if the node saw none); the one
            where that costs least; every branch, with a part of their weight; or they are an error.
        grow_trace : bool, default False
            Keep the best splits of every node: ``trace_`` shows how the tree grew.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class C45Classifier:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        *,
        confidence: float | None = 0.25,
        subtree_raising: bool = True,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 2,
        max_p_value: float | None = None,
        nominal_splits: str = "multiway",
        class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None = None,
        positive: Any = None,
        missing: str = "fractional",
        grow_trace: bool = False,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        confidence : float in (0, 0.5] or None, default 0.25
            Confidence level of the error's upper limit in pruning; None does not prune. The smaller, the more is
            pruned.
        subtree_raising : bool, default True
            Pruning may replace a node by its largest branch.
        max_depth : int >= 1, optional
            Depth of the deepest leaf; the root has depth 0.
        min_samples_split : int >= 2 or float in (0, 1], default 2
            Rows a node needs to be split. A float is a share of all rows, rounded up.
        min_samples_leaf : int >= 1 or float in (0, 1), default 2
            Weight that at least two branches need. That is rows, if there are no weights.
        max_p_value : float in (0, 1], optional
            No split with a larger p-value (multiplied by the number of possible tests). The test is chi-squared, of
            branches and classes; the number is Bonferroni's. Weights, and parts of rows, count as row counts.
        nominal_splits : {"multiway", "grouped"}, default "multiway"
            How a nominal column is split: a branch per level, or levels merged into groups while the gain ratio does
            not fall.
        class_weight : dict, list of dict, "balanced", optional
            Weights of the classes: a dict from label to weight, 'balanced', or a list of them.
        positive : class label, optional
            The positive class of two: constraints, costs, thresholds and curves are about it; None is the second.
        missing : {"fractional", "error"}, default "fractional"
            The branch that missing values follow: every branch, with a part of their weight; or they are an error.
        grow_trace : bool, default False
            Keep the best splits of every node: ``trace_`` shows how the tree grew.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class CHAIDClassifier:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
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
        missing: str = "branch",
        grow_trace: bool = False,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        alpha : float in (0, 1], default 0.05
            Largest adjusted p-value of a split.
        alpha_merge : float in (0, 1], default 0.05
            Groups with a larger p-value are merged. 1 merges only groups that are too small.
        test : {"pearson", "likelihood_ratio"}, default "pearson"
            Chi-squared statistic that compares groups.
        exhaustive : bool, default False
            Merge down to two groups and take the best step. Exhaustive CHAID: the best is the one with the smallest
            adjusted p-value.
        bonferroni : bool, default True
            Multiply a column's p-value by the number of ways to merge its levels.
        n_bins : int >= 2, default 10
            Bins into which a numeric column is divided first. If it has more values; bins are of about equal weight,
            and are made once, at the root.
        max_depth : int >= 1 or None, default 3
            Depth of the deepest leaf; the root has 0; None for no limit.
        min_samples_split : int >= 2 or float in (0, 1], default 2
            Rows a node needs to be split. A float is a share of all rows, rounded up.
        min_samples_leaf : int >= 1 or float in (0, 1), default 1
            Rows a branch needs.
        class_weight : dict, list of dict, "balanced", optional
            Weights of the classes: a dict from label to weight, 'balanced', or a list of them.
        positive : class label, optional
            The positive class of two: constraints, costs, thresholds and curves are about it; None is the second.
        missing : {"branch", "error"}, default "branch"
            'branch': missing values are a level that may join any group; 'error' refuses them.
        grow_trace : bool, default False
            Keep the best splits of every node: ``trace_`` shows how the tree grew.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class CHAIDRegressor:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
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
        missing: str = "branch",
        grow_trace: bool = False,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        alpha : float in (0, 1], default 0.05
            Largest adjusted p-value of a split.
        alpha_merge : float in (0, 1], default 0.05
            Groups with a larger p-value are merged. 1 merges only groups that are too small.
        exhaustive : bool, default False
            Merge down to two groups and take the best step. Exhaustive CHAID: the best is the one with the smallest
            adjusted p-value.
        bonferroni : bool, default True
            Multiply a column's p-value by the number of ways to merge its levels.
        n_bins : int >= 2, default 10
            Bins into which a numeric column is divided first. If it has more values; bins are of about equal weight,
            and are made once, at the root.
        max_depth : int >= 1 or None, default 3
            Depth of the deepest leaf; the root has 0; None for no limit.
        min_samples_split : int >= 2 or float in (0, 1], default 2
            Rows a node needs to be split. A float is a share of all rows, rounded up.
        min_samples_leaf : int >= 1 or float in (0, 1), default 1
            Rows a branch needs.
        missing : {"branch", "error"}, default "branch"
            'branch': missing values are a level that may join any group; 'error' refuses them.
        grow_trace : bool, default False
            Keep the best splits of every node: ``trace_`` shows how the tree grew.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class OptimalTreeClassifier:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        *,
        criterion: str = "misclassification",
        max_depth: int | str | None = "auto",
        max_leaf_nodes: int | None = None,
        ccp_alpha: float = 0.0,
        max_search: int | None = 2000,
        objective: str = "loss",
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        optimal_depth: int | None = None,
        max_bins: int | None = None,
        time_limit: float | None = None,
        class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None = None,
        positive: Any = None,
        missing: str = "direction",
        verbose: int = 0,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        criterion : {"misclassification", "gini", "entropy", "log_loss"}, default "misclassification"
            The loss of a leaf, of which the tree has the least sum. The share of misclassified weight, Gini impurity,
            or entropy ("log_loss" is "entropy").
        max_depth : int from 1 to 50, "auto" or None, default "auto"
            Depth of the deepest leaf; the root has depth 0. The work grows with a power of it. "auto" is 3, or no limit
            with ``objective="smallest"``; else None needs ``max_leaf_nodes``.
        max_leaf_nodes : int >= 2, optional
            Leaves of the tree.
        ccp_alpha : float >= 0, default 0.0
            The price of a leaf. In units of the mean loss of a row. The least price that is not 0, such as 1e-9, proves
            that no tree of equal loss has fewer leaves; with 0 a tree with fewer is preferred where the search meets
            it.
        max_search : int >= 1 or None, default 2000
            Stop after so many subproblems, with the best tree so far; None searches to the proof. The result is the
            same on every machine. With ``objective="smallest"`` each set of rows whose tests are tried is one, with
            ``optimal_depth`` each greedy tree.
        objective : {"loss", "smallest"}, default "loss"
            What the tree has the least of. "loss" is the loss of the leaves with their price. "smallest" is the number
            of leaves, of all trees without an error on the training rows.
        min_samples_leaf : int >= 1 or float in (0, 1), default 1
            Rows a branch needs.
        min_weight_fraction_leaf : float in [0, 0.5], default 0.0
            Share of the whole weight a branch needs.
        optimal_depth : int from 1 to 50, optional
            Search the tests of so many levels only, with the greedy tree below each of their leaves. None searches all
            levels. For many rows and deeper trees; see also ``max_bins``.
        max_bins : int from 2 to 255, optional
            Search only the cuts between so many bins of a column. None searches every cut, and with ``optimal_depth``
            those between 64 bins. With bins the tree is optimal over these cuts.
        time_limit : float > 0, optional
            Stop after so much time, with the best tree so far. The result then depends on the machine.
        class_weight : dict, list of dict, "balanced", optional
            Weights of the classes: a dict from label to weight, 'balanced', or a list of them.
        positive : class label, optional
            The positive class of two: constraints, costs, thresholds and curves are about it; None is the second.
        missing : {"direction", "error"}, default "direction"
            The branch that missing values follow. The better of both is searched; or missing values are an error.
        verbose : int, default 0
            Above 0 shows the progress on standard error. It is a bar on a terminal, otherwise a line now and then.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class OptimalTreeRegressor:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        max_depth: int | str | None = 3,
        max_leaf_nodes: int | None = None,
        ccp_alpha: float = 0.0,
        max_search: int | None = 2000,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        optimal_depth: int | None = None,
        max_bins: int | None = None,
        time_limit: float | None = None,
        missing: str = "direction",
        verbose: int = 0,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        criterion : {"squared_error", "poisson"}, default "squared_error"
            The loss of a leaf, of which the tree has the least sum. The variance, or half the Poisson deviance.
        max_depth : int from 1 to 50 or None, default 3
            Depth of the deepest leaf; the root has depth 0. The work grows with a power of it. None needs
            ``max_leaf_nodes``.
        max_leaf_nodes : int >= 2, optional
            Leaves of the tree.
        ccp_alpha : float >= 0, default 0.0
            The price of a leaf. In units of the mean loss of a row. The least price that is not 0, such as 1e-9, proves
            that no tree of equal loss has fewer leaves; with 0 a tree with fewer is preferred where the search meets
            it.
        max_search : int >= 1 or None, default 2000
            Stop after so many subproblems, with the best tree so far; None searches to the proof. The result is the
            same on every machine. With ``optimal_depth`` each greedy tree is one.
        min_samples_leaf : int >= 1 or float in (0, 1), default 1
            Rows a branch needs.
        min_weight_fraction_leaf : float in [0, 0.5], default 0.0
            Share of the whole weight a branch needs.
        optimal_depth : int from 1 to 50, optional
            Search the tests of so many levels only, with the greedy tree below each of their leaves. None searches all
            levels. For many rows and deeper trees; see also ``max_bins``.
        max_bins : int from 2 to 255, optional
            Search only the cuts between so many bins of a column. None searches every cut, and with ``optimal_depth``
            those between 64 bins. With bins the tree is optimal over these cuts.
        time_limit : float > 0, optional
            Stop after so much time, with the best tree so far. The result then depends on the machine.
        missing : {"direction", "error"}, default "direction"
            The branch that missing values follow. The better of both is searched; or missing values are an error.
        verbose : int, default 0
            Above 0 shows the progress on standard error. It is a bar on a terminal, otherwise a line now and then.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class ExtraTreeClassifier:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        *,
        criterion: str | Callable[..., Any] = "gini",
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
        grow_trace: bool = False,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        criterion : {"gini", "entropy", "log_loss", "misclassification", "gain_ratio"} or callable, default "gini"
            What a split minimises: a name, or a function of your own. "log_loss" is "entropy". "gain_ratio" chooses the
            column with the largest entropy gain relative to its split information, among those of at least average
            gain. A function takes float64[k, n_classes], the weighted class counts of k sets of rows, and returns their
            k impurities (finite, >= 0; called once per output).
        splitter : {"best", "hist", "random"}, default "random"
            'best' tries every cut, 'hist' those between bins, 'random' one random cut for each column. The bins of a
            column are at most ``max_bins``; "hist" grows the same tree as "best" if no column has more distinct values,
            and is much faster on many rows. "random" samples a random set of levels if a column is nominal, and chooses
            the best of the cuts.
        max_depth : int >= 1, optional
            Depth of the deepest leaf; the root has depth 0.
        min_samples_split : int >= 2 or float in (0, 1], default 2
            Rows a node needs to be split. A float is a share of all rows, rounded up.
        min_samples_leaf : int >= 1 or float in (0, 1), default 1
            Rows a branch needs.
        min_weight_fraction_leaf : float in [0, 0.5], default 0.0
            Share of the whole weight a branch needs.
        max_features : int >= 1, float in (0, 1], {"sqrt", "log2"} or None, default "sqrt"
            Columns sampled for each node; None is all.
        random_state : int, RandomState instance, optional
            Seed of all sampling; None means 0. Fits are reproducible.
        max_leaf_nodes : int >= 2, optional
            Grow best-first: the leaf whose split gains most is split next.
        min_impurity_decrease : float >= 0, default 0.0
            A split must lower the impurity of the whole table by this much. That of a node counts by its share of all
            weight.
        max_p_value : float in (0, 1], optional
            No split with a larger p-value (multiplied by the number of possible tests). The test is chi-squared, of
            branches and classes; the number is Bonferroni's. Weights, and parts of rows, count as row counts.
        class_weight : dict, list of dict, "balanced", optional
            Weights of the classes: a dict from label to weight, 'balanced', or a list of them.
        positive : class label, optional
            The positive class of two: constraints, costs, thresholds and curves are about it; None is the second.
        ccp_alpha : float >= 0, default 0.0
            Cost-complexity pruning: the price of a leaf. In units of impurity.
        monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
            Per column -1, 0 or 1: the prediction (of classes the positive one's) may only fall or rise with the column.
            Two classes, one output.
        interaction_cst : sequence of groups of columns (names or positions), "pairwise", "no_interactions", optional
            Groups of columns that may be tested on one path from the root to a leaf. Columns in no group form one more
            group. Needs ``splitter="hist"`` or "random".
        max_bins : int from 2 to 255, default 255
            Bins of a column. One more is for missing cells. For ``splitter="hist"`` and "random".
        nominal_splits : {"auto", "subset", "runs", "multiway", "one_vs_rest"}, default "auto"
            How a nominal column is split: into any two sets of levels, a run of the first levels in their order
            (sorted) and the rest, a branch per level, or one level against the rest. "auto" is "runs" for columns with
            32 levels or more and fewer than 32 rows per level (and rows times levels up to 5e8), "subset" for all
            others: the best set of levels with few rows overfits.
        missing : {"direction", "surrogate", "fractional", "branch", "error"}, default "direction"
            The branch that missing values follow: the one with the larger gain; that of the surrogate tests (see
            ``max_surrogates``; two-way splits only); every branch, with a part of their weight; a branch of their own,
            or the heavier one if the node saw none; or they are an error.
        max_surrogates : int >= 0, default 5
            Surrogate tests kept per node.
        grow_trace : bool, default False
            Keep the best splits of every node: ``trace_`` shows how the tree grew.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class ExtraTreeRegressor:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        *,
        criterion: str | Callable[..., Any] = "squared_error",
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
        grow_trace: bool = False,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        criterion : {"squared_error", "absolute_error", "poisson"} or callable, default "squared_error"
            What a split minimises: a name, or a function of your own. By name the variance, the mean distance to the
            median, or half the Poisson deviance. A function takes float64[k, 3], the weight, mean and variance of k
            sets of rows, and returns their k impurities (finite, >= 0; called once per output).
        splitter : {"best", "hist", "random"}, default "random"
            'best' tries every cut, 'hist' those between bins, 'random' one random cut for each column. The bins of a
            column are at most ``max_bins``; "hist" grows the same tree as "best" if no column has more distinct values,
            and is much faster on many rows. "random" samples a random set of levels if a column is nominal, and chooses
            the best of the cuts.
        max_depth : int >= 1, optional
            Depth of the deepest leaf; the root has depth 0.
        min_samples_split : int >= 2 or float in (0, 1], default 2
            Rows a node needs to be split. A float is a share of all rows, rounded up.
        min_samples_leaf : int >= 1 or float in (0, 1), default 1
            Rows a branch needs.
        min_weight_fraction_leaf : float in [0, 0.5], default 0.0
            Share of the whole weight a branch needs.
        max_features : int >= 1, float in (0, 1], {"sqrt", "log2"} or None, default 1.0
            Columns sampled for each node; None is all.
        random_state : int, RandomState instance, optional
            Seed of all sampling; None means 0. Fits are reproducible.
        max_leaf_nodes : int >= 2, optional
            Grow best-first: the leaf whose split gains most is split next.
        min_impurity_decrease : float >= 0, default 0.0
            A split must lower the impurity of the whole table by this much. That of a node counts by its share of all
            weight.
        max_p_value : float in (0, 1], optional
            No split with a larger p-value (multiplied by the number of possible tests). The F test of the branches'
            means; for "squared_error" only. It uses row counts, not weights: a common factor of the weights changes
            nothing.
        ccp_alpha : float >= 0, default 0.0
            Cost-complexity pruning: the price of a leaf. In units of impurity.
        monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
            Per column -1, 0 or 1: the prediction (of classes the positive one's) may only fall or rise with the column.
            One output.
        interaction_cst : sequence of groups of columns (names or positions), "pairwise", "no_interactions", optional
            Groups of columns that may be tested on one path from the root to a leaf. Columns in no group form one more
            group. Needs ``splitter="hist"`` or "random".
        max_bins : int from 2 to 255, default 255
            Bins of a column. One more is for missing cells. For ``splitter="hist"`` and "random".
        nominal_splits : {"auto", "subset", "runs", "multiway", "one_vs_rest"}, default "auto"
            How a nominal column is split: into any two sets of levels, a run of the first levels in their order
            (sorted) and the rest, a branch per level, or one level against the rest. "auto" is "runs" for columns with
            32 levels or more and fewer than 32 rows per level (and rows times levels up to 5e8), "subset" for all
            others: the best set of levels with few rows overfits.
        missing : {"direction", "surrogate", "fractional", "branch", "error"}, default "direction"
            The branch that missing values follow: the one with the larger gain; that of the surrogate tests (see
            ``max_surrogates``; two-way splits only); every branch, with a part of their weight; a branch of their own,
            or the heavier one if the node saw none; or they are an error.
        max_surrogates : int >= 0, default 5
            Surrogate tests kept per node.
        grow_trace : bool, default False
            Keep the best splits of every node: ``trace_`` shows how the tree grew.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class RandomForestClassifier:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = "sqrt",
        max_features_per_tree: float | str | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool | Callable[[np.ndarray, np.ndarray], float] = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None = None,
        positive: Any = None,
        max_samples: float | None = None,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        voting: str = "soft",
        max_bins: int = 255,
        level_encoding: str = "auto",
        derived_columns: str = "auto",
        missing: str = "direction",
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        n_estimators : int >= 1, default 100
            Trees.
        criterion : {"gini", "entropy", "log_loss", "misclassification"}, default "gini"
            What a split minimises. "log_loss" is "entropy".
        max_depth : int >= 1, optional
            Depth of the deepest leaf; the root has depth 0.
        min_samples_split : int >= 2 or float in (0, 1], default 2
            Rows a node needs to be split. A float is a share of the rows of the tree, rounded up. A row that was drawn
            twice counts as two.
        min_samples_leaf : int >= 1 or float in (0, 1), default 1
            Rows a branch needs.
        min_weight_fraction_leaf : float in [0, 0.5], default 0.0
            Share of the whole weight a branch needs.
        max_features : int >= 1, float in (0, 1], {"sqrt", "log2"} or None, default "sqrt"
            Columns sampled for each node. None takes all.
        max_features_per_tree : int >= 1, float in (0, 1] or {"sqrt", "log2"}, optional
            Columns sampled once for each tree, from which its nodes sample theirs; None is all. With
            ``max_features=None`` all nodes of a tree use the same columns.
        max_leaf_nodes : int >= 2, optional
            Grow best-first: the leaf whose split gains most is split next.
        min_impurity_decrease : float >= 0, default 0.0
            A split must lower the impurity of the tree's rows by this much. That of a node counts by its share of the
            weight.
        bootstrap : bool, default True
            Whether each tree samples its rows, with replacement. Else all rows are used.
        oob_score : bool or callable, default False
            Score each row by the trees that did not sample it; or a function of true and predicted targets. That is
            nearly as good as a test on new rows. The function replaces the score of ``score``.
        random_state : int, RandomState instance, optional
            Seed of all sampling; None means 0. Fits are reproducible.
        verbose : int, default 0
            Above 0 shows the progress on standard error. It is a bar on a terminal, otherwise a line now and then.
        warm_start : bool, default False
            A further fit with more n_estimators continues from this one. The result is that of one fit, so the table
            must be the same. Parameters that only shape a tree may change, such as ``max_depth`` or ``max_features``;
            the model's facts hold those of the last fit.
        class_weight : dict, list of dict, "balanced", "balanced_subsample", optional
            Weights of the classes, applied after sampling; 'balanced_subsample': balanced in each tree. Neither the
            sampled rows nor limits in rows depend on them, and a common factor changes nothing.
        positive : class label, optional
            The positive class of two: constraints, costs, thresholds and curves are about it; None is the second.
        max_samples : float in (0, 1] or int >= 1, optional
            Rows that each tree samples; None is as many as there are. A float is a share of all rows.
        monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
            Per column -1, 0 or 1: the prediction (of classes the positive one's) may only fall or rise with the column.
            Two classes, one output.
        interaction_cst : sequence of groups of columns (names or positions), "pairwise", "no_interactions", optional
            Groups of columns that may be tested on one path from the root to a leaf. Columns in no group form one more
            group.
        voting : {"soft", "hard"}, default "soft"
            Average class probabilities, or one vote for each tree.
        max_bins : int from 2 to 255, default 255
            Bins of a column. One more is for missing cells. Cuts lie between bins; a column with fewer distinct values
            loses nothing.
        level_encoding : {"auto", "subsets", "ordered"}, default "auto"
            Nominal columns: subsets of levels, or the first levels in their order. "subsets" tests whether the level is
            one of these, "ordered" whether it is one of the first levels, in their order (as sorted, or as declared).
            "auto": subsets, but ordered for columns with more than 254 levels and for those with 32 levels or more and
            fewer than 32 rows per level, whose subsets would overfit. With ``criterion="absolute_error"`` always
            subsets.
        derived_columns : {"auto", "none"}, default "auto"
            Trees may test row counts of levels. "auto": of nominal columns with "ordered" tests. The model computes
            these columns itself; no table needs to have them. With constraints and sparse tables there are none.
        missing : {"direction", "error"}, default "direction"
            The branch that missing values follow, or that they are refused. It is the branch with the larger gain.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class RandomForestRegressor:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = 1.0,
        max_features_per_tree: float | str | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool | Callable[[np.ndarray, np.ndarray], float] = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        max_samples: float | None = None,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        quantiles: bool = False,
        max_bins: int = 255,
        level_encoding: str = "auto",
        derived_columns: str = "auto",
        missing: str = "direction",
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        n_estimators : int >= 1, default 100
            Trees.
        criterion : {"squared_error", "absolute_error", "poisson"}, default "squared_error"
            What a split minimises: the variance, the mean distance to the median, or half the Poisson deviance. Trees
            of a random forest with "absolute_error" are grown on the values themselves, not on bins, which is much
            slower; they take more memory.
        max_depth : int >= 1, optional
            Depth of the deepest leaf; the root has depth 0.
        min_samples_split : int >= 2 or float in (0, 1], default 2
            Rows a node needs to be split. A float is a share of the rows of the tree, rounded up. A row that was drawn
            twice counts as two.
        min_samples_leaf : int >= 1 or float in (0, 1), default 1
            Rows a branch needs.
        min_weight_fraction_leaf : float in [0, 0.5], default 0.0
            Share of the whole weight a branch needs.
        max_features : int >= 1, float in (0, 1], {"sqrt", "log2"} or None, default 1.0
            Columns sampled for each node. 1.0 and None take all, as in scikit-learn. Breiman 2001 has a third.
        max_features_per_tree : int >= 1, float in (0, 1] or {"sqrt", "log2"}, optional
            Columns sampled once for each tree, from which its nodes sample theirs; None is all. With
            ``max_features=None`` all nodes of a tree use the same columns.
        max_leaf_nodes : int >= 2, optional
            Grow best-first: the leaf whose split gains most is split next.
        min_impurity_decrease : float >= 0, default 0.0
            A split must lower the impurity of the tree's rows by this much. That of a node counts by its share of the
            weight.
        bootstrap : bool, default True
            Whether each tree samples its rows, with replacement. Else all rows are used.
        oob_score : bool or callable, default False
            Score each row by the trees that did not sample it; or a function of true and predicted targets. That is
            nearly as good as a test on new rows. The function replaces the score of ``score``.
        random_state : int, RandomState instance, optional
            Seed of all sampling; None means 0. Fits are reproducible.
        verbose : int, default 0
            Above 0 shows the progress on standard error. It is a bar on a terminal, otherwise a line now and then.
        warm_start : bool, default False
            A further fit with more n_estimators continues from this one. The result is that of one fit, so the table
            must be the same. Parameters that only shape a tree may change, such as ``max_depth`` or ``max_features``;
            the model's facts hold those of the last fit.
        max_samples : float in (0, 1] or int >= 1, optional
            Rows that each tree samples; None is as many as there are. A float is a share of all rows.
        monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
            Per column -1, 0 or 1: the prediction (of classes the positive one's) may only fall or rise with the column.
            One output.
        interaction_cst : sequence of groups of columns (names or positions), "pairwise", "no_interactions", optional
            Groups of columns that may be tested on one path from the root to a leaf. Columns in no group form one more
            group.
        quantiles : bool, default False
            Keep the targets in the model, for predict_quantile and predict_interval. At most 8 bytes for each row of
            each tree.
        max_bins : int from 2 to 255, default 255
            Bins of a column. One more is for missing cells. Cuts lie between bins; a column with fewer distinct values
            loses nothing.
        level_encoding : {"auto", "subsets", "ordered"}, default "auto"
            Nominal columns: subsets of levels, or the first levels in their order. "subsets" tests whether the level is
            one of these, "ordered" whether it is one of the first levels, in their order (as sorted, or as declared).
            "auto": subsets, but ordered for columns with more than 254 levels and for those with 32 levels or more and
            fewer than 32 rows per level, whose subsets would overfit. With ``criterion="absolute_error"`` always
            subsets.
        derived_columns : {"auto", "none"}, default "auto"
            Trees may test row counts of levels. "auto": of nominal columns with "ordered" tests. The model computes
            these columns itself; no table needs to have them. With constraints and sparse tables there are none.
        missing : {"direction", "error"}, default "direction"
            The branch that missing values follow, or that they are refused. It is the branch with the larger gain.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class ExtraTreesClassifier:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = "sqrt",
        max_features_per_tree: float | str | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[[np.ndarray, np.ndarray], float] = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None = None,
        positive: Any = None,
        max_samples: float | None = None,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        voting: str = "soft",
        max_bins: int = 255,
        level_encoding: str = "auto",
        derived_columns: str = "auto",
        missing: str = "direction",
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        n_estimators : int >= 1, default 100
            Trees.
        criterion : {"gini", "entropy", "log_loss", "misclassification"}, default "gini"
            What a split minimises. "log_loss" is "entropy".
        max_depth : int >= 1, optional
            Depth of the deepest leaf; the root has depth 0.
        min_samples_split : int >= 2 or float in (0, 1], default 2
            Rows a node needs to be split. A float is a share of the rows of the tree, rounded up. A row that was drawn
            twice counts as two.
        min_samples_leaf : int >= 1 or float in (0, 1), default 1
            Rows a branch needs.
        min_weight_fraction_leaf : float in [0, 0.5], default 0.0
            Share of the whole weight a branch needs.
        max_features : int >= 1, float in (0, 1], {"sqrt", "log2"} or None, default "sqrt"
            Columns sampled for each node. None takes all.
        max_features_per_tree : int >= 1, float in (0, 1] or {"sqrt", "log2"}, optional
            Columns sampled once for each tree, from which its nodes sample theirs; None is all. With
            ``max_features=None`` all nodes of a tree use the same columns.
        max_leaf_nodes : int >= 2, optional
            Grow best-first: the leaf whose split gains most is split next.
        min_impurity_decrease : float >= 0, default 0.0
            A split must lower the impurity of the tree's rows by this much. That of a node counts by its share of the
            weight.
        bootstrap : bool, default False
            Whether each tree samples its rows, with replacement. Else all rows are used.
        oob_score : bool or callable, default False
            Score each row by the trees that did not sample it; or a function of true and predicted targets. That is
            nearly as good as a test on new rows. The function replaces the score of ``score``.
        random_state : int, RandomState instance, optional
            Seed of all sampling; None means 0. Fits are reproducible.
        verbose : int, default 0
            Above 0 shows the progress on standard error. It is a bar on a terminal, otherwise a line now and then.
        warm_start : bool, default False
            A further fit with more n_estimators continues from this one. The result is that of one fit, so the table
            must be the same. Parameters that only shape a tree may change, such as ``max_depth`` or ``max_features``;
            the model's facts hold those of the last fit.
        class_weight : dict, list of dict, "balanced", "balanced_subsample", optional
            Weights of the classes, applied after sampling; 'balanced_subsample': balanced in each tree. Neither the
            sampled rows nor limits in rows depend on them, and a common factor changes nothing.
        positive : class label, optional
            The positive class of two: constraints, costs, thresholds and curves are about it; None is the second.
        max_samples : float in (0, 1] or int >= 1, optional
            Rows that each tree samples; None is as many as there are. A float is a share of all rows.
        monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
            Per column -1, 0 or 1: the prediction (of classes the positive one's) may only fall or rise with the column.
            Two classes, one output.
        interaction_cst : sequence of groups of columns (names or positions), "pairwise", "no_interactions", optional
            Groups of columns that may be tested on one path from the root to a leaf. Columns in no group form one more
            group.
        voting : {"soft", "hard"}, default "soft"
            Average class probabilities, or one vote for each tree.
        max_bins : int from 2 to 255, default 255
            Bins of a column. One more is for missing cells. Cuts lie between bins; a column with fewer distinct values
            loses nothing.
        level_encoding : {"auto", "subsets", "ordered"}, default "auto"
            Nominal columns: subsets of levels, or the first levels in their order. "subsets" tests whether the level is
            one of these, "ordered" whether it is one of the first levels, in their order (as sorted, or as declared).
            "auto": subsets, but ordered for columns with more than 254 levels and for those with 32 levels or more and
            fewer than 32 rows per level, whose subsets would overfit. With ``criterion="absolute_error"`` always
            subsets.
        derived_columns : {"auto", "none"}, default "auto"
            Trees may test row counts of levels. "auto": of nominal columns with "ordered" tests. The model computes
            these columns itself; no table needs to have them. With constraints and sparse tables there are none.
        missing : {"direction", "error"}, default "direction"
            The branch that missing values follow, or that they are refused. It is the branch with the larger gain.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class ExtraTreesRegressor:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = 1.0,
        max_features_per_tree: float | str | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[[np.ndarray, np.ndarray], float] = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        max_samples: float | None = None,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        quantiles: bool = False,
        max_bins: int = 255,
        level_encoding: str = "auto",
        derived_columns: str = "auto",
        missing: str = "direction",
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        n_estimators : int >= 1, default 100
            Trees.
        criterion : {"squared_error", "absolute_error", "poisson"}, default "squared_error"
            What a split minimises: the variance, the mean distance to the median, or half the Poisson deviance. Trees
            of a random forest with "absolute_error" are grown on the values themselves, not on bins, which is much
            slower; they take more memory.
        max_depth : int >= 1, optional
            Depth of the deepest leaf; the root has depth 0.
        min_samples_split : int >= 2 or float in (0, 1], default 2
            Rows a node needs to be split. A float is a share of the rows of the tree, rounded up. A row that was drawn
            twice counts as two.
        min_samples_leaf : int >= 1 or float in (0, 1), default 1
            Rows a branch needs.
        min_weight_fraction_leaf : float in [0, 0.5], default 0.0
            Share of the whole weight a branch needs.
        max_features : int >= 1, float in (0, 1], {"sqrt", "log2"} or None, default 1.0
            Columns sampled for each node. 1.0 and None take all, as in scikit-learn. Breiman 2001 has a third.
        max_features_per_tree : int >= 1, float in (0, 1] or {"sqrt", "log2"}, optional
            Columns sampled once for each tree, from which its nodes sample theirs; None is all. With
            ``max_features=None`` all nodes of a tree use the same columns.
        max_leaf_nodes : int >= 2, optional
            Grow best-first: the leaf whose split gains most is split next.
        min_impurity_decrease : float >= 0, default 0.0
            A split must lower the impurity of the tree's rows by this much. That of a node counts by its share of the
            weight.
        bootstrap : bool, default False
            Whether each tree samples its rows, with replacement. Else all rows are used.
        oob_score : bool or callable, default False
            Score each row by the trees that did not sample it; or a function of true and predicted targets. That is
            nearly as good as a test on new rows. The function replaces the score of ``score``.
        random_state : int, RandomState instance, optional
            Seed of all sampling; None means 0. Fits are reproducible.
        verbose : int, default 0
            Above 0 shows the progress on standard error. It is a bar on a terminal, otherwise a line now and then.
        warm_start : bool, default False
            A further fit with more n_estimators continues from this one. The result is that of one fit, so the table
            must be the same. Parameters that only shape a tree may change, such as ``max_depth`` or ``max_features``;
            the model's facts hold those of the last fit.
        max_samples : float in (0, 1] or int >= 1, optional
            Rows that each tree samples; None is as many as there are. A float is a share of all rows.
        monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
            Per column -1, 0 or 1: the prediction (of classes the positive one's) may only fall or rise with the column.
            One output.
        interaction_cst : sequence of groups of columns (names or positions), "pairwise", "no_interactions", optional
            Groups of columns that may be tested on one path from the root to a leaf. Columns in no group form one more
            group.
        quantiles : bool, default False
            Keep the targets in the model, for predict_quantile and predict_interval. At most 8 bytes for each row of
            each tree.
        max_bins : int from 2 to 255, default 255
            Bins of a column. One more is for missing cells. Cuts lie between bins; a column with fewer distinct values
            loses nothing.
        level_encoding : {"auto", "subsets", "ordered"}, default "auto"
            Nominal columns: subsets of levels, or the first levels in their order. "subsets" tests whether the level is
            one of these, "ordered" whether it is one of the first levels, in their order (as sorted, or as declared).
            "auto": subsets, but ordered for columns with more than 254 levels and for those with 32 levels or more and
            fewer than 32 rows per level, whose subsets would overfit. With ``criterion="absolute_error"`` always
            subsets.
        derived_columns : {"auto", "none"}, default "auto"
            Trees may test row counts of levels. "auto": of nominal columns with "ordered" tests. The model computes
            these columns itself; no table needs to have them. With constraints and sparse tables there are none.
        missing : {"direction", "error"}, default "direction"
            The branch that missing values follow, or that they are refused. It is the branch with the larger gain.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class BaggingClassifier:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = 1.0,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        voting: str = "soft",
        positive: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        estimator : classifier, optional
            Estimator of which members are copies; None is a tree. Treewright's or any other with ``fit``, ``predict``
            and ``get_params``. It is copied, never fitted itself. Each copy gets seeds of its own for its
            ``random_state``.
        n_estimators : int >= 1, default 10
            Members: copies of the estimator.
        max_samples : int >= 1, float in (0, 1] or None, default 1.0
            Rows that each member samples. A share is rounded, and at least one row; None is 1.0.
        max_features : int >= 1 or float in (0, 1], default 1.0
            Columns that each member gets. They are sampled. A share is rounded down, and at least one column.
        bootstrap : bool, default True
            Whether rows are sampled with replacement. Without it, a row is in a member's sample at most once
            (*pasting*).
        bootstrap_features : bool, default False
            Whether columns are sampled with replacement. A column that is drawn twice gets a second name, "age (2)".
        oob_score : bool, default False
            Score rows by the members that did not sample them. See the attributes.
        warm_start : bool, default False
            A further fit with more n_estimators continues from this one. The result is that of one fit: the table must
            be the same, and so must all parameters but ``n_estimators``, ``oob_score``, ``voting``, ``n_jobs`` and
            ``verbose``.
        random_state : int, RandomState instance, optional
            Seed of all sampling; None means 0. Fits are reproducible.
        verbose : int, default 0
            Above 0 shows the progress on standard error. It is a bar on a terminal, otherwise a line now and then.
        voting : {"soft", "hard"}, default "soft"
            Average class probabilities, or one vote for each member. Members without ``predict_proba`` vote.
        positive : class label, optional
            The positive class of two: constraints, costs, thresholds and curves are about it; None is the second.
        n_jobs : int, optional
            Threads; None is all processors. Members are fitted on them. None is one if the base is not Treewright's,
            because Python code blocks other threads. The members do not depend on it.
        """

class BaggingRegressor:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = 1.0,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        estimator : regressor, optional
            Estimator of which members are copies; None is a tree. Treewright's or any other with ``fit``, ``predict``
            and ``get_params``. It is copied, never fitted itself. Each copy gets seeds of its own for its
            ``random_state``.
        n_estimators : int >= 1, default 10
            Members: copies of the estimator.
        max_samples : int >= 1, float in (0, 1] or None, default 1.0
            Rows that each member samples. A share is rounded, and at least one row; None is 1.0.
        max_features : int >= 1 or float in (0, 1], default 1.0
            Columns that each member gets. They are sampled. A share is rounded down, and at least one column.
        bootstrap : bool, default True
            Whether rows are sampled with replacement. Without it, a row is in a member's sample at most once
            (*pasting*).
        bootstrap_features : bool, default False
            Whether columns are sampled with replacement. A column that is drawn twice gets a second name, "age (2)".
        oob_score : bool, default False
            Score rows by the members that did not sample them. See the attributes.
        warm_start : bool, default False
            A further fit with more n_estimators continues from this one. The result is that of one fit: the table must
            be the same, and so must all parameters but ``n_estimators``, ``oob_score``, ``voting``, ``n_jobs`` and
            ``verbose``.
        random_state : int, RandomState instance, optional
            Seed of all sampling; None means 0. Fits are reproducible.
        verbose : int, default 0
            Above 0 shows the progress on standard error. It is a bar on a terminal, otherwise a line now and then.
        n_jobs : int, optional
            Threads; None is all processors. Members are fitted on them. None is one if the base is not Treewright's,
            because Python code blocks other threads. The members do not depend on it.
        """

class GradientBoostingClassifier:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        n_estimators: int | str = "auto",
        *,
        quality: str = "balanced",
        learning_rate: float | str = "auto",
        loss: Any = "log_loss",
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        growth: str = "auto",
        min_samples_leaf: int | str = "auto",
        min_child_weight: float = 0.001,
        l1: float = 0.0,
        l2: float = 3.0,
        min_gain: float = 0.0,
        subsample: float | str = "auto",
        sampling: str = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        features_per_tree: float = 1.0,
        features_per_level: float = 1.0,
        features_per_node: float | str = "auto",
        max_bins: int = 255,
        level_encoding: str = "auto",
        level_smoothing: float = 10.0,
        level_l2: float = 1.0,
        derived_columns: str = "auto",
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None = None,
        positive: Any = None,
        init: float | Sequence[float] | str | None = None,
        early_stopping: bool | str = "auto",
        validation_fraction: float | str | None = "auto",
        n_members: int | str = "auto",
        n_iter_no_change: int | str = "auto",
        tol: float = 0.0,
        scoring: str | Callable[[Any, Any], float] | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        n_estimators : "auto" or int >= 1, default "auto"
            Rounds; each grows one tree per score. One score for two classes, one per class for more.
        quality : {"fast", "balanced", "best"}, default "balanced"
            What 'auto' stands for: longer fits predict better. A parameter that is set keeps its value. "fast": one
            model of 100 rounds. "balanced": up to 20,000 rows, two groups of five models whose scores are averaged,
            symmetric trees and leaf-wise ones on sampled rows and columns, each stopped on a fifth of the rows and
            replayed on all; for more rows, one model of 300 rounds. "best": four groups of ten up to 20,000 rows, of
            five up to 100,000. The table is in docs/guides/many-trees/boosting.md.
        learning_rate : "auto" or float in (0, 1], default "auto"
            Share of each tree that is added. "auto" is 0.05, or 0.1 for members and with ``quality="fast"``; that of
            members doubles after every 50 rounds, up to 0.4. A smaller rate needs more rounds, and often predicts
            better.
        loss : "log_loss", callable or object, default "log_loss"
            What rounds lower: a name, or a function or object of your own. A function ``(y, raw)`` returns gradient and
            hessian of each row as arrays; an object has ``gradients(y, raw)`` and, if it is to be evaluated, ``value(y,
            raw)``, the loss of each row. ``y`` are codes, int32[n], in the order of ``classes_``; ``raw`` and both
            arrays of gradients float64[n] for two classes, [n, n_classes] for more. Other shapes and numbers that are
            not finite are refused; your own exceptions are raised with a note of the shapes.
        max_leaf_nodes : int >= 2 or None, default 31
            Leaves of a tree; not for symmetric trees. There ``max_depth`` decides.
        max_depth : int >= 1, optional
            Depth of the deepest leaf; the root has depth 0. None is 6 for symmetric trees, and no limit for others.
        growth : {"auto", "leaf", "level", "symmetric"}, default "auto"
            Which node is split next: the one with the largest gain, the highest, or a whole level by one test. "auto"
            is "leaf" for one model.
        min_samples_leaf : "auto" or int >= 1, default "auto"
            Rows a branch needs; 'auto': 20, or a third of the rows if these are fewer than 60. A row with a whole
            weight k counts as k rows.
        min_child_weight : float >= 0, default 0.001
            Sum of hessians a branch needs. In the unit of the weights.
        l1 : float >= 0, default 0.0
            Subtracted from a leaf's gradient. Towards 0: it shrinks the leaf's value.
        l2 : float >= 0, default 3.0
            Added to a leaf's hessian. It shrinks the leaf's value.
        min_gain : float >= 0, default 0.0
            Gain that a split needs.
        subsample : "auto" or float in (0, 1], default "auto"
            Rows sampled for each round. Without replacement; "auto" is 1 for one model.
        sampling : {"uniform", "gradient", "minimal_variance"}, default "uniform"
            'gradient': the rows of the largest gradients and others; 'minimal_variance': in proportion to them.
            "gradient": each round uses the rows with the largest gradients (``top_rate`` of all) and samples
            ``other_rate`` of all from the others, which weigh more (Ke et al. 2017). "minimal_variance": each round
            samples the share ``subsample`` of the rows on average (by default half), each with a chance in proportion
            to the size of its gradient and hessian; rows with a small chance weigh more (Ibragimov and Gusev 2019).
        top_rate : float in (0, 1], default 0.2
            Kept rows, those of the largest gradients.
        other_rate : float in (0, 1], default 0.1
            Other rows that are sampled.
        features_per_tree : float in (0, 1], default 1.0
            Columns sampled for each tree. At least one column.
        features_per_level : float in (0, 1], default 1.0
            Columns sampled for each depth. Of the tree's. At least one column.
        features_per_node : "auto" or float in (0, 1], default "auto"
            Columns sampled for each node. Of those of its depth. At least one column. "auto" is 0.7 for one model.
        max_bins : int from 2 to 255, default 255
            Bins of a column. One more is for missing cells. Cuts lie between bins; a column with fewer distinct values
            loses nothing.
        level_encoding : {"auto", "subsets", "ordered"}, default "auto"
            Nominal columns: subsets of levels, or levels ordered by a statistic of the target. "subsets" tests whether
            the level is one of these. "ordered": the statistic of a row does not use its own target (Prokhorenkova et
            al. 2018). "auto": subsets for columns with few levels, ordered for many (see Notes). Ordered only for two
            classes.
        level_smoothing : float >= 0, default 10.0
            Shrinks levels with few rows in the search for subsets of levels. It is added to the hessian of each level
            when levels are ordered.
        level_l2 : float >= 0, default 1.0
            Added to l2 in subset tests.
        derived_columns : {"auto", "all", "none"}, default "auto"
            Trees may test row counts of levels, members also combinations of columns. "all": the row count of a level
            (of nominal columns with 30 levels or more), and for members the sums, differences, products and ratios of
            two numeric columns, the pairs of levels of two nominal ones (both from 500 rows on) and a linear score of
            all columns (from 100 rows on), if these lower the loss of the held-out rows. The model computes these
            columns itself; no table needs to have them. With constraints and sparse tables there are none. "auto" is
            "all" if ``quality`` makes members.
        monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
            Per column -1, 0 or 1: the prediction (of classes the positive one's) may only fall or rise with the column.
            Two classes, one output.
        interaction_cst : sequence of groups of columns (names or positions), "pairwise", "no_interactions", optional
            Groups of columns that may be tested on one path from the root to a leaf. A group has at most 64. Columns in
            no group form one more group.
        class_weight : dict, list of dict, "balanced", optional
            Weights of the classes: a dict from label to weight, 'balanced', or a list of them. "balanced" counts all
            rows that are given. A weight multiplies gradients; for ``min_samples_leaf`` a row counts as one in any
            class.
        positive : class label, optional
            The positive class of two: constraints, costs, thresholds and curves are about it; None is the second.
        init : None, "zero", float or sequence of floats, optional
            Initial scores: None is the best constant; 'zero', a number, or one per score.
        early_stopping : "auto" or bool, default "auto"
            Stop when rounds no longer improve, and keep those up to the best. "auto": if there are members, or
            evaluation rows and no number of rounds.
        validation_fraction : "auto", float in (0, 1) or None, default "auto"
            Held-out rows that evaluate rounds; None: the training rows do. The same share of every class. "auto" is
            0.1, or 1 / ``n_members`` if ``quality`` makes members. Your own rows (``X_val``, ``y_val``) replace it.
        n_members : "auto" or int >= 1, default "auto"
            Models whose scores are averaged; each stops on held-out rows of its own. All stop at the round with the
            lowest loss on all held-out rows together, and are then replayed on all rows: the tests stay, the values of
            the leaves are computed anew. A round of such a model is one of a member. The order of the rows does not
            change the model, and neither does replacing a row of weight 2 by two rows, up to the last bits of its
            numbers; but the latter does if levels are ordered by a statistic, or with ``scoring``, which ignores
            weights.
        n_iter_no_change : "auto" or int >= 1, default "auto"
            Rounds to wait for an improvement. "auto" is 10.
        tol : float >= 0, default 0.0
            Smallest improvement that counts.
        scoring : str or callable, optional
            Evaluates rounds instead of the loss: a scikit-learn score by name, or a function of the true targets and
            predicted numbers or probabilities; higher is better. A score by name is "roc_auc", for example; one by
            ``get_scorer`` or as a metric (``sklearn.metrics.accuracy_score``) has its sign, and gets labels or
            probabilities as it needs. A function of your own gets the true labels, and for two classes the second's
            probability float64[n], for more classes float64[n, n_classes].
        callbacks : callable or sequence of them, optional
            Functions called after each round; one that returns True ends the growth. Each gets a
            ``treewright.boosting.rounds.Round``.
        warm_start : bool, default False
            A further fit with more n_estimators continues from this one. The result is that of one fit, so the table
            must be the same. Parameters that only shape a round may change, such as ``learning_rate`` or ``max_depth``;
            the model's facts hold those of the last fit.
        verbose : int, default 0
            Above 0 shows the progress on standard error. It is a bar on a terminal, otherwise a line now and then.
        random_state : int, RandomState instance, optional
            Seed of all sampling; None means 0. Fits are reproducible.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class GradientBoostingRegressor:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        n_estimators: int | str = "auto",
        *,
        quality: str = "balanced",
        learning_rate: float | str = "auto",
        loss: Any = "squared_error",
        quantile: float | Sequence[float] = 0.5,
        huber_delta: float | None = None,
        tweedie_power: float = 1.5,
        expectile: float = 0.5,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        growth: str = "auto",
        min_samples_leaf: int | str = "auto",
        min_child_weight: float = 0.001,
        l1: float = 0.0,
        l2: float = 3.0,
        min_gain: float = 0.0,
        subsample: float | str = "auto",
        sampling: str = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        features_per_tree: float = 1.0,
        features_per_level: float = 1.0,
        features_per_node: float | str = "auto",
        max_bins: int = 255,
        level_encoding: str = "auto",
        level_smoothing: float = 10.0,
        level_l2: float = 1.0,
        derived_columns: str = "auto",
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        init: float | Sequence[float] | str | None = None,
        early_stopping: bool | str = "auto",
        validation_fraction: float | str | None = "auto",
        n_members: int | str = "auto",
        n_iter_no_change: int | str = "auto",
        tol: float = 0.0,
        scoring: str | Callable[[Any, Any], float] | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        n_estimators : "auto" or int >= 1, default "auto"
            Rounds; each grows one tree per score. A score per output, or per level of several quantiles.
        quality : {"fast", "balanced", "best"}, default "balanced"
            What 'auto' stands for: longer fits predict better. A parameter that is set keeps its value. "fast": one
            model of 100 rounds. "balanced": up to 20,000 rows, two groups of five models whose scores are averaged,
            symmetric trees and leaf-wise ones on sampled rows and columns, each stopped on a fifth of the rows and
            replayed on all; for more rows, one model of 300 rounds. "best": four groups of ten up to 20,000 rows, of
            five up to 100,000. The table is in docs/guides/many-trees/boosting.md.
        learning_rate : "auto" or float in (0, 1], default "auto"
            Share of each tree that is added. "auto" is 0.05, or 0.1 for members and with ``quality="fast"``; that of
            members doubles after every 50 rounds, up to 0.4. A smaller rate needs more rounds, and often predicts
            better.
        loss : str, callable or object, default "squared_error"
            What rounds lower: a name, or a function or object of your own. So they decide what is predicted:
            "squared_error" means; "absolute_error" medians; "huber" between the two; "quantile" quantiles; "expectile"
            expectiles; "poisson" means of counts; "gamma" and "tweedie" means of numbers above 0, and from 0 on, that
            vary more the larger they are. A function ``(y, raw)`` returns gradient and hessian of each row as arrays;
            an object has ``gradients(y, raw)`` and, if it is to be evaluated, ``value(y, raw)``, the loss of each row;
            it may have a ``link``. ``y`` is one output as float64[n], ``raw`` and both arrays of gradients float64[n]
            too, or [n, n_scores] if the object has ``n_scores``. Other shapes and numbers that are not finite are
            refused; your own exceptions are raised with a note of the shapes.
        quantile : float or ascending sequence of floats, above 0 and below 1, default 0.5
            Level of loss='quantile'; or several, ascending. Several levels are one model with a prediction for each,
            ascending in every row; one target.
        huber_delta : float > 0, optional
            For loss='huber': the error from which on the loss is linear. None: nine tenths of the distances to the
            median are smaller.
        tweedie_power : float in (1, 2), default 1.5
            Power of loss='tweedie'.
        expectile : float in (0, 1), default 0.5
            Level of loss='expectile'.
        max_leaf_nodes : int >= 2 or None, default 31
            Leaves of a tree; not for symmetric trees. There ``max_depth`` decides.
        max_depth : int >= 1, optional
            Depth of the deepest leaf; the root has depth 0. None is 6 for symmetric trees, and no limit for others.
        growth : {"auto", "leaf", "level", "symmetric"}, default "auto"
            Which node is split next: the one with the largest gain, the highest, or a whole level by one test. "auto"
            is "leaf" for one model.
        min_samples_leaf : "auto" or int >= 1, default "auto"
            Rows a branch needs; 'auto': 20, or a third of the rows if these are fewer than 60. A row with a whole
            weight k counts as k rows.
        min_child_weight : float >= 0, default 0.001
            Sum of hessians a branch needs. In the unit of the weights; for "poisson" and "tweedie" in that of the
            target.
        l1 : float >= 0, default 0.0
            Subtracted from a leaf's gradient. It shrinks the leaf's value, but not the leaves of "absolute_error" and
            "quantile", which are quantiles of their rows. It is subtracted towards 0.
        l2 : float >= 0, default 3.0
            Added to a leaf's hessian. It shrinks the leaf's value, but not the leaves of "absolute_error" and
            "quantile", which are quantiles of their rows.
        min_gain : float >= 0, default 0.0
            Gain that a split needs.
        subsample : "auto" or float in (0, 1], default "auto"
            Rows sampled for each round. Without replacement; "auto" is 1 for one model.
        sampling : {"uniform", "gradient", "minimal_variance"}, default "uniform"
            'gradient': the rows of the largest gradients and others; 'minimal_variance': in proportion to them.
            "gradient": each round uses the rows with the largest gradients (``top_rate`` of all) and samples
            ``other_rate`` of all from the others, which weigh more (Ke et al. 2017). "minimal_variance": each round
            samples the share ``subsample`` of the rows on average (by default half), each with a chance in proportion
            to the size of its gradient and hessian; rows with a small chance weigh more (Ibragimov and Gusev 2019).
        top_rate : float in (0, 1], default 0.2
            Kept rows, those of the largest gradients.
        other_rate : float in (0, 1], default 0.1
            Other rows that are sampled.
        features_per_tree : float in (0, 1], default 1.0
            Columns sampled for each tree. At least one column.
        features_per_level : float in (0, 1], default 1.0
            Columns sampled for each depth. Of the tree's. At least one column.
        features_per_node : "auto" or float in (0, 1], default "auto"
            Columns sampled for each node. Of those of its depth. At least one column. "auto" is 0.7 for one model.
        max_bins : int from 2 to 255, default 255
            Bins of a column. One more is for missing cells. Cuts lie between bins; a column with fewer distinct values
            loses nothing.
        level_encoding : {"auto", "subsets", "ordered"}, default "auto"
            Nominal columns: subsets of levels, or levels ordered by a statistic of the target. "subsets" tests whether
            the level is one of these. "ordered": the statistic of a row does not use its own target (Prokhorenkova et
            al. 2018). "auto": subsets for columns with few levels, ordered for many (see Notes). Ordered only for one
            output.
        level_smoothing : float >= 0, default 10.0
            Shrinks levels with few rows in the search for subsets of levels. It is added to the hessian of each level
            when levels are ordered.
        level_l2 : float >= 0, default 1.0
            Added to l2 in subset tests.
        derived_columns : {"auto", "all", "none"}, default "auto"
            Trees may test row counts of levels, members also combinations of columns. "all": the row count of a level
            (of nominal columns with 30 levels or more), and for members the sums, differences, products and ratios of
            two numeric columns, the pairs of levels of two nominal ones (both from 500 rows on) and a linear score of
            all columns (from 100 rows on), if these lower the loss of the held-out rows. The model computes these
            columns itself; no table needs to have them. With constraints and sparse tables there are none. "auto" is
            "all" if ``quality`` makes members.
        monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
            Per column -1, 0 or 1: the prediction (of classes the positive one's) may only fall or rise with the column.
            One output.
        interaction_cst : sequence of groups of columns (names or positions), "pairwise", "no_interactions", optional
            Groups of columns that may be tested on one path from the root to a leaf. A group has at most 64. Columns in
            no group form one more group.
        init : None, "zero", float or sequence of floats, optional
            Initial scores: None is the best constant; 'zero', a number, or one per score. Scores are logarithms of
            predictions for "poisson", "gamma" and "tweedie".
        early_stopping : "auto" or bool, default "auto"
            Stop when rounds no longer improve, and keep those up to the best. "auto": if there are members, or
            evaluation rows and no number of rounds.
        validation_fraction : "auto", float in (0, 1) or None, default "auto"
            Held-out rows that evaluate rounds; None: the training rows do. The same share of every class. "auto" is
            0.1, or 1 / ``n_members`` if ``quality`` makes members. Your own rows (``X_val``, ``y_val``) replace it.
        n_members : "auto" or int >= 1, default "auto"
            Models whose scores are averaged; each stops on held-out rows of its own. All stop at the round with the
            lowest loss on all held-out rows together, and are then replayed on all rows: the tests stay, the values of
            the leaves are computed anew. A round of such a model is one of a member. The order of the rows does not
            change the model, and neither does replacing a row of weight 2 by two rows, up to the last bits of its
            numbers; but the latter does if levels are ordered by a statistic, or with ``scoring``, which ignores
            weights.
        n_iter_no_change : "auto" or int >= 1, default "auto"
            Rounds to wait for an improvement. "auto" is 10.
        tol : float >= 0, default 0.0
            Smallest improvement that counts.
        scoring : str or callable, optional
            Evaluates rounds instead of the loss: a scikit-learn score by name, or a function of the true targets and
            predicted numbers or probabilities; higher is better. A score by name is "r2", for example; one by
            ``get_scorer`` has its sign.
        callbacks : callable or sequence of them, optional
            Functions called after each round; one that returns True ends the growth. Each gets a
            ``treewright.boosting.rounds.Round``.
        warm_start : bool, default False
            A further fit with more n_estimators continues from this one. The result is that of one fit, so the table
            must be the same. Parameters that only shape a round may change, such as ``learning_rate`` or ``max_depth``;
            the model's facts hold those of the last fit.
        verbose : int, default 0
            Above 0 shows the progress on standard error. It is a bar on a terminal, otherwise a line now and then.
        random_state : int, RandomState instance, optional
            Seed of all sampling; None means 0. Fits are reproducible.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class AdaBoostClassifier:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        bootstrap: bool = False,
        keep_row_weights: bool = False,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        positive: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        estimator : classifier, optional
            Estimator of which members are copies; None is a tree. Treewright's or any other with ``fit``, ``predict``
            and ``get_params``. It is copied, never fitted itself. Each copy gets seeds of its own for its
            ``random_state``. By default it is a tree of one test (a *stump*), ``DecisionTreeClassifier(max_depth=1)``.
            Its ``class_weight="balanced"`` is computed once, from the weights before the first round.
        n_estimators : int >= 1, default 50
            Members: copies of the estimator, at most so many.
        learning_rate : float > 0, default 1.0
            Factor of each member's weight. Below 1, the weights of rows change more slowly.
        bootstrap : bool, default False
            Sample rows by their weights instead of passing the weights on. As many rows as there are, with replacement,
            as in Drucker's paper. Needed for a base whose ``fit`` takes no ``sample_weight``.
        keep_row_weights : bool, default False
            Keep the weight of each row in each round: ``row_weights_``.
        warm_start : bool, default False
            A further fit with more n_estimators continues from this one. The result is that of one fit: the table must
            be the same, and so must all parameters but ``n_estimators``, ``n_jobs`` and ``verbose``.
        random_state : int, RandomState instance, optional
            Seed of all sampling; None means 0. Fits are reproducible.
        verbose : int, default 0
            Above 0 shows the progress on standard error. It is a bar on a terminal, otherwise a line now and then.
        positive : class label, optional
            The positive class of two: constraints, costs, thresholds and curves are about it; None is the second.
        n_jobs : int, optional
            Threads; None is all processors. Each tree grows on them. The members do not depend on it.
        """

class AdaBoostRegressor:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        bootstrap: bool = False,
        keep_row_weights: bool = False,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        estimator : regressor, optional
            Estimator of which members are copies; None is a tree. Treewright's or any other with ``fit``, ``predict``
            and ``get_params``. It is copied, never fitted itself. Each copy gets seeds of its own for its
            ``random_state``. By default it is ``DecisionTreeRegressor(max_depth=3)``.
        n_estimators : int >= 1, default 50
            Members: copies of the estimator, at most so many.
        learning_rate : float > 0, default 1.0
            Factor of each member's weight. Below 1, the weights of rows change more slowly.
        loss : {"linear", "square", "exponential"}, default "linear"
            How errors of predictions count. Of a row whose error is the share ``s`` of the largest error: ``s``,
            ``s**2`` or ``1 - exp(-s)``.
        bootstrap : bool, default False
            Sample rows by their weights instead of passing the weights on. As many rows as there are, with replacement,
            as in Drucker's paper. Needed for a base whose ``fit`` takes no ``sample_weight``.
        keep_row_weights : bool, default False
            Keep the weight of each row in each round: ``row_weights_``.
        warm_start : bool, default False
            A further fit with more n_estimators continues from this one. The result is that of one fit: the table must
            be the same, and so must all parameters but ``n_estimators``, ``n_jobs`` and ``verbose``.
        random_state : int, RandomState instance, optional
            Seed of all sampling; None means 0. Fits are reproducible.
        verbose : int, default 0
            Above 0 shows the progress on standard error. It is a bar on a terminal, otherwise a line now and then.
        n_jobs : int, optional
            Threads; None is all processors. Each tree grows on them. The members do not depend on it.
        """

class KNeighborsClassifier:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: str | Callable[[np.ndarray], Any] | None = "uniform",
        metric: str | Callable[[np.ndarray, np.ndarray], float] = "auto",
        p: float = 2.0,
        metric_params: Mapping[str, Any] | None = None,
        scale: Any = None,
        algorithm: str = "auto",
        positive: Any = None,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "other",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        n_neighbors : int >= 1, default 5
            Number of neighbours. Of rows at equal distances the lower one is the nearer.
        weights : {"uniform", "distance", "triangular", "epanechnikov", "biweight", "tricube", "gaussian"}, callable or None, default "uniform"
            Weight of a neighbour's vote; None is uniform. "uniform": 1; "distance": 1 / distance, but if rows are at
            distance 0 only these count. The others are the kernels of Hechenbichler and Schliep (2004), of distance
            over the distance of the neighbour after the last. A function takes distances float64[n, n_neighbors] and
            returns weights of that shape. If all weights are 0, all count alike.
        metric : str or callable, default "auto"
            Distance between rows, by name or as a function. "euclidean", "manhattan", "chebyshev", "minkowski",
            "mahalanobis", "cosine", "angle", "correlation", "hamming", "jaccard", "canberra"; for columns of several
            kinds and missing cells "gower", "heom", "hvdm"; for numbers with missing cells "nan_euclidean", the root of
            the sum of squares over the columns present in both rows, times p over their number. "auto" is "minkowski"
            (with p=2: euclidean) if all columns are numeric and no cell is missing, else HEOM. "precomputed": cells are
            distances, at fit between all its rows, later from each row to each of those. A function takes two
            float64[p] and returns a distance.
        p : float >= 1, default 2.0
            The power of metric='minkowski', and of 'auto' for numbers. 1 is manhattan, 2 euclidean, infinity chebyshev.
            Refused with a metric that has no such power.
        metric_params : dict, optional
            Weights of the columns ('w'), or their covariance ('V') or its inverse ('VI'). See
            ``treewright.neighbors.metrics.metric_of``.
        scale : {"standard", "range", "robust"}, p numbers, optional
            Scaling of columns before they are compared: 'standard', 'range', 'robust', or a number per column. By name,
            one over the standard deviation, the range or the interquartile range; their mean, lowest cell or median is
            subtracted first, which matters only to "cosine", "angle", "correlation" and "canberra".
        algorithm : {"auto", "brute", "kd_tree"}, default "auto"
            How the nearest are found: 'brute' or 'kd_tree'; the result is the same.
        positive : class label, optional
            The positive class of two: constraints, costs, thresholds and curves are about it; None is the second.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"other", "missing", "error"}, default "other"
            How a level that fit never saw is treated: as a level that differs from every other one, as a missing cell,
            or as an error. An ordinal column has no place for such a level: there "other" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class KNeighborsRegressor:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: str | Callable[[np.ndarray], Any] | None = "uniform",
        metric: str | Callable[[np.ndarray, np.ndarray], float] = "auto",
        p: float = 2.0,
        metric_params: Mapping[str, Any] | None = None,
        scale: Any = None,
        algorithm: str = "auto",
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "other",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        n_neighbors : int >= 1, default 5
            Number of neighbours. Of rows at equal distances the lower one is the nearer.
        weights : {"uniform", "distance", "triangular", "epanechnikov", "biweight", "tricube", "gaussian"}, callable or None, default "uniform"
            Weight of a neighbour's vote; None is uniform. "uniform": 1; "distance": 1 / distance, but if rows are at
            distance 0 only these count. The others are the kernels of Hechenbichler and Schliep (2004), of distance
            over the distance of the neighbour after the last. A function takes distances float64[n, n_neighbors] and
            returns weights of that shape. If all weights are 0, all count alike.
        metric : str or callable, default "auto"
            Distance between rows, by name or as a function. "euclidean", "manhattan", "chebyshev", "minkowski",
            "mahalanobis", "cosine", "angle", "correlation", "hamming", "jaccard", "canberra"; for columns of several
            kinds and missing cells "gower", "heom", "hvdm"; for numbers with missing cells "nan_euclidean", the root of
            the sum of squares over the columns present in both rows, times p over their number. "auto" is "minkowski"
            (with p=2: euclidean) if all columns are numeric and no cell is missing, else HEOM. "precomputed": cells are
            distances, at fit between all its rows, later from each row to each of those. A function takes two
            float64[p] and returns a distance.
        p : float >= 1, default 2.0
            The power of metric='minkowski', and of 'auto' for numbers. 1 is manhattan, 2 euclidean, infinity chebyshev.
            Refused with a metric that has no such power.
        metric_params : dict, optional
            Weights of the columns ('w'), or their covariance ('V') or its inverse ('VI'). See
            ``treewright.neighbors.metrics.metric_of``.
        scale : {"standard", "range", "robust"}, p numbers, optional
            Scaling of columns before they are compared: 'standard', 'range', 'robust', or a number per column. By name,
            one over the standard deviation, the range or the interquartile range; their mean, lowest cell or median is
            subtracted first, which matters only to "cosine", "angle", "correlation" and "canberra".
        algorithm : {"auto", "brute", "kd_tree"}, default "auto"
            How the nearest are found: 'brute' or 'kd_tree'; the result is the same.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"other", "missing", "error"}, default "other"
            How a level that fit never saw is treated: as a level that differs from every other one, as a missing cell,
            or as an error. An ordinal column has no place for such a level: there "other" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """

class IsolationForest:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: float | str = "auto",
        contamination: float | str = "auto",
        max_features: float = 1.0,
        bootstrap: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        """
        Parameters
        ----------
        n_estimators : int >= 1, default 100
            Trees.
        max_samples : "auto", int >= 1 or float in (0, 1], default "auto"
            Rows that each tree samples; 'auto' is 256, or all if there are fewer. A float is a share of all rows.
        contamination : "auto" or float in (0, 0.5], default "auto"
            Share of the training rows that are outliers; 'auto': those with a score below -0.5. If columns have few
            different values (levels, for example) or evenly spaced ones, that can be most of the rows: then there is a
            warning.
        max_features : int >= 1 or float in (0, 1], default 1.0
            Columns that each tree samples.
        bootstrap : bool, default False
            Whether rows are sampled with replacement.
        random_state : int, RandomState instance, optional
            Seed of all sampling; None means 0. Fits are reproducible.
        verbose : int, default 0
            Above 0 shows the progress on standard error. It is a bar on a terminal, otherwise a line now and then.
        warm_start : bool, default False
            A further fit with more n_estimators continues from this one. The result is that of one fit: the table must
            be the same, and so must the parameters that trees depend on.
        nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
            Nominal columns, whose values are names; 'all' for every column.
        ordinal : dict from column name or position to its levels, optional
            Ordinal columns: their levels, lowest first.
        numeric : sequence of column names or positions, optional
            Numeric columns, if their type does not say so.
        calendar : sequence of parts of dates, or mapping from column name or position to these, optional
            Parts of dates, such as month, as columns of their own: of every column of dates that has them, or of those
            that are named: "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
        unseen : {"missing", "error", "majority"}, default "missing"
            How a level that fit never saw is treated: as a missing cell, as an error, or as a cell that takes the
            heavier branch. An ordinal column has no place for such a level: there "majority" is "missing".
        n_jobs : int, optional
            Threads; None is all processors. The model does not depend on it.
        """
