"""ID3 for scikit-learn. In: parameters, a table, class labels. Out: ``ID3Classifier``. Callers: users, cli."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils._param_validation import Interval

from treewright.data.cells import shown
from treewright.estimators import resolve
from treewright.estimators.classifier import ClassifierTree
from treewright.estimators.constraints import Number, Words
from treewright.exceptions import ColumnError
from treewright.grow.by_node.grower import Stops, grow_by_node
from treewright.grow.by_node.policies import count_of

if TYPE_CHECKING:
    from treewright.data.schema import Schema
    from treewright.estimators.table import FitTable
    from treewright.grow.by_node.grower import Step
    from treewright.tree.arrays import Tree


class ID3Classifier(ClassifierTree):
    """Quinlan's first tree: the column of the largest information gain, and a branch for each of its levels.

    Parameters
    ----------
    max_depth : int >= 1, optional
    min_samples_split : int >= 2, or float in (0, 1], default 2
        Rows a node needs to be split; a float is a share of all rows, rounded up.
    min_samples_leaf : int >= 1, or float in (0, 1), default 1
        Rows each branch needs that has any.
    min_impurity_decrease : float >= 0, default 0.0
        A split must lower the entropy (in bits) by this much, weighted by the node's share of all weight. With 0 a
        split that gains nothing is allowed too: it may prepare one that does (XOR).
    max_p_value : float in (0, 1], optional
        A node stays a leaf whose chosen test has a larger p-value (chi-squared of branches and classes), times the
        number of columns that could be asked there (Bonferroni). Weights count as numbers of rows.
    class_weight : dict, list of dict, "balanced", optional
    nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
        Columns to take as nominal, whatever their type.
    numeric : sequence of column names or positions, optional
        Refused like any numeric column.
    ordinal : dict from column name or position to its levels, lowest first, optional
        Their levels are branches, in order.
    missing : {"branch", "direction", "fractional", "error"}, default "branch"
        Missing values are a branch of their own (the heaviest branch where the node saw none), join the branch
        where that costs least, go into every branch with a part of their weight, or are an error.
    unseen : {"missing", "error", "majority"}, default "missing"
        What a level that fit never saw is taken for at predict.
    grow_trace : bool, default False
        Keep what every node was offered: ``trace_`` tells how the tree grew.
    n_jobs : int, optional
        Threads for prediction.

    Attributes
    ----------
    model_ : Model
    classes_ : ndarray[n_classes], or a list of them for several outputs
    n_classes_, n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where the table had names that are all strings.
    tree_ : treewright.tree.arrays.Tree
    feature_importances_ : float64[n_features_in_]

    Notes
    -----
    Quinlan 1986, "Induction of decision trees". Information gain is in bits. A level that the column has but the node's
    rows lack gets a branch without rows, which predicts what the node does. A column is asked once on a path: after
    that it is constant. Growth stops at a pure node and where every column is constant. Ties: the lower column.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"sky": ["sun", "sun", "rain", "rain"], "wind": ["no", "yes", "no", "yes"]}
    >>> est = tw.ID3Classifier().fit(table, ["out", "out", "out", "in"])
    >>> print(est.predict({"sky": ["rain"], "wind": ["yes"]})[0])
    in
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ClassifierTree._parameter_constraints,
        "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
        "max_p_value": [Number(Real, 0.0, 1.0, closed="right"), None],
        "missing": [Words({"branch", "direction", "fractional", "error"})],
    }
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
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        missing: str = "branch",
        unseen: str = "missing",
        grow_trace: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_p_value = max_p_value
        self.class_weight = class_weight
        self.nominal = nominal
        self.ordinal = ordinal
        self.numeric = numeric
        self.missing = missing
        self.unseen = unseen
        self.grow_trace = grow_trace
        self.n_jobs = n_jobs

    def _criterion_name(self) -> str:
        return "entropy"

    def _grow(self, table: FitTable, n_threads: int) -> tuple[Tree, tuple[Step, ...] | None]:  # noqa: ARG002 - this grower has one thread
        refuse_numbers(table.schema)
        if self.max_p_value is not None:
            table.warn_of_small_weights("max_p_value")
        problem = self._problem(table)
        stops = Stops(
            max_depth=self.max_depth,
            min_samples_split=max(2, count_of(self.min_samples_split, problem.n_rows)),
            min_impurity_decrease=resolve.finite(self.min_impurity_decrease),
            max_p_value=None if self.max_p_value is None else float(self.max_p_value),
        )
        grown = grow_by_node(problem, self._policy(problem), stops, keep_trace=self.grow_trace)
        return grown.tree, grown.trace if self.grow_trace else None


def refuse_numbers(schema: Schema) -> None:
    """Refuse numeric columns: ID3 has no cuts.

    Raises
    ------
    ColumnError
        The message names the first such column, how many there are, and the remedies.
    """
    names = [column.name for column in schema.columns if column.kind == "numeric"]
    if names:
        others = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
        raise ColumnError(
            f"column {shown(names[0])}{others} is numeric, and ID3 only knows levels: discretise it (bins, or "
            f"nominal=[{shown(names[0])}] to make each number a level), or use C4.5 (C45Classifier), which cuts numbers"
        )
