"""The base of all estimators: check parameters, make a dataset, call `learn.train`, set attributes.

An estimator only holds parameters. ``fit`` checks them, makes a dataset of the table and passes both to
``learn.train``; the result is kept as ``model_``, and every other method calls that model. Nothing is learned here, and
nothing of the estimator changes before the last step of a fit.

`Estimator` is the base of all, `Classifier` and `Regressor` add what their targets need. A family adds a set of verbs
(`trees.SingleTree`, `forest.Forest`, ...), `signatures` the parameters, and a public class its documentation.
"""

from __future__ import annotations

import os
import warnings
from abc import ABC
from collections.abc import Hashable, Iterator, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, overload

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.utils._param_validation import HasMethods, Interval, InvalidParameterError, RealNotInt, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from treewright.core.elementary import log_of
from treewright.core.notices import levels_to_the_caller
from treewright.core.progress import compiling_announced
from treewright.core.threads import resolve_jobs
from treewright.data.dataset import Dataset
from treewright.data.derived import given_to_sources
from treewright.data.take import warn_of_another_order
from treewright.data.target import Labels, Numbers, encode_labels, encode_numbers
from treewright.estimators.documentation import as_model, document
from treewright.evaluation.after_fit import Decided, Pruned, clone_with_steps, has_steps
from treewright.exceptions import ParameterError
from treewright.learn.params import CLASSES, NUMBERS, Rule, Task, parameters_of
from treewright.learn.registry import algorithm_of, keyword_hint, naming_keywords
from treewright.learn.train import check_classes, check_domain, dataset_for, make_dataset, train
from treewright.model import Model
from treewright.trees.data import stamped, unstamped

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.utils import Tags

    from treewright.data.schema import Schema
    from treewright.explain.explanation import Explanation
    from treewright.explain.partial_dependence import Interactions, PartialDependence
    from treewright.explain.rules import LeafRules
    from treewright.learn.train import Trained
    from treewright.reporting.document import Report
    from treewright.show.svg import SvgPicture
    from treewright.trees.summary import Node


class _BothParameterErrors(ParameterError, InvalidParameterError):  # noqa: N818 - renamed below
    """A parameter is outside its range: Treewright's and scikit-learn's error, under Treewright's name."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Its name leads to the error of Treewright alone, so pickle could not find it by name.
        return _both_errors, (str(self), self.__dict__)


def _both_errors(text: str, facts: dict[str, Any]) -> _BothParameterErrors:
    """An error of both libraries with the facts of a Treewright error."""
    both = _BothParameterErrors(text)
    both.__dict__.update(facts)
    return both


# A traceback shows what users can import.
_BothParameterErrors.__name__ = _BothParameterErrors.__qualname__ = "ParameterError"
_BothParameterErrors.__module__ = ParameterError.__module__


_SECTION = "_parameter_section"  # of a base from `signatures`
_SORTS = {"int": Integral, "real": Real, "share": RealNotInt}


def _in_their_form(rule: Rule) -> Any:
    """A rule as a constraint of scikit-learn."""
    sort, *rest = rule.form
    if sort == "interval":
        number, low, high, closed = rest
        return Interval(_SORTS[number], low, high, closed=closed)
    if sort == "words":
        return StrOptions(set(rest[0]))
    if sort == "methods":
        return HasMethods(list(rest[0]))
    if sort == "callable":
        return callable
    return rest[0] if sort == "instance" else sort


def _missing_attribute(estimator: Any, name: str) -> AttributeError:
    """The error about an attribute that an estimator does not have, and what to use instead."""
    owner = type(estimator).__name__
    lead = f"{owner!r} object has no attribute {name!r}"
    if isinstance(estimator, RegressorMixin) and (hasattr(Classifier, name) or name in _OF_CLASSIFIERS):
        other = owner.replace("Regressor", "Classifier")
        return AttributeError(
            f"{lead}: it predicts numbers, with predict; for classes use {other}", name=name, obj=estimator
        )
    is_fitted = any(each.endswith("_") and not each.startswith("_") for each in vars(estimator))
    if name.endswith("_") and not is_fitted:
        return NotFittedError(f"This {owner} instance is not fitted yet: call fit(X, y) before {name}.")
    if estimator._has_target and hasattr(Model, name):
        return AttributeError(f"{lead}: the fitted model has it, as model_.{name}", name=name, obj=estimator)
    return AttributeError(lead, name=name, obj=estimator)


_OF_CLASSIFIERS = ("classes_", "n_classes_", "decision_function", "staged_predict_proba")


def _with_target(estimator: Estimator) -> bool:
    return estimator._has_target


def _of_trees(estimator: Estimator) -> bool:
    return estimator._has_trees


class Estimator(BaseEstimator, ABC):
    """A scikit-learn estimator around a model of any kind.

    Attributes
    ----------
    model_ : Model
        The fitted model: it is self-contained and is what ``save`` writes.
    n_features_in_ : int
        Columns of the table.
    feature_names_in_ : ndarray of str
        Only if the table had names that are all strings.
    """

    _algorithm: ClassVar[str]  # as ``learn.registry`` names it
    _task: ClassVar[Task]
    _has_target: ClassVar[bool] = True
    _has_trees: ClassVar[bool] = True
    _one_target: ClassVar[bool] = False  # several are refused

    model_: Any
    n_jobs: int | None
    _after_fit: tuple[Pruned | Decided, ...] = ()  # what a fit repeats on the model that it makes

    @available_if(has_steps)
    def __sklearn_clone__(self) -> Self:
        copied: Self = clone_with_steps(self)
        return copied

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        for name in ("__init__", "fit"):
            if name in cls.__dict__:
                setattr(cls, name, naming_keywords(cls.__dict__[name], parameters=name == "__init__"))
        section = next((vars(base)[_SECTION] for base in cls.__bases__ if _SECTION in vars(base)), None)
        if section is not None:
            document(cls, section)

    def __getattr__(self, name: str) -> Any:
        # Only called if there is no such attribute, or one that raised.
        if name.startswith("_") or hasattr(type(self), name):
            return object.__getattribute__(self, name)  # raises the original error
        raise _missing_attribute(self, name)

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of a member as ``estimator__max_depth=3``.

        Raises
        ------
        ParameterError
            There is no such parameter; the message gives its name here, if there is one.
        """
        known = self._get_param_names()
        for name in params:
            if name.partition("__")[0] not in known:
                hint = keyword_hint(name, known) or f"choose one of {', '.join(known)}"
                raise ParameterError(f"{type(self).__name__} has no parameter {name!r}: {hint}", parameter=name)
        super().set_params(**params)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.multi_output = self._has_target and not self._one_target
        return tags

    def __getstate__(self) -> dict[str, Any]:
        return stamped(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(unstamped(state, type(self).__name__))

    @classmethod
    def _params_class(cls) -> Any:
        algorithm = algorithm_of(cls._algorithm)
        assert algorithm is not None  # noqa: S101 - a test fits them all
        return algorithm.params_class()

    def _parameters(self) -> dict[str, Any]:
        """Like ``get_params``, which takes 120 us to find the names in the signature of ``__init__``."""
        return {name: getattr(self, name) for name in parameters_of(self._params_class(), self._task)}

    @property
    def _parameter_constraints(self) -> dict[str, list[Any] | str]:
        """The rules in scikit-learn's form, for its checks of estimators; a label may be of any type."""
        known = parameters_of(self._params_class(), self._task)
        return {
            name: "no_validation"
            if ("instance", object) in [rule.form for rule in each.rules]
            else [_in_their_form(rule) for rule in each.rules]
            for name, each in known.items()
        }

    def _check_parameters(self) -> Any:
        """The parameters as ``learn`` uses them; ParameterError if one is invalid, or a step cannot be repeated."""
        for step in self._steps_to_repeat():
            step.check()
        try:
            return self._params_class()(task=self._task, owner=type(self).__name__, **self._parameters())
        except ParameterError as error:
            raise _both_errors(str(error), error.__dict__) from None

    # Fitting.

    @naming_keywords
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : table of n rows and p columns, or Dataset
            Array, dict of columns, list of rows or of dicts, sparse matrix, or a pandas, polars or pyarrow table. Never
            modified. A ``Dataset`` has its target and weights itself.
        y : n labels of any hashable type or n numbers, or n x n_outputs of them
        sample_weight : n numbers >= 0, optional

        Returns
        -------
        self

        Raises
        ------
        DataError
            A column, cell, label, number or weight was refused; the message says which and what to do.
        ParameterError
            A parameter is outside its range.
        TooLargeError
            The work would not fit in memory.
        """
        params = self._check_parameters()
        resolve_jobs(self.n_jobs)
        with compiling_announced():
            dataset = self._dataset(X, y, params, sample_weight)
            return self._fit_dataset(dataset, params)

    def _fit_dataset(self, dataset: Dataset, params: Any = None) -> Self:
        """Learn from rows that are encoded already."""
        params = self._check_parameters() if params is None else params
        self._keep(dataset, params, train(dataset, params, start=self._warm_start()))
        return self

    def _dataset(self, X: Any, y: Any, params: Any, sample_weight: Any) -> Dataset:
        """The table as a dataset; DataError if it is invalid."""
        if isinstance(X, Dataset):
            return dataset_for(X, params, y, sample_weight)
        return make_dataset(X, y, params, sample_weight, encode_target=lambda given: self._encode_target(given, params))

    def _encode_target(self, y: Any, params: Any = None) -> Labels | Numbers:
        """The target as codes or numbers; as in scikit-learn, shape (n, 1) is treated as (n,), with a warning."""
        target: Labels | Numbers = encode_labels(y) if self._task == CLASSES else encode_numbers(y)
        if not target.flat and target[0].shape[1] == 1:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=levels_to_the_caller(),
            )
        if params is not None:
            check_classes(target, params)
            params.check_target(target)
        return target

    def _check_target(self, y: Any, sample_weight: Any = None) -> None:
        """Refuse a target that ``fit`` would refuse with any table; a row in the message is one of ``y``.

        The command line calls it before it holds rows out.
        """
        params = self._check_parameters()
        check_domain(self._encode_target(y, params), sample_weight, params)

    def _warm_start(self) -> Trained | None:
        """The fit that this one continues."""
        return None

    def _keep(self, dataset: Dataset, params: Any, trained: Trained) -> None:  # noqa: ARG002 - verb sets keep more
        """Keep the model and the other attributes that scikit-learn expects."""
        self.model_ = self._finished(trained.model, dataset)
        self._keep_columns(dataset.schema, dataset.matrix.shape[1])
        if self._has_target:
            self.n_outputs_ = self.model_.n_outputs

    def _steps_to_repeat(self) -> tuple[Pruned | Decided, ...]:
        return self._after_fit

    def _finished(self, model: Any, dataset: Dataset | None) -> Any:
        """The model after the steps that a fit repeats; only single trees, and so models with rows, are pruned."""
        for step in self._steps_to_repeat():
            model = step.repeated(model, dataset)  # type: ignore[arg-type]
        return model

    def _keep_columns(self, schema: Schema | None, n_columns: int) -> None:
        """``n_features_in_``, and ``feature_names_in_`` if the table had names that are all strings."""
        self.n_features_in_ = n_columns if schema is None else len(schema.given)
        if schema is not None and schema.named and all(isinstance(name, str) for name in schema.given_names):
            self.feature_names_in_ = np.array(schema.given_names, dtype=object)
        else:
            self.__dict__.pop("feature_names_in_", None)

    # After the fit.

    def _fitted(self) -> Any:
        """The model; scikit-learn's NotFittedError without one."""
        model = self.__dict__.get("model_")
        if model is None:
            check_is_fitted(self, "model_")
        return model

    @as_model
    def predict(self, X: Any) -> np.ndarray:
        """Predict each row."""
        found: np.ndarray = self._fitted().predict(X, n_jobs=self.n_jobs, owner=type(self).__name__)
        return found

    @as_model
    def predict_one(self, row: Any) -> Any:
        """Predict one row, in a small part of the time of a table."""
        return self._fitted().predict_one(row)

    @as_model
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, which ``treewright.load`` reads; the parameters are in its facts."""
        self._fitted().save(path)

    @as_model
    def export(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - what users call it
        name: str | None = None,
        vectors: str | os.PathLike[str] | None = None,
    ) -> None:
        """Write the model as a file that does not need this library, such as source code in C or JavaScript."""
        self._fitted().export(path, format=format, name=name, vectors=vectors)

    @available_if(_with_target)
    def report(self, X: Any, y: Any, path: str | os.PathLike[str] | None = None, **options: Any) -> Report:
        """Make a page about this model: its tree, how far to prune it, how good it is, what its columns do.

        Parameters
        ----------
        X, y : table of n rows and its target
            The test rows; best those that the fit did not see.
        path : path ending in ``.html`` or ``.json``, optional
            Write the page, or its summary, there.
        **options
            As ``treewright.report``.

        Returns
        -------
        Report
            ``save`` writes it; a notebook shows it.

        Raises
        ------
        ParameterError, DataError, InputFileError
            As ``treewright.report``.
        """
        from treewright.reporting.document import report

        return report(self, X, y, path, **options)

    # Methods of trees, one or many.

    @property
    def feature_importances_(self) -> np.ndarray:
        """float64[p]: each column's share of the decrease of impurity; for many trees the mean."""
        if not (self._has_target and self._has_trees):
            raise AttributeError(f"{type(self).__name__} has no feature_importances_: its splits have no target")
        model = self._fitted()
        return given_to_sources(model.schema.columns, model.feature_importances)

    @available_if(_of_trees)
    @as_model
    def apply(self, X: Any) -> np.ndarray:
        """Position of the leaf that each row reaches; for many trees in each of them."""
        return self._fitted().apply(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    @available_if(_of_trees)
    @as_model
    def decision_path(self, X: Any) -> csr_matrix | tuple[csr_matrix, np.ndarray]:
        """Indicator matrix of the nodes on each row's path."""
        return self._fitted().decision_path(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    def show(self, **options: Any) -> str:
        """Return the tree as text, or a summary of many trees (``tree=i``: one of them); as ``Model.show``."""
        return self._fitted().show(**options)

    @available_if(_of_trees)
    @as_model
    def plot(self, **options: Any) -> SvgPicture:
        """Draw the tree as SVG (of many, tree number ``tree=i``); options as ``treewright.show.svg.plot``."""
        return self._fitted().plot(**options)

    @available_if(_of_trees)
    @as_model
    def rules(self, **options: Any) -> LeafRules:
        """One if-then rule per leaf (of many trees, for tree number ``tree=i``), with its rows and interval."""
        return self._fitted().rules(**options)

    @available_if(_of_trees)
    @as_model
    def node(self, i: int, *, tree: int | None = None) -> Node:
        """Return one node (of many trees, of tree number ``tree``) as an object that can be read and printed."""
        return self._fitted().node(i, tree=tree)

    @available_if(_of_trees)
    @as_model
    def partial_dependence(
        self, X: Any, column: Hashable, second: Hashable | None = None, **options: Any
    ) -> PartialDependence:
        """Partial dependence: the mean prediction with a column set to one value after another (Friedman 2001)."""
        model, owner = self._fitted(), type(self).__name__
        return model.partial_dependence(X, column, second, n_jobs=self.n_jobs, owner=owner, **options)

    @available_if(_of_trees)
    @as_model
    def interactions(self, X: Any, *, background: Any = None) -> Interactions:
        """Interactions of pairs of columns: H of Friedman and Popescu (2008)."""
        model, owner = self._fitted(), type(self).__name__
        return model.interactions(X, background=background, n_jobs=self.n_jobs, owner=owner)

    @as_model
    def explain(self, X: Any, *, kind: str = "path", order: int = 1, background: Any = None) -> Explanation:
        """Contributions of the columns to the predictions; they add up to the predictions."""
        model, owner = self._fitted(), type(self).__name__
        if not model.has_trees:
            raise ParameterError(
                f"{owner} has no trees whose contributions add up: use permutation importance, or explain a tree that "
                "was fitted to its predictions"
            )
        return model.explain(X, kind=kind, order=order, background=background, n_jobs=self.n_jobs, owner=owner)


class ScoredByClasses(ClassifierMixin):
    """scikit-learn's classifier, whose score warns of rows in another order."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy; with several outputs all must be correct."""
        warn_of_another_order(X, y=y, sample_weight=sample_weight)
        return float(super().score(X, y, sample_weight))


class ScoredByNumbers(RegressorMixin):
    """scikit-learn's regressor, whose score warns of rows in another order."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination R2; for several outputs the mean."""
        warn_of_another_order(X, y=y, sample_weight=sample_weight)
        return float(super().score(X, y, sample_weight))


class Classifier(ScoredByClasses, Estimator):
    """An estimator that predicts classes.

    Attributes
    ----------
    classes_ : ndarray[n_classes], or a list of them for several outputs
    n_classes_ : int, or a list
    n_outputs_ : int
    """

    _task = CLASSES

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = not self._one_target
        return tags

    @as_model
    def predict_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Probability of each class."""
        return self._fitted().predict_proba(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    @as_model
    def predict_proba_one(self, row: Any) -> Any:
        """Probability of each class for one row."""
        return self._fitted().predict_proba_one(row)

    def predict_log_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Natural logarithm of ``predict_proba``; -inf for a class of probability 0."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [log_of(share) for share in shares] if isinstance(shares, list) else log_of(shares)

    def _keep(self, dataset: Dataset, params: Any, trained: Trained) -> None:
        super()._keep(dataset, params, trained)
        self._keep_classes(dataset.classes)

    def _keep_classes(self, classes: tuple[np.ndarray, ...]) -> None:
        """Keep ``classes_`` and ``n_classes_`` in scikit-learn's form."""
        several, counts = len(classes) > 1, [len(labels) for labels in classes]
        self.classes_ = list(classes) if several else classes[0]
        self.n_classes_ = counts if several else counts[0]


class Regressor(ScoredByNumbers, Estimator):
    """An estimator that predicts numbers.

    Attributes
    ----------
    n_outputs_ : int
    """

    _task = NUMBERS


class TreesOf(Sequence[Model]):
    """The trees of a model, each a model of its own that is made when it is accessed."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def __len__(self) -> int:
        return self._model.n_trees

    @overload
    def __getitem__(self, item: int) -> Model: ...

    @overload
    def __getitem__(self, item: slice) -> list[Model]: ...

    def __getitem__(self, item: int | slice) -> Model | list[Model]:
        places = range(len(self))[item]
        return [self._model.tree(at) for at in places] if isinstance(places, range) else self._model.tree(places)

    def __repr__(self) -> str:
        return f"<the {len(self)} trees of {self._model!r}>"


Class = TypeVar("Class", bound=type)


def sequence_of_estimators(kind: Class) -> Class:
    """Give a class ``len``, ``[]`` and ``for`` over its ``estimators_``: a decorator for three families.

    An estimator is always true, not by its length, because one that is not fitted has none.
    """

    def fitted(self: Any) -> Any:
        check_is_fitted(self)
        return self.estimators_

    def length(self: Any) -> int:
        """How many trees or members there are."""
        return len(fitted(self))

    def item(self: Any, index: Any) -> Any:
        """A tree or member."""
        return fitted(self)[index]

    def items(self: Any) -> Iterator[Any]:
        """The trees or members in order."""
        return iter(fitted(self))

    for name, method in (("__len__", length), ("__getitem__", item), ("__iter__", items), ("__bool__", lambda _: True)):
        setattr(kind, name, method)
    return kind
