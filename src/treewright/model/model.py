"""A fitted model of trees with its verbs: predict, plot, prune, save and more.

``Model`` adds only methods to ``ModelData``, each of which calls a verb's module. It needs no estimator and does not
import scikit-learn.
"""

from __future__ import annotations

import html
import json
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from treewright.data.encoder import encode, encode_plain_row, encode_row
from treewright.data.sparse import by_blocks
from treewright.exceptions import ParameterError
from treewright.predict import ensemble
from treewright.predict import ensemble as staged
from treewright.predict.ensemble import combined, leaf_table, scores_of
from treewright.predict.fractional import average_of_leaves
from treewright.predict.one import leaf_of_row
from treewright.prune.methods import ROUNDS, Rows
from treewright.trees import codec
from treewright.trees.data import (
    ModelData,
    classes_as_estimators_have_them,
    labels_of,
    output_columns,
    predicted_codes,
    rows_with_target,
)
from treewright.trees.packed import PackedTrees
from treewright.trees.summary import counted, single_tree
from treewright.trees.threshold import positive_code, threshold_given

if TYPE_CHECKING:
    from collections.abc import Hashable

    from scipy.sparse import csr_matrix

    from treewright.boosting.growth import RoundsLog
    from treewright.explain.audit import Audit
    from treewright.explain.counterfactual import Counterfactual
    from treewright.explain.explanation import Explanation
    from treewright.explain.partial_dependence import Interactions, PartialDependence
    from treewright.explain.rules import LeafRules
    from treewright.prune.methods import PruneLog
    from treewright.show.svg import SvgPicture
    from treewright.trees.arrays import Tree
    from treewright.trees.summary import Node


Result = TypeVar("Result")


class Model(ModelData):
    """A fitted, immutable model of trees, which predicts, shows itself and can be saved.

    Made by fitting an estimator (``est.model_``) or by ``treewright.load``. The attributes are those of
    ``treewright.trees.data.ModelData``. A model of many trees predicts with all of them; ``model.tree(i)`` is one of
    its trees.

    Examples
    --------
    >>> import treewright as tw
    >>> est = tw.DecisionTreeClassifier().fit({"sky": ["sun", "rain", "sun"], "wind": [3, 5, 9]}, ["out", "in", "in"])
    >>> model = est.model_
    >>> model.predict({"wind": [4], "sky": ["sun"]})
    array(['out'], dtype='<U3')
    >>> print(model.predict_one({"wind": 4, "sky": "sun"}))
    out
    """

    @classmethod
    def of(cls, data: ModelData) -> Model:
        """The same model with the verbs as methods."""
        return cls(**{field.name: getattr(data, field.name) for field in fields(ModelData)})

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return len(self.trees)

    @property
    def classes_(self) -> np.ndarray | list[np.ndarray]:
        """The labels as in estimators: an array, or a list of arrays for several outputs.

        ``classes`` is always a tuple of arrays, one per output.

        Raises
        ------
        AttributeError
            The model predicts numbers.
        """
        return classes_as_estimators_have_them(self.classes)

    @property
    def tree_(self) -> Tree:
        """The single tree as flat arrays, as in estimators of one tree: ``forest.estimators_[i].tree_``.

        Raises
        ------
        AttributeError
            There are many trees.
        """
        if not self.is_single_tree:
            raise AttributeError(f"the model has {counted(self.n_trees, 'tree')}: choose one, model.tree(0).tree_")
        return self.trees[0]

    def tree(self, i: int) -> Model:
        """Return one of many trees as a model of its own, with the same columns and classes.

        A tree of a boosted model predicts the number that it adds to its score.

        Parameters
        ----------
        i : int, 0 to n_trees - 1

        Returns
        -------
        Model
            The same object if this model is a single tree.

        Raises
        ------
        ParameterError
            There is no such tree.
        """
        if isinstance(i, bool) or not hasattr(i, "__index__") or not 0 <= int(i) < self.n_trees:
            raise ParameterError(f"tree is {i!r}; the model has {counted(self.n_trees, 'tree')}, counted from 0")
        if self.is_single_tree:
            return self
        return single_tree(self, int(i))

    def _the_tree(self, verb: str) -> Model:
        """The model itself if it is a single tree; else an error that says how to choose one."""
        if not self.is_single_tree:
            raise ParameterError(
                f"{verb} is for one tree, and the model has {counted(self.n_trees, 'tree')}: choose one, as in "
                f"model.tree(0).{verb}(...)"
            )
        return self

    def node(self, i: int, *, tree: int | None = None) -> Node:
        """Return one node as an object that can be read and printed.

        Parameters
        ----------
        i : int
            Its position; 0 is the root.
        tree : int, optional
            Which of many trees.

        Raises
        ------
        ParameterError
            There is no such node or tree, or there are many trees and none is chosen.
        """
        from treewright.trees.summary import node_of

        return node_of(self._the_tree("node") if tree is None else self.tree(tree), i)

    def _encoded(self, X: Any, owner: str, *, sparse: bool = False) -> Any:
        """The encoded rows of a table; with ``sparse`` the result may be a ``SparseMatrix``."""
        if type(X) is list and len(X) == 1 and type(X[0]) is list and not self.schema.named:
            # A shortcut for one row in lists: to encode a table of one row takes ten times as long as many trees.
            cells = encode_plain_row(self.schema, X[0])
            if cells is not None and not (self.missing == "error" and math.isnan(sum(cells))):
                return np.array([cells])
        return encode(self.schema, X, unseen=self.unseen, missing=self.missing, owner=owner, sparse=sparse)

    def _by_blocks(self, compute: Callable[[Any], Result], matrix: Any) -> Result:
        """The results of a function for encoded rows; a sparse table is read block by block, or as bins."""
        on_bins = isinstance(self.trees, PackedTrees) and not self.is_single_tree
        return compute(matrix) if on_bins else by_blocks(compute, matrix)

    def predict(self, X: Any, *, n_jobs: int | None = None, owner: str = "Model") -> np.ndarray:
        """Predict a class label or a number for each row.

        Parameters
        ----------
        X : table of n rows
            Columns are matched by name if the model has names.
        n_jobs : int or None
            Threads; the result does not depend on it.
        owner : str
            The name of the caller in messages about the table.

        Returns
        -------
        ndarray[n] or ndarray[n, n_outputs]
            Labels in the dtype of the target; float64 for regression.

        Raises
        ------
        ColumnError
            Columns are missing, duplicated or of another kind than at fit.
        UnseenLevelError
            A level that fit never saw, under ``unseen="error"``.
        MissingValueError
            A missing cell, or a level that counts as missing, under ``missing="error"``.
        """
        matrix = self._encoded(X, owner, sparse=True)
        if self.task == "regression":
            return self._numbers(self.numbers_of(matrix, n_jobs))
        return labels_of(self.classes, self.codes_of(matrix, n_jobs))

    def codes_of(self, matrix: Any, n_jobs: int | None = None) -> np.ndarray:
        """Class codes of encoded rows: int32[n, n_outputs]."""
        return self._by_blocks(lambda rows: ensemble.predict_codes(self, rows, n_jobs), matrix)

    def shares_of(self, matrix: Any, n_jobs: int | None = None) -> list[np.ndarray]:
        """Class probabilities of encoded rows: float64[n, n_classes] per output."""
        return self._by_blocks(lambda rows: ensemble.predict_probabilities(self, rows, n_jobs), matrix)

    def numbers_of(self, matrix: Any, n_jobs: int | None = None) -> np.ndarray:
        """Predicted numbers of encoded rows: float64[n, n_outputs]."""
        return self._by_blocks(lambda rows: ensemble.predict_numbers(self, rows, n_jobs), matrix)

    def _numbers(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers in the shape that ``predict`` returns."""
        return numbers[:, 0] if self.n_outputs == 1 else numbers

    def predict_proba(
        self, X: Any, *, n_jobs: int | None = None, owner: str = "Model"
    ) -> np.ndarray | list[np.ndarray]:
        """Predict class probabilities: the proportions in the row's leaf; for many trees their mean or shares of votes.

        For a boosted model they come from the scores: the logistic function for two classes, softmax for more.

        Returns
        -------
        float64[n, n_classes], or a list of them for several outputs
            In the order of ``classes``; rows sum to one.

        Raises
        ------
        AttributeError
            The model predicts numbers.
        """
        if self.task == "regression":
            raise AttributeError("a regression model has no class probabilities; use predict")
        probabilities = self.shares_of(self._encoded(X, owner, sparse=True), n_jobs)
        return probabilities[0] if self.n_outputs == 1 else probabilities

    def predict_scores(self, X: Any, *, n_jobs: int | None = None, owner: str = "Model") -> np.ndarray:
        """The scores of each row in a boosted model, the sums over its trees; its link turns them into predictions.

        Returns
        -------
        float64[n], or float64[n, n_scores] for several scores
            For two classes the log odds of the second, for more one score per class; for regression see
            ``treewright.trees.data.Boosting``. Log odds so near to 0 that both probabilities round to 0.5 (about
            1e-16) are a tie for ``predict``, which predicts the first class.

        Raises
        ------
        AttributeError
            The model is not boosted.
        """
        self._refuse_without_scores()
        matrix = self._encoded(X, owner, sparse=True)
        return self._scores(self._by_blocks(lambda rows: scores_of(self, rows, n_jobs), matrix))

    def staged_scores(self, X: Any, *, n_jobs: int | None = None, owner: str = "Model") -> Iterator[np.ndarray]:
        """Scores after each round, as ``predict_scores`` gives them; the last are the same.

        Raises
        ------
        AttributeError
            The model is not boosted.
        """
        self._refuse_without_scores()
        return map(self._scores, staged.staged_scores(self, self._encoded(X, owner), n_jobs))

    def staged_predict(self, X: Any, *, n_jobs: int | None = None, owner: str = "Model") -> Iterator[np.ndarray]:
        """Predictions after each round, as ``predict`` gives them; the last are the same.

        Parameters
        ----------
        X : table of n rows
            Read at once; each prediction is computed on demand, and a ``TooLargeError`` is raised with the first.
        n_jobs : int or None
            Threads; the result does not depend on it.
        owner : str
            The name of the caller in messages about the table.

        Raises
        ------
        AttributeError
            The trees were not fitted in rounds.
        """
        results = self._staged(X, n_jobs, owner)
        if self.task == "regression":
            return map(self._numbers, results)
        return (labels_of(self.classes, predicted_codes(self, probabilities)) for probabilities in results)

    def staged_predict_proba(
        self, X: Any, *, n_jobs: int | None = None, owner: str = "Model"
    ) -> Iterator[np.ndarray | list[np.ndarray]]:
        """Class probabilities after each round, as ``predict_proba`` gives them; the last are the same.

        Raises
        ------
        AttributeError
            The model predicts numbers, or its trees were not fitted in rounds.
        """
        if self.task == "regression":
            raise AttributeError("a regression model has no class probabilities; use staged_predict")
        results, columns = self._staged(X, n_jobs, owner), output_columns(self.n_classes)
        if self.n_outputs == 1:
            return results
        return ([np.ascontiguousarray(probabilities[:, each]) for each in columns] for probabilities in results)

    def _staged(self, X: Any, n_jobs: int | None, owner: str) -> Iterator[np.ndarray]:
        """The combined output of the trees after each round."""
        if not self.has_rounds:
            raise AttributeError("the trees of this model were not fitted in rounds: only boosted models are staged")
        return staged.staged_predictions(self, self._encoded(X, owner), n_jobs)

    def _refuse_without_scores(self) -> None:
        if not self.has_scores:
            raise AttributeError("only a model of gradient boosting has scores; use predict or predict_proba")

    def _scores(self, scores: np.ndarray) -> np.ndarray:
        """Scores in the shape that ``predict_scores`` returns."""
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_quantile(
        self, X: Any, quantiles: Any = (0.05, 0.5, 0.95), *, n_jobs: int | None = None, owner: str = "Model"
    ) -> np.ndarray:
        """Predict quantiles of the target (Meinshausen 2006), with a forest that was fitted with ``quantiles=True``.

        In each tree the training rows in the row's leaf share a weight of one, in proportion to how often the tree
        sampled them; the weights are averaged over the trees. The quantile ``q`` is the lowest training target up to
        which the weights add up to ``q`` (a sum within 2**-30 below it counts).

        Parameters
        ----------
        X : table of n rows
        quantiles : float or sequence of q floats, 0 to 1
        n_jobs : int or None
            Threads; the result does not depend on it.
        owner : str
            The name of the caller in messages about the table.

        Returns
        -------
        float64[n, q], or float64[n, q, n_outputs] for several outputs
            Targets of training rows; those of several outputs are treated one by one.

        Raises
        ------
        AttributeError
            The model predicts classes.
        ParameterError
            A quantile is out of range, or the model does not hold the targets.

        Examples
        --------
        >>> import numpy as np
        >>> import treewright as tw
        >>> X = np.repeat([[0.0], [1.0]], 50, axis=0)
        >>> forest = tw.RandomForestRegressor(n_estimators=50, quantiles=True).fit(X, np.arange(100.0))
        >>> forest.model_.predict_quantile([[0.0]], [0, 0.5, 1]).tolist()
        [[0.0, 24.0, 49.0]]
        """
        from treewright.forest.quantiles import predict_quantiles

        found = predict_quantiles(self, self._encoded(X, owner), quantiles, n_jobs)
        return found[:, :, 0] if self.n_outputs == 1 else found

    def predict_interval(
        self, X: Any, level: float = 0.9, *, n_jobs: int | None = None, owner: str = "Model"
    ) -> np.ndarray:
        """Predict an interval that contains the share ``level`` of the targets, with equal shares below and above it.

        Parameters
        ----------
        X : table of n rows
        level : float, above 0 and below 1
        n_jobs : int or None
            Threads; the result does not depend on it.
        owner : str
            The name of the caller in messages about the table.

        Returns
        -------
        float64[n, 2], or float64[n, 2, n_outputs] for several outputs
            The quantiles ``(1 - level) / 2`` and ``(1 + level) / 2``.

        Raises
        ------
        AttributeError
            The model predicts classes.
        ParameterError
            ``level`` is out of range, or the model does not hold the targets.
        """
        from treewright.forest.quantiles import ends_of_level

        return self.predict_quantile(X, ends_of_level(level), n_jobs=n_jobs, owner=owner)

    def predict_one(self, row: Any) -> Any:
        """Predict one row, as fast as possible.

        Parameters
        ----------
        row : sequence of p cells, or mapping from column name to cell

        Returns
        -------
        scalar, or ndarray[n_outputs] for several outputs
            A label or a float, as an element of what ``predict`` returns.
        """
        result, codes = self._values_of_row(row)
        if self.task == "regression":
            return result[0].item() if self.n_outputs == 1 else result.copy()
        if self.n_outputs == 1:
            return self.classes[0][codes[0]]
        labels = [self.classes[output][code] for output, code in enumerate(codes)]
        return np.array(labels, dtype=np.result_type(*self.classes))

    def predict_proba_one(self, row: Any) -> Any:
        """Predict the probability of each class for one row, as fast as possible.

        Parameters
        ----------
        row : sequence of p cells, or mapping from column name to cell

        Returns
        -------
        float64[n_classes], or a list of them for several outputs
            As a row of what ``predict_proba`` returns.

        Raises
        ------
        AttributeError
            The model predicts numbers.

        Examples
        --------
        >>> import treewright as tw
        >>> model = tw.DecisionTreeClassifier().fit({"size": [1, 2, 3]}, ["no", "yes", "yes"]).model_
        >>> model.predict_proba_one({"size": 3}).tolist()
        [0.0, 1.0]
        """
        if self.task == "regression":
            raise AttributeError("a regression model has no class probabilities; use predict_one")
        probabilities = np.minimum(self._values_of_row(row)[0], 1.0)  # as for tables
        each = [probabilities[columns] for columns in output_columns(self.n_classes)]
        return each[0] if self.n_outputs == 1 else each

    def _values_of_row(self, row: Any) -> tuple[np.ndarray, np.ndarray]:
        """Numbers or class probabilities of one row, output by output, and class codes."""
        cells = encode_plain_row(self.schema, row)
        if cells is None or (self.missing == "error" and math.isnan(sum(cells))):
            cells = encode_row(self.schema, row, unseen=self.unseen, missing=self.missing).tolist()
        if not self.is_single_tree:
            results = combined(self, np.array([cells]), n_jobs=1)
            return results[0], predicted_codes(self, results)[0]
        if self.missing == "fractional" and any(map(math.isnan, cells)):
            return self._averaged(cells)
        table, leaf = leaf_table(self), leaf_of_row(self.trees[0], cells)
        return (table.values if self.task == "regression" else table.shares)[leaf], table.codes[leaf]

    def _averaged(self, cells: list[float]) -> tuple[np.ndarray, np.ndarray]:
        """Numbers and class codes of a row in several leaves, by the kernel for tables."""
        table, only = leaf_table(self), np.zeros(1, np.int64)
        content = table.values if self.task == "regression" else table.shares
        results = average_of_leaves(self.trees[0], np.array([cells]), only, content, n_jobs=1)
        return results[0], table.codes[0] if self.task == "regression" else predicted_codes(self, results)[0]

    def with_threshold(self, at: float | None, *, positive: Any = None) -> Model:
        """The same model, which predicts one of two classes if its probability is at least ``at``.

        Probabilities, trees and scores do not change. The threshold is in the model's file, texts and report.

        Parameters
        ----------
        at : float, 0 to 1, or None
            None: the more probable class is predicted, the first of equals, and the positive class is that of the fit.
        positive : class label, optional
            The class that the threshold is for; by default the model's own (``positive``).

        Returns
        -------
        Model

        Raises
        ------
        ParameterError
            The model predicts numbers, several targets, or not two classes; there is no such class; ``at`` is out of
            range.

        See Also
        --------
        treewright.model_selection.choose_threshold : the threshold of least cost, or of a wanted precision or recall

        Examples
        --------
        >>> import treewright as tw
        >>> model = tw.DecisionTreeClassifier(max_depth=1).fit({"x": [1, 1, 1, 2]}, ["no", "no", "yes", "no"]).model_
        >>> model.predict({"x": [1]}), model.with_threshold(0.3).predict({"x": [1]})
        (array(['no'], dtype='<U3'), array(['yes'], dtype='<U3'))
        """
        code = positive_code(self)
        return replace(self, threshold=threshold_given(self.classes, at, positive, usual=1 if code is None else code))

    def apply(self, X: Any, *, n_jobs: int | None = None, owner: str = "Model") -> np.ndarray:
        """Position of the leaf that each row ends in.

        Returns
        -------
        int64[n], or int64[n, n_trees] for many trees
            For a row in several leaves (``missing="fractional"``) the one with its largest part, the lowest of equals.
        """
        matrix = self._encoded(X, owner, sparse=True)
        leaves = self._by_blocks(lambda rows: ensemble.predict_leaves(self, rows, n_jobs), matrix)
        return leaves.astype(np.int64, copy=False)

    def decision_path(
        self, X: Any, *, n_jobs: int | None = None, owner: str = "Model"
    ) -> csr_matrix | tuple[csr_matrix, np.ndarray]:
        """Indicator of the nodes that each row passes.

        Returns
        -------
        path : csr_matrix of int64[n, n_nodes]
            Under ``missing="fractional"`` float64: the part of the row that passes the node.
        n_nodes_ptr : int64[n_trees + 1]
            Many trees only: the nodes of tree ``i`` are the columns from ``n_nodes_ptr[i]`` to ``n_nodes_ptr[i + 1]``.
        """
        from treewright.predict import fractional
        from treewright.predict import fractional as ensemble_paths

        matrix = self._encoded(X, owner)
        leaves = ensemble.predict_leaves(self, matrix, n_jobs)
        if not self.is_single_tree:
            return ensemble_paths.decision_paths(self, matrix, leaves)
        return fractional.decision_path(self, matrix, leaves)

    def partial_dependence(
        self, X: Any, column: Hashable, second: Hashable | None = None, **options: Any
    ) -> PartialDependence:
        """Partial dependence: the mean prediction with a column set to one value after another (Friedman 2001).

        Parameters
        ----------
        X : table of n rows
            All other columns keep their values from it.
        column : hashable
            Its name or position.
        second : hashable, optional
            Another column: then there is a mean for every pair of values.
        **options
            ``grid``, ``label``, ``output``, ``individual``, ``rows``, ``sample_weight``, ``random_state``, ``method``:
            as ``treewright.explain.partial_dependence.partial_dependence``.

        Returns
        -------
        PartialDependence
            Print it, or use ``values``, ``individual``, ``to_dict()`` or ``plot()``.

        Raises
        ------
        ParameterError
            There is no such column, class or output; a parameter is out of range.
        DataError
            The table was refused, holds no rows, or no value of the column.

        Examples
        --------
        >>> import treewright as tw
        >>> table = {"rain": [0, 1, 5, 9], "sun": [9, 7, 2, 1]}
        >>> model = tw.DecisionTreeRegressor().fit(table, [4.0, 4.0, 1.0, 1.0]).model_
        >>> model.partial_dependence(table, "rain", grid=[0, 8]).values
        array([[4., 1.]])
        """
        from treewright.explain.partial_dependence import partial_dependence

        return partial_dependence(self, X, column, second, **options)

    def explain(self, X: Any, **options: Any) -> Explanation:
        """Contributions of the columns to the predictions; they add up to the predictions.

        Parameters
        ----------
        X : table of n rows
        kind : {"path", "interventional", "steps"}, default "path"
            The prediction if some columns are not known: ``"path"`` averages over the branches by their share of the
            training weight, ``"interventional"`` takes the cells from ``background``; both are Shapley values.
            ``"steps"`` are changes of the expected prediction along the path of the row.
        order : {1, 2}, default 1
            2 gives the interactions of pairs of columns; not for ``"steps"``.
        background : table of m rows, optional
            For ``kind="interventional"``: some hundred typical rows.
        **options
            These, and ``n_jobs``, as ``treewright.explain.explanation.explain``.

        Returns
        -------
        Explanation
            Print it, or use ``values``, ``base``, ``plot()``, ``to_dict()``, ``to_frame()`` or ``to_shap()``.

        Raises
        ------
        ParameterError
            ``kind`` or ``order`` is unknown; a background is missing, or given but not used; the predictions are not a
            sum over the trees (medians).
        DataError
            The rows or the background do not fit the model.
        TooLargeError
            Contributions would not fit in memory.

        Examples
        --------
        >>> import treewright as tw
        >>> table = {"rain": [0, 2, 5, 9], "wind": [1, 1, 3, 3]}
        >>> model = tw.DecisionTreeRegressor().fit(table, [4.0, 6.0, 7.0, 11.0]).model_
        >>> print(model.explain({"rain": [9], "wind": [3]}))
        predicts 11
        contributions to the predicted value; unknown columns are averaged over the training rows
        <BLANKLINE>
        y: 11 = base 7 and
          rain = 9  +4
        """
        from treewright.explain.explanation import explain

        return explain(self, X, **options)

    def interactions(self, X: Any, **options: Any) -> Interactions:
        """Interactions of pairs of columns: H of Friedman and Popescu (2008).

        Parameters
        ----------
        X : table of n rows
            If there are more than 2,000, 2,000 of them are used, evenly spread.
        background : table of m rows, optional
            Rows that partial dependence is a mean over; by default at most 500 of X, evenly spread.
        **options
            This, and ``n_jobs``, as ``treewright.explain.partial_dependence.interactions``.

        Returns
        -------
        Interactions
            Print it, or use ``h``, ``spread``, ``pairs()`` or ``to_dict()``.

        Raises
        ------
        ParameterError
            The predictions are not a sum over the trees (medians).
        DataError
            The rows were refused, or there are none.

        Examples
        --------
        >>> import treewright as tw
        >>> table = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5}
        >>> model = tw.DecisionTreeRegressor().fit(table, [0.0, 1.0, 1.0, 0.0] * 5).model_
        >>> print(model.interactions(table))
        interactions of pairs of columns over 20 rows: H and spread (standard deviation), largest first
                   H      spread
          a and b  1.000  0.5
        """
        from treewright.explain.partial_dependence import interactions

        return interactions(self, X, **options)

    def to_shap_trees(self) -> dict[str, Any]:
        """Return the dictionary that ``shap.TreeExplainer`` takes, as ``treewright.explain.explanation.shap_trees``."""
        from treewright.explain.explanation import shap_trees

        return shap_trees(self)

    @property
    def feature_importances(self) -> np.ndarray:
        """float64[p]: each column's share of the decrease of impurity; for many trees the mean.

        They sum to one, or are all 0 if there is no decrease.
        """
        return self.trees.mean_importances(len(self.schema), self.aggregation.weights)

    def importances(self, kind: str = "gain") -> np.ndarray:
        """The importance of each column in a boosted model.

        Parameters
        ----------
        kind : {"gain", "cover", "frequency"}
            The gain of the column's tests, as in ``feature_importances``; the sum of the hessians of the rows that
            reach them; their number.

        Returns
        -------
        float64[p]
            Shares: they sum to one, or are all 0 if no tree has a split.

        Raises
        ------
        ParameterError
            There is no such kind, or the model is not boosted.
        """
        from treewright.forest.importance import boosted_importances

        if not self.has_scores:
            raise ParameterError("importances(kind) is for boosted models; every model has feature_importances")
        return boosted_importances(self.trees, len(self.schema), kind)

    def show(self, **options: Any) -> str:
        """Return the tree as text; options as ``treewright.show.text.show``.

        For many trees, the one that ``tree=i`` names; by default a summary of all.
        """
        if not self.is_single_tree and "tree" not in options:
            from treewright.show.ensemble import show_ensemble

            return show_ensemble(self, **options)
        from treewright.show import text

        return text.show(self, **options)

    def plot(self, **options: Any) -> SvgPicture:
        """Draw the tree as SVG; options as ``treewright.show.svg.plot``. For many trees, the one that ``tree=i`` names.

        Raises
        ------
        ParameterError
            There are many trees and none is chosen, or an option is out of range.
        """
        from treewright.show import svg

        return svg.plot(self if "tree" in options else self._the_tree("plot"), **options)

    def prune(self, method: str, X: Any = None, y: Any = None, sample_weight: Any = None, **options: Any) -> Model:
        """Prune the tree, or drop the last rounds of a boosted model; this model does not change.

        Parameters
        ----------
        method : str
            As for the estimators' ``prune``. ``"rounds"`` is for boosted models: it keeps the first ``n_rounds``, or
            those up to the lowest loss on rows that the trees were not fitted on (``boosting.growth``).
        X, y, sample_weight : optional
            Rows, for the methods that need some: the training rows for ``error_based`` (not needed without subtree
            raising, except for C4.5's trees), other rows for ``reduced_error``. Classes have their weights of the fit.
        **options
            The options of the method.

        Returns
        -------
        Model
            Its ``prune_log`` lists every pruned node.

        Raises
        ------
        ParameterError
            There is no such method or option, rows are missing or not needed, or the method is undefined for this tree.
        DataError
            The rows were refused.
        """
        if method != ROUNDS:
            self._the_tree("prune")
        return self.pruned(method, self.rows_to_prune(X, y, sample_weight), **options)

    def rows_to_prune(self, X: Any, y: Any, sample_weight: Any, *, owner: str = "Model") -> Rows | None:
        """Rows for ``pruned``, as ``encode_rows`` gives them; None if none are given.

        Raises
        ------
        ParameterError
            One of X and y is given without the other, or weights without them.
        DataError
            The rows were refused.
        """
        if (X is None) != (y is None):
            raise ParameterError("prune takes X and y together, or neither")
        if X is not None:
            return Rows(*self.encode_rows(X, y, sample_weight, owner=owner, routed=True))
        if sample_weight is not None:
            raise ParameterError("prune takes sample_weight only with X and y")
        return None

    def pruned(self, method: str, rows: Rows | None, **options: Any) -> Model:
        """As ``prune``, on rows that are encoded already."""
        data: ModelData
        log: PruneLog | RoundsLog
        if method == ROUNDS:
            from treewright.boosting.growth import fewer_rounds, options_of_rounds

            data, log = fewer_rounds(self, rows, **options_of_rounds(options))
        else:
            from treewright.prune.methods import prune_model

            data, log = prune_model(self._the_tree("prune"), method, rows, **options)
        model = Model.of(data)
        object.__setattr__(model, "_prune_log", log)  # not a field: files and comparisons ignore it
        return model

    @property
    def prune_log(self) -> PruneLog | RoundsLog:
        """Every node pruned to make this model, with the numbers that decided; for rounds, how many were kept.

        Raises
        ------
        AttributeError
            The model was not made by ``prune``, or was loaded from a file. A pickle keeps the log of the last pruning,
            and the tree before it.
        """
        log: PruneLog | RoundsLog | None = self.__dict__.get("_prune_log")
        if log is None:
            raise AttributeError("there is no prune log: the model was not made by prune, or was read from a file")
        return log

    def encode_rows(
        self, X: Any, y: Any, sample_weight: Any = None, *, owner: str = "Model", routed: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Rows, target and weights as numbers; rows of weight 0 are left out.

        The weight of a row is its sample weight times the class weight of the fit, also under
        ``class_weight="balanced"`` and for any class proportions of these rows.

        Parameters
        ----------
        X, y, sample_weight
            A table with its target.
        owner : str
            The name of the caller in messages about the table.
        routed : bool
            Whether the rows go down the tree as in ``predict`` instead of growing it; growers treat unseen levels as
            missing.

        Returns
        -------
        matrix : float64[n, p]
        target : int32[n, n_outputs] class codes, or float64[n, n_outputs]
        weights : float64[n], or None

        Raises
        ------
        DataError
            Lengths differ, or a label is not one of the model's classes.
        ParameterError
            Weights times class weights are beyond float64, or 0 for every row.
        """
        return rows_with_target(self, X, y, sample_weight, owner=owner, routed=routed)

    def audit(self, X: Any, y: Any, *, sample_weight: Any = None, node: int = 0, **options: Any) -> Audit:
        """Show how a node's split is chosen on these rows; options as ``treewright.explain.audit.audit_node``.

        Parameters
        ----------
        X, y, sample_weight
            A table with its target, such as the training rows. Classes have their weights of the fit.
        node : int
            0 is the root.

        Raises
        ------
        ParameterError
            The trees are a forest's, or the tree was grown with random cuts, or on bins that hid a better cut from the
            node: they did not choose among all tests. Or the model has many trees, as in bagging, and ``tree(i)`` was
            not called; or there is no such node.
        DataError
            The rows were refused.
        """
        from treewright.explain.audit import audit_model, refuse_other_growth

        refuse_other_growth(self)
        self._the_tree("audit")
        return audit_model(self, *self.encode_rows(X, y, sample_weight), node, **options)

    def rules(self, **options: Any) -> LeafRules:
        """One if-then rule per leaf (of many trees, for tree number ``tree=i``), with its rows and interval.

        Parameters
        ----------
        **options
            ``order`` ("tree", "support", "confidence"), ``level`` (0.95), ``exact`` (False), ``max_levels`` (12),
            ``keep_empty`` (True), ``tree``: as ``treewright.explain.rules.leaf_rules``.

        Raises
        ------
        ParameterError
            There are many trees and none is chosen, or an option is out of range.
        """
        from treewright.explain.rules import leaf_rules

        return leaf_rules(self if "tree" in options else self._the_tree("rules"), **options)

    def counterfactual(self, row: Any, to: Any = None, **options: Any) -> Counterfactual:
        """Find the nearest row with another prediction: what would have to change. Exact, for one tree.

        Parameters
        ----------
        row : mapping from column name to cell, sequence of p cells, or table of one row
        to : class label, optional
            The prediction to reach; by default any other.
        at_least, at_most : number, optional
            The same for regression.
        keep : column names or positions
            Columns that must not change.
        like : table, optional
            Rows whose spread sets the unit of each numeric column; by default the cuts of the tree do.
        **options
            These.

        Returns
        -------
        Counterfactual
            ``print`` shows it; ``row`` is the changed row. See ``treewright.explain.counterfactual.counterfactual``.

        Raises
        ------
        ParameterError
            There is no such class or column, or a regression tree gets neither ``at_least`` nor ``at_most``.
        DataError
            The row was refused.
        """
        from treewright.explain.counterfactual import counterfactual

        return counterfactual(self._the_tree("counterfactual"), row, to, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; an old file is replaced only when the new one is complete.

        Raises
        ------
        InputFileError
            The file cannot be written.
        """
        codec.save(self, path)

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - what users call it
        name: str | None = None,
        vectors: str | os.PathLike[str] | None = None,
    ) -> None:
        """Write the model as a file that works without this library: source code, SQL, ONNX, PMML, JSON.

        Sums over the trees are bit-identical; probabilities of boosted models use the program's own ``exp``.

        Parameters
        ----------
        path : path
            Its ending determines the format, if it is unambiguous. An old file is replaced only when the new one is
            complete.
        format : str, optional
            The format by its name, for any ending: ``"c"``, ``"javascript"`` (``.js``, ``.mjs``), ``"python"``,
            ``"java"``, ``"duckdb"``, ``"sqlite"``, ``"postgresql"`` (``.sql`` may be each of them), ``"onnx"``,
            ``"onnx-v3"``, ``"pmml"``, ``"graphviz"`` (one tree; ``.dot``, ``.gv``), ``"json"``.
        name : str, optional
            The name of functions and views, an identifier; by default "model", as in C ``model_predict``. A Java class
            is named after its file.
        vectors : path, optional
            Write test vectors to this file, as JSON: rows on and next to every cut, infinite, missing, of every level
            and an unknown one, with the model's predictions. ``treewright verify`` runs the source code on them.

        Raises
        ------
        ParameterError
            There is no such ending or format, the name is not an identifier, or the model has what the format cannot
            represent.
        MissingLibraryError
            The package ``onnx``, for ONNX, is not installed.
        InputFileError
            The file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from runpy import run_path
        >>> import treewright as tw
        >>> model = tw.DecisionTreeRegressor().fit({"rain": [0, 2, 5, 9]}, [4.0, 6.0, 7.0, 11.0]).model_
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.export(f"{folder}/rain.py")
        ...     code = run_path(f"{folder}/rain.py")
        >>> code["predict"](code["encode"]({"rain": 8}))
        11.0
        """
        from treewright.core.files import are_same, write_whole
        from treewright.exchange.formats import exported, name_of

        if vectors is not None and are_same(path, vectors):
            raise ParameterError(f"vectors={os.fspath(vectors)!r} is the file of the model itself: name another")
        write_whole(path, exported(self, path, name, format))
        if vectors is not None:
            from treewright.exchange.verify import vectors_of

            write_whole(vectors, json.dumps(vectors_of(self, name_of(path, name, format))).encode())

    def _repr_html_(self) -> str:
        """For notebooks: a single tree that can be zoomed, folded and searched, or a summary of many."""
        if not self.is_single_tree:
            return f"<pre>{html.escape(self.show())}</pre>"
        from treewright.show.page.tree import tree_frame

        return tree_frame(self)

    def _repr_svg_(self) -> str | None:
        """The picture of a single tree, for notebook viewers that do not show frames."""
        return self.plot().text if self.is_single_tree else None

    def __repr__(self) -> str:
        if not self.is_single_tree:
            return f"<treewright.Model: {self.task}, {len(self.schema)} columns, {counted(self.n_trees, 'tree')}>"
        tree = self.trees[0]
        size = f"{len(self.schema)} columns, {tree.n_leaves} leaves, depth {tree.max_depth}"
        return f"<treewright.Model: {self.task}, {size}>"
