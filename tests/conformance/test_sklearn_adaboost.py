"""scikit-learn's own checks on AdaBoost, all of them: scikit-learn expects its own to fail one of sample weights."""

from __future__ import annotations

import warnings

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_param_validation
from sklearn_checks import with_checks

from treewright import AdaBoostClassifier, AdaBoostRegressor

ESTIMATORS = [
    AdaBoostClassifier(n_estimators=5),
    AdaBoostRegressor(n_estimators=5),
    AdaBoostClassifier(LogisticRegression(), n_estimators=3),
    AdaBoostRegressor(n_estimators=3, bootstrap=True, loss="square", keep_row_weights=True),
]


@with_checks(ESTIMATORS)
def test_every_check_of_scikit_learn_holds(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks look for the warnings that they mean
        check(estimator)


@pytest.mark.parametrize("kind", [AdaBoostClassifier, AdaBoostRegressor])
def test_every_parameter_is_validated_as_scikit_learn_asks(kind):
    check_param_validation(kind.__name__, kind())
