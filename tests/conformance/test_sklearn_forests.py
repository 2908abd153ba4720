"""scikit-learn's own checks on forests, all of them, without expected failures."""

from __future__ import annotations

import warnings

import pytest
from sklearn.utils.estimator_checks import check_param_validation
from sklearn_checks import with_checks

from treewright import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

FORESTS = [RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor]
N_TREES = 3


@with_checks([kind(n_estimators=N_TREES) for kind in FORESTS])
def test_every_check_of_scikit_learn_holds(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks look for the warnings that they mean
        check(estimator)


@pytest.mark.parametrize("kind", FORESTS)
def test_every_parameter_is_validated_as_scikit_learn_asks(kind):
    check_param_validation(kind.__name__, kind(n_estimators=N_TREES))
