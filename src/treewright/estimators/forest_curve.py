"""The out-of-bag error over the number of trees. In: a fitted forest. Out: ``OobCurve``. Caller: forest_base."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from treewright.core.threads import resolve_jobs
from treewright.core.whole import whole_number
from treewright.data.target import Labels, Numbers
from treewright.estimators.forest_importance import ForestImportance, KeptRows
from treewright.exceptions import ParameterError
from treewright.forest.out_of_bag import Votes, mean_votes
from treewright.forest.out_of_bag_curve import OobCurve, counts_to_show, votes_after

if TYPE_CHECKING:
    from treewright.forest.draws import Draws


class ForestCurve(ForestImportance):
    """A forest that tells how many trees it needs."""

    def oob_curve(self, X: Any = None, y: Any = None, *, sample_weight: Any = None, points: int = 60) -> OobCurve:
        """How good the first trees predict the rows that they left out, over the number of trees.

        The last point is what ``oob_score_`` says (where ``oob_score`` is no function of the user's). The first points
        judge few rows: those that at least one tree left out (``n_judged``).

        Parameters
        ----------
        X, y : optional
            The table of the fit again, row by row, where the estimator did not keep it: it keeps up to 32 MB of bins,
            and none in a pickle.
        sample_weight : float[n], optional
            As at the fit.
        points : int >= 2, default 60
            At most about so many numbers of trees: the first ones, then at like ratios, and all.

        Returns
        -------
        treewright.forest.out_of_bag_curve.OobCurve
            Print it, or take ``n_trees``, ``error``, ``score``, ``to_dict()`` or ``plot()``. It does not depend on
            ``n_jobs``, nor on whether the fit had ``oob_score=True``.

        Raises
        ------
        ParameterError
            The trees saw every row; the rows of the fit are not at hand, or others are given.

        Examples
        --------
        >>> import treewright as tw
        >>> from sklearn.datasets import load_iris
        >>> forest = tw.RandomForestClassifier(n_estimators=50, oob_score=True).fit(*load_iris(return_X_y=True))
        >>> curve = forest.oob_curve()
        >>> int(curve.n_trees[-1]), float(curve.score[-1]) == forest.oob_score_
        (50, True)
        """
        model, n_threads = self._fitted(), resolve_jobs(self.n_jobs)
        kept = self._rows_left_out(X, y, sample_weight, n_threads)
        counts = counts_to_show(model.n_trees, whole_number("points", points, 2))
        target: Labels | Numbers
        if model.classes:
            target = Labels(kept.target, model.classes, model.target_names, True)
        else:
            target = Numbers(kept.target, model.target_names, True)
        found = [
            self._judged_votes(votes, target, kept.own)
            for votes in votes_after(
                model.trees, kept.cells, kept.target, cast("Draws", self._past.draws).left_out, counts, model.n_classes,
                one_each=model.combine == "vote", n_threads=n_threads,
            )
        ]  # fmt: skip
        error, score, n_judged = (np.array(each) for each in zip(*found, strict=True))
        return OobCurve(model.task, np.array(counts), error, score, n_judged, len(kept.target))

    def _judged_votes(self, votes: Votes, target: Any, weights: np.ndarray | None) -> tuple[float, float, int]:
        """Error, score and number of the rows that have votes."""
        left = votes.n_votes > 0
        if not left.any():
            return np.nan, np.nan, 0
        means = mean_votes(Votes(votes.sums[left], votes.n_votes[left], votes.n_classes, votes.scale))
        true, said = target[0][left], self._said(means, target)
        own = None if weights is None else weights[left]
        score = self._score_of(true, said, own)
        if votes.n_classes:
            return 1.0 - score, score, len(true)
        with np.errstate(over="ignore"):
            return float(np.average(np.square(said - true).mean(axis=1), weights=own)), score, len(true)

    def _rows_left_out(self, X: Any, y: Any, sample_weight: Any, n_threads: int) -> KeptRows:
        """The rows of the fit, of which each tree left some out."""
        if (X is None) != (y is None) or (X is None and sample_weight is not None):
            raise ParameterError("oob_curve takes X and y together, sample_weight only with them")
        if self._past.draws is None:
            raise ParameterError(
                f"every tree of {type(self).__name__}(bootstrap=False) was grown on all rows, so none is left out: fit "
                "with bootstrap=True"
            )
        kept: KeptRows | None = self.__dict__.get("_kept_rows")
        if X is not None:
            kept = self._rows_again(
                X, y, sample_weight, n_threads, who="oob_curve", otherwise="give that one, or fit again"
            )
        if kept is None:
            raise ParameterError(
                "the rows of the fit were not kept (more than 32 MB, or the estimator comes out of a pickle): give the "
                "same table again, oob_curve(X, y)"
            )
        return kept

    # What classifiers and regressors differ in; see ``forest_base``.

    @abstractmethod
    def _said(self, means: np.ndarray, target: Any) -> np.ndarray: ...

    @abstractmethod
    def _score_of(self, true: np.ndarray, said: np.ndarray, weights: np.ndarray | None) -> float: ...
