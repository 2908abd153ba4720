"""scikit-learn's own checks on the other estimators and ways of the trees; an expected failure has its reason here."""

from __future__ import annotations

import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator, check_param_validation
from sklearn_checks import with_checks

from treewright import (
    C45Classifier,
    CHAIDClassifier,
    CHAIDRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ID3Classifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
)


class OwnGini:
    """Gini, as a function of the user's; an object, because pytest-xdist needs ids without an address."""

    def __call__(self, counts):
        shares = counts / counts.sum(axis=1, keepdims=True)
        return 1.0 - (shares * shares).sum(axis=1)

    def __repr__(self):
        return "OwnGini"


ESTIMATORS = [
    C45Classifier(),
    CHAIDClassifier(),
    CHAIDRegressor(),
    ID3Classifier(nominal="all"),
    OptimalTreeClassifier(max_depth=2),
    OptimalTreeRegressor(max_depth=2),
    DecisionTreeClassifier(missing="surrogate"),
    DecisionTreeClassifier(criterion="gain_ratio", missing="branch"),
    DecisionTreeClassifier(criterion=OwnGini(), missing="fractional"),
    DecisionTreeRegressor(missing="fractional"),
    DecisionTreeRegressor(criterion="absolute_error", missing="surrogate"),
]

# A row of weight 0 is left out, but its levels are known, and in ID3 a level that is known has a branch: so the tree is
# not the one of a table without that row.
LEVELS_OF_WEIGHT_0 = "levels of rows of weight 0 are known and have branches"


def expected_failures(estimator):
    if isinstance(estimator, ID3Classifier):
        kinds = ("dense", "sparse")
        return {f"check_sample_weight_equivalence_on_{kind}_data": LEVELS_OF_WEIGHT_0 for kind in kinds}
    return {}


@with_checks(ESTIMATORS, expected_failures)
def test_every_check_of_scikit_learn_holds(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks look for the warnings that they mean
        check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_every_parameter_is_validated_as_scikit_learn_asks(estimator):
    check_param_validation(type(estimator).__name__, type(estimator)())


def messages_of(error):
    """What an error and those behind it say."""
    while error is not None:
        yield str(error)
        error = error.__cause__ or error.__context__


def test_id3_fails_checks_only_because_it_refuses_numbers():
    # Its list of expected failures: every check that fits numbers, and no other.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(ID3Classifier(), on_fail=None, on_skip=None)

    failed = [result for result in results if result["status"] == "failed"]
    assert failed
    for result in failed:
        assert any("ID3 needs nominal columns" in text for text in messages_of(result["exception"])), result[
            "check_name"
        ]
