"""A fitted model with its verbs. In: what fitting made, or a file. Out: predictions, pictures, files.

Callers: users, estimators, cli.

``Model`` is ``ModelData`` and nothing more: each method is one line of a verb's module. It needs no estimator and does
not import scikit-learn.
"""

from __future__ import annotations

import math
import os
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.data.encoder import encode, encode_row
from treewright.data.rows import encode_plain_row
from treewright.data.target import check_lengths, check_weights, encode_labels, encode_numbers, recode
from treewright.data.weights import class_factors, weighed
from treewright.exceptions import DataError, ParameterError
from treewright.predict import values
from treewright.predict.fractional import average_of_leaves
from treewright.predict.one import leaf_of_row
from treewright.predict.values import first_largest, leaf_table
from treewright.prune.decision import Rows
from treewright.tree import codec
from treewright.tree.model import ModelData

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from treewright.explain.audit import Audit
    from treewright.explain.rule_table import LeafRules
    from treewright.plot.svg import SvgPicture
    from treewright.prune.log import PruneLog
    from treewright.tree.nodes import Node


class Model(ModelData):
    """A fitted model: it predicts, shows itself and is saved; it never changes.

    Made by fitting an estimator (``est.model_``) or by ``treewright.load``. The attributes are those of
    ``treewright.tree.model.ModelData``.

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

    def _encoded(self, X: Any, owner: str) -> np.ndarray:
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
            numbers = values.predict_numbers(self, matrix, n_jobs)
            return numbers[:, 0] if self.n_outputs == 1 else numbers
        codes = values.predict_codes(self, matrix, n_jobs)
        if self.n_outputs == 1:
            return self.classes[0].take(codes[:, 0])
        columns = [labels.take(codes[:, output]) for output, labels in enumerate(self.classes)]
        return np.stack(columns, axis=1)

    def predict_proba(
        self, X: Any, *, n_jobs: int | None = None, owner: str = "Model"
    ) -> np.ndarray | list[np.ndarray]:
        """Predict the share of each class in the row's leaf.

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
        table = leaf_table(self)
        cells = encode_plain_row(self.schema, row)
        if cells is None or (self.missing == "error" and math.isnan(sum(cells))):
            cells = encode_row(self.schema, row, unseen=self.unseen, missing=self.missing).tolist()
        if self.missing == "fractional" and any(map(math.isnan, cells)):
            numbers, codes = self._averaged(cells)
        else:
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
        int64[n]
            Of a row in several leaves (``missing="fractional"``) the one with its largest share, the lowest of equals.
        """
        return values.predict_leaves(self, self._encoded(X, owner), n_jobs).astype(np.int64)

    def decision_path(self, X: Any, *, n_jobs: int | None = None, owner: str = "Model") -> csr_matrix:
        """Indicator of the nodes that each row passes.

        Returns
        -------
        csr_matrix of int64[n, n_nodes]
            Under ``missing="fractional"`` float64: the share of the row that passes the node.
        """
        from treewright.predict import paths

        matrix = self._encoded(X, owner)
        return paths.decision_path(self, matrix, values.predict_leaves(self, matrix, n_jobs))

    def node(self, i: int) -> Node:
        """Return one node as an object that can be read and printed.

        Parameters
        ----------
        i : int
            Its position; 0 is the root.

        Raises
        ------
        ParameterError
            There is no such node.
        """
        from treewright.tree.nodes import node_of

        return node_of(self, i)

    @property
    def feature_importances(self) -> np.ndarray:
        """float64[p]: share of the decrease of impurity that each column brought; sums to one."""
        from treewright.explain.importance import impurity_importances

        return impurity_importances(self.trees[0], len(self.schema))

    def show(self, **options: Any) -> str:
        """Return the tree as text; options as ``treewright.explain.text.show``."""
        from treewright.explain import text

        return text.show(self, **options)

    def plot(self, **options: Any) -> SvgPicture:
        """Draw the tree as SVG; options as ``treewright.plot.svg.plot``."""
        from treewright.plot import svg

        return svg.plot(self, **options)

    def prune(self, method: str, X: Any = None, y: Any = None, sample_weight: Any = None, **options: Any) -> Model:
        """Cut the tree back; this model stays as it is.

        Parameters
        ----------
        method : str
            As for the estimators' ``prune``.
        X, y, sample_weight : optional
            Rows, for the methods that need some: those of the fit for ``error_based`` (not needed to make leaves only,
            but for C4.5's trees), others for ``reduced_error``. A class weighs what it weighed at the fit.
        **options
            The method's own.

        Returns
        -------
        Model
            Its ``prune_log`` tells every cut.

        Raises
        ------
        ParameterError
            There is no such method or option, rows are lacking or not wanted, or the method is undefined for this tree.
        DataError
            The rows were refused.
        """
        return self.pruned(method, self.rows_to_prune(X, y, sample_weight), **options)

    def rows_to_prune(self, X: Any, y: Any, sample_weight: Any, *, owner: str = "Model") -> Rows | None:
        """Rows for ``pruned``, as ``encode_rows`` gives them; None where none are given.

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
        from treewright.prune.door import prune_model

        data, log = prune_model(self, method, rows, **options)
        model = Model.of(data)
        object.__setattr__(model, "_prune_log", log)  # beside the fields: files and comparisons do not see it
        return model

    @property
    def prune_log(self) -> PruneLog:
        """Every cut of the pruning that made this model, with the numbers that decided.

        Raises
        ------
        AttributeError
            The model was not made by ``prune``, or was loaded from a file. A pickle keeps the log of the last
            pruning, with the one tree as it was before it.
        """
        log: PruneLog | None = self.__dict__.get("_prune_log")
        if log is None:
            raise AttributeError("there is no log: the model was not made by prune, or was read from a file")
        return log

    def encode_rows(
        self, X: Any, y: Any, sample_weight: Any = None, *, owner: str = "Model", routed: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Rows, target and weights as numbers; rows of weight 0 are left out.

        A row weighs its sample weight times what its class weighed at the fit, also under ``class_weight="balanced"``,
        whatever the shares of the classes in these rows.

        Parameters
        ----------
        X, y, sample_weight
            A table with its target.
        owner : str
            Who is named in messages about the table.
        routed : bool
            Whether the rows are to be sent down the tree as ``predict`` sends them, not grown on: to the growers a
            level that fit never saw counts as missing.

        Returns
        -------
        matrix : float64[n, p]
        target : int32[n, n_outputs] class codes, or float64[n, n_outputs]
        weights : float64[n], or None

        Raises
        ------
        DataError
            Lengths differ, or a label is none of the model's classes.
        ParameterError
            Weights times class weights are beyond float64, or 0 for every row.
        """
        unseen = "missing" if self.unseen == "majority" and not routed else self.unseen
        matrix = encode(self.schema, X, unseen=unseen, owner=owner, missing=self.missing)
        if self.task == "classification":
            labels = encode_labels(y)
            check_lengths(len(matrix), labels)
            target = recode(labels, self.classes)
        else:
            numbers = encode_numbers(y)
            check_lengths(len(matrix), numbers)
            target = numbers.values
            if target.shape[1] != self.n_outputs:
                raise DataError(f"y has {target.shape[1]} outputs, the model has {self.n_outputs}")
        weights = check_weights(sample_weight, len(matrix))
        if self.task == "classification":
            weights = weighed(weights, class_factors(self.facts, target, self.classes), target)
        if weights is not None and not weights.all():
            kept = weights > 0
            matrix, target, weights = matrix[kept], target[kept], weights[kept]
        return matrix, target, weights

    def audit(self, X: Any, y: Any, *, sample_weight: Any = None, node: int = 0, **options: Any) -> Audit:
        """Show how a node's split is chosen on these rows; options as ``treewright.explain.audit.audit_node``.

        Parameters
        ----------
        X, y, sample_weight
            A table with its target; that of the fit, to see what the fit saw. A class weighs what it weighed there.
        node : int
            0 is the root.
        """
        from treewright.explain.audit_model import audit_model

        return audit_model(self, *self.encode_rows(X, y, sample_weight), node, **options)

    def rules(self, **options: Any) -> LeafRules:
        """One if-then rule per leaf; options as ``treewright.explain.rules.leaf_rules``."""
        from treewright.explain.rules import leaf_rules

        return leaf_rules(self, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; an old file stays whole until the new one is.

        Raises
        ------
        InputFileError
            The file cannot be written there.
        """
        codec.save(self, path)

    def _repr_html_(self) -> str:
        return self.plot().text

    def __repr__(self) -> str:
        tree = self.trees[0]
        size = f"{len(self.schema)} columns, {tree.n_leaves} leaves, depth {tree.max_depth}"
        return f"<treewright.Model: {self.task}, {size}>"


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model file.

    Parameters
    ----------
    path : path of a file that ``save`` wrote

    Returns
    -------
    Model

    Raises
    ------
    ModelFileError
        The file is not a whole model file, was tampered with, or was written by a newer version.

    Examples
    --------
    >>> import os, tempfile, treewright as tw
    >>> est = tw.DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0]], [10.0, 20.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "two.tw")
    ...     est.save(path)
    ...     tw.load(path).predict([[1.2]])
    array([10.])
    """
    return Model.of(codec.load(path))
