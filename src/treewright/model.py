"""A fitted model with its verbs. In: what fitting made, or a file. Out: predictions, pictures, files.

Callers: users, estimators, cli.

``Model`` is ``ModelData`` and nothing more: each method is one line of a verb's module. It needs no estimator and does
not import scikit-learn.
"""

from __future__ import annotations

import html
import math
import os
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.data.encoder import encode, encode_row
from treewright.data.rows import encode_plain_row
from treewright.exceptions import ParameterError
from treewright.predict import values
from treewright.predict.ensemble import combined
from treewright.predict.fractional import average_of_leaves
from treewright.predict.one import leaf_of_row
from treewright.predict.shares import first_largest
from treewright.predict.values import leaf_table
from treewright.prune.decision import Rows
from treewright.tree import codec
from treewright.tree.model import ModelData
from treewright.tree.rows import rows_with_target
from treewright.tree.summary import counted

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
    ``treewright.tree.model.ModelData``. A model of many trees predicts with all of them; what belongs to one tree is
    asked of ``model.tree(i)``.

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
        """Predict the share of each class in the row's leaf; of many trees the mean of that, or the share of votes.

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

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.trees)

    def tree(self, i: int) -> Model:
        """Return one of many trees as a model of its own, with the same columns and classes.

        Parameters
        ----------
        i : int, 0 to n_trees - 1

        Returns
        -------
        Model
            The same object where this model is a single tree already.

        Raises
        ------
        ParameterError
            There is no such tree.
        """
        if isinstance(i, bool) or not hasattr(i, "__index__") or not 0 <= int(i) < self.n_trees:
            raise ParameterError(f"tree is {i!r}; the model has {counted(self.n_trees, 'tree')}, counted from 0")
        if self.combine == "single":
            return self
        return replace(self, trees=(self.trees[int(i)],), combine="single", leaf_targets=None)

    def _the_tree(self, verb: str) -> Model:
        """The model itself where it is a single tree, else an error that says how to choose one."""
        if self.combine != "single":
            raise ParameterError(
                f"{verb} is for one tree, the model has {counted(self.n_trees, 'tree')}: choose one, as in "
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
        from treewright.tree.nodes import node_of

        return node_of(self._the_tree("node") if tree is None else self.tree(tree), i)

    @property
    def feature_importances(self) -> np.ndarray:
        """float64[p]: share of the decrease of impurity that each column brought; of many trees the mean.

        Sums to one, or all 0 where nothing was gained.
        """
        from treewright.explain.ensemble import mean_importances
        from treewright.explain.importance import impurity_importances

        if self.combine != "single":
            return mean_importances(self)
        return impurity_importances(self.trees[0], len(self.schema))

    def show(self, **options: Any) -> str:
        """Return the tree as text; options as ``treewright.explain.text.show``.

        Of many trees, the one that ``tree=i`` names; without it a summary of all.
        """
        if self.combine != "single" and "tree" not in options:
            from treewright.explain.ensemble import show_ensemble

            return show_ensemble(self, **options)
        from treewright.explain import text

        return text.show(self, **options)

    def plot(self, **options: Any) -> SvgPicture:
        """Draw the tree as SVG; options as ``treewright.plot.svg.plot``. Of many trees, the one that ``tree=i`` names.

        Raises
        ------
        ParameterError
            There are many trees and none is chosen, or an option is out of range.
        """
        from treewright.plot import svg

        return svg.plot(self if "tree" in options else self._the_tree("plot"), **options)

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
        self._the_tree("prune")
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

        data, log = prune_model(self._the_tree("prune"), method, rows, **options)
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
        return rows_with_target(self, X, y, sample_weight, owner=owner, routed=routed)

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

        self._the_tree("audit")
        return audit_model(self, *self.encode_rows(X, y, sample_weight), node, **options)

    def rules(self, **options: Any) -> LeafRules:
        """One if-then rule per leaf; options as ``treewright.explain.rules.leaf_rules``.

        Of many trees, those of the one that ``tree=i`` names; without it a ``ParameterError`` says so.
        """
        from treewright.explain.rules import leaf_rules

        return leaf_rules(self if "tree" in options else self._the_tree("rules"), **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; an old file stays whole until the new one is.

        Raises
        ------
        InputFileError
            The file cannot be written there.
        """
        codec.save(self, path)

    def _repr_html_(self) -> str:
        return self.plot().text if self.combine == "single" else f"<pre>{html.escape(self.show())}</pre>"

    def __repr__(self) -> str:
        if self.combine != "single":
            return f"<treewright.Model: {self.task}, {len(self.schema)} columns, {counted(self.n_trees, 'tree')}>"
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
