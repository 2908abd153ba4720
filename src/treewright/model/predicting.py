"""What a fitted model says about rows. In: tables. Out: labels, numbers, shares, leaves. Caller: ``model.fitted``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.data.encoder import encode, encode_row
from treewright.data.rows import encode_plain_row
from treewright.model.answers import labels_of
from treewright.predict import staged, values
from treewright.predict.ensemble import combined, scores_of
from treewright.predict.fractional import average_of_leaves
from treewright.predict.one import leaf_of_row
from treewright.predict.shares import first_largest, output_columns
from treewright.predict.values import leaf_table
from treewright.tree.model import ModelData

if TYPE_CHECKING:
    from collections.abc import Hashable

    from scipy.sparse import csr_matrix

    from treewright.model.dependence import PartialDependence


class PredictingModel(ModelData):
    """``ModelData`` with the verbs that send rows down its trees."""

    def _encoded(self, X: Any, owner: str) -> np.ndarray:
        if type(X) is list and len(X) == 1 and type(X[0]) is list and not self.schema.named:
            # The door for one row in lists: a table of one row takes ten times as long as many trees do.
            cells = encode_plain_row(self.schema, X[0])
            if cells is not None and not (self.missing == "error" and math.isnan(sum(cells))):
                return np.array([cells])
        return encode(self.schema, X, unseen=self.unseen, missing=self.missing, owner=owner)

    def predict(self, X: Any, *, n_jobs: int | None = None, owner: str = "Model") -> np.ndarray:
        """Predict a class label or a number for each row.

        Parameters
        ----------
        X : table of n rows
            Columns are matched by name where the model knows names.
        n_jobs : int or None
            Threads; the result does not depend on it.
        owner : str
            Who is named in messages about the table.

        Returns
        -------
        ndarray[n] or ndarray[n, n_outputs]
            Labels in the dtype of the target; float64 for regression.

        Raises
        ------
        ColumnError
            Columns are missing, doubled or of another kind than at fit.
        UnseenLevelError
            A level that fit never saw, under ``unseen="error"``.
        MissingValueError
            A missing cell, or a level that counts as missing, under ``missing="error"``.
        """
        matrix = self._encoded(X, owner)
        if self.task == "regression":
            return self._numbers(values.predict_numbers(self, matrix, n_jobs))
        return labels_of(self.classes, values.predict_codes(self, matrix, n_jobs))

    def _numbers(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers as ``predict`` gives them."""
        return numbers[:, 0] if self.n_outputs == 1 else numbers

    def predict_proba(
        self, X: Any, *, n_jobs: int | None = None, owner: str = "Model"
    ) -> np.ndarray | list[np.ndarray]:
        """Predict the share of each class in the row's leaf; of many trees the mean of that, or the share of votes.

        Of a boosted model the shares come from the scores: the logistic function for two classes, softmax for more.

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
        shares = values.predict_shares(self, self._encoded(X, owner), n_jobs)
        return shares[0] if self.n_outputs == 1 else shares

    def predict_scores(self, X: Any, *, n_jobs: int | None = None, owner: str = "Model") -> np.ndarray:
        """Scores of each row, which the trees of a boosted model add up; what they mean its link tells.

        Returns
        -------
        float64[n], or float64[n, n_scores] for several scores
            Of two classes the log odds of the second, of more one score per class; of numbers see
            ``treewright.tree.boosting.Boosting``. Log odds so near to 0 that both shares round to 0.5 (about 1e-16)
            are a tie for ``predict``, which takes the first class.

        Raises
        ------
        AttributeError
            The model is not boosted.
        """
        self._refuse_without_scores()
        return self._scores(scores_of(self, self._encoded(X, owner), n_jobs))

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
            Read at once; each answer is worked out when it is asked for, and a ``TooLargeError`` comes with the first.
        n_jobs : int or None
            Threads; the result does not depend on it.
        owner : str
            Who is named in messages about the table.

        Raises
        ------
        AttributeError
            The trees were not grown in rounds.
        """
        answers = self._staged(X, n_jobs, owner)
        if self.task == "regression":
            return map(self._numbers, answers)
        return (labels_of(self.classes, first_largest(self, shares)) for shares in answers)

    def staged_predict_proba(
        self, X: Any, *, n_jobs: int | None = None, owner: str = "Model"
    ) -> Iterator[np.ndarray | list[np.ndarray]]:
        """Class shares after each round, as ``predict_proba`` gives them; the last are the same.

        Raises
        ------
        AttributeError
            The model predicts numbers, or its trees were not grown in rounds.
        """
        if self.task == "regression":
            raise AttributeError("a regression model has no class probabilities; use staged_predict")
        answers, columns = self._staged(X, n_jobs, owner), output_columns(self)
        if self.n_outputs == 1:
            return answers
        return ([np.ascontiguousarray(shares[:, each]) for each in columns] for shares in answers)

    def _staged(self, X: Any, n_jobs: int | None, owner: str) -> Iterator[np.ndarray]:
        """What the trees say together after each round."""
        if not staged.has_rounds(self):
            raise AttributeError("the trees of this model were not grown in rounds: only boosted models are staged")
        return staged.staged_answers(self, self._encoded(X, owner), n_jobs)

    def _refuse_without_scores(self) -> None:
        if self.boosting is None:
            raise AttributeError("only a model of gradient boosting has scores; use predict or predict_proba")

    def _scores(self, scores: np.ndarray) -> np.ndarray:
        """Scores as ``predict_scores`` gives them."""
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_quantile(
        self, X: Any, quantiles: Any = (0.05, 0.5, 0.95), *, n_jobs: int | None = None, owner: str = "Model"
    ) -> np.ndarray:
        """Predict quantiles of the target; only a forest that was fitted with ``quantiles=True``.

        Parameters
        ----------
        X : table of n rows
        quantiles : float or sequence of q floats, 0 to 1
            See ``treewright.forest.quantiles.predict_quantiles``.
        n_jobs : int or None
            Threads; the result does not depend on it.
        owner : str
            Who is named in messages about the table.

        Returns
        -------
        float64[n, q], or float64[n, q, n_outputs] for several outputs
            Targets of the fit.

        Raises
        ------
        AttributeError
            The model predicts classes.
        ParameterError
            A quantile is out of range, or the model has no targets.
        """
        from treewright.forest.quantiles import predict_quantiles

        answers = predict_quantiles(self, self._encoded(X, owner), quantiles, n_jobs)
        return answers[:, :, 0] if self.n_outputs == 1 else answers

    def predict_interval(
        self, X: Any, level: float = 0.9, *, n_jobs: int | None = None, owner: str = "Model"
    ) -> np.ndarray:
        """Predict an interval that holds the share ``level`` of the targets: two quantiles, as much below as above.

        Returns
        -------
        float64[n, 2], or float64[n, 2, n_outputs] for several outputs

        Raises
        ------
        AttributeError, ParameterError
            As ``predict_quantile``.
        """
        from treewright.forest.quantiles import ends_of_level

        return self.predict_quantile(X, ends_of_level(level), n_jobs=n_jobs, owner=owner)

    def predict_one(self, row: Any) -> Any:
        """Predict one row, as fast as can be.

        Parameters
        ----------
        row : sequence of p cells, or mapping from column name to cell

        Returns
        -------
        scalar, or ndarray[n_outputs] for several outputs
            A label or a float, as an element of what ``predict`` returns.
        """
        cells = encode_plain_row(self.schema, row)
        if cells is None or (self.missing == "error" and math.isnan(sum(cells))):
            cells = encode_row(self.schema, row, unseen=self.unseen, missing=self.missing).tolist()
        if self.combine != "single":
            said = combined(self, np.array([cells]), n_jobs=1)
            numbers, codes = said[0], first_largest(self, said)[0]
        elif self.missing == "fractional" and any(map(math.isnan, cells)):
            numbers, codes = self._averaged(cells)
        else:
            table = leaf_table(self)
            leaf = leaf_of_row(self.trees[0], cells)
            numbers, codes = table.values[leaf], table.codes[leaf]
        if self.task == "regression":
            return numbers[0].item() if self.n_outputs == 1 else numbers.copy()
        if self.n_outputs == 1:
            return self.classes[0][codes[0]]
        labels = [self.classes[output][code] for output, code in enumerate(codes)]
        return np.array(labels, dtype=np.result_type(*self.classes))

    def _averaged(self, cells: list[float]) -> tuple[np.ndarray, np.ndarray]:
        """Numbers and class codes of a row in several leaves, by the kernel that a table goes through."""
        table, only = leaf_table(self), np.zeros(1, np.int64)
        content = table.values if self.task == "regression" else table.shares
        said = average_of_leaves(self.trees[0], np.array([cells]), only, content, n_jobs=1)
        return said[0], table.codes[0] if self.task == "regression" else first_largest(self, said)[0]

    def apply(self, X: Any, *, n_jobs: int | None = None, owner: str = "Model") -> np.ndarray:
        """Position of the leaf that each row ends in.

        Returns
        -------
        int64[n], or int64[n, n_trees] for many trees
            Of a row in several leaves (``missing="fractional"``) the one with its largest share, the lowest of equals.
        """
        return values.predict_leaves(self, self._encoded(X, owner), n_jobs).astype(np.int64, copy=False)

    def decision_path(
        self, X: Any, *, n_jobs: int | None = None, owner: str = "Model"
    ) -> csr_matrix | tuple[csr_matrix, np.ndarray]:
        """Indicator of the nodes that each row passes.

        Returns
        -------
        path : csr_matrix of int64[n, n_nodes]
            Under ``missing="fractional"`` float64: the share of the row that passes the node.
        n_nodes_ptr : int64[n_trees + 1]
            Many trees only: the nodes of tree ``i`` are the columns from ``n_nodes_ptr[i]`` to ``n_nodes_ptr[i + 1]``.
        """
        from treewright.predict import ensemble_paths, paths

        matrix = self._encoded(X, owner)
        leaves = values.predict_leaves(self, matrix, n_jobs)
        if self.combine != "single":
            return ensemble_paths.decision_paths(self, matrix, leaves)
        return paths.decision_path(self, matrix, leaves)

    def partial_dependence(
        self, X: Any, column: Hashable, second: Hashable | None = None, **options: Any
    ) -> PartialDependence:
        """Tell what the model says on average when a column, or a pair, has this or that value.

        Options as ``treewright.explain.partial_dependence.partial_dependence``.
        """
        from treewright.model.dependence import partial_dependence

        return partial_dependence(self, X, column, second, **options)
