"""What single-tree estimators share beyond the rest: one tree, audited and shown. In: a table. Out: ``Tree``.

Callers: estimators.cart, estimators.id3, estimators.c45, estimators.chaid, model_selection.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from treewright.data.target import Labels, Numbers
from treewright.estimators import resolve
from treewright.estimators.base import Estimator
from treewright.estimators.prunable import Prunable
from treewright.estimators.single_importance import SingleImportance
from treewright.estimators.suspicions import warn_of_suspicions
from treewright.estimators.table import FitInput, FitTable
from treewright.exceptions import ParameterError
from treewright.grow.by_node.policies import policy_of, problem_of
from treewright.tree.summary import cuts_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from treewright.explain.audit import Audit
    from treewright.explain.change import Counterfactual
    from treewright.explain.rule_table import LeafRules
    from treewright.explain.trace import Trace
    from treewright.grow.by_node.grower import Step
    from treewright.grow.by_node.policy import Policy
    from treewright.grow.by_node.problem import Problem
    from treewright.plot.svg import SvgPicture
    from treewright.tree.arrays import Tree
    from treewright.tree.nodes import Node


class TreeEstimator(Prunable, SingleImportance, Estimator):
    """A scikit-learn estimator around one grown tree."""

    # Every algorithm's; each adds its own.
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Estimator._parameter_constraints,
        "grow_trace": ["boolean"],
    }

    def _learn(self, given: FitInput, n_threads: int) -> None:
        """Grow, prune, keep."""
        table = given.table
        tree, steps = self._grow(table, n_threads)
        warn_of_suspicions(table.schema, table.matrix, table.target, int(tree.feature[0]))
        self._store(given, (tree,))
        self._rows, self._steps, self._parameters_of_fit = table.kept(), steps, self._parameters()

    def __getstate__(self) -> dict[str, Any]:
        # The rows of the fit stay here: a pickle is for using the model, and may leave the house.
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_rows", None)
        return state

    @property
    def tree_(self) -> Tree:
        """The grown tree as flat arrays."""
        check_is_fitted(self, "model_")
        return self.model_.trees[0]

    def apply(self, X: Any) -> np.ndarray:
        """Position of the leaf that each row ends in.

        Returns
        -------
        int64[n]
        """
        return self._fitted().apply(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    def decision_path(self, X: Any) -> csr_matrix:
        """Indicator of the nodes that each row passes.

        Returns
        -------
        csr_matrix of int64[n, n_nodes]
        """
        return self._fitted().decision_path(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    def get_depth(self) -> int:
        """Edges from the root to the deepest leaf."""
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """How many leaves the tree has."""
        return self.tree_.n_leaves

    def audit(
        self,
        node: int = 0,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        every: Hashable | None = None,
        log_base: Literal[2, "e"] = 2,
        digits: int = 3,
    ) -> Audit:
        """Show how a node's split was chosen: every column's best candidate, and the arithmetic of the winner.

        Parameters
        ----------
        node : int
            0 is the root; ``show`` numbers the others.
        X, y, sample_weight : optional
            The table to audit on. Without it, the rows of the last fit, which are kept while they are small (32 MB)
            and not pickled.
        every : hashable, optional
            The name or position of a column whose cuts or divisions are listed one by one.
        log_base : {2, "e"}
            Whether entropies are in bits or in nats.
        digits : int, 1 to 12
            Decimals in texts.

        Returns
        -------
        Audit
            ``print`` writes it out, ``to_dict()`` makes columns for a data frame.

        Raises
        ------
        ParameterError
            There is no such node, or no rows are at hand.

        Examples
        --------
        >>> import treewright as tw
        >>> est = tw.ID3Classifier().fit({"sky": ["sun", "rain", "sun"]}, ["out", "in", "out"])
        >>> [round(row.gain, 3) for row in est.audit()]
        [0.918]
        """
        from treewright.explain.audit_model import audit_rows

        model = self._fitted()
        if (X is None) != (y is None):
            raise ParameterError("audit takes X and y together, or neither")
        if X is None and sample_weight is not None:
            raise ParameterError("audit takes sample_weight only with X and y; the rows of the fit have theirs")
        table = self.__dict__.get("_rows") if X is None else self._table_of(X, y, sample_weight)
        if table is None:
            raise ParameterError(
                "the rows of the fit are not at hand (more than 32 MB, or a copy left them behind, as in a pickle or a "
                "bag): pass them, audit(node, X, y, sample_weight)"
            )
        # The parameters of the fit: those of now may have been set since.
        parameters = self._parameters_of_fit
        problem = problem_of(
            self._algorithm, parameters, model.missing, table.matrix, table.schema, table.target[0], table.weights,
            model.n_classes,
        )  # fmt: skip
        policy = policy_of(self._algorithm, parameters, problem, int(model.facts["n_samples"]))
        return audit_rows(model, problem, policy, table.matrix, node, every=every, log_base=log_base, digits=digits)

    def _table_of(self, X: Any, y: Any, sample_weight: Any) -> FitTable:
        """Rows encoded as the fitted model encodes them."""
        model = self._fitted()
        matrix, target, weights = model.encode_rows(X, y, sample_weight, owner=type(self).__name__)
        names = model.target_names
        if model.task == "classification":
            return FitTable(model.schema, matrix, Labels(target, model.classes, names, True), weights)
        return FitTable(model.schema, matrix, Numbers(target, names, True), weights)

    @property
    def trace_(self) -> Trace:
        """How the tree grew, node by node; only after a fit with ``grow_trace=True``."""
        from treewright.explain.trace import trace_of

        model = self._fitted()
        steps = self.__dict__.get("_steps")
        if steps is None:
            if cuts_of(model):
                raise AttributeError(
                    "the tree was pruned, so its nodes have other numbers: ask the estimator before prune"
                )
            raise AttributeError("no trace was kept: fit with grow_trace=True")
        return trace_of(model, steps)

    def show(self, **options: Any) -> str:
        """Return the tree as text; options as ``treewright.explain.text.show``."""
        return self._fitted().show(**options)

    def node(self, i: int) -> Node:
        """Return one node as an object that can be read and printed: its test, counts, surrogates, prediction."""
        return self._fitted().node(i)

    def plot(self, **options: Any) -> SvgPicture:
        """Draw the tree as SVG; options as ``treewright.plot.svg.plot``."""
        return self._fitted().plot(**options)

    def rules(
        self,
        *,
        order: Literal["tree", "support", "confidence"] = "tree",
        level: float = 0.95,
        exact: bool = False,
        max_levels: int | None = 12,
        keep_empty: bool = True,
    ) -> LeafRules:
        """One if-then rule per leaf, with its rows, classes and a confidence interval.

        Parameters
        ----------
        order : {"tree", "support", "confidence"}
            From left to right, largest share of the rows first, or most certain class first.
        level : float, between 0 and 1
            Confidence level of the intervals.
        exact : bool
            Write numbers so that they read back as the same float64, not with 6 significant digits or few more.
        max_levels : int, optional
            Name at most this many levels in one condition; None names all of them.
        keep_empty : bool
            Keep the rules of leaves without training rows.

        Returns
        -------
        LeafRules
            ``print`` shows it as text, a notebook as a table, ``to_dict()`` makes columns for a data frame; items are
            ``LeafRule``. See ``treewright.explain.rules.leaf_rules``.

        Raises
        ------
        ParameterError
            A parameter is out of range, or ``order="confidence"`` for numbers.
        """
        return self._fitted().rules(order=order, level=level, exact=exact, max_levels=max_levels, keep_empty=keep_empty)

    def counterfactual(
        self,
        row: Any,
        to: Any = None,
        *,
        at_least: Any = None,
        at_most: Any = None,
        keep: Iterable[Hashable] = (),
        like: Any = None,
    ) -> Counterfactual:
        """Find what would have to change about a row for another answer: the nearest row that the tree answers so.

        Parameters
        ----------
        row : mapping from column name to cell, sequence of p cells, or table of one row
        to : class label, optional
            The answer that is wanted; without it any other.
        at_least, at_most : number, optional
            The same for numbers.
        keep : column names or positions
            Columns that must stay as they are.
        like : table, optional
            Rows that say how much of each numeric column counts as 1; without it the cuts of the tree do.

        Returns
        -------
        Counterfactual
            ``print`` shows it; ``row`` is the changed row. See ``treewright.explain.counterfactual.counterfactual``.

        Raises
        ------
        ParameterError
            There is no such class or column, or no number is asked of a tree of numbers.
        DataError
            The row was refused.
        """
        return self._fitted().counterfactual(
            row, to, at_least=at_least, at_most=at_most, keep=keep, like=like, owner=type(self).__name__
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """In a notebook a fitted estimator shows its tree: a page in a frame, a picture where frames are left out."""
        model = self.__dict__.get("model_")
        if model is None:
            bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
            return bundle
        return {
            "text/plain": repr(self),
            "text/html": model._repr_html_(),
            "image/svg+xml": model._repr_svg_(),
        }

    @abstractmethod
    def _grow(self, table: FitTable, n_threads: int) -> tuple[Tree, tuple[Step, ...] | None]:
        """The grown and pruned tree; its trace where ``grow_trace`` asks for one."""

    def _refuse_too_little_memory(self, p: int, n: int, n_threads: int) -> None:
        resolve.refuse_too_little_memory(p, n, n_threads)

    def _policy(self, problem: Problem) -> Policy:
        """How a node chooses its test: for growing by node, and for audits."""
        return policy_of(self._algorithm, self._parameters(), problem, problem.n_rows)

    def _problem(self, table: FitTable) -> Problem:
        """The rows as the grower by nodes takes them."""
        return problem_of(
            self._algorithm, self._parameters(), self._missing(), table.matrix, table.schema, table.target[0],
            table.weights, self._n_classes(table.target),
        )  # fmt: skip

    @abstractmethod
    def _n_classes(self, target: Any) -> tuple[int, ...]:
        """Classes per output; empty for numbers."""
