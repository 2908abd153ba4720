"""scikit-learn's own checks on nearest neighbours, without expected failures."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import pytest
from sklearn.utils.estimator_checks import check_param_validation
from sklearn_checks import with_checks

from treewright import KNeighborsClassifier, KNeighborsRegressor

ESTIMATORS = [
    KNeighborsClassifier(),
    KNeighborsRegressor(),
    KNeighborsClassifier(weights="distance", metric="gower"),
    KNeighborsRegressor(weights="tricube", metric="manhattan", algorithm="brute"),
]


@with_checks(ESTIMATORS)
def test_every_check_of_scikit_learn_holds(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks look for the warnings that they mean
        check(estimator)


ARRAY_API = """
from sklearn.utils.estimator_checks import check_array_api_input
from treewright import KNeighborsClassifier, KNeighborsRegressor
for estimator in (KNeighborsClassifier(), KNeighborsRegressor()):
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


@pytest.mark.parametrize("estimator", ESTIMATORS[:2], ids=repr)
def test_every_parameter_is_validated_as_scikit_learn_asks(estimator):
    check_param_validation(type(estimator).__name__, type(estimator)())
