"""C4.5 for scikit-learn. In: parameters, a table, class labels. Out: ``C45Classifier``. Callers: users, cli."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, cast

from sklearn.utils._param_validation import Interval

from treewright.estimators.classifier import ClassifierTree
from treewright.estimators.constraints import Number, Words
from treewright.exceptions import ParameterError
from treewright.grow.by_node.grower import Stops, grow_by_node
from treewright.grow.by_node.policies import count_of
from treewright.prune.error_based import prune_error_based

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from treewright.data.target import Labels
    from treewright.estimators.table import FitTable
    from treewright.grow.by_node.grower import Step
    from treewright.tree.arrays import Tree


class C45Classifier(ClassifierTree):
    """Quinlan's C4.5: gain ratio, a branch per level, fractional missing values, error-based pruning.

    Parameters
    ----------
    confidence : float in (0, 0.5], or None, default 0.25
        Level of the upper limit of a leaf's error; the smaller, the more is cut. None does not prune.
    subtree_raising : bool, default True
        Whether pruning may put a node's largest branch in its place.
    min_samples_leaf : int >= 1, or float in (0, 1), default 2
        Weight (rows, where there are no weights) that two branches at least need.
    max_depth : int >= 1, optional
    min_samples_split : int >= 2, or float in (0, 1], default 2
    max_p_value : float in (0, 1], optional
        A node stays a leaf whose chosen test has a larger p-value (chi-squared of branches and classes), times the
        number of tests that were possible there (Bonferroni). Weights, and parts of rows, count as numbers of rows.
    nominal_splits : {"multiway", "grouped"}, default "multiway"
        A branch per level, or levels merged into groups while the gain ratio does not fall.
    class_weight : dict, list of dict, "balanced", optional
    nominal : sequence of column names or positions, mapping from column to its levels, or "all", optional
    numeric : sequence of column names or positions, optional
    ordinal : dict from column name or position to its levels, lowest first, optional
        Cut like numbers.
    missing : {"fractional", "error"}, default "fractional"
        A missing value goes into every branch with a part of its weight, or is an error.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ClassifierTree._parameter_constraints,
        "confidence": [Interval(Real, 0.0, 0.5, closed="right"), None],
        "subtree_raising": ["boolean"],
        "max_p_value": [Number(Real, 0.0, 1.0, closed="right"), None],
        "nominal_splits": [Words({"multiway", "grouped"})],
        "missing": [Words({"fractional", "error"})],
    }
    _algorithm = "c45"

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
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        missing: str = "fractional",
        unseen: str = "missing",
        grow_trace: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.confidence = confidence
        self.subtree_raising = subtree_raising
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.max_p_value = max_p_value
        self.nominal_splits = nominal_splits
        self.class_weight = class_weight
        self.nominal = nominal
        self.ordinal = ordinal
        self.numeric = numeric
        self.missing = missing
        self.unseen = unseen
        self.grow_trace = grow_trace
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.classifier_tags.multi_label = False
        return tags

    def _criterion_name(self) -> str:
        return "gain_ratio"

    def _grow(self, table: FitTable, n_threads: int) -> tuple[Tree, tuple[Step, ...] | None]:  # noqa: ARG002 - this grower has one thread
        target = cast("Labels", table.target)
        if len(target.classes) > 1:
            raise ParameterError(
                f"C4.5 has one target, y has {len(target.classes)}: fit one tree each, or use DecisionTreeClassifier"
            )
        table.warn_of_small_weights("C4.5")
        problem = self._problem(table)
        stops = Stops(
            max_depth=self.max_depth,
            min_samples_split=max(2, count_of(self.min_samples_split, problem.n_rows)),
            max_p_value=None if self.max_p_value is None else float(self.max_p_value),
        )
        grown = grow_by_node(problem, self._policy(problem), stops, keep_trace=self.grow_trace)
        tree = grown.tree
        if self.confidence is not None:
            tree = prune_error_based(
                tree, table.matrix, target.codes[:, 0], table.weights,
                confidence=float(self.confidence), raising=bool(self.subtree_raising), schema=table.schema,
            )  # fmt: skip
        return tree, grown.trace if self.grow_trace else None
