"""scikit-learn's own checks on bagging, all of them: scikit-learn expects its own to fail those of sample weights."""

from __future__ import annotations

import warnings

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_param_validation
from sklearn_checks import with_checks

from treewright import BaggingClassifier, BaggingRegressor

ESTIMATORS = [
    BaggingClassifier(n_estimators=3),
    BaggingRegressor(n_estimators=3),
    BaggingClassifier(LogisticRegression(), n_estimators=4, bootstrap=False, max_samples=0.7, voting="hard"),
    BaggingRegressor(n_estimators=2, max_features=0.7, bootstrap_features=True),
]


@with_checks(ESTIMATORS)
def test_every_check_of_scikit_learn_holds(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks look for the warnings that they mean
        check(estimator)


@pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
def test_every_parameter_is_validated_as_scikit_learn_asks(kind):
    check_param_validation(kind.__name__, kind())
