"""scikit-learn's own checks on boosted trees, all of them, without expected failures."""

from __future__ import annotations

import warnings

import pytest
from sklearn.utils.estimator_checks import check_param_validation
from sklearn_checks import with_checks

from treewright import GradientBoostingClassifier, GradientBoostingRegressor

BOOSTED = [GradientBoostingClassifier, GradientBoostingRegressor]
# Leaves of a few rows: the checks learn from a dozen of them.
FEW = {"n_estimators": 10, "learning_rate": 0.3, "min_samples_leaf": 1}


@with_checks([kind(**FEW) for kind in BOOSTED])
def test_every_check_of_scikit_learn_holds(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks look for the warnings that they mean
        check(estimator)


@pytest.mark.parametrize("kind", BOOSTED)
def test_every_parameter_is_validated_as_scikit_learn_asks(kind):
    check_param_validation(kind.__name__, kind(**FEW))
