"""What classifiers share. In: labels. Out: codes, weights by class, probabilities, the model.

Callers: estimators.tree, estimators.id3, estimators.c45, estimators.chaid, estimators.forest.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import ClassifierMixin

from treewright.core import notices
from treewright.data.target import Labels, encode_labels
from treewright.data.weights import Factors, factors_by_code, is_weight
from treewright.estimators.base import Estimator
from treewright.estimators.constraints import Words
from treewright.estimators.single import TreeEstimator
from treewright.estimators.table import FitTable
from treewright.estimators.table_estimator import TableEstimator
from treewright.exceptions import ParameterError
from treewright.model import Model

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from treewright.tree.model import Unseen


class ClassifierVerbs(ClassifierMixin, TableEstimator):
    """What a classifier says beside its labels, around a model of whatever kind."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def predict_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Share of each class where the row ends.

        Returns
        -------
        float64[n, n_classes], or a list of them for several outputs
            In the order of ``classes_``; rows sum to one.
        """
        return self._fitted().predict_proba(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    def predict_log_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Natural logarithm of ``predict_proba``; -inf for a class of share 0."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(share) for share in shares] if isinstance(shares, list) else np.log(shares)

    def _encode_target(self, y: Any) -> Labels:
        labels = encode_labels(y)
        self._warn_column_vector(labels)
        return labels

    def _n_outputs(self, target: Labels) -> int:
        return target.codes.shape[1]

    def _keep_classes(self, classes: tuple[np.ndarray, ...]) -> None:
        """Keep ``classes_`` and ``n_classes_`` as scikit-learn has them."""
        several, counts = len(classes) > 1, [len(labels) for labels in classes]
        self.classes_ = list(classes) if several else classes[0]
        self.n_classes_ = counts if several else counts[0]


class Classifier(ClassifierVerbs, Estimator):
    """A classifier around a model of trees."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "class_weight": [dict, list, Words({"balanced"}), None],
    }
    class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : table of n rows and p columns
            Array, dict of columns, list of rows, sparse matrix, or a pandas, polars or pyarrow table. Never modified.
        y : n labels of any hashable type, or n x n_outputs of them
        sample_weight : n numbers >= 0, optional

        Returns
        -------
        self

        Raises
        ------
        DataError
            A column, cell, label or weight was refused; the message says which and what to do.
        ParameterError
            A parameter is outside its range.
        TooLargeError
            The work would not fit in memory.
        """
        return self._fit(X, y, sample_weight)

    def _rows_of(self, target: Labels, kept: np.ndarray) -> Labels:
        return target._replace(codes=target.codes[kept])

    def _class_factors(self, target: Labels, weights: np.ndarray | None) -> Factors | None:
        if self.class_weight is None:
            return None
        n_outputs = target.codes.shape[1]
        if isinstance(self.class_weight, list) and len(self.class_weight) != n_outputs:
            raise ParameterError(f"class_weight lists {len(self.class_weight)} outputs, y has {n_outputs}")
        given = self.class_weight if isinstance(self.class_weight, list) else [self.class_weight] * n_outputs
        if isinstance(self.class_weight, dict) and n_outputs > 1:
            raise ParameterError("class_weight: give a list with one dict per output, or 'balanced'")
        by_output: list[Any] = []
        for labels, weight in zip(target.classes, given, strict=True):
            if isinstance(weight, dict):
                refuse_no_factors(weight)
                known = set(labels.tolist())
                unknown = [label for label in weight if label not in known]
                if unknown:
                    # No error: a fold of a cross-validation may lack a rare class.
                    notices.warn(
                        f"class_weight names labels that y does not hold: {unknown}; y holds {labels.tolist()}"
                    )
                by_output.append(weight.items())
            elif weight == "balanced":
                by_output.append(weight)
            else:
                raise ParameterError(f"class_weight lists {weight!r}; each output takes a dict or 'balanced'")
        return factors_by_code(by_output, target.codes, target.classes, weights)

    def _n_classes(self, target: Labels) -> tuple[int, ...]:
        return tuple(len(labels) for labels in target.classes)

    def _make_model(self, table: FitTable, trees: Any, facts: Mapping[str, Any]) -> Model:
        target = cast("Labels", table.target)
        self._keep_classes(target.classes)
        return Model(
            task="classification",
            schema=table.schema,
            trees=trees,
            classes=target.classes,
            n_outputs=len(target.classes),
            combine=self._combine(),
            unseen=cast("Unseen", self.unseen),
            missing=self._missing(),
            target_names=target.names,
            facts=dict(facts),
        )


class ClassifierTree(Classifier, TreeEstimator):
    """A classifier around one grown tree."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeEstimator._parameter_constraints,
        **Classifier._parameter_constraints,
    }


def refuse_no_factors(weight: Mapping[Hashable, Any]) -> None:
    """Refuse class weights that are not finite numbers >= 0.

    Raises
    ------
    ParameterError
    """
    for label, factor in weight.items():
        if not is_weight(factor):
            raise ParameterError(f"class_weight must be finite and >= 0 for every class, not {factor!r} for {label!r}")
