"""What every estimator promises, once: each claim is one test over all algorithms of the registry.

A new algorithm is held to all of it because it is listed. What is particular to one of them is tested in its own file.
"""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from parameter_effects import _FEW, PLAIN, SUBJECTS, N, Subject, left_by
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import treewright as tw
from treewright.exceptions import DataError, ParameterError
from treewright.trees.codec import dumps, loads

pytestmark = pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")  # few rows; unheard levels
every = pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
of_trees = pytest.mark.parametrize(
    "subject", [each for each in SUBJECTS if each.algorithm.kind != "rows"], ids=lambda subject: subject.name
)


def made(subject: Subject, **settings: Any) -> Any:
    """An estimator as small as its claims allow."""
    return getattr(tw, subject.name)(**{**_FEW.get(subject.algorithm.word, {}), **settings})


def target_of(subject: Subject, example: Any = None) -> Any:
    """The target of an example; None without one."""
    return None if subject.algorithm.kind == "outliers" else (example or subject.examples[0]).targets[subject.task]


def taken(cells: Any, rows: Any) -> Any:
    """Rows of a table, of a target, or of nothing."""
    if isinstance(cells, dict):
        return {name: taken(column, rows) for name, column in cells.items()}
    if isinstance(cells, list):
        return [cells[row] for row in rows]
    return None if cells is None else cells[rows]


def fitted(subject: Subject, rows: Any = None, weights: Any = None, **settings: Any) -> Any:
    """A fit of its first table, or of some of its rows."""
    table, target = subject.examples[0].fitted, target_of(subject)
    if rows is not None:
        table, target = taken(table, rows), taken(target, rows)
    more = {} if weights is None else {"sample_weight": weights}
    return made(subject, **settings).fit(table, target, **more)


def told(subject: Subject, est: Any) -> bytes:
    """All that a fit leaves: answers, attributes and trees."""
    return left_by(est, subject.examples[0].asked)


@every
def test_the_number_of_threads_changes_no_byte(subject):
    assert len({told(subject, fitted(subject, n_jobs=n_jobs)) for n_jobs in (1, 3, -1, 10**9, -(10**9))}) == 1


DIGESTS = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
import warnings
warnings.simplefilter("ignore")
import numpy as np
import treewright as tw
from treewright.boosting.statistics import level_means
from test_contract import SUBJECTS, fitted, told
for subject in SUBJECTS:
    print(subject.name, hashlib.sha256(told(subject, fitted(subject))).hexdigest())
table = {"sky": ["sun", "rain", "fog", "sun"] * 10, "wind": list(range(40)), "day": list("abcdefgh") * 5}
target = ["out", "in", "in", "away"] * 10
print("report", hashlib.sha256(tw.C45Classifier().fit(table, target).report(table, target).html.encode()).hexdigest())
for missing, splits in (("fractional", "multiway"), ("surrogate", "subset"), ("branch", "one_vs_rest")):
    tree = fitted(SUBJECTS[0], missing=missing, nominal_splits=splits)
    print(missing, hashlib.sha256(told(SUBJECTS[0], tree)).hexdigest())
means = level_means(np.arange(200, dtype=np.int32) % 7, 7, np.arange(200) % 3 + 0.5, seed=5)
print("levels", hashlib.sha256(means.values.tobytes()).hexdigest())
"""


def test_the_seed_of_hashes_changes_no_byte_of_models_answers_and_pages():
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", DIGESTS, Path(__file__).parent],
            env={**surroundings, "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE, text=True,
        )
        for seed in ("0", "31337")
    ]  # fmt: skip
    first, second = (each.communicate()[0].splitlines() for each in both)

    assert first == second
    assert len(first) == len(SUBJECTS) + 5


@of_trees
@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_order_of_rows_changes_no_byte(subject, is_weighted):
    rng = np.random.default_rng(1)
    order, weights = rng.permutation(N), rng.uniform(0.5, 2.0, N) if is_weighted else None

    first, second = fitted(subject, weights=weights), fitted(subject, order, taken(weights, order))

    assert dumps(second.model_) == dumps(first.model_)


@every
def test_a_copy_fits_the_same_and_a_second_fit_leaves_no_trace(subject):
    est = fitted(subject)
    first = told(subject, est)

    assert told(subject, fitted(subject)) == first
    assert told(subject, clone(est).fit(subject.examples[0].fitted, target_of(subject))) == first
    est.fit(taken(subject.examples[0].fitted, range(40)), taken(target_of(subject), range(40)))
    assert told(subject, est.fit(subject.examples[0].fitted, target_of(subject))) == first


WAYS = {"pickle": lambda est: pickle.loads(pickle.dumps(est)), "copy": copy.copy, "deepcopy": copy.deepcopy}


@every
@pytest.mark.parametrize("way", WAYS)
def test_copies_and_pickles_answer_the_same(subject, way):
    est = fitted(subject)

    assert (
        WAYS[way](est).predict(subject.examples[0].asked).tobytes() == est.predict(subject.examples[0].asked).tobytes()
    )


@every
def test_two_fits_have_equal_pickles(subject):
    first, second = (pickle.dumps(fitted(subject)) for _ in "ab")

    assert hashlib.sha256(first).digest() == hashlib.sha256(second).digest()
    assert joblib.hash(fitted(subject)) == joblib.hash(fitted(subject))


@every
def test_a_model_file_comes_back_with_the_same_answers(subject, tmp_path):
    est, asked = fitted(subject), subject.examples[0].asked
    est.save(tmp_path / "m.tw")

    model = tw.load(tmp_path / "m.tw")

    first = est.model_ if subject.algorithm.kind == "outliers" else est  # which answers 1 and -1
    assert model.predict(asked).tobytes() == first.predict(asked).tobytes()
    model.save(tmp_path / "again.tw")
    assert (tmp_path / "again.tw").read_bytes() == (tmp_path / "m.tw").read_bytes()


@of_trees
def test_the_bytes_of_a_model_come_back_from_its_bytes(subject):
    data = dumps(fitted(subject).model_)

    assert dumps(loads(data)) == data


@every
def test_a_batch_answers_as_its_rows_one_by_one(subject):
    est, asked = fitted(subject), subject.examples[0].asked
    n = len(next(iter(asked.values())))

    whole = est.predict(asked)

    assert np.concatenate([est.predict(taken(asked, [row])) for row in range(n)]).tobytes() == whole.tobytes()
    assert est.predict(taken(asked, range(0))).shape == whole[:0].shape


@pytest.mark.parametrize(
    "subject", [each for each in SUBJECTS if each.algorithm.word != "id3"], ids=lambda subject: subject.name
)
def test_how_a_table_lies_in_memory_changes_nothing_and_it_stays_as_it_was(subject):
    target = target_of(subject, PLAIN)
    wide = np.zeros((2 * N, 6))
    wide[::2, ::2] = PLAIN.fitted
    read_only = PLAIN.fitted.copy()
    read_only.flags.writeable = False
    tables = [PLAIN.fitted, np.asfortranarray(PLAIN.fitted), wide[::2, ::2], read_only, PLAIN.fitted.tolist()]
    before = wide.tobytes()

    said = {left_by(made(subject).fit(table, target), PLAIN.asked) for table in tables}

    assert len(said) == 1
    assert wide.tobytes() == before


@pytest.mark.parametrize(
    "subject", [each for each in SUBJECTS if "warm_start" in each.parameters], ids=lambda subject: subject.name
)
def test_a_warm_start_ends_where_one_fit_ends(subject):
    at_once = fitted(subject, n_estimators=7)
    in_steps = made(subject, n_estimators=2, warm_start=True)
    for n in (2, 3, 7):
        in_steps.set_params(n_estimators=n).fit(subject.examples[0].fitted, target_of(subject))

    assert dumps(in_steps.model_) == dumps(at_once.model_)
    with pytest.raises(ParameterError, match="n_estimators"):
        in_steps.set_params(n_estimators=3).fit(subject.examples[0].fitted, target_of(subject))


# Refusals: what replaces a part of a fit that can be, and a word of the error.


def _without_a_cell(X: Any, _: Any) -> dict[str, Any]:
    first, *_ = X
    return {"X": {**X, first: X[first][:-1]}}


OF_TABLES = {
    "no rows": (lambda X, y: {"X": taken(X, range(0)), "y": taken(y, range(0))}, "0 sample"),
    "columns of different lengths": (_without_a_cell, "rows|length"),
    "three dimensions": (lambda _, y: {"X": np.zeros((4, 3, 2)), "y": taken(y, range(4))}, "dim"),
}
OF_TARGETS = {
    "fewer labels than rows": (lambda _, y: {"y": y[:-1]}, str(N - 1)),
    "no target": (lambda *_: {"y": None}, "y"),
    "a missing label": (lambda _, y: {"y": [None, *y[1:].tolist()]}, "missing"),
}
WEIGHTS = {
    "zero": [0.0] * N, "negative": [-1.0] + [1.0] * (N - 1), "nan": [np.nan] * N, "inf": [np.inf] * N,
    "text": ["a"] * N, "few": [1, 2], "2-D": [[1]] * N, "word": "x", "complex": [1j] * N,
    "sum beyond float64": [1e308] * N,
}  # fmt: skip
OF_WEIGHTS = {
    f"weights: {name}": (lambda *_, cells=cells: {"sample_weight": cells}, "weight") for name, cells in WEIGHTS.items()
}


@pytest.mark.parametrize("what", [*OF_TABLES, *OF_TARGETS, *OF_WEIGHTS])
@every
def test_a_fit_that_cannot_be_is_refused(subject, what):
    has_part = {"outliers": what not in OF_TARGETS, "rows": what not in OF_WEIGHTS}.get(subject.algorithm.kind, True)
    table, target = subject.examples[0].fitted, target_of(subject)
    change, told = {**OF_TABLES, **OF_TARGETS, **OF_WEIGHTS}[what]
    if not has_part:  # it takes no target, or no weights
        return

    with pytest.raises(DataError, match=told):
        made(subject).fit(**{"X": table, "y": target, **change(table, target)})


@every
@pytest.mark.parametrize("n_jobs", ["two", 0, 1.5])
def test_what_is_no_number_of_threads_is_refused(subject, n_jobs):
    with pytest.raises(ParameterError, match="n_jobs"):
        fitted(subject, n_jobs=n_jobs)


@every
def test_what_is_asked_before_a_fit_is_refused_as_not_fitted(subject):
    with pytest.raises(NotFittedError, match=subject.name):
        made(subject).predict(subject.examples[0].asked)
    with pytest.raises(NotFittedError):
        made(subject).save("m.tw")


@every
def test_other_columns_than_those_of_the_fit_are_refused(subject):
    est, asked = fitted(subject), subject.examples[0].asked
    first, *_ = asked

    with pytest.raises(DataError, match=first):
        est.predict({name: cells for name, cells in asked.items() if name != first})
    with pytest.raises(DataError, match="another"):
        est.predict({"another" if name == first else name: cells for name, cells in asked.items()})


@every
def test_a_parameter_that_is_not_known_is_refused_by_name(subject):
    with pytest.raises(ValueError, match="no_such"):
        made(subject).set_params(no_such=1)
    with pytest.raises(TypeError, match="no_such"):
        made(subject, no_such=1)
