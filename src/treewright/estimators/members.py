"""Copies of one estimator, fitted on rows of their own: what bagging and AdaBoost share.

Fitting one member: a bootstrap sample is a multiset of rows. Treewright's own estimators get the whole table and the
counts as weights: weight k is k rows to them, and levels and classes that a sample happens to miss stay known. Any
other estimator gets the rows themselves, repeated: then it does not matter how, or whether, it uses weights.

Predicting: members predict at the same time; their predictions are added in the order of the members, so that no bit
depends on the threads.
"""

from __future__ import annotations

import copy
import os
import pickle
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _raise_for_params, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from treewright.core import notices
from treewright.core.progress import counted
from treewright.core.threads import resolve_jobs
from treewright.data.encoder import check_not_empty
from treewright.data.memory import check_fits
from treewright.data.table import Table
from treewright.data.take import take_rows
from treewright.data.target import Labels, Numbers, encode_labels, recode
from treewright.estimators.base import Estimator, sequence_of_estimators
from treewright.evaluation.after_fit import Decided, decision_of, without_steps
from treewright.evaluation.folds import refuse_pairs, run_tasks, with_positive
from treewright.exceptions import ParameterError, TreewrightError
from treewright.learn.members import BagColumns, BagRows, member_columns, seeded
from treewright.learn.params import CLASSES, NUMBERS
from treewright.learn.train import check_classes
from treewright.model import Model

if TYPE_CHECKING:
    from sklearn.utils import Tags

MEMBER_BYTES = 4096  # least memory of a fitted member
_NOTHING: Mapping[str, Any] = {}
_MANY = 100  # members from which on their size is checked in advance
Answer = list[np.ndarray]  # one array per output


def _of_classes(estimator: Members) -> bool:
    return estimator._task == CLASSES


def _table_of_one(row: Any) -> Any:
    """A row as a table of one."""
    return {name: [cell] for name, cell in row.items()} if isinstance(row, Mapping) else [list(row)]


@sequence_of_estimators
class Members(Estimator):
    """An ensemble of fitted copies of one estimator.

    Attributes
    ----------
    model_ : Model
        Only if the members are single trees of Treewright on all columns: what ``save`` writes, and what ``apply``,
        ``decision_path``, ``show``, ``plot``, ``rules`` and ``node`` use.
    estimator_ : estimator
        The estimator of which the members are copies.
    estimators_ : list of fitted estimators
        The members.
    """

    _passing: ClassVar[tuple[str, ...]] = ()  # methods other than ``fit`` that pass metadata on

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            of_base = get_tags(self._base())
        except (AttributeError, TypeError):  # not an estimator: fit raises the error
            return tags
        tags.input_tags.sparse = of_base.input_tags.sparse
        tags.input_tags.allow_nan = of_base.input_tags.allow_nan
        tags.input_tags.string = of_base.input_tags.string
        tags.input_tags.categorical = of_base.input_tags.categorical
        tags.target_tags.multi_output = of_base.target_tags.multi_output and not self._one_target
        return tags

    def _base(self) -> Any:
        """The estimator of which members are copies."""
        return self._default_base() if self.estimator is None else self.estimator

    def _checked_base(self) -> Any:
        """The base; ParameterError if it is invalid."""
        base = self._base()
        if isinstance(base, type):
            raise ParameterError(f"estimator={base.__name__} is a class: pass an instance, {base.__name__}()")
        # An estimator that is neither (a user's class without tags) may be either.
        if (is_regressor if self._task == CLASSES else is_classifier)(base):
            wanted = "classifier" if self._task == CLASSES else "regressor"
            raise ParameterError(f"estimator={type(base).__name__}: {type(self).__name__} needs a {wanted}")
        refuse_pairs(base, type(self).__name__)
        if decision_of(base) is not None:
            notices.warn(
                f"the decision threshold of estimator={type(base).__name__} is left out: it belongs to the ensemble, "
                f"whose probabilities are its members' together: use choose_threshold({type(self).__name__}(...), X, "
                "y, ...)"
            )
            base = without_steps(base, Decided)
        return with_positive(base, getattr(self, "positive", None))

    def get_metadata_routing(self) -> MetadataRouter:
        """The metadata that is passed on to the members, and that of the ensemble itself (``sample_weight``).

        All other metadata of ``fit`` and of bagging's predictions goes to the members' methods that request it, while
        scikit-learn's metadata routing is on (``sklearn.set_config(enable_metadata_routing=True)``). Values with an
        element per row are divided like the rows.
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        mapping, base = MethodMapping().add(caller="fit", callee="fit"), self._base()
        for caller in self._passing:
            mapping.add(caller=caller, callee=self._asked_of(base, caller))
        return router.add(estimator=base, method_mapping=mapping)

    def _asked_of(self, base: Any, caller: str) -> str:
        """The method of members that one of the ensemble's methods calls."""
        if self._task != CLASSES or getattr(self, "voting", "soft") == "hard":
            return "predict"
        if caller == "decision_function" or (caller == "predict_log_proba" and hasattr(base, caller)):
            return caller
        return "predict_proba" if hasattr(base, "predict_proba") else "predict"

    def _routed(self, caller: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The metadata of a call that the members' method requests.

        Raises
        ------
        ValueError
            Routing is off, or no member requests it: scikit-learn's own message.
        """
        if not given:
            return {}
        _raise_for_params(given, self, caller)
        callee = "fit" if caller == "fit" else self._asked_of(self._base(), caller)
        return dict(process_routing(self, caller, **given).estimator[callee])

    def _threads(self) -> int:
        """Number of threads: for bases other than ours, which hold Python's lock, only what ``n_jobs`` sets."""
        return resolve_jobs(self.n_jobs if is_of_treewright(self._base()) or self.n_jobs is not None else 1)

    def _chooses_columns(self) -> bool:
        """Whether members get some of the columns."""
        return False

    def _columns(self, X: Any, n_rows: int, is_ours: bool) -> BagColumns | None:
        """The columns of the table; None if only the base can interpret X."""
        try:
            columns = BagColumns.of(X)
        except TreewrightError:
            if is_ours or self._chooses_columns():
                raise
            return None
        check_not_empty(Table(columns.schema.names, n_rows, len(columns)))
        return columns

    def _check_classes(self, base: Any, target: Labels | Numbers) -> None:
        """Refuse so many classes that one member does not fit in memory, before rows are sampled."""
        if isinstance(base, Estimator) and not isinstance(base, Members):
            check_classes(target, base._check_parameters())

    def _members_to_keep(self) -> list[Any]:
        """The members that a warm start continues."""
        before = list(self.__dict__.get("estimators_", ())) if self.warm_start else []
        if len(before) > self.n_estimators:
            raise ParameterError(
                f"n_estimators={self.n_estimators} must be larger or equal to the {len(before)} fitted members, "
                "with warm_start=True"
            )
        return before

    def predict_one(self, row: Any) -> Any:
        """Predict one row, as ``Model.predict_one``; members that are not one model of trees get it as a table."""
        check_is_fitted(self, "estimators_")
        if "model_" in self.__dict__:
            return self.model_.predict_one(row)
        predicted = self.predict(_table_of_one(row))[0]
        return predicted.item() if self._task == NUMBERS and np.ndim(predicted) == 0 else predicted

    @available_if(_of_classes)
    def predict_proba_one(self, row: Any) -> Any:
        """Probability of each class for one row, as ``Model.predict_proba_one``."""
        check_is_fitted(self, "estimators_")
        if "model_" in self.__dict__:
            return self.model_.predict_proba_one(row)
        shares = self.predict_proba(_table_of_one(row))
        return [share[0] for share in shares] if isinstance(shares, list) else shares[0]

    def tree(self, i: int) -> Model:
        """One tree as a model of its own; as ``Model.tree``."""
        return self._fitted().tree(i)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file (``treewright.load`` reads it).

        Raises
        ------
        ParameterError
            The members cannot be written as one model; the message says why.
        InputFileError
            The file cannot be written there.
        """
        check_is_fitted(self, "estimators_")
        if self._why_no_model is not None:
            raise ParameterError(
                f"{type(self).__name__} cannot be saved as a model file: {self._why_no_model}. Save trees on all "
                "columns, or pickle the estimator"
            )
        self.model_.save(path)

    def _fitted(self) -> Model:
        """The model of all members.

        Raises
        ------
        AttributeError
            The members are not one model; the message says why.
        """
        check_is_fitted(self, "estimators_")
        if self._why_no_model is not None:
            raise AttributeError(
                f"{type(self).__name__} is not one model of trees: {self._why_no_model}. Use a member, as in "
                "estimators_[0]"
            )
        return self.model_

    def _check_target(self, y: Any, sample_weight: Any = None) -> None:
        """As ``Estimator._check_target``, by the rules of the base."""
        base = self._base()
        if hasattr(base, "_check_target"):
            base._check_target(y, sample_weight)

    @abstractmethod
    def _default_base(self) -> Any:
        """The base if none is given."""


# Fitting one member.


def is_of_treewright(estimator: Any) -> bool:
    """Whether an estimator is one of Treewright's, or a subclass of one."""
    return any(kind.__module__.partition(".")[0] == "treewright" for kind in type(estimator).__mro__)


@dataclass(frozen=True)
class Plan:
    """What all members of a fit share.

    Attributes
    ----------
    base : estimator
        Cloned for each member, never fitted itself.
    X : table of n rows
    y : ndarray[n] or ndarray[n, n_outputs]
    rows : BagRows
    columns : BagColumns or None
        None: X is not a table with columns, but something that the base understands.
    n_chosen : int
        Columns of each member.
    replace_columns : bool
    seed : int
    n_members : int
        Of the finished ensemble.
    metadata : mapping
        Further arguments of the members' ``fit``.
    """

    base: Any
    X: Any
    y: np.ndarray
    rows: BagRows
    columns: BagColumns | None
    n_chosen: int
    replace_columns: bool
    seed: int
    n_members: int
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def fit(self, member: int) -> Any:
        """Fit one member.

        Parameters
        ----------
        member : int
            Its number.

        Raises
        ------
        Exception
            Errors of the base, with a note that names the member.
        """
        try:
            fitted = self._fitted(member)
        except Exception as error:
            name = type(self.base).__name__
            error.add_note(f"while fitting member {member} of {self.n_members} ({name})")
            raise
        return fitted

    def columns_of(self, member: int) -> np.ndarray | None:
        """int64[n_chosen], the columns of a member; None if there are none to choose from."""
        if self.columns is None:
            return None
        return member_columns(len(self.columns), self.n_chosen, self.seed, member, replace=self.replace_columns)

    def _fitted(self, member: int) -> Any:
        estimator = seeded(clone(self.base), self.seed, member)
        X, chosen, is_ours = self.X, self.columns_of(member), is_of_treewright(self.base)
        if chosen is not None and self.columns is not None:
            X = self.columns.part_of(X, chosen)
            if is_ours:
                estimator.set_params(**self.columns.told_again(estimator.get_params(deep=True), chosen))
        takes_weights = has_fit_parameter(self.base, "sample_weight")
        if is_ours and takes_weights:
            estimator.fit(X, self.y, sample_weight=self.rows.as_weights(member), **self.metadata)
            # A copy drops the rows for audits, which would be kept once for each member.
            return copy.copy(estimator)
        if self.rows.own_weights is not None:
            if not takes_weights:
                raise ParameterError(
                    f"fit of {type(self.base).__name__} takes no sample_weight, and these weights are not row "
                    "counts: leave them out, or set bootstrap=True, which samples rows by their weights"
                )
            rows, weights = self.rows.drawn(member)
            more = metadata_of_rows(self.metadata, rows, len(self.y))
            return estimator.fit(take_rows(X, rows), self.y[rows], sample_weight=weights, **more)
        rows = self.rows.in_order(member)
        return estimator.fit(take_rows(X, rows), self.y[rows], **metadata_of_rows(self.metadata, rows, len(self.y)))


def metadata_of_rows(metadata: Mapping[str, Any], rows: np.ndarray, n_rows: int) -> dict[str, Any]:
    """Metadata for some rows: values with an element per row are indexed, anything else stays.

    Examples
    --------
    >>> metadata_of_rows({"groups": ["a", "b", "c"], "depth": 2}, np.array([2, 0]), 3)
    {'groups': ['c', 'a'], 'depth': 2}
    """
    taken = {}
    for name, value in metadata.items():
        is_by_row = hasattr(value, "__len__") and not isinstance(value, str | bytes | dict) and len(value) == n_rows
        taken[name] = take_rows(value, rows) if is_by_row else value
    return taken


def refuse_too_many(fitted: Any, n_more: int) -> None:
    """Refuse members that would not fit in memory, judging by the size of the first.

    Raises
    ------
    TooLargeError
    """
    if n_more < _MANY:
        return
    try:
        size = len(pickle.dumps(fitted, protocol=5))
    except Exception:  # the size of a member that cannot be pickled is unknown
        return
    check_fits(size * n_more, f"{n_more} members as large as the first, {size} bytes,", "use fewer or smaller ones")


# Predictions of all members.


def in_order(work: Callable[[int], Any], n_members: int, n_threads: int, take: Callable[[int, Any], None]) -> None:
    """Call ``take(member, work(member))`` for each member in order; only ``n_threads`` results are held at a time.

    Parameters
    ----------
    work : callable
        May be called by several threads at the same time.
    n_members, n_threads : int
    take : callable
    """
    with counted(n_members, "members") as count:
        for first in range(0, n_members, n_threads):
            n_now = min(n_threads, n_members - first)
            said = run_tasks(lambda at, first=first: work(first + at), n_now, n_threads, "members")  # type: ignore[misc]
            for at, answer in enumerate(said):
                take(first + at, answer)
                count()


def classes_of(member: Any, n_outputs: int) -> list[np.ndarray]:
    """The classes of a member, an array per output."""
    return [np.asarray(member.classes_)] if n_outputs == 1 else [np.asarray(one) for one in member.classes_]


def codes_of(known: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The positions of a member's labels among all classes.

    Parameters
    ----------
    known : ndarray[k]
    classes : ndarray[n_classes]

    Returns
    -------
    int64[k]

    Raises
    ------
    ParameterError
        A label is not one of the classes: the member was fitted on another target.
    """
    places = {label: code for code, label in enumerate(classes.tolist())}
    try:
        return np.array([places[label] for label in known.tolist()], np.int64)
    except KeyError as lost:
        raise ParameterError(f"a member has the class {lost}, which is not among the classes of y") from None


def shares_of(
    member: Any, X: Any, classes: tuple[np.ndarray, ...], *, is_soft: bool, metadata: Mapping[str, Any] = _NOTHING
) -> Answer:
    """A member's class probabilities for each row.

    Parameters
    ----------
    member : fitted classifier
    X : table of n rows
    classes : tuple of ndarray
        Per output.
    is_soft : bool
        Use its ``predict_proba``, if it has one; else its vote.
    metadata : mapping
        Further arguments of its method.

    Returns
    -------
    list of float64[n, n_classes]
        Per output; 0 for a class that the member has never seen.
    """
    if not is_soft or not hasattr(member, "predict_proba"):
        return votes_of(member.predict(X, **metadata), classes)
    return _aligned(member, member.predict_proba(X, **metadata), classes, 0.0)


def log_shares_of(member: Any, X: Any, classes: tuple[np.ndarray, ...], metadata: Mapping[str, Any]) -> Answer:
    """Logarithms of a member's class probabilities, from its own method, so that small ones do not become 0.

    Parameters and results as in ``shares_of``; -inf for a class that the member has never seen.
    """
    return _aligned(member, member.predict_log_proba(X, **metadata), classes, -np.inf)


def _aligned(member: Any, said: Any, classes: tuple[np.ndarray, ...], of_others: float) -> Answer:
    """Numbers for the classes of a member, aligned to all classes."""
    aligned = []
    known = classes_of(member, len(classes))
    for labels, shares, own in zip(classes, [said] if len(classes) == 1 else said, known, strict=True):
        given = np.asarray(shares, np.float64)
        if len(own) == len(labels) and np.array_equal(own, labels):
            aligned.append(given)
            continue
        wide = np.full((len(given), len(labels)), of_others)
        wide[:, codes_of(own, labels)] = given
        aligned.append(wide)
    return aligned


def votes_of(predicted: Any, classes: tuple[np.ndarray, ...]) -> Answer:
    """Predicted labels as votes: 1 in the column of the class, 0 elsewhere."""
    predicted = np.asarray(predicted)
    votes = [np.zeros((len(predicted), len(labels))) for labels in classes]
    if len(predicted):
        codes = recode(encode_labels(predicted), classes)
        for output, ballot in enumerate(votes):
            ballot[np.arange(len(ballot)), codes[:, output]] = 1.0
    return votes


def numbers_of(member: Any, X: Any, n_outputs: int, metadata: Mapping[str, Any] = _NOTHING) -> Answer:
    """A regressor's predictions: a list of one float64[n, n_outputs]."""
    return [np.asarray(member.predict(X, **metadata), np.float64).reshape(-1, n_outputs)]


def decisions_of(member: Any, X: Any, classes: np.ndarray, metadata: Mapping[str, Any] = _NOTHING) -> np.ndarray:
    """The decision values of a member.

    Raises
    ------
    ParameterError
        It has not seen every class, so its values cannot be averaged with others.
    """
    own = np.asarray(member.classes_)
    if not np.array_equal(own, classes):
        raise ParameterError(
            f"decision_function: a member has seen {len(own)} of {len(classes)} classes, so that its values cannot be "
            "averaged with the others': use predict_proba"
        )
    return np.asarray(member.decision_function(X, **metadata), np.float64)


class Average:
    """A mean of predictions, summed up in the order in which they come.

    Parameters
    ----------
    shapes : sequence of (int, int)
        Of each array of predictions.
    """

    def __init__(self, shapes: Sequence[tuple[int, int]]) -> None:
        self._sums = [np.zeros(shape) for shape in shapes]
        self._least = [np.full(shape, np.inf) for shape in shapes]
        self._most = [np.full(shape, -np.inf) for shape in shapes]
        self.times = np.zeros(shapes[0][0], np.int64)

    def add(self, answer: Answer, rows: np.ndarray | None = None) -> None:
        """Add predictions for all rows, or for some."""
        places: Any = slice(None) if rows is None else rows
        for total, least, most, part in zip(self._sums, self._least, self._most, answer, strict=True):
            total[places] += part
            least[places] = np.minimum(least[places], part)
            most[places] = np.maximum(most[places], part)
        self.times[places] += 1

    def means(self) -> Answer:
        """The means so far; nan for a row without predictions."""
        # Between the least and the largest, so that the mean of equal predictions is that prediction.
        with np.errstate(invalid="ignore"):
            return [
                np.clip(total / self.times[:, None], least, most)
                for total, least, most in zip(self._sums, self._least, self._most, strict=True)
            ]
