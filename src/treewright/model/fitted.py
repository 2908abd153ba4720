"""A fitted model with its verbs. In: what fitting made. Out: predictions, pictures, files.

Callers: users, estimators, cli; ``treewright.model`` is the door.

``Model`` is ``ModelData`` and nothing more: each method is one line of a verb's module. It needs no estimator and does
not import scikit-learn.
"""

from __future__ import annotations

import html
import os
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.exceptions import ParameterError
from treewright.model.predicting import PredictingModel
from treewright.prune.decision import Rows
from treewright.prune.methods import ROUNDS
from treewright.tree import codec
from treewright.tree.model import ModelData
from treewright.tree.rows import rows_with_target
from treewright.tree.single import single_tree
from treewright.tree.summary import counted

if TYPE_CHECKING:
    from treewright.boosting.fewer_rounds import RoundsLog
    from treewright.explain.audit import Audit
    from treewright.explain.change import Counterfactual
    from treewright.explain.rule_table import LeafRules
    from treewright.plot.svg import SvgPicture
    from treewright.prune.log import PruneLog
    from treewright.tree.nodes import Node


class Model(PredictingModel):
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

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.trees)

    def tree(self, i: int) -> Model:
        """Return one of many trees as a model of its own, with the same columns and classes.

        A tree of a boosted model predicts a number: what it adds to its score.

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
        return single_tree(self, int(i))

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

    def importances(self, kind: str = "gain") -> np.ndarray:
        """How much each column did in a boosted model.

        Parameters
        ----------
        kind : {"gain", "cover", "frequency"}
            The gain of the column's tests, as ``feature_importances``; the hessians of the rows that they were put to;
            how many they are.

        Returns
        -------
        float64[p]
            Shares: they sum to one, or are all 0 where no tree has a split.

        Raises
        ------
        ParameterError
            There is no such kind, or the model is not boosted.
        """
        from treewright.explain.importance import boosted_importances
        from treewright.tree.packed import PackedTrees

        if self.boosting is None or not isinstance(self.trees, PackedTrees):
            raise ParameterError("importances(kind) is for boosted models; every model has feature_importances")
        return boosted_importances(self.trees, kind)

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
        """Cut the tree back, or drop the last rounds of a boosted model; this model stays as it is.

        Parameters
        ----------
        method : str
            As for the estimators' ``prune``. ``"rounds"`` is for boosted models: it keeps the first ``n_rounds``, or
            those up to the lowest loss on rows that the trees were not grown on (``boosting.fewer_rounds``).
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
        if method != ROUNDS:
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
        data: ModelData
        log: PruneLog | RoundsLog
        if method == ROUNDS:
            from treewright.boosting.fewer_rounds import fewer_rounds, options_of_rounds

            data, log = fewer_rounds(self, rows, **options_of_rounds(options))
        else:
            from treewright.prune.door import prune_model

            data, log = prune_model(self._the_tree("prune"), method, rows, **options)
        model = Model.of(data)
        object.__setattr__(model, "_prune_log", log)  # beside the fields: files and comparisons do not see it
        return model

    @property
    def prune_log(self) -> PruneLog | RoundsLog:
        """Every cut of the pruning that made this model, with the numbers that decided; of rounds how many were left.

        Raises
        ------
        AttributeError
            The model was not made by ``prune``, or was loaded from a file. A pickle keeps the log of the last
            pruning, with the one tree as it was before it.
        """
        log: PruneLog | RoundsLog | None = self.__dict__.get("_prune_log")
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

        Raises
        ------
        ParameterError
            The trees are a forest's, or the tree was grown with random cuts, or on bins that kept a better cut from
            the node: they did not choose among all tests. Or there are many trees, as of bagging, and ``tree(i)`` was
            not asked; or there is no such node.
        DataError
            The rows were refused.
        """
        from treewright.explain.audit_model import audit_model, refuse_other_growth

        refuse_other_growth(self)
        self._the_tree("audit")
        return audit_model(self, *self.encode_rows(X, y, sample_weight), node, **options)

    def rules(self, **options: Any) -> LeafRules:
        """One if-then rule per leaf; options as ``treewright.explain.rules.leaf_rules``.

        Of many trees, those of the one that ``tree=i`` names; without it a ``ParameterError`` says so.
        """
        from treewright.explain.rules import leaf_rules

        return leaf_rules(self if "tree" in options else self._the_tree("rules"), **options)

    def counterfactual(self, row: Any, to: Any = None, **options: Any) -> Counterfactual:
        """What would have to change about a row for another answer, exactly.

        As ``treewright.explain.counterfactual.counterfactual``; of one tree.
        """
        from treewright.explain.counterfactual import counterfactual

        return counterfactual(self._the_tree("counterfactual"), row, to, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; an old file stays whole until the new one is.

        Raises
        ------
        InputFileError
            The file cannot be written there.
        """
        codec.save(self, path)

    def _repr_html_(self) -> str:
        """In a notebook a single tree can be zoomed, folded and searched; of many there is a summary."""
        if self.combine != "single":
            return f"<pre>{html.escape(self.show())}</pre>"
        from treewright.page.tree_page import tree_frame

        return tree_frame(self)

    def _repr_svg_(self) -> str | None:
        """The picture of a single tree, for readers of notebooks that leave frames out."""
        return self.plot().text if self.combine == "single" else None

    def __repr__(self) -> str:
        if self.combine != "single":
            return f"<treewright.Model: {self.task}, {len(self.schema)} columns, {counted(self.n_trees, 'tree')}>"
        tree = self.trees[0]
        size = f"{len(self.schema)} columns, {tree.n_leaves} leaves, depth {tree.max_depth}"
        return f"<treewright.Model: {self.task}, {size}>"
