"""What the loss of a boosted regressor decides beside the gradients: targets, the score, which numbers are read."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics import d2_pinball_score, r2_score
from sklearn.model_selection import GridSearchCV

import treewright as tw
from treewright.exceptions import DataError, DataWarning, ParameterError
from treewright.model_selection import cross_validate

RNG = np.random.default_rng(4)
N = 160
X = RNG.normal(size=(N, 3))
NUMBERS = 2 * X[:, 0] + RNG.normal(size=N)
COUNTS = np.exp(NUMBERS / 4)
FEW = {"n_estimators": 6, "learning_rate": 0.3, "min_samples_leaf": 5}


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_the_score_of_one_quantile_is_of_pinball_losses_however_it_is_written(level):
    weights = RNG.uniform(0.5, 2.0, N)
    alone, listed = (
        tw.GradientBoostingRegressor(**FEW, loss="quantile", quantile=given).fit(X, NUMBERS)
        for given in (level, [level])
    )
    said = alone.predict(X)

    assert alone.score(X, NUMBERS) == listed.score(X, NUMBERS) == d2_pinball_score(NUMBERS, said, alpha=level)
    assert alone.score(X, NUMBERS, weights) == d2_pinball_score(NUMBERS, said, alpha=level, sample_weight=weights)
    assert list(alone.staged_score(X, NUMBERS))[-1] == alone.score(X, NUMBERS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(alone.score(X[:1], NUMBERS[:1]))


def test_the_score_of_a_quantile_of_several_targets_is_their_mean():
    both = np.column_stack([NUMBERS, X[:, 1]])
    boosted = tw.GradientBoostingRegressor(**FEW, loss="quantile", quantile=0.9).fit(X, both)
    each = [d2_pinball_score(both[:, at], boosted.predict(X)[:, at], alpha=0.9) for at in range(2)]

    assert boosted.score(X, both) == pytest.approx(np.mean(each), rel=1e-12)


def test_medians_of_absolute_errors_are_scored_as_other_numbers():
    boosted = tw.GradientBoostingRegressor(**FEW, loss="absolute_error").fit(X, NUMBERS)

    assert boosted.score(X, NUMBERS) == pytest.approx(r2_score(NUMBERS, boosted.predict(X)))


def test_a_search_for_a_low_quantile_lowers_the_pinball_loss():
    low = tw.GradientBoostingRegressor(**FEW, loss="quantile", quantile=0.05)
    search = GridSearchCV(low, {"max_depth": [1, 3]}, cv=3).fit(X, NUMBERS)

    assert 0 < search.best_score_ < 1


def test_r2_of_several_quantiles_is_refused_in_words():
    several = tw.GradientBoostingRegressor(**FEW, loss="quantile", quantile=[0.1, 0.9])
    with pytest.raises(ParameterError, match=r"R2 compares one prediction with each target.*shape \(\d+, 2\)"):
        cross_validate(several, X, NUMBERS, cv=3)
    found = cross_validate(several, X, NUMBERS, cv=3, scoring=lambda fitted, X, y: fitted.score(X, y))
    assert (next(iter(found.test.values())) < 1).all()
    assert (found.predictions.shape, found.pooled) == ((N, 2), None)
    assert "3 folds of 160 rows" in str(found)


@pytest.mark.parametrize(
    ("name", "value", "loss"),
    [
        ("quantile", 0.9, "quantile"),
        ("quantile", [0.1, 0.9], "quantile"),
        ("huber_delta", 2.0, "huber"),
        ("tweedie_power", 1.2, "tweedie"),
        ("expectile", 0.9, "expectile"),
    ],
)
def test_a_number_that_the_loss_does_not_read_is_told_once(name, value, loss):
    other = tw.GradientBoostingRegressor(**FEW, **{name: value})
    with pytest.warns(DataWarning, match=rf"{name}=.* is not used: it needs loss='{loss}'") as heard:
        other.fit(X, COUNTS)
    assert len(heard) == 1
    assert heard[0].filename == __file__
    other.set_params(loss=loss).fit(X, COUNTS)


def test_a_number_of_another_loss_is_told_beside_a_function_of_ones_own():
    with pytest.warns(DataWarning, match="quantile=0.9 is not used.*loss is a function of your own"):
        tw.GradientBoostingRegressor(**FEW, loss=lambda y, raw: (raw - y, np.ones_like(y)), quantile=0.9).fit(X, COUNTS)


@pytest.mark.parametrize("row", [0, 40, 159])
@pytest.mark.parametrize("more", [{}, {"early_stopping": True, "validation_fraction": 0.4}])
def test_a_refused_target_is_named_by_the_row_of_the_users_table(row, more):
    target, weights = COUNTS.copy(), np.ones(N)
    target[[3, row]], weights[[3, 20]] = -1.0, 0.0  # row 3 has no weight, so it does not matter
    boosted = tw.GradientBoostingRegressor(**FEW, **more, loss="poisson")
    told = rf"^y has 1 value\(s\) that cannot be used \(first row {row}: -1\.0\)"
    with pytest.raises(DataError, match=told):
        boosted.fit(X, target, weights)
    with pytest.raises(DataError, match=told):
        boosted._check_target(target, weights)


def test_rows_for_evaluation_are_named_as_such():
    with pytest.raises(DataError, match=r"^y_val has 1 value\(s\).*\(first row 2: -1\.0\)"):
        tw.GradientBoostingRegressor(**FEW, loss="poisson").fit(X, COUNTS, X_val=X[:3], y_val=[1.0, 1.0, -1.0])
