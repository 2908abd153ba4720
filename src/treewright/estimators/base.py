"""What single-tree estimators share: check, call, store. In: parameters, a table, a target. Out: ``model_``.

Caller: estimators.tree.

An estimator only holds parameters. ``fit`` checks them, hands table and target down the layers and keeps the result as
``model_``; every other method hands on to that model.
"""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    RealNotInt,
    validate_parameter_constraints,
)
from sklearn.utils.validation import check_is_fitted

from treewright.core.threads import resolve_jobs
from treewright.data.absent import refuse_missing_at_fit
from treewright.data.encoder import encode_fit
from treewright.data.schema import Schema
from treewright.data.target import Labels, Numbers, check_lengths, check_weights
from treewright.data.weights import Factors, weighed
from treewright.estimators import resolve
from treewright.estimators.constraints import Words
from treewright.estimators.prunable import Prunable
from treewright.estimators.suspicions import warn_of_suspicions
from treewright.estimators.table import FitTable
from treewright.exceptions import ParameterError
from treewright.grow.by_node.policies import policy_of, problem_of
from treewright.model import Model
from treewright.tree.arrays import Tree
from treewright.tree.summary import cuts_of
from treewright.version import __version__

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.utils import Tags

    from treewright.explain.audit import Audit
    from treewright.explain.rule_table import LeafRules
    from treewright.explain.trace import Trace
    from treewright.grow.by_node.grower import Step
    from treewright.grow.by_node.policy import Policy
    from treewright.grow.by_node.problem import Problem
    from treewright.plot.svg import SvgPicture
    from treewright.tree.model import Missing
    from treewright.tree.nodes import Node


class _BothParameterErrors(ParameterError, InvalidParameterError):  # noqa: N818 - renamed below
    """A parameter is outside its range: both families' error, under the name that a user knows."""


_BothParameterErrors.__name__ = _BothParameterErrors.__qualname__ = "ParameterError"


class TreeEstimator(Prunable, BaseEstimator, ABC):
    """A scikit-learn estimator around one grown tree."""

    # Every algorithm's; each adds its own.
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_split": [
            Interval(Integral, 2, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "min_samples_leaf": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="neither"),
        ],
        "nominal": ["array-like", dict, str, None],
        "ordinal": [dict, None],
        "numeric": ["array-like", None],
        "unseen": [Words({"missing", "error", "majority"})],
        "grow_trace": ["boolean"],
        "n_jobs": [Integral, None],
    }
    _algorithm: ClassVar[str]

    model_: Model

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.multi_output = True
        return tags

    def _check_parameters(self) -> None:
        """Refuse parameters out of range."""
        try:
            # As BaseEstimator._validate_params, which takes 120 us to find the names of the parameters.
            validate_parameter_constraints(self._parameter_constraints, self._parameters(), type(self).__name__)
        except InvalidParameterError as error:
            raise _BothParameterErrors(str(error)) from None

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Check, encode, grow, prune, keep. Nothing of the estimator changes before the last step."""
        self._check_parameters()
        n_threads = resolve_jobs(self.n_jobs)
        resolve.refuse_too_large(X)
        schema, matrix = encode_fit(X, nominal=self.nominal, ordinal=self.ordinal, numeric=self.numeric)
        resolve.refuse_too_little_memory(len(schema), len(matrix), n_threads)
        target = self._encode_target(y)
        check_lengths(len(matrix), target)
        factors = self._class_factors(target)
        weights = weighed(check_weights(sample_weight, len(matrix)), factors, target[0])
        if self._missing() == "error":
            refuse_missing_at_fit(matrix, schema, weights)
        if weights is not None and not weights.all():
            kept = weights > 0
            matrix, target, weights = matrix[kept], self._rows_of(target, kept), weights[kept]
        table = FitTable(schema, matrix, target, weights)
        tree, steps = self._grow(table, n_threads)
        warn_of_suspicions(schema, matrix, target, tree)
        self._store(schema, tree, target, len(matrix), factors)
        self._rows, self._steps, self._parameters_of_fit = table.kept(), steps, self._parameters()
        return self

    def __getstate__(self) -> dict[str, Any]:
        # The rows of the fit stay here: a pickle is for using the model, and may leave the house.
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_rows", None)
        return state

    def _parameters(self) -> dict[str, Any]:
        """As ``get_params``, without looking at the signature of ``__init__``."""
        return {name: getattr(self, name) for name in self._parameter_constraints}

    def _store(self, schema: Schema, tree: Tree, target: Any, n_rows: int, factors: Factors | None) -> None:
        """Keep the model and what scikit-learn expects beside it."""
        facts: dict[str, Any] = {
            "algorithm": self._algorithm,
            "criterion": self._criterion_name(),
            "n_samples": n_rows,
            "parameters": resolve.plain_parameters(self._parameters()),
            "version": __version__,
        }
        if factors is not None:
            # By code, as they were: labels need not have a JSON form, and other rows would be balanced otherwise.
            facts["class_factors"] = [by_code.tolist() for by_code in factors]
        self.model_ = self._make_model(schema, tree, target, facts)
        self.n_features_in_ = len(schema)
        self.n_outputs_ = self.model_.n_outputs
        if schema.named and all(isinstance(name, str) for name in schema.names):
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _warn_column_vector(self, target: Any) -> None:
        """As scikit-learn: a target of shape (n, 1) is taken as (n,)."""
        if not target.flat and self._n_outputs(target) == 1:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=5,
            )

    @property
    def tree_(self) -> Tree:
        """The grown tree as flat arrays."""
        check_is_fitted(self, "model_")
        return self.model_.trees[0]

    @property
    def feature_importances_(self) -> np.ndarray:
        """float64[p]: share of the decrease of impurity that each column brought (see ``explain.importance``)."""
        check_is_fitted(self, "model_")
        return self.model_.feature_importances

    def _fitted(self) -> Model:
        """The model, or scikit-learn's error."""
        model = self.__dict__.get("model_")
        if model is None:
            check_is_fitted(self, "model_")
        return model  # type: ignore[return-value]

    def predict(self, X: Any) -> np.ndarray:
        """Predict each row.

        Parameters
        ----------
        X : table of n rows
            Columns are matched by name where fit knew names.

        Returns
        -------
        ndarray[n] or ndarray[n, n_outputs]
            Labels in the dtype of the target, or float64.

        Raises
        ------
        ColumnError
            Columns are missing, doubled or of another kind than at fit.
        UnseenLevelError
            A level that fit never saw, under ``unseen="error"``.
        """
        return self._fitted().predict(X, n_jobs=self.n_jobs, owner=type(self).__name__)

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
                "the rows of the fit are not at hand (more than 32 MB, or the estimator was pickled): pass them, "
                "audit(node, X, y)"
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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file (``treewright.load`` reads it); the parameters are in its facts."""
        self._fitted().save(path)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """In a notebook a fitted estimator shows its tree."""
        model = self.__dict__.get("model_")
        if model is None:
            bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
            return bundle
        return {"text/plain": repr(self), "text/html": model.plot().text}

    # What classifier and regressor differ in.

    @abstractmethod
    def _grow(self, table: FitTable, n_threads: int) -> tuple[Tree, tuple[Step, ...] | None]:
        """The grown and pruned tree; its trace where ``grow_trace`` asks for one."""

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

    def _criterion_name(self) -> str:
        """What the model's facts call the criterion."""
        return str(self.criterion)

    def _missing(self) -> Missing:
        """How the model treats missing values."""
        return cast("Missing", self.missing)

    @abstractmethod
    def _encode_target(self, y: Any) -> Any:
        """The target as codes or numbers."""

    @abstractmethod
    def _rows_of(self, target: Any, kept: np.ndarray) -> Any:
        """Some rows of the encoded target."""

    @abstractmethod
    def _n_outputs(self, target: Any) -> int:
        """How many targets there are."""

    def _class_factors(self, target: Any) -> Factors | None:  # noqa: ARG002 - numbers have no classes
        """Weight of each class; None where no class weighs more than another."""
        return None

    @abstractmethod
    def _make_model(self, schema: Schema, tree: Tree, target: Any, facts: Mapping[str, Any]) -> Model:
        """The model of a grown tree."""
