"""Nearest neighbours are left out in one search, and that is what n fits say."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsRegressor as Theirs

import treewright as tw
from treewright.evaluation import neighbors
from treewright.exceptions import DataError, MissingValueError, ParameterError
from treewright.model_selection import leave_one_out, neighbor_curve

RNG = np.random.default_rng(0)
NUMBERS = RNG.integers(0, 6, (60, 3)) + 1.0
LABELS = np.array(["b", "a", "c"])[(NUMBERS[:, 0] // 2.5).astype(int)]
LABELS[::7] = "b"
AMOUNTS = NUMBERS @ [1.0, -2.0, 0.5] + RNG.normal(size=60)


def mixed(n):
    """Columns of levels and numbers with missing cells; the last level has one row."""
    rng = np.random.default_rng(1)
    sky = rng.choice(["sun", "rain", "fog"], n).astype(object)
    sky[0], sky[3] = "snow", None
    wind = rng.integers(0, 9, n).astype(float)
    wind[5] = np.nan
    return {"sky": sky.tolist(), "wind": wind}


SETTINGS = [
    {},
    {"weights": "distance"},
    {"weights": "tricube", "n_neighbors": 3},
    {"weights": "gaussian", "n_neighbors": 59},
    {"metric": "manhattan", "algorithm": "brute"},
    {"metric": "cosine"},
    {"metric": "canberra", "n_neighbors": 1},
    {"metric": "correlation", "scale": [1.0, 2.0, 0.5]},
]
LEARNED = [{"scale": "standard"}, {"metric": "mahalanobis"}, {"metric": "gower"}, {"scale": [1.0, 5.0, 0.3]}]


def is_same(one, other):
    """Whether two Scores say the same, to the bit."""
    assert one.predictions.dtype == other.predictions.dtype
    assert (one.predictions == other.predictions).all()
    assert one.test.keys() == other.test.keys()
    assert all((one.test[name] == other.test[name]).all() for name in one.test)
    for name in ("n_train", "n_test", "rows"):
        assert (getattr(one, name) == getattr(other, name)).all()
    assert np.isnan(one.n_leaves).all()
    assert np.isnan(other.n_leaves).all()
    return str(one) == str(other) and one.pooled == other.pooled and one.train is other.train is None


@pytest.mark.parametrize("settings", [*SETTINGS, *LEARNED[:2]])
def test_one_search_gives_the_scores_of_a_fit_per_row(settings):
    for est, target in ((tw.KNeighborsClassifier(**settings), LABELS), (tw.KNeighborsRegressor(**settings), AMOUNTS)):
        quick = leave_one_out(est, NUMBERS, target)
        honest = leave_one_out(est, NUMBERS, target, keep_estimators=True)

        assert is_same(quick, honest)


def test_several_targets_and_sparse_rows_are_read_off_too():
    sparse = csr_matrix(np.where(NUMBERS > 3, NUMBERS, 0.0))
    pairs = [
        (tw.KNeighborsClassifier(metric="cosine"), sparse, LABELS),
        (tw.KNeighborsClassifier(), NUMBERS, np.column_stack([LABELS, LABELS[::-1]])),
        (tw.KNeighborsRegressor(), NUMBERS, np.column_stack([AMOUNTS, AMOUNTS**2])),
    ]
    for est, X, y in pairs:
        assert is_same(leave_one_out(est, X, y), leave_one_out(est, X, y, keep_estimators=True))


def test_one_search_makes_one_fit(monkeypatch):
    fits = []
    fit = tw.KNeighborsClassifier.fit
    monkeypatch.setattr(tw.KNeighborsClassifier, "fit", lambda self, X, y: fits.append(len(y)) or fit(self, X, y))

    leave_one_out(tw.KNeighborsClassifier(), NUMBERS, LABELS)
    neighbor_curve(tw.KNeighborsClassifier(), NUMBERS, LABELS)

    assert fits == [60, 60]


class Contrary(tw.KNeighborsClassifier):
    """Says the opposite."""

    def predict(self, X):
        return np.full(len(X), "c")


def test_subclasses_other_scores_and_learned_metrics_are_fitted_for_each_row():
    assert (leave_one_out(Contrary(), NUMBERS, LABELS).predictions == "c").all()
    scores = leave_one_out(tw.KNeighborsClassifier(), NUMBERS, LABELS, scoring=lambda est, X, _y: len(est.predict(X)))
    assert scores.mean == 1.0


def test_too_many_neighbours_are_refused_as_by_the_fits():
    with pytest.raises(ParameterError, match="n_neighbors=60 > 59 rows"):
        leave_one_out(tw.KNeighborsClassifier(n_neighbors=60), NUMBERS, LABELS)


@pytest.mark.parametrize("settings", [*SETTINGS[:3], *LEARNED])
def test_the_curve_holds_leave_one_out_of_every_number_of_neighbours(settings):
    settings = {name: value for name, value in settings.items() if name != "n_neighbors"}
    for kind, target in ((tw.KNeighborsClassifier, LABELS), (tw.KNeighborsRegressor, AMOUNTS)):
        curve = neighbor_curve(kind(**settings), NUMBERS[:20], target[:20], max_neighbors=100, n_jobs=2)

        assert curve.k.tolist() == list(range(1, 20))
        for at in (0, 1, 4, 18):
            est = kind(**settings, n_neighbors=at + 1)
            scores = leave_one_out(est, NUMBERS[:20], target[:20], keep_estimators=True)
            assert (curve.predictions(at + 1) == scores.predictions).all()
            error = 1 - scores.mean if kind is tw.KNeighborsClassifier else -scores.mean
            assert curve.error[at] == pytest.approx(error, rel=1e-12)
            assert curve.standard_error[at] == pytest.approx(scores.standard_error, rel=1e-12)


@pytest.mark.filterwarnings(
    "ignore:missing values in 1 column:treewright.exceptions.DataWarning"
)  # of the row left out
@pytest.mark.parametrize("metric", ["auto", "heom", "hvdm"])
def test_mixed_columns_are_learned_anew_without_each_row(metric):
    X, y = mixed(24), LABELS[:24]
    curve = neighbor_curve(tw.KNeighborsClassifier(metric=metric), X, y, max_neighbors=4)

    for k in (1, 4):
        scores = leave_one_out(tw.KNeighborsClassifier(k, metric=metric), X, y)
        assert (curve.predictions(k) == scores.predictions).all()


def test_the_metric_of_all_rows_serves_where_it_is_asked_for():
    est = tw.KNeighborsRegressor(scale="range")
    scaled = (NUMBERS - NUMBERS.min(axis=0)) / np.ptp(NUMBERS, axis=0)
    theirs = Theirs(7).fit(scaled, AMOUNTS)

    curve = neighbor_curve(est, NUMBERS, AMOUNTS, max_neighbors=8, refit_metric=False)

    found = theirs.kneighbors(n_neighbors=8)[0]
    clear = found[:, 7] - found[:, 6] > 1e-9
    assert clear.sum() > 10
    np.testing.assert_allclose(curve.predictions(7)[clear], theirs.predict(None)[clear])
    with pytest.raises(ParameterError, match="hvdm are computed from the targets"):
        neighbor_curve(tw.KNeighborsClassifier(metric="hvdm"), mixed(24), LABELS[:24], refit_metric=False)


def test_a_class_of_one_row_is_never_said_of_it():
    labels = np.array(["z", *["a", "b"] * 5])
    X = np.arange(11.0)[:, None]

    curve = neighbor_curve(tw.KNeighborsClassifier(scale="range"), X, labels)

    assert "z" not in curve.predictions(1)[0]
    assert curve.predictions(1)[1] == "z"
    assert (curve.predictions(1) == leave_one_out(tw.KNeighborsClassifier(1), X, labels).predictions).all()


def test_of_equal_errors_the_largest_number_is_best_and_the_rule_goes_on_to_larger_ones():
    curve = neighbors.NeighborCurve.of(
        "KNeighborsClassifier",
        np.array([1, 2, 3, 4]),
        "misclassification",
        np.array([[0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1]], np.uint8)[:, :, None],
        np.array([[0], [0], [0], [0]]),
        (np.array(["a", "b"]),),
    )

    assert curve.error.tolist() == [0.5, 0.25, 0.25, 1.0]
    assert curve.standard_error[1] == 0.25
    assert (curve.best, curve.one_se) == (3, 3)
    assert curve.predictions().tolist() == ["a", "a", "a", "b"]


def test_the_curve_is_shown_drawn_and_made_a_table():
    curve = neighbor_curve(tw.KNeighborsClassifier(), *load_iris(return_X_y=True))

    text = str(curve)
    assert text == curve.show() == repr(curve)
    assert text.startswith("misclassification rate of KNeighborsClassifier, each of 150 rows left out once\n")
    assert "21     0.020  0.011  best, 1 s.e." in text
    assert set(map(len, curve.to_dict().values())) == {100}
    mpl.use("Agg")
    figure = curve.plot(ylabel="wrong")
    legend = [entry.get_text() for entry in figure.axes[0].get_legend().get_texts()]
    assert legend == ["rows left out", "best, 1 s.e.: 21"]
    assert figure.axes[0].get_ylabel() == "wrong"


def test_absolute_errors_are_a_loss_of_numbers():
    curve = neighbor_curve(tw.KNeighborsRegressor(), NUMBERS, AMOUNTS, loss="absolute_error", max_neighbors=2)

    assert curve.error[0] == pytest.approx(np.abs(curve.predictions(1) - AMOUNTS).mean(), rel=1e-12)
    with pytest.raises(ParameterError, match="'misclassification'"):
        neighbor_curve(tw.KNeighborsClassifier(), NUMBERS, LABELS, loss="log_loss")


@pytest.mark.parametrize(
    ("est", "options", "error", "said"),
    [
        (tw.DecisionTreeClassifier(), {}, ParameterError, "or use error_curve"),
        (tw.KNeighborsClassifier(), {"max_neighbors": 0}, ParameterError, "max_neighbors=0"),
        (tw.KNeighborsClassifier(), {"max_neighbors": 2.0}, ParameterError, "max_neighbors=2.0"),
        (tw.KNeighborsClassifier, {}, ParameterError, "or use error_curve"),
    ],
)
def test_what_has_no_curve_is_refused(est, options, error, said):
    with pytest.raises(error, match=said):
        neighbor_curve(est, NUMBERS, LABELS, **options)


def test_one_row_and_missing_cells_are_refused():
    with pytest.raises(DataError, match="at least 2"):
        neighbor_curve(tw.KNeighborsRegressor(), NUMBERS[:1], AMOUNTS[:1])
    holed = NUMBERS.copy()
    holed[4, 1] = np.nan
    with pytest.raises(MissingValueError):
        neighbor_curve(tw.KNeighborsRegressor(), holed, AMOUNTS)
    with pytest.raises(ParameterError, match="k=9"):
        neighbor_curve(tw.KNeighborsRegressor(), NUMBERS, AMOUNTS, max_neighbors=8).predictions(9)
