"""Nearest neighbours as estimators: equal to scikit-learn's where both have a case, by definition elsewhere."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from rotating import crossed
from sklearn import neighbors as theirs
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import treewright as tw
from treewright import KNeighborsClassifier, KNeighborsRegressor
from treewright.exceptions import DataError, DataWarning, ParameterError, UnseenLevelError

METRICS = {
    "euclidean": {},
    "manhattan": {},
    "chebyshev": {},
    "minkowski": {"p": 3.0},
    "canberra": {},
    "cosine": {},
    "correlation": {},
    "hamming": {},
    "jaccard": {},
    "mahalanobis": {},
}


@pytest.fixture(scope="module")
def case():
    """Rows of a fit, classes, numbers, queries."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(300, 5)), rng.integers(0, 3, 300), rng.normal(size=(300, 2)), rng.normal(size=(80, 5))


def cells_for(metric, X):
    """Cells that a metric of equal and unequal cells can tell apart."""
    return (X > 0.3).astype(float) if metric in {"hamming", "jaccard"} else X


def sklearn_of(kind, metric, X, **options):
    params = {"VI": np.linalg.inv(np.cov(X, rowvar=False))} if metric == "mahalanobis" else None
    return kind(metric=metric, algorithm="brute", metric_params=params, **options)


@pytest.mark.parametrize(
    ("metric", "weights"), crossed(METRICS, ["uniform", "distance", lambda distances: np.exp(-distances)])
)
@pytest.mark.filterwarnings("ignore:Data was converted to boolean")
def test_neighbours_and_answers_are_those_of_scikit_learn(case, metric, weights):
    X, y, numbers, queries = case
    X, queries = cells_for(metric, X), cells_for(metric, queries)
    options = {"n_neighbors": 300, "weights": weights, **METRICS[metric]}
    ours = KNeighborsClassifier(metric=metric, **options).fit(X, y)
    its = sklearn_of(theirs.KNeighborsClassifier, metric, X, **options).fit(X, y)

    distances, rows = ours.kneighbors(queries)
    its_distances = np.empty_like(distances)
    at, order = its.kneighbors(queries)
    np.put_along_axis(its_distances, order, at, axis=1)  # by row of the fit
    # By row, whatever the order: equal but for rounding (theirs loses digits where rows are near).
    assert distances == pytest.approx(np.take_along_axis(its_distances, rows, axis=1), rel=1e-6, abs=1e-7)
    clear = np.diff(at, axis=1) > 1e-6
    settled = np.hstack([clear, np.ones((len(at), 1), bool)]) & np.hstack([np.ones((len(at), 1), bool), clear])
    assert (rows == order)[settled].all()
    for k in (1, 7):
        fewer = {**options, "n_neighbors": k}
        ours.set_params(n_neighbors=k).fit(X, y)
        its = sklearn_of(theirs.KNeighborsClassifier, metric, X, **fewer).fit(X, y)
        regressor = KNeighborsRegressor(metric=metric, **fewer).fit(X, numbers)
        its_regressor = sklearn_of(theirs.KNeighborsRegressor, metric, X, **fewer).fit(X, numbers)
        same = (at[:, k] - at[:, k - 1]) > 1e-6  # which rows are the k nearest is no matter of rounding
        if weights == "distance":
            same &= at[:, 0] > 1e-6  # nor is what stands at distance 0
        assert same.any() or metric in {"hamming", "jaccard"}
        assert ours.predict_proba(queries)[same] == pytest.approx(its.predict_proba(queries)[same], rel=1e-5, abs=1e-9)
        assert regressor.predict(queries)[same] == pytest.approx(
            its_regressor.predict(queries)[same], rel=1e-5, abs=1e-9
        )


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "gower", "cosine"])
def test_every_algorithm_and_any_number_of_threads_give_the_same_bytes(case, metric):
    X, y, _, queries = case
    X = np.round(X, 1)  # ties
    algorithms = ["auto", "brute"] + (["kd_tree"] if metric != "gower" else [])

    said = set()
    for algorithm in algorithms:
        for n_jobs in (1, 3):
            est = KNeighborsClassifier(metric=metric, algorithm=algorithm, n_jobs=n_jobs, weights="distance").fit(X, y)
            distances, rows = est.kneighbors(queries)
            said.add(est.predict_proba(queries).tobytes() + distances.tobytes() + rows.tobytes())

    assert len(said) == 1


def test_blocks_of_rows_change_nothing(case, monkeypatch):
    X, y, _, queries = case
    est = KNeighborsClassifier(weights="tricube").fit(X, y)
    many = np.tile(queries, (10, 1))
    whole = est.predict_proba(many), *est.kneighbors(many), est.kneighbors()[1], *est.radius_neighbors(many, 1.0)
    monkeypatch.setattr("treewright.model.neighbors._BLOCK_BYTES", 1)

    parts = est.predict_proba(many), *est.kneighbors(many), est.kneighbors()[1], *est.radius_neighbors(many, 1.0)

    for one, other in zip(whole[:4], parts[:4], strict=True):
        assert one.tobytes() == other.tobytes()
    for one, other in zip(whole[4:], parts[4:], strict=True):
        assert [each.tobytes() for each in one] == [each.tobytes() for each in other]


@pytest.mark.parametrize("duplicated", [False, True])
def test_rows_of_the_fit_are_their_neighbours_neighbours_but_not_their_own(case, duplicated):
    X, y, *_ = case
    X = np.vstack([X[:20]] * 4) if duplicated else X
    y = np.arange(len(X)) % 3

    distances, rows = KNeighborsClassifier().fit(X, y).kneighbors(n_neighbors=6)

    for i in range(len(X)):
        others = sorted((((X[i] - X[j]) ** 2).sum(), j) for j in range(len(X)) if j != i)[:6]
        if duplicated:
            assert rows[i].tolist()[:3] == [j for j in range(i % 20, len(X), 20) if j != i]
        assert sorted(rows[i].tolist()) == sorted(j for _, j in others)
        assert distances[i] == pytest.approx([rank**0.5 for rank, _ in others])


def test_ties_go_to_the_lower_row_also_at_the_last_place():
    est = KNeighborsClassifier(n_neighbors=2).fit([[1.0], [-1.0], [1.0], [-1.0], [5.0]], [0, 1, 2, 3, 4])

    assert est.kneighbors([[0.0]], return_distance=False).tolist() == [[0, 1]]
    assert est.kneighbors([[1.0]], n_neighbors=3, return_distance=False).tolist() == [[0, 2, 1]]


def test_of_equal_votes_the_first_class_wins():
    est = KNeighborsClassifier(n_neighbors=2).fit([[1.0], [2.0]], ["b", "a"])

    assert est.predict([[1.1]]).tolist() == ["a"]
    assert est.predict_proba([[1.1]]).tolist() == [[0.5, 0.5]]


def test_kernels_reach_to_the_neighbour_after_the_last(case):
    X, y, numbers, queries = case
    distances, rows = KNeighborsClassifier().fit(X, y).kneighbors(queries, 4)
    weights = 1 - distances[:, :3] / distances[:, 3:]

    found = KNeighborsRegressor(n_neighbors=3, weights="triangular").fit(X, numbers[:, 0]).predict(queries)
    shares = KNeighborsClassifier(n_neighbors=3, weights="triangular").fit(X, y).predict_proba(queries)

    assert found == pytest.approx((numbers[rows[:, :3], 0] * weights).sum(axis=1) / weights.sum(axis=1))
    for label in range(3):
        votes = (weights * (y[rows[:, :3]] == label)).sum(axis=1)
        assert shares[:, label] == pytest.approx(votes / weights.sum(axis=1))


def test_graphs_are_those_of_scikit_learn(case):
    X, y, _, queries = case
    ours, its = KNeighborsClassifier().fit(X, y), theirs.KNeighborsClassifier().fit(X, y)

    for given in (queries, None):
        for mode in ("connectivity", "distance"):
            graph, its_graph = ours.kneighbors_graph(given, 4, mode), its.kneighbors_graph(given, 4, mode)
            assert graph.shape == its_graph.shape
            assert graph.toarray() == pytest.approx(its_graph.toarray())
    with pytest.raises(ParameterError, match="mode='both'"):
        ours.kneighbors_graph(queries, mode="both")


def test_rows_within_a_radius_are_those_of_scikit_learn(case):
    X, y, _, queries = case
    est = KNeighborsClassifier().fit(X, y)
    its = theirs.NearestNeighbors(radius=1.5).fit(X)

    for given in (queries, None):
        distances, rows = est.radius_neighbors(given, 1.5)
        its_distances, its_rows = its.radius_neighbors(given, sort_results=True)
        assert [each.tolist() for each in rows] == [each.tolist() for each in its_rows]
        for one, other in zip(distances, its_distances, strict=True):
            assert one == pytest.approx(other)
    assert est.radius_neighbors([X[3]], 0.0, return_distance=False)[0].tolist() == [3]
    assert est.radius_neighbors([X[3] + 50], 1.0, return_distance=False)[0].tolist() == []
    assert len(est.radius_neighbors(queries[:0], 1.0)[0]) == 0


def test_several_outputs_answer_as_one_by_one(case):
    X, y, numbers, queries = case
    labels = np.column_stack([np.array(["a", "b", "c"])[y], np.array(["u", "v", "w"])[y[::-1]]])
    both = KNeighborsClassifier().fit(X, labels)

    assert [each.tolist() for each in both.classes_] == [["a", "b", "c"], ["u", "v", "w"]]
    for at in range(2):
        alone = KNeighborsClassifier().fit(X, labels[:, at])
        assert both.predict(queries)[:, at].tolist() == alone.predict(queries).tolist()
        assert both.predict_proba(queries)[at].tolist() == alone.predict_proba(queries).tolist()
        assert both.predict_log_proba(queries)[at].tolist() == alone.predict_log_proba(queries).tolist()
        number = KNeighborsRegressor().fit(X, numbers[:, at]).predict(queries)
        assert KNeighborsRegressor().fit(X, numbers).predict(queries)[:, at].tolist() == number.tolist()
    assert both.model_.predict_one(queries[0]).tolist() == both.predict(queries[:1])[0].tolist()


TABLE = {
    "size": ["S", "M", "L", "M", None, "S"],
    "sky": ["sun", "rain", "sun", None, "snow", "rain"],
    "wind": [3.0, 5.0, np.nan, 4.0, 2.0, 9.0],
}
ORDERS = {"size": ["S", "M", "L"]}


def gower(a, b):
    """By definition; sizes are ranks over 2, winds over 7, an unseen level is 1 apart from all."""
    parts = []
    if a[0] is not None and b[0] is not None:
        parts.append(abs("SML".index(a[0]) - "SML".index(b[0])) / 2)
    if a[1] is not None and b[1] is not None:
        parts.append(0.0 if a[1] == b[1] else 1.0)
    if not np.isnan(a[2]) and not np.isnan(b[2]):
        parts.append(min(abs(a[2] - b[2]) / 7, 1.0))
    return sum(parts) / len(parts) if parts else 1.0


@pytest.mark.parametrize("frame", [dict, pd.DataFrame])
def test_a_table_of_all_kinds_of_columns_is_compared_by_gower(frame):
    est = KNeighborsClassifier(n_neighbors=3, metric="gower", ordinal=ORDERS).fit(frame(TABLE), list("abcabc"))
    asked = {"wind": [4.5, 20.0], "size": ["M", None], "sky": ["hail", "rain"]}  # another order, an unseen level

    distances, rows = est.kneighbors(frame(asked))

    assert est.effective_metric_ == "gower"
    cells = list(zip(*TABLE.values(), strict=True))
    for i, query in enumerate(zip(asked["size"], asked["sky"], asked["wind"], strict=True)):
        known = sorted((gower(query, row), j) for j, row in enumerate(cells))[:3]
        assert rows[i].tolist() == [j for _, j in known]
        assert distances[i] == pytest.approx([distance for distance, _ in known])
    one = {"wind": 4.5, "size": "M", "sky": "hail"}
    assert est.model_.predict_one(one) == est.predict(frame(asked))[0]


def test_a_level_that_fit_never_saw_is_what_was_asked_for():
    table, asked = {"sky": ["sun", "rain", "sun"], "wind": [1.0, 2.0, 3.0]}, {"sky": ["hail"], "wind": [1.0]}

    def nearest(unseen):
        est = KNeighborsClassifier(n_neighbors=1, metric="gower", unseen=unseen).fit(table, [0, 1, 0])
        return est.kneighbors(asked)[0].tolist()

    assert nearest("other") == [[0.5]]
    assert nearest("missing") == [[0.0]]
    with pytest.raises(UnseenLevelError, match="hail"):
        nearest("error")


def test_an_ordinal_level_that_fit_never_saw_is_missing_under_other():
    est = KNeighborsClassifier(n_neighbors=1, metric="gower", ordinal=ORDERS).fit(
        {"size": ["S", "L"], "wind": [1.0, 2.0]}, [0, 1]
    )  # fmt: skip

    assert est.kneighbors({"size": ["XL"], "wind": [2.0]})[0].tolist() == [[0.0]]


def test_missing_cells_in_a_column_that_had_none_are_warned_of_under_mixed_metrics_only():
    table = {"sky": ["sun", "rain"], "wind": [1.0, 2.0]}
    est = KNeighborsClassifier(n_neighbors=1).fit(table, [0, 1])

    with pytest.warns(DataWarning, match="'wind'; the metric defines their distance"):
        est.predict({"sky": ["sun"], "wind": [None]})
    numbers = KNeighborsClassifier(n_neighbors=1).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(DataError, match="column 'x0' has 1 missing"):
        numbers.predict([[1.0], [np.nan]])


@pytest.mark.parametrize("metric", ["auto", "cosine", "angle"])
def test_sparse_rows_are_searched_as_they_are_and_like_dense_ones(metric):
    rows = sp.random(120, 400, 0.03, format="csr", random_state=0)
    queries = sp.random(30, 400, 0.03, format="csr", random_state=1)
    y = np.arange(120) % 3
    sparse = KNeighborsClassifier(metric=metric).fit(rows, y)
    dense = KNeighborsClassifier(metric=metric).fit(rows.toarray(), y)

    assert sparse.model_.schema is None
    assert sparse.model_.stored.is_sparse
    for one, other in ((queries, queries.toarray()), (queries.toarray(), queries.toarray()), (None, None)):
        found, expected = sparse.kneighbors(one, 9), dense.kneighbors(other, 10)
        gaps = np.diff(expected[0], axis=1)
        apart = (gaps > 1e-9) & np.hstack([np.ones((len(gaps), 1), bool), gaps[:, :-1] > 1e-9])
        assert apart.mean() > 0.2
        assert found[0] == pytest.approx(expected[0][:, :9], abs=1e-12)
        assert (found[1] == expected[1][:, :9])[apart].all()
    assert sparse.predict(queries[:0]).shape == (0,)
    assert sparse.model_.predict_one(queries[0].toarray()[0]) == sparse.predict(queries[:1])[0]


def test_sparse_rows_are_made_dense_for_other_metrics():
    rows = sp.random(50, 20, 0.2, format="csc", random_state=0)
    y = np.arange(50) % 2

    sparse = KNeighborsClassifier(metric="manhattan").fit(rows, y)

    assert not sparse.model_.stored.is_sparse
    dense = KNeighborsClassifier(metric="manhattan").fit(rows.toarray(), y)
    assert sparse.kneighbors(rows)[1].tolist() == dense.kneighbors(rows.toarray())[1].tolist()


def test_pickles_hold_the_rows_and_no_index(case):
    X, y, _, queries = case
    est = KNeighborsClassifier().fit(X, y)
    before = len(pickle.dumps(est))
    said = est.predict_proba(queries)
    after = pickle.dumps(est)

    assert len(after) == before
    assert "_index" in est.model_.stored.__dict__
    again = pickle.loads(after)
    assert "_index" not in again.model_.stored.__dict__
    assert again.predict_proba(queries).tobytes() == said.tobytes()


@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize("kind", [np.array, np.asfortranarray, pd.DataFrame, sp.csr_matrix])
def test_the_users_array_may_change_after_the_fit(case, kind, columns):
    X, y, _, queries = case
    X, queries = X[:, :columns], queries[:, :columns]
    own = kind(X.copy())
    est = KNeighborsClassifier().fit(own, y)
    if isinstance(own, pd.DataFrame):
        own.iloc[:] = 0.0
    else:
        (own.data if sp.issparse(own) else own)[:] = 0.0

    asked = pd.DataFrame(queries) if isinstance(own, pd.DataFrame) else queries
    expected = clone(est).fit(X, y).kneighbors(queries)[1]
    assert (est.kneighbors(asked)[1] == expected).all()


def test_attributes_are_those_of_scikit_learn(case):
    X, y, *_ = case
    named = KNeighborsClassifier().fit(pd.DataFrame(X, columns=list("abcde")), y)

    assert named.feature_names_in_.tolist() == list("abcde")
    assert (named.n_features_in_, named.n_samples_fit_, named.n_outputs_, named.n_classes_) == (5, 300, 1, 3)
    assert named.effective_metric_ == "euclidean"
    assert not hasattr(named.fit(X, y), "feature_names_in_")
    with pytest.raises(NotFittedError):
        KNeighborsClassifier().kneighbors(X)
    assert not hasattr(KNeighborsRegressor().fit(X, y), "predict_proba")
    with pytest.raises(AttributeError, match="no class probabilities"):
        KNeighborsRegressor().fit(X, y).model_.predict_proba(X)


def test_columns_are_matched_by_name(case):
    X, y, _, queries = case
    est = KNeighborsClassifier().fit(pd.DataFrame(X, columns=list("abcde")), y)
    frame = pd.DataFrame(queries, columns=list("abcde"))

    assert est.predict_proba(frame[list("ecdab")]).tobytes() == est.predict_proba(frame).tobytes()


def test_what_is_shown_names_metric_rows_classes_size_and_cost():
    table = {"height": [1.0, 2.0, 3.0, 4.0], "weight": [10.0, 20.0, 30.0, 50.0]}
    est = KNeighborsClassifier(n_neighbors=1, scale="range", algorithm="brute").fit(table, ["a", "b", "b", "b"])

    assert est.show().splitlines() == [
        "1 nearest neighbour, classification",
        "metric      euclidean",
        "weights     uniform",
        "rows        4 with 2 columns",
        "scales      height x 0.3333, weight x 0.025",
        "classes     2: 'a' (1), 'b' (3)",
        "stored      80 bytes",
        "search      all rows, by matrix products",
        "prediction  4 rows x 2 columns are compared",
    ]
    assert est.model_.nbytes == 80
    assert repr(est.model_) == "<treewright.NeighborsModel: classification, 2 columns, 4 rows, 1 neighbours>"
    assert est.model_._repr_html_() == f"<pre>{est.show()}</pre>".replace("'", "&#x27;")
    regressor = KNeighborsRegressor(n_neighbors=1).fit([[1.0], [2.0]], [[1.5, 2.0], [3.0, 4.0]])
    assert "target      1.5 to 3\ntarget      2 to 4\n" in regressor.show()


def test_files_give_the_same_answers(case, tmp_path):
    X, y, numbers, queries = case
    mixed = KNeighborsClassifier(n_neighbors=2, ordinal=ORDERS).fit(TABLE, list("abcabc"))
    documents = sp.random(60, 300, 0.05, format="csr", random_state=0)
    for est, asked in [
        (KNeighborsClassifier(weights="distance", scale="standard").fit(X, y), queries),
        (KNeighborsRegressor(metric="minkowski", p=1.5).fit(X, numbers), queries),
        (mixed, TABLE),
        (KNeighborsClassifier(metric="cosine").fit(documents, np.arange(60) % 4), documents),
    ]:
        est.save(tmp_path / "model.tw")
        model = tw.load(tmp_path / "model.tw")
        assert model.predict(asked).tolist() == est.predict(asked).tolist()
        assert model.show() == est.show()
