"""What forests share: parameters to settings, more trees, the rows left out. In: a table, a target. Out: ``model_``.

Callers: estimators.forest_classifier, estimators.forest_regressor.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, RealNotInt

from treewright.core import notices
from treewright.core.progress_bar import bar_where_nobody_listens
from treewright.estimators import resolve
from treewright.estimators.binned import BinnedTable, refuse_too_little_memory
from treewright.estimators.constraints import Number, Words
from treewright.estimators.forest_importance import ForestImportance
from treewright.estimators.forest_parts import SamplesOf, TreesOf
from treewright.estimators.forest_verbs import ForestVerbs
from treewright.estimators.growth import Growing
from treewright.estimators.suspicions import warn_of_suspicions
from treewright.estimators.table import FitInput
from treewright.exceptions import DataError, ParameterError
from treewright.forest.draws import Draws, number_of_draws
from treewright.forest.grower import GrownForest, grow_forest, refuse_too_many
from treewright.forest.out_of_bag import Votes, mean_votes
from treewright.forest.settings import ClassWeights, ForestSettings
from treewright.tree.packed import PackedTrees
from treewright.tree.packing import join

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from treewright.explain.rule_table import LeafRules
    from treewright.plot.svg import SvgPicture
    from treewright.tree.model import Combine
    from treewright.tree.nodes import Node

Trees = PackedTrees | tuple[Any, ...]

_LARGEST_WEIGHT = 1e300  # of a packed tree: sums over its leaves stay in range in any order


@dataclass(frozen=True, eq=False)
class PastFit:
    """What a fit leaves behind beside the model, so that more trees can join it.

    Attributes
    ----------
    digest : str
        Of the rows as bins, the target and the weights.
    parameters : dict
        As plain JSON, those that more trees must share.
    seed : int
    draws : Draws or None
    votes : Votes or None
    rows : int64[n]
        Positions of the rows of the fit in the table that was given.
    """

    digest: str
    parameters: dict[str, Any]
    seed: int
    draws: Draws | None
    votes: Votes | None
    rows: np.ndarray


class ForestEstimator(ForestVerbs, ForestImportance):
    """A scikit-learn estimator around many trees on bins."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Growing._parameter_constraints,
        "n_estimators": [Number(Integral, 1, None, closed="left")],
        "max_features_per_tree": Growing._parameter_constraints["max_features"],
        "bootstrap": ["boolean"],
        "oob_score": ["boolean", callable],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
        "max_samples": [
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
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
            past = self._past_to_grow_on(digest, parameters)
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
        estimates = None if votes is None else self._out_of_bag(given, votes)
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

    def _past_to_grow_on(self, digest: str, parameters: dict[str, Any]) -> PastFit | None:
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
        changed = [name for name, value in parameters.items() if past.parameters.get(name) != value]
        if changed:
            raise ParameterError(
                f"warm_start=True adds trees of the same kind, but {changed[0]} is another than at the fit before: set "
                "it back, or warm_start=False"
            )
        if past.digest != digest:
            raise ParameterError(
                "warm_start=True adds trees on the same table, but rows, target or weights are others than at the fit "
                "before: give the same ones, or set warm_start=False"
            )
        return past

    def _factors_after_draw(self, given: FitInput) -> ClassWeights:
        """What classes weigh among the rows that a tree drew; None where they weigh the same."""
        return given.factors

    def _out_of_bag(self, given: FitInput, votes: Votes) -> tuple[np.ndarray, float]:
        """What the trees say of the rows that they left out, nan where none did; and how good that is.

        Returns
        -------
        means : float64[n_given, n_values]
        score : float
        """
        means, target = mean_votes(votes), given.table.target
        left_out = votes.n_votes > 0
        score = np.nan
        if left_out.any():
            true, said = self._answers(target[0][left_out], target), self._said(means[left_out], target)
            weights = None if given.sample_weight is None else given.sample_weight[left_out]
            score = self.oob_score(true, said) if callable(self.oob_score) else self._score_of(true, said, weights)
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

    @property
    def estimators_(self) -> TreesOf:
        """The trees, each a ``Model`` of its own that is made when it is asked for."""
        return TreesOf(self._fitted())

    @property
    def estimators_samples_(self) -> SamplesOf:
        """The rows that each tree was grown on: int64, ascending, a row that was drawn twice is there twice."""
        model = self._fitted()
        return SamplesOf(self._past.draws, self._past.rows, model.n_trees)

    def apply(self, X: Any) -> np.ndarray:
        """Position of the leaf that each row ends in, in every tree.

        Returns
        -------
        int64[n, n_trees]
        """
        return self._fitted().apply(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    def decision_path(self, X: Any) -> tuple[csr_matrix, np.ndarray]:
        """Indicator of the nodes that each row passes.

        Returns
        -------
        path : csr_matrix of int64[n, n_nodes]
        n_nodes_ptr : int64[n_trees + 1]
            The nodes of tree ``i`` are the columns from ``n_nodes_ptr[i]`` to ``n_nodes_ptr[i + 1]``.
        """
        return self._fitted().decision_path(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    def show(self, tree: int | None = None, **options: Any) -> str:
        """Return one tree as text; without a number, what the forest is like as a whole.

        Parameters
        ----------
        tree : int, 0 to n_estimators - 1, optional
        **options
            As ``treewright.explain.text.show``.
        """
        model = self._fitted()
        return model.show(**options) if tree is None else model.tree(tree).show(**options)

    def plot(self, tree: int = 0, **options: Any) -> SvgPicture:
        """Draw one tree as SVG; options as ``treewright.plot.svg.plot``."""
        return self._fitted().tree(tree).plot(**options)

    def rules(self, tree: int = 0, **options: Any) -> LeafRules:
        """One if-then rule per leaf of a tree; options as ``treewright.explain.rules.leaf_rules``."""
        return self._fitted().tree(tree).rules(**options)

    def node(self, i: int, tree: int = 0) -> Node:
        """Return one node of a tree as an object that can be read and printed."""
        return self._fitted().tree(tree).node(i)

    # What classifiers and regressors differ in.

    _oob_name: ClassVar[str]

    def _combine(self) -> Combine:
        return "mean"

    @abstractmethod
    def _answers(self, rows: np.ndarray, target: Any) -> np.ndarray:
        """Rows of the encoded target as the user gave them: [n], or [n, n_outputs]."""

    @abstractmethod
    def _said(self, means: np.ndarray, target: Any) -> np.ndarray:
        """Means of the trees as predictions: [n], or [n, n_outputs]."""

    @abstractmethod
    def _score_of(self, true: np.ndarray, said: np.ndarray, weights: np.ndarray | None) -> float:
        """How good predictions are, as ``score`` says."""

    @abstractmethod
    def _shaped(self, means: np.ndarray) -> Any:
        """Means of the trees in the shape of the attribute."""


def _joined(before: Any, grown: GrownForest) -> Trees:
    """The trees of the fit before, and the new ones."""
    if isinstance(grown.trees, PackedTrees):
        return join([before, grown.trees])
    return (*before, *grown.trees)
