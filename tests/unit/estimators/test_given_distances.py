"""Neighbours by given distances, and over missing cells: they are scikit-learn's; what is no distance is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn import neighbors
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, cross_val_score

import treewright as tw
from treewright.exceptions import ColumnError, DataError, MissingValueError, ParameterError
from treewright.model_selection import cross_validate, learning_curve

X, Y = load_iris(return_X_y=True)
D = pairwise_distances(X)
WHOLE = np.round(X * 10)  # of whole numbers distances have no last bit that tells ties apart
STEPS = pairwise_distances(WHOLE, metric="manhattan")
GAPS = X.copy()
GAPS[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
MANHATTAN = tw.KNeighborsClassifier(metric="manhattan")
GIVEN = tw.KNeighborsClassifier(metric="precomputed")


@pytest.mark.parametrize("weights", ["uniform", "distance", None])
def test_given_distances_vote_as_in_scikit_learn(weights):
    ours = tw.KNeighborsClassifier(7, weights=weights, metric="precomputed").fit(D, Y)
    theirs = neighbors.KNeighborsClassifier(7, weights=weights, metric="precomputed").fit(D, Y)

    # Seven rows that are equally far may be others: the nearest of those beside the eighth.
    assert (ours.predict(D) == theirs.predict(D)).all()
    assert ours.predict_proba(D) == pytest.approx(theirs.predict_proba(D), abs=1e-12)


def test_given_distances_find_the_rows_that_the_metric_itself_finds():
    given, found = GIVEN.fit(D, Y).kneighbors(), tw.KNeighborsClassifier().fit(X, Y).kneighbors()

    assert given[0] == pytest.approx(found[0], abs=1e-12)
    assert (given[0][:, 0] > 0).sum() == (found[0][:, 0] > 0).sum()
    assert all(row not in others for row, others in enumerate(given[1].tolist()))


def test_numbers_are_means_by_given_distances():
    table, target = load_diabetes(return_X_y=True)
    distances = pairwise_distances(table, metric="manhattan")
    ours = tw.KNeighborsRegressor(metric="precomputed", weights="distance").fit(distances[:300, :300], target[:300])
    theirs = neighbors.KNeighborsRegressor(metric="precomputed", weights="distance")
    theirs.fit(distances[:300, :300], target[:300])

    assert ours.predict(distances[300:, :300]) == pytest.approx(theirs.predict(distances[300:, :300]), rel=1e-12)


def test_folds_cut_distances_in_both_directions():
    expected = cross_val_score(neighbors.KNeighborsClassifier(metric="precomputed"), D, Y, cv=5)

    assert cross_val_score(GIVEN, D, Y, cv=5).tolist() == expected.tolist()
    search = GridSearchCV(GIVEN, {"n_neighbors": [1, 5]}, cv=5).fit(D, Y)
    assert search.cv_results_["mean_test_score"][1] == expected.mean()
    named = {f"to {row}": STEPS[:, row] for row in range(150)}
    ours, of_rows = (cross_validate(*each, Y, cv=5, random_state=0) for each in ((GIVEN, named), (MANHATTAN, WHOLE)))
    assert ours.mean == of_rows.mean


def test_a_model_of_distances_comes_back(tmp_path):
    GIVEN.fit(D, Y).save(tmp_path / "d.tw")

    model = tw.load(tmp_path / "d.tw")

    assert model.predict(D).tolist() == GIVEN.predict(D).tolist()
    assert "precomputed" in model.show()


@pytest.mark.parametrize(
    ("distances", "error", "message"),
    [
        (D[:, :10], DataError, "150 rows and 10 columns.*square"),
        (-D, DataError, r"negative distance\(s\) \(row 0, column 1\)"),
        (np.where(D > 6, np.nan, D), MissingValueError, r"418 missing distance\(s\) \(row 0, column 105\)"),
        (np.where(D > 6, np.inf, D), DataError, r"418 infinite distance\(s\)"),
        (csr_matrix(D), DataError, "dense matrix"),
    ],
)
def test_what_is_no_distance_is_refused(distances, error, message):
    with pytest.raises(error, match=message):
        tw.KNeighborsClassifier(metric="precomputed").fit(distances, Y)


def test_rows_asked_about_need_a_distance_to_every_row_of_the_fit():
    with pytest.raises(ColumnError, match=r"X has 10 features.*expecting 150"):
        GIVEN.fit(D, Y).predict(D[:, :10])
    with pytest.raises(DataError, match="negative"):
        GIVEN.fit(D, Y).predict(-D)


def test_what_draws_rows_refuses_distances():
    for ensemble in (tw.BaggingClassifier(GIVEN), tw.AdaBoostClassifier(GIVEN, bootstrap=True)):
        with pytest.raises(ParameterError, match="metric='precomputed'"):
            ensemble.fit(D, Y)


def test_learning_curves_cut_distances_as_well():
    given, of_rows = (
        learning_curve(est, table, Y, cv=3, sizes=[50], random_state=0)
        for est, table in ((GIVEN, STEPS), (MANHATTAN, WHOLE))
    )

    assert given.test_error.tolist() == of_rows.test_error.tolist()


def test_declared_columns_say_nothing_of_distances():
    with pytest.raises(ParameterError, match="leave nominal out"):
        tw.KNeighborsClassifier(metric="precomputed", nominal=[0]).fit(D, Y)


def test_missing_cells_are_compared_as_in_scikit_learn():
    ours = tw.KNeighborsClassifier(7, metric="nan_euclidean").fit(GAPS, Y)
    theirs = neighbors.KNeighborsClassifier(7, metric="nan_euclidean").fit(GAPS, Y)

    # scikit-learn subtracts products, which leaves 2e-7 of two equal rows.
    assert ours.kneighbors(GAPS)[0] == pytest.approx(theirs.kneighbors(GAPS)[0], abs=1e-6)


def test_distances_over_missing_cells_are_their_definition():
    # Known in both: the first and third column, 3 and 4 apart: 9 + 16 = 25, times 3 / 2.
    one = tw.KNeighborsRegressor(1, metric="nan_euclidean").fit([[0.0, np.nan, 0.0]], [1.0])

    assert one.kneighbors([[3.0, 7.0, 4.0]])[0][0, 0] == np.sqrt(25.0 / 2 * 3)


def test_without_missing_cells_the_distances_are_the_euclidean_ones():
    ours = tw.KNeighborsClassifier(metric="nan_euclidean").fit(X, Y).kneighbors(X + 0.1)
    euclidean = tw.KNeighborsClassifier(metric="euclidean", algorithm="brute").fit(X, Y).kneighbors(X + 0.1)

    assert ours[0] == pytest.approx(euclidean[0], rel=1e-12)


def test_a_row_that_shares_no_known_cell_is_refused_with_a_remedy():
    fitted = tw.KNeighborsClassifier(1, metric="nan_euclidean").fit([[0.0, np.nan], [np.nan, 1.0]], [0, 1])

    with pytest.raises(MissingValueError, match=r"share a known cell.*metric='heom'"):
        fitted.kneighbors([[np.nan, 3.0]], 2)
