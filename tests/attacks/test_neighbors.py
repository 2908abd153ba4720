"""Hostile tables, metrics and weights for nearest neighbours: the right answer, or one error that says what to do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from treewright import KNeighborsClassifier, KNeighborsRegressor
from treewright.exceptions import ColumnError, DataError, MissingValueError, ParameterError, UnseenLevelError

NAN, INF = np.nan, np.inf
NUMBERS = ["euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "angle", "correlation", "mahalanobis"]
NUMBERS += ["hamming", "jaccard", "canberra"]
MIXED = ["gower", "heom", "hvdm"]


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 3)), rng.integers(0, 3, 60)


def name_of(metric):
    return getattr(metric, "__name__", metric)


def own_metric(a, b):
    return float(np.abs(a - b).sum())


@pytest.mark.parametrize("kind", [KNeighborsClassifier, KNeighborsRegressor])
@pytest.mark.parametrize("metric", [*NUMBERS, *MIXED, own_metric], ids=name_of)
@pytest.mark.parametrize("cell", [INF, -INF])
def test_infinite_cells_are_refused_by_name_in_fit_and_in_predict(case, kind, metric, cell):
    X, y = case
    bad = X.copy()
    bad[7, 1] = bad[9, 1] = cell

    with pytest.raises(DataError, match=r"column 'x1' has 2 infinite value\(s\) \(first row 7\)"):
        kind(metric=metric).fit(bad, y)
    est = kind(metric=metric, p=3 if metric == "minkowski" else 2).fit(X, y)
    for method in (est.predict, est.kneighbors, lambda table: est.radius_neighbors(table, 1.0)):
        with pytest.raises(DataError, match=r"'x1' has 2 infinite value\(s\) \(first row 7\)"):
            method(bad)


@pytest.mark.parametrize("metric", [*NUMBERS, own_metric], ids=name_of)
def test_missing_cells_are_refused_by_name_where_the_metric_takes_none(case, metric):
    X, y = case
    bad = pd.DataFrame(X, columns=["a", "b", "c"])
    bad.loc[7, "b"] = NAN

    with pytest.raises(MissingValueError, match=r"column 'b' has 1 missing value\(s\).*row 7"):
        KNeighborsClassifier(metric=metric).fit(bad, y)
    est = KNeighborsClassifier(metric=metric).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    with pytest.raises(MissingValueError, match=r"column 'b' has 1 missing value\(s\).*row 7"):
        est.predict(bad)


def test_the_row_of_a_bad_cell_is_that_of_the_whole_table(case, monkeypatch):
    X, y = case
    monkeypatch.setattr("treewright.model.neighbors._BLOCK_BYTES", 1)
    est = KNeighborsClassifier().fit(X, y)
    many = np.tile(X, (20, 1))
    many[1100, 2] = NAN

    with pytest.raises(MissingValueError, match="row 1100"):
        est.predict(many)


@pytest.mark.parametrize("metric", NUMBERS)
def test_nominal_columns_are_refused_by_name_under_metrics_of_numbers(metric):
    table = {"wind": [1.0, 2.0, 3.0], "sky": ["sun", "rain", "sun"]}

    with pytest.raises(DataError, match=r"'sky'.*is nominal"):
        KNeighborsClassifier(n_neighbors=1, metric=metric).fit(table, [0, 1, 0])


def test_more_neighbours_than_rows_are_refused_with_both_numbers(case):
    X, y = case
    with pytest.raises(ParameterError, match="n_neighbors=5 > 3 rows"):
        KNeighborsClassifier().fit(X[:3], y[:3])

    est = KNeighborsClassifier(n_neighbors=3).fit(X[:3], y[:3])

    assert est.kneighbors(X[:2])[1].shape == (2, 3)
    with pytest.raises(ParameterError, match=r"n_neighbors=4 > 3 stored row\(s\): give a smaller"):
        est.kneighbors(X, 4)
    with pytest.raises(ParameterError, match=r"n_neighbors=3 > 2 stored row\(s\) other than the row itself"):
        est.kneighbors()
    for odd in (0, -1, 2.0, True, "2"):
        with pytest.raises(ParameterError, match="n_neighbors="):
            est.kneighbors(X, odd)
    assert est.kneighbors(X, np.int64(2))[1].shape == (60, 2)


@pytest.mark.parametrize("radius", [-1.0, NAN, None, "1", True, np.ones(2)])
def test_what_is_no_radius_is_refused(case, radius):
    with pytest.raises(ParameterError, match="radius="):
        KNeighborsClassifier().fit(*case).radius_neighbors(case[0], radius)


def test_an_infinite_radius_finds_every_row(case):
    found = KNeighborsClassifier().fit(*case).radius_neighbors(case[0][:2], INF, return_distance=False)

    assert [sorted(each.tolist()) for each in found] == [list(range(60))] * 2


@pytest.mark.parametrize("weights", ["triangular", "epanechnikov", "biweight", "tricube", lambda d: np.zeros(d.shape)])
def test_where_all_weights_are_zero_the_neighbours_count_alike(weights):
    est = KNeighborsClassifier(n_neighbors=3, weights=weights).fit([[1.0], [-1.0], [1.0], [-1.0]], [0, 1, 1, 0])

    assert est.predict_proba([[0.0]]).tolist() == [[1 / 3, 2 / 3]]
    regressor = KNeighborsRegressor(n_neighbors=3, weights=weights).fit([[1.0], [-1.0], [1.0], [-1.0]], [0, 1, 2, 9])
    assert regressor.predict([[0.0]]).tolist() == [1.0]


def test_all_rows_as_neighbours_leave_no_next_one_to_a_kernel(case):
    X, y = case
    est = KNeighborsClassifier(n_neighbors=60, weights="triangular").fit(X, y)

    distances = est.kneighbors(X[:1])[0][0]

    weights = 1 - distances / distances[-1]
    expected = [weights[y[est.kneighbors(X[:1])[1][0]] == label].sum() / weights.sum() for label in range(3)]
    assert est.predict_proba(X[:1])[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (lambda d: d[:, 0], "shape"),
        (lambda d: -d - 1, "negative or not finite"),
        (lambda d: d * NAN, "negative or not finite"),
        (lambda d: 1 / (d * 0), "negative or not finite"),
        (lambda d: "heavy", "return numbers"),
    ],
)
@pytest.mark.parametrize("kind", [KNeighborsClassifier, KNeighborsRegressor])
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_functions_that_give_no_weights_are_refused(case, kind, weights, says):
    with pytest.raises(ParameterError, match=says):
        kind(weights=weights).fit(*case).predict(case[0])


def test_an_error_of_a_users_function_comes_through(case):
    def metric(a, b):
        raise ZeroDivisionError("mine")

    def weights(distances):
        raise ZeroDivisionError("mine")

    for options in ({"metric": metric}, {"weights": weights}):
        with pytest.raises(ZeroDivisionError, match="mine"):
            KNeighborsClassifier(**options).fit(*case).predict(case[0])


@pytest.mark.parametrize("said", [-1.0, NAN, "far", None])
def test_a_function_that_gives_no_distance_is_refused(case, said):
    with pytest.raises((ParameterError, DataError), match=r"metric|distance|own"):
        KNeighborsClassifier(metric=lambda a, b: said).fit(*case).predict(case[0])


def test_duplicates_at_distance_zero_alone_count_under_distance_weights():
    X, y = [[1.0], [1.0], [1.0], [1.5], [1.0 + 1e-9]], [0, 1, 1, 2, 2]
    est = KNeighborsClassifier(n_neighbors=5, weights="distance").fit(X, y)

    assert est.predict_proba([[1.0]]).tolist() == [[1 / 3, 2 / 3, 0.0]]
    regressor = KNeighborsRegressor(n_neighbors=5, weights="distance").fit(X, [1.0, 2.0, 6.0, 50.0, 90.0])
    assert regressor.predict([[1.0]]).tolist() == [3.0]


@pytest.mark.parametrize("spread", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree"])
@pytest.mark.parametrize("columns", [2, 20])
def test_tiny_spreads_far_from_zero_have_the_neighbours_of_a_double_loop(spread, algorithm, columns):
    rng = np.random.default_rng(1)
    X = 1e6 + spread * rng.normal(size=(150, columns))
    est = KNeighborsClassifier(n_neighbors=4, algorithm=algorithm).fit(X, np.arange(150) % 2)

    rows = est.kneighbors(X[:40], return_distance=False)

    for i in range(40):
        ranks = []
        for j in range(150):
            total = 0.0
            for a, b in zip(X[i].tolist(), X[j].tolist(), strict=True):
                total += (a - b) * (a - b)
            ranks.append((total, j))
        assert rows[i].tolist() == [j for _, j in sorted(ranks)[:4]]


def test_a_singular_covariance_is_a_named_error(case):
    X, y = case
    doubled = np.column_stack([X, X[:, 0] * 2])

    with pytest.raises((ParameterError, DataError), match=r"singular|covariance"):
        KNeighborsClassifier(metric="mahalanobis").fit(doubled, y)


@pytest.mark.parametrize("kind", [KNeighborsClassifier, KNeighborsRegressor])
def test_missing_targets_are_refused(case, kind):
    X, y = case
    target = y.astype(float)
    target[4] = NAN

    with pytest.raises(DataError, match="y has 1 missing"):
        kind().fit(X, target)
    with pytest.raises(DataError, match="X has 60 rows and y has 59"):
        kind().fit(X, y[:-1])


def test_a_failed_fit_leaves_the_model_of_the_one_before(case):
    X, y = case
    est = KNeighborsClassifier().fit(X, y)
    said = est.predict(X)

    for bad in ({"n_neighbors": 100}, {"metric": "mahalanobi"}, {"algorithm": "kd_tree", "metric": "hamming"}):
        with pytest.raises(ParameterError):
            est.set_params(**bad).fit(X[:, :2], y)
        est.set_params(n_neighbors=5, metric="auto", algorithm="auto")

    assert est.predict(X).tolist() == said.tolist()


@pytest.mark.parametrize("metric", ["hamming", "canberra", "gower", own_metric], ids=name_of)
def test_a_tree_that_cannot_search_by_a_metric_is_refused_in_fit(case, metric):
    with pytest.raises(ParameterError, match="algorithm='kd_tree' cannot search metric="):
        KNeighborsClassifier(metric=metric, algorithm="kd_tree").fit(*case)


def test_columns_and_levels_of_another_table_are_refused():
    est = KNeighborsClassifier(n_neighbors=1, unseen="error").fit({"sky": ["a", "b"], "wind": [1.0, 2.0]}, [0, 1])

    with pytest.raises(ColumnError):
        est.predict({"sky": ["a"]})
    with pytest.raises(ColumnError):
        est.predict({"sky": [1.0], "wind": [2.0]})
    with pytest.raises(UnseenLevelError, match="'sky'"):
        est.predict({"sky": ["c"], "wind": [2.0]})


@pytest.mark.parametrize(
    ("X", "says"),
    [
        (sp.csr_matrix([[NAN, 1.0]] * 6), "NaN|missing"),
        (sp.csr_matrix([[INF, 1.0]] * 6), "infinite"),
        (sp.csr_matrix((0, 3)), "0|at least one row"),
        (sp.csr_matrix(np.array([[1j, 1.0]] * 6)), "omplex"),
    ],
    ids=["nan", "infinite", "no rows", "complex"],
)
def test_sparse_rows_that_cannot_be_compared_are_refused(X, says):
    with pytest.raises(DataError, match=says):
        KNeighborsClassifier().fit(X, np.arange(X.shape[0]) % 2 if X.shape[0] else [0])


def test_sparse_rows_of_other_widths_or_of_names_are_refused():
    est = KNeighborsClassifier(n_neighbors=1).fit(sp.eye(5, format="csr"), [0, 1, 0, 1, 0])

    for other in (sp.eye(4, format="csr"), np.eye(4)):
        with pytest.raises(ColumnError, match="X has 4 features, but KNeighborsClassifier is expecting 5 features"):
            est.predict(other)
    with pytest.raises(DataError, match="sparse rows"):
        est.predict({"sky": ["a"]})
    for options in ({"scale": "standard"}, {"metric_params": {"w": [1] * 5}}, {"algorithm": "kd_tree"}):
        with pytest.raises(ParameterError, match="sparse rows"):
            KNeighborsClassifier(n_neighbors=1, **options).fit(sp.eye(5, format="csr"), [0, 1, 0, 1, 0])


def test_distances_beyond_float64_are_refused(case):
    X, y = case
    with pytest.raises(DataError, match="beyond float64"):
        KNeighborsClassifier().fit(X * 1e200, y).predict(X)


def test_numbers_of_any_type_are_compared_as_float64():
    X, y = np.arange(40).reshape(20, 2), np.arange(20) % 2
    expected = KNeighborsClassifier().fit(X.astype(float), y).kneighbors(X.astype(float))

    for dtype in (np.int8, np.uint64, np.float32, np.float16, ">f8", object):
        found = KNeighborsClassifier().fit(X.astype(dtype), y).kneighbors(X.astype(dtype))
        assert found[0].tolist() == expected[0].tolist()
        assert found[1].tolist() == expected[1].tolist()
    strided = np.repeat(np.repeat(X.astype(float), 2, axis=0), 2, axis=1)[::2, ::2]
    assert KNeighborsClassifier().fit(strided, y).kneighbors(strided)[1].tolist() == expected[1].tolist()


def test_users_threads_may_ask_at_once(case):
    X, y = case
    est = KNeighborsClassifier(n_jobs=2).fit(X, y)
    expected, said = KNeighborsClassifier(n_jobs=1).fit(X, y).predict_proba(X).tobytes(), []

    crowd = [threading.Thread(target=lambda: said.append(est.predict_proba(X).tobytes())) for _ in range(8)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()

    assert said == [expected] * 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_finds_the_same_neighbours(case):
    X, y = case
    est = KNeighborsClassifier(n_jobs=2).fit(X, y)
    expected = est.kneighbors(X)[1]
    child = os.fork()
    if not child:
        same = bool((est.kneighbors(X)[1] == expected).all())
        os._exit(0 if same else 1)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


STOPPED = """
    import signal, sys, threading, time
    import numpy as np
    import treewright as tw

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60_000, 30)), rng.integers(0, 3, 60_000)
    est = tw.KNeighborsClassifier(metric=sys.argv[1], n_jobs=2).fit(X, y)
    before = est.predict(X[:50]).tolist()  # everything is compiled
    sent = []

    def interrupt():
        time.sleep(0.5)
        sent.append(time.process_time())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    try:
        est.kneighbors(X)
    except KeyboardInterrupt:
        late = time.process_time() - sent[0]
    print(late, est.predict(X[:50]).tolist() == before)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to threads on this system")
@pytest.mark.parametrize("metric", ["euclidean", "gower"])
def test_ctrl_c_ends_a_search_and_leaves_the_model_usable(metric, copies):
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(STOPPED), metric],
        env=dict(os.environ), capture_output=True, text=True, timeout=250, check=False,
    )  # fmt: skip

    assert run.returncode == 0, run.stderr[-2000:]
    late, usable = run.stdout.split()
    assert float(late) < 2.5  # of processor time, on two threads
    assert usable == "True"
