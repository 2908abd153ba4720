"""scikit-learn's own checks, all of them, without expected failures; and those that it does not run by itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import check_param_validation
from sklearn_checks import with_checks

from treewright import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

BOTH = [DecisionTreeClassifier, DecisionTreeRegressor]
NAMES = [f"col_{at}" for at in range(8)]


@with_checks([DecisionTreeClassifier(), DecisionTreeRegressor(), ExtraTreeClassifier(), ExtraTreeRegressor()])
def test_every_check_of_scikit_learn_holds(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks look for the warnings that they mean
        check(estimator)


ARRAY_API = """
from sklearn.utils.estimator_checks import check_array_api_input
from treewright import DecisionTreeClassifier, DecisionTreeRegressor
for estimator in (DecisionTreeClassifier(), DecisionTreeRegressor()):
    check_array_api_input(type(estimator).__name__, estimator, array_namespace="numpy", dtype_name="float64")
print("passed")
"""


def test_arrays_pass_under_array_api_dispatch():
    # The check skips itself unless scipy was told before it was imported.
    told = {**os.environ, "SCIPY_ARRAY_API": "1"}

    run = subprocess.run(
        [sys.executable, "-c", ARRAY_API], env=told, capture_output=True, text=True, timeout=250, check=False
    )

    assert run.stdout == "passed\n", run.stderr


@pytest.mark.parametrize("kind", BOTH)
def test_every_parameter_is_validated_as_scikit_learn_asks(kind):
    check_param_validation(kind.__name__, kind())


@pytest.fixture(params=BOTH)
def named(request):
    """A fitted estimator, the frame it was fitted on, and its target."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(150, 8)), columns=NAMES)
    target = rng.integers(0, 2, 150)
    return request.param().fit(table, target), table, target


def methods_of(estimator, target):
    """Everything that takes a table."""
    methods = [estimator.predict, estimator.apply, estimator.decision_path, lambda X: estimator.score(X, target)]
    if hasattr(estimator, "predict_proba"):
        methods += [estimator.predict_proba, estimator.predict_log_proba]
    return methods


def test_names_are_kept_as_scikit_learn_keeps_them(named):
    estimator, table, target = named

    assert estimator.feature_names_in_.dtype == object
    assert estimator.feature_names_in_.tolist() == NAMES
    for method in methods_of(estimator, target):
        method(table)  # no warning


# check_dataframe_column_names_consistency, but for one of its assertions: that reordered columns are refused. They are
# matched by name (the test after this one), so there is nothing to refuse.
@pytest.mark.parametrize(
    ("names", "listed"),
    [
        (
            [f"another_prefix_{at}" for at in range(8)],
            "Feature names unseen at fit time:\n- another_prefix_0\n- another_prefix_1\n",
        ),
        (NAMES[:3], "Feature names seen at fit time, yet now missing:\n- col_3\n"),
    ],
    ids=["renamed", "missing"],
)
def test_names_that_do_not_match_are_refused_in_the_words_of_scikit_learn(named, names, listed):
    estimator, table, target = named
    other = pd.DataFrame(table.to_numpy()[:, : len(names)], columns=names)
    begin = "The feature names should match those that were passed during fit.\n"

    for method in methods_of(estimator, target):
        with pytest.raises(ValueError, match="^" + re.escape(begin + listed)):
            method(other)


def test_reordered_columns_are_matched_by_name(named):
    estimator, table, _ = named

    assert estimator.predict(table[NAMES[::-1]]).tobytes() == estimator.predict(table).tobytes()


def test_names_that_are_no_strings_give_no_feature_names_in():
    first = DecisionTreeClassifier().fit(pd.DataFrame({"a": [1, 2]}), [0, 1])
    assert hasattr(first, "feature_names_in_")

    first.fit(pd.DataFrame({0: [1, 2]}), [0, 1])

    assert not hasattr(first, "feature_names_in_")
