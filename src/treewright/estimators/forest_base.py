"""What forests share: parameters to settings, more trees, the rows left out. In: a table, a target. Out: ``model_``.

Callers: estimators.forest_classifier, estimators.forest_regressor.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from sklearn.utils._param_validation import RealNotInt

from treewright.core import notices
from treewright.core.progress_bar import bar_where_nobody_listens
from treewright.core.threads import resolve_jobs
from treewright.estimators import resolve
from treewright.estimators.binned import BinnedTable, refuse_too_little_memory
from treewright.estimators.constraints import Number, Words, numbers_only
from treewright.estimators.forest_curve import ForestCurve
from treewright.estimators.forest_past import PastFit
from treewright.estimators.forest_score import asked, refuse_other_function
from treewright.estimators.forest_trees import ForestTrees
from treewright.estimators.forest_verbs import ForestVerbs
from treewright.estimators.growth import Growing
from treewright.estimators.suspicions import warn_of_suspicions
from treewright.estimators.table import FitInput, FitTable
from treewright.exceptions import DataError, ParameterError
from treewright.forest.draws import Draws, number_of_draws
from treewright.forest.grower import GrownForest, grow_forest, refuse_too_many
from treewright.forest.out_of_bag import Votes, expected_draws, mean_votes
from treewright.forest.settings import ClassWeights, ForestSettings
from treewright.tree.packed import PackedTrees
from treewright.tree.packing import join

if TYPE_CHECKING:
    from treewright.model import Model
    from treewright.tree.model import Combine

Trees = PackedTrees | tuple[Any, ...]

_LARGEST_WEIGHT = 1e300  # of a packed tree: sums over its leaves stay in range in any order


class ForestEstimator(ForestVerbs, ForestCurve, ForestTrees):
    """A scikit-learn estimator around many trees on bins."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **numbers_only(Growing._parameter_constraints),
        "n_estimators": [Number(Integral, 1, None, closed="left")],
        "max_features_per_tree": numbers_only(Growing._parameter_constraints)["max_features"],
        "bootstrap": ["boolean"],
        "oob_score": ["boolean", callable],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
        "max_samples": [
            Number(RealNotInt, 0.0, 1.0, closed="right"),
            Number(Integral, 1, None, closed="left"),
            None,
        ],
        "missing": [Words({"direction", "error"})],
    }
    _random_cuts: ClassVar[bool] = False
    _draws_rows = True

    # Set by __init__ of the estimators.
    n_estimators: int
    max_features_per_tree: float | str | None
    bootstrap: bool
    oob_score: bool | Callable[[np.ndarray, np.ndarray], float]
    verbose: int
    warm_start: bool
    max_samples: float | None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name, is_set in (("oob_score", self.oob_score), ("max_samples", self.max_samples is not None)):
            if is_set and not self.bootstrap:
                raise ParameterError(f"{name} needs trees that draw rows: set bootstrap=True, or leave {name} out")
        if callable(self.oob_score):
            refuse_other_function(self.oob_score)

    def _fitted(self) -> Model:
        model = super()._fitted()
        if self.n_jobs is not None:
            resolve_jobs(self.n_jobs)  # it may have been set after the fit, and few rows ask for no threads
        return model

    def _refuse_too_little_memory(self, p: int, n: int, n_threads: int) -> None:
        refuse_too_many(int(self.n_estimators), p)
        refuse_too_little_memory(p, n, n_threads)

    def _learn(self, given: FitInput, n_threads: int) -> None:
        """Grow the trees, or those that are new; keep them."""
        with bar_where_nobody_listens(bool(self.verbose)):
            table = given.table
            if table.weights is not None and not self.bootstrap and not table.weights.sum() <= _LARGEST_WEIGHT:
                raise DataError(f"the weights add up to more than {_LARGEST_WEIGHT:g}: scale them down")
            binned = BinnedTable.of(table, self.max_bins, n_threads)
            digest, parameters = binned.digest(), self._shared_parameters()
            past = self._past_to_grow_on(table, digest, parameters)
            seed = self._drawn_seed() if past is None else past.seed
            n_before = 0 if past is None else self.model_.n_trees
            if past is not None and n_before == self.n_estimators:
                notices.warn("Warm-start fitting without increasing n_estimators does not fit new trees.")
                return
            settings = self._forest_settings(given, seed, n_before, n_threads)
            grown = grow_forest(
                binned.codes, table.matrix, binned.bins, table.schema, table.target[0], table.weights, settings
            )
        rows = np.arange(len(table.matrix)) if given.kept is None else np.flatnonzero(given.kept)
        trees, votes = grown.trees, grown.votes
        if past is not None:
            trees = _joined(self.model_.trees, grown)
            votes = past.votes.plus(votes) if past.votes is not None and votes is not None else None
        estimates = None if votes is None else self._out_of_bag(given, votes, cast("Draws", grown.draws).n_draws)
        targets = self._targets_in_leaves(binned, trees, grown.draws, n_threads)
        self._store(given, trees)
        if targets is not None:
            self.model_ = replace(self.model_, leaf_targets=targets)
        self._past = PastFit(digest, parameters, seed, grown.draws, votes, rows)
        self._keep_rows(given, binned)
        self._store_out_of_bag(estimates)
        importances = self.model_.feature_importances
        column = int(importances.argmax()) if len(importances) and importances.any() else -1
        warn_of_suspicions(table.schema, table.matrix, table.target, column)

    def _forest_settings(self, given: FitInput, seed: int, first_tree: int, n_threads: int) -> ForestSettings:
        """Parameters as numbers."""
        table = given.table
        n, p = table.matrix.shape
        n_draws = number_of_draws(self.max_samples if self.bootstrap else None, n, table.weights)
        per_tree = self.max_features_per_tree
        return ForestSettings(
            tree=self._on_bins(
                self._settings(table, n_draws, seed, n_threads),
                table.schema,
                random_cuts=self._random_cuts,
                counts_rows=False,  # the forest says where
            ),
            n_trees=int(self.n_estimators) - first_tree,
            n_classes=self._n_classes(table.target),
            seed=seed,
            n_draws=n_draws if self.bootstrap else None,
            class_factors=self._factors_after_draw(given),
            max_features_per_tree=None if per_tree is None else resolve.max_features(per_tree, p),
            out_of_bag=bool(self.oob_score),
            one_vote_each=self._combine() == "vote",
            n_threads=n_threads,
            first_tree=first_tree,
        )

    def _shared_parameters(self) -> dict[str, Any]:
        """What all trees of a forest must have in common."""
        plain = resolve.plain_parameters(self._parameters())
        return {**{name: value for name, value in plain.items() if name != "n_estimators"},
                "oob_score": bool(self.oob_score)}  # fmt: skip

    def _past_to_grow_on(self, table: FitTable, digest: str, parameters: dict[str, Any]) -> PastFit | None:
        """What the fit before left behind, where the new trees are to join its ones.

        Raises
        ------
        ParameterError
            The table or a parameter is another one, or fewer trees are asked for than there are.
        """
        past: PastFit | None = self.__dict__.get("_past") if self.warm_start else None
        if past is None:
            return None
        n_before = self.model_.n_trees
        if n_before > self.n_estimators:
            raise ParameterError(
                f"n_estimators={self.n_estimators} must be larger or equal to the {n_before} trees that there are, "
                "with warm_start=True"
            )
        past.refuse_another(self.model_, table, digest, parameters)
        return past

    def _factors_after_draw(self, given: FitInput) -> ClassWeights:
        """What classes weigh among the rows that a tree drew; None where they weigh the same."""
        return given.factors

    def _out_of_bag(self, given: FitInput, votes: Votes, n_draws: int) -> tuple[np.ndarray, float]:
        """What the trees say of the rows that they left out, nan where none did; and how good that is.

        Returns
        -------
        means : float64[n_given, n_values]
        score : float
        """
        table = given.table
        means, target = mean_votes(votes, expected_draws(len(table.matrix), n_draws, table.weights)), table.target
        left_out = votes.n_votes > 0
        score = np.nan
        if left_out.any():
            true, said = target[0][left_out], self._said(means[left_out], target)
            weights = None if given.sample_weight is None else given.sample_weight[left_out]
            if callable(self.oob_score):
                score = asked(self.oob_score, self._answers(true, target), self._answers(said, target))
            else:
                score = self._score_of(true, said, weights)
        if given.kept is None:
            return means, score
        of_given = np.full((len(given.kept), means.shape[1]), np.nan)
        of_given[given.kept] = means
        return of_given, score

    def _store_out_of_bag(self, estimates: tuple[np.ndarray, float] | None) -> None:
        """Keep the estimates under scikit-learn's names, or forget those of an earlier fit."""
        for name in ("oob_score_", self._oob_name):
            self.__dict__.pop(name, None)
        if estimates is not None:
            self.oob_score_ = estimates[1]
            self.__dict__[self._oob_name] = self._shaped(estimates[0])

    # What classifiers and regressors differ in.

    _oob_name: ClassVar[str]

    def _combine(self) -> Combine:
        return "mean"

    @abstractmethod
    def _answers(self, rows: np.ndarray, target: Any) -> np.ndarray:
        """Codes or numbers [n, n_outputs] as the user gives them: [n], or [n, n_outputs]."""

    @abstractmethod
    def _said(self, means: np.ndarray, target: Any) -> np.ndarray:
        """Means of the trees as predictions, codes or numbers: [n, n_outputs]."""

    @abstractmethod
    def _score_of(self, true: np.ndarray, said: np.ndarray, weights: np.ndarray | None) -> float:
        """How good predictions are, codes or numbers [n, n_outputs], as ``score`` says."""

    @abstractmethod
    def _shaped(self, means: np.ndarray) -> Any:
        """Means of the trees in the shape of the attribute."""


def _joined(before: Any, grown: GrownForest) -> Trees:
    """The trees of the fit before, and the new ones."""
    if isinstance(grown.trees, PackedTrees):
        return join([before, grown.trees])
    return (*before, *grown.trees)
