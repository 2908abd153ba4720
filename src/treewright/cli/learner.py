"""An algorithm with its parameters, ready to be fitted without scikit-learn.

Estimators have the same parameters and the same ``learn.train``, but need scikit-learn, whose import takes longer than
a small fit. The command makes one only if it must (``algorithms.made``): for members of ensembles, pruning within the
fit, out-of-bag scores, reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from treewright.core.progress import compiling_announced
from treewright.learn.params import CLASSES
from treewright.learn.registry import Algorithm
from treewright.learn.train import Trained, check_domain, encoded_target, make_dataset, train

if TYPE_CHECKING:
    from treewright.cli.pruning import Pruning

__all__ = ["Learner"]


class Learner:
    """One algorithm for one kind of target; after ``fit`` it holds a model. ``name`` is the estimator's, for messages.

    With ``pruning``, a way to prune by cross-validation and the seed of its folds, a fit prunes the tree to the size
    that the folds choose, as ``PrunedTree`` does, which would import scikit-learn.
    """

    _trained: Trained

    def __init__(
        self, algorithm: Algorithm, task: Any, values: Mapping[str, Any], pruning: tuple[Pruning, int] | None = None
    ) -> None:
        self._algorithm, self._task, self._values, self._pruning = algorithm, task, values, pruning
        self.name = algorithm.classifier if task == CLASSES else algorithm.regressor
        self.params = algorithm.params_class()(task=task, owner=self.name, **values)

    def __sklearn_clone__(self) -> Self:
        """An unfitted copy, by scikit-learn's protocol."""
        return type(self)(self._algorithm, self._task, self._values, self._pruning)

    def pruned_by(self, pruning: Pruning, seed: int) -> Self:
        """The same, pruned in its fit; parameters that prune in another way are left out."""
        from treewright.evaluation.path import OWN_PRUNING

        own = {name: off for name, off in OWN_PRUNING.items() if hasattr(self.params, name)}
        return type(self)(self._algorithm, self._task, {**self._values, **own}, (pruning, seed))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to a table and its target."""
        if self._pruning is None:
            return self._grow(X, y, sample_weight)
        from treewright.evaluation.path import size_by_folds

        pruning, seed = self._pruning
        options: dict[str, Any] = dict(pruning.options)
        whole = type(self)(self._algorithm, self._task, self._values)
        self.path_ = size_by_folds(
            lambda *rows: copy(whole)._grow(*rows), X, y, sample_weight, pruning=pruning.method,
            is_classification=self._task == CLASSES, random_state=seed, n_jobs=self.params.n_jobs, **options,
        )  # fmt: skip
        self.model_ = self.path_.estimator.model_
        return self

    def prune(self, method: str, **options: Any) -> Self:
        """A copy whose model is pruned."""
        pruned = copy(self)
        pruned.model_ = self.model_.prune(method, **options)
        return pruned

    def _grow(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit once."""
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
        """The trace of the fit."""
        from treewright.explain.trace import trace_of

        return trace_of(self.model_, self._trained.trace or ())

    def _check_target(self, target: Any, weights: np.ndarray | None) -> None:
        """Refuse a target that ``fit`` would refuse with any table."""
        check_domain(encoded_target(target, self.params), weights, self.params)
