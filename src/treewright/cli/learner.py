"""An algorithm with its parameters, ready to be fitted: what the command needs of an estimator, without scikit-learn.

Estimators are the same parameters and the same ``learn.train`` for scikit-learn, whose import takes longer than a small
fit. The command makes one only where it must (``algorithms.made``): for members of ensembles, pruning within the fit,
out-of-bag scores, reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from treewright.core.progress import compiling_announced
from treewright.learn.params import CLASSES
from treewright.learn.registry import Algorithm
from treewright.learn.train import Trained, check_domain, encoded_target, make_dataset, train

__all__ = ["Learner"]


class Learner:
    """One algorithm for one kind of target; after ``fit`` it holds a model.

    Attributes
    ----------
    name : str
        That of the estimator, for messages.
    params : Params
    model_ : Model, or NeighborsModel
    """

    _trained: Trained

    def __init__(self, algorithm: Algorithm, task: Any, values: Mapping[str, Any]) -> None:
        self._algorithm, self._task, self._values = algorithm, task, values
        self.name = algorithm.classifier if task == CLASSES else algorithm.regressor
        self.params = algorithm.params_class()(task=task, owner=self.name, **values)

    def __sklearn_clone__(self) -> Self:
        """An unfitted copy; the name is that of scikit-learn's protocol."""
        return type(self)(self._algorithm, self._task, self._values)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table and its target."""
        with compiling_announced():
            if self._algorithm.is_neighbors:
                from treewright.learn.neighbors import neighbors_dataset

                dataset = neighbors_dataset(X, y, self.params)
            else:
                dataset = make_dataset(X, y, self.params, sample_weight)
            self._trained = train(dataset, self.params)
        self.model_ = self._trained.model
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict each row."""
        found: np.ndarray = self.model_.predict(X, n_jobs=self.params.n_jobs, owner=self.name)
        return found

    @property
    def trace_(self) -> Any:
        """How the tree grew."""
        from treewright.explain.trace import trace_of

        return trace_of(self.model_, self._trained.trace or ())

    def _check_target(self, target: Any, weights: np.ndarray | None) -> None:
        """Refuse what ``fit`` would refuse of a target beside any table."""
        check_domain(encoded_target(target, self.params), weights, self.params)
