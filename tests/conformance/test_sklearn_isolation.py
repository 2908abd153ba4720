"""scikit-learn's own checks on the isolation forest, without expected failures."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import pytest
from sklearn.utils.estimator_checks import check_param_validation
from sklearn_checks import with_checks

from treewright.estimators.isolation import IsolationForest

ESTIMATORS = [
    IsolationForest(),
    IsolationForest(contamination=0.1, n_estimators=20),
    IsolationForest(bootstrap=True, max_features=0.5, max_samples=0.7, n_estimators=20),
]


@with_checks(ESTIMATORS)
def test_every_check_of_scikit_learn_holds(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks look for the warnings that they mean
        check(estimator)


ARRAY_API = """
from sklearn.utils.estimator_checks import check_array_api_input
from treewright.estimators.isolation import IsolationForest
forest = IsolationForest(n_estimators=5)
check_array_api_input("IsolationForest", forest, array_namespace="numpy", dtype_name="float64")
print("passed")
"""


def test_arrays_pass_under_array_api_dispatch():
    # The check skips itself unless scipy was told before it was imported.
    told = {**os.environ, "SCIPY_ARRAY_API": "1"}

    run = subprocess.run(
        [sys.executable, "-c", ARRAY_API], env=told, capture_output=True, text=True, timeout=250, check=False
    )

    assert run.stdout == "passed\n", run.stderr


@pytest.mark.parametrize("estimator", ESTIMATORS[:1], ids=repr)
def test_every_parameter_is_validated_as_scikit_learn_asks(estimator):
    check_param_validation(type(estimator).__name__, type(estimator)())
