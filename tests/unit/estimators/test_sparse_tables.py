"""Sparse tables are learned from and predicted as they are: the models and answers are those of the dense table."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import treewright as tw
from treewright.data import encoder, memory
from treewright.data.sparse import SparseMatrix, stays_sparse
from treewright.data.table import is_sparse
from treewright.exceptions import MissingValueError, TooLargeError

N, P = 120, 24
RNG = np.random.default_rng(4)
CELLS = np.where(RNG.random((N, P)) < 0.2, RNG.integers(-2, 5, (N, P)), 0).astype(np.float64)
NUMBERS = CELLS[:, :6].sum(axis=1) + RNG.normal(size=N)
THREE = np.digitize(NUMBERS, [0.5, 3.0])
TWO = (THREE > 0).astype(int)
WEIGHTS = RNG.integers(0, 4, N).astype(np.float64)
GAPS = CELLS.copy()
GAPS[RNG.random(GAPS.shape) < 0.03] = np.nan

FITS = {
    "tree": (tw.DecisionTreeClassifier, THREE),
    "tree of two classes": (lambda: tw.DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=9), TWO),
    "tree on bins": (lambda: tw.DecisionTreeRegressor(splitter="hist", min_samples_leaf=2), NUMBERS),
    "tree of random cuts": (lambda: tw.DecisionTreeClassifier(splitter="random", random_state=1), THREE),
    "tree of two outputs": (lambda: tw.DecisionTreeRegressor(splitter="hist"), np.c_[NUMBERS, TWO]),
    "forest": (lambda: tw.RandomForestClassifier(30, random_state=2, oob_score=True, n_jobs=2), THREE),
    "balanced forest": (lambda: tw.RandomForestClassifier(5, random_state=2, class_weight="balanced"), TWO),
    "forest of numbers": (lambda: tw.RandomForestRegressor(5, random_state=2, max_features=0.3), NUMBERS),
    "constrained forest": (
        lambda: tw.RandomForestClassifier(
            5,
            random_state=2,
            max_features=0.5,
            monotonic_cst={"x0": 1, "x3": -1},
            interaction_cst=[[0, 1, 2, 3], list(range(3, P))],
        ),
        TWO,
    ),
    "forest of counts": (lambda: tw.RandomForestRegressor(5, random_state=2, criterion="poisson"), THREE.astype(float)),
    "extra trees": (lambda: tw.ExtraTreesClassifier(5, random_state=2), THREE),
    "extra trees of numbers": (lambda: tw.ExtraTreesRegressor(5, random_state=2), NUMBERS),
    "boosting": (lambda: tw.GradientBoostingClassifier(n_estimators=4, random_state=2), THREE),
    "boosting of drawn rows": (
        lambda: tw.GradientBoostingRegressor(n_estimators=6, subsample=0.6, early_stopping=True, random_state=4),
        NUMBERS,
    ),
    "constrained boosting": (
        lambda: tw.GradientBoostingRegressor(
            n_estimators=4,
            monotonic_cst={"x0": 1, "x3": -1},
            interaction_cst=[[0, 1, 2, 3], list(range(3, P))],
            features_per_node=0.7,
            min_samples_leaf=9,
            random_state=2,
        ),
        NUMBERS,
    ),
    "symmetric boosting": (
        lambda: tw.GradientBoostingRegressor(n_estimators=3, growth="symmetric", max_depth=3),
        NUMBERS,
    ),
    "isolation": (lambda: tw.IsolationForest(n_estimators=8, max_features=0.6, random_state=2), None),
}


# More values than a byte has: shares of words. In the last column every cell is stored.
MANY = np.where(RNG.random((420, 5)) < (0.1, 0.4, 0.7, 0.9, 1.0), RNG.normal(size=(420, 5)), 0.0)
SUMS = MANY.sum(axis=1) + RNG.normal(size=420) / 4
PARTS = np.digitize(SUMS, [-1.0, 1.0])
MANY_GAPS = np.where(RNG.random(MANY.shape) < 0.05, np.nan, MANY)
COUNTED, ANY = RNG.integers(0, 4, 420).astype(np.float64), RNG.random(420)

EXACT_FITS = {
    "classes": (tw.DecisionTreeClassifier, PARTS, None),
    "best first": (lambda: tw.DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=20), SUMS > 0, None),
    "weights": (lambda: tw.DecisionTreeClassifier(min_samples_leaf=3), PARTS, ANY),
    "two outputs": (lambda: tw.DecisionTreeClassifier(max_depth=4), np.c_[PARTS, SUMS > 0], None),
    "numbers": (tw.DecisionTreeRegressor, SUMS, None),
    "numbers, weighted": (lambda: tw.DecisionTreeRegressor(min_samples_leaf=5), SUMS, COUNTED),
    "numbers, constrained": (lambda: tw.DecisionTreeRegressor(monotonic_cst={"x2": 1, "x3": -1}), SUMS, None),
    "medians": (lambda: tw.DecisionTreeRegressor(criterion="absolute_error", max_depth=5), SUMS, None),
}


def refuse(*_: object) -> None:
    raise AssertionError("the table was made dense")


@pytest.fixture
def kept_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest sparse table stays sparse, and whoever makes it dense fails."""
    monkeypatch.setattr(encoder, "stays_sparse", is_sparse)
    monkeypatch.setattr(SparseMatrix, "dense", refuse)


def saved(est, path):
    est.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("cells", [CELLS, GAPS], ids=["numbers", "gaps"])
@pytest.mark.parametrize("name", FITS)
def test_a_sparse_table_gives_the_bytes_and_answers_of_the_dense_one(kept_sparse, name, cells, tmp_path):
    make, target = FITS[name]
    dense = make().fit(cells, target)
    sparse = make().fit(sp.csr_matrix(cells), target)
    assert saved(sparse, tmp_path / "sparse") == saved(dense, tmp_path / "dense")
    given = sp.csc_matrix(cells)
    np.testing.assert_array_equal(sparse.predict(given), dense.predict(cells))
    for method in ("apply", "predict_proba", "score_samples", "decision_function"):
        if hasattr(dense, method):
            np.testing.assert_array_equal(getattr(sparse, method)(given), getattr(dense, method)(cells))
    if name == "forest":
        assert sparse.oob_score_ == dense.oob_score_
        assert sparse.score(given, target) == dense.score(cells, target)


@pytest.mark.parametrize("cells", [MANY, MANY_GAPS], ids=["numbers", "gaps"])
@pytest.mark.parametrize("name", EXACT_FITS)
def test_the_exact_tree_of_a_sparse_table_has_the_bytes_of_the_dense_one(kept_sparse, name, cells, tmp_path):
    make, target, weights = EXACT_FITS[name]
    dense = make().fit(cells, target, sample_weight=weights)
    sparse = make().fit(sp.csr_matrix(cells), target, sample_weight=weights)
    assert saved(sparse, tmp_path / "sparse") == saved(dense, tmp_path / "dense")


@pytest.mark.parametrize("name", ["tree on bins", "forest of numbers", "boosting of drawn rows"])
def test_weights_of_rows_count_as_in_the_dense_table(kept_sparse, name, tmp_path):
    make, target = FITS[name]
    dense = make().fit(CELLS, target, sample_weight=WEIGHTS)
    sparse = make().fit(sp.csr_matrix(CELLS), target, sample_weight=WEIGHTS)
    assert saved(sparse, tmp_path / "sparse") == saved(dense, tmp_path / "dense")


def test_rows_that_judge_and_more_trees_may_be_sparse(kept_sparse, tmp_path):
    def boosted(form):
        est = tw.GradientBoostingRegressor(n_estimators=6, random_state=2)
        return est.fit(form(CELLS[:90]), NUMBERS[:90], X_val=form(CELLS[90:]), y_val=NUMBERS[90:])

    def grown(form):
        est = tw.RandomForestClassifier(3, warm_start=True, random_state=2).fit(form(CELLS), TWO)
        return est.set_params(n_estimators=5).fit(form(CELLS), TWO)

    for number, make in enumerate((boosted, grown)):
        one, other = saved(make(sp.csr_matrix), tmp_path / f"{number}"), saved(make(np.array), tmp_path / f"{number}d")
        assert one == other


def test_what_makes_a_sparse_table_dense_answers_as_of_the_dense_one(monkeypatch):
    monkeypatch.setattr(encoder, "stays_sparse", is_sparse)
    boosted = lambda: tw.AdaBoostClassifier(n_estimators=3)  # noqa: E731
    one, other = boosted().fit(sp.csr_matrix(CELLS), TWO), boosted().fit(CELLS, TWO)
    np.testing.assert_array_equal(one.predict(sp.csr_matrix(CELLS)), other.predict(CELLS))
    given = sp.csr_matrix(CELLS)
    forest = tw.RandomForestClassifier(30, random_state=2).fit(given, TWO)
    assert str(forest.oob_curve(given, TWO)) == str(
        tw.RandomForestClassifier(30, random_state=2).fit(CELLS, TWO).oob_curve()
    )


def in_pieces():
    """Each cell as the sum of two stored ones, and zeros that are stored."""
    rows, columns = np.nonzero(CELLS)
    at_zero = np.argwhere(CELLS == 0)[:50]
    row = np.concatenate([rows, rows, at_zero[:, 0]])
    column = np.concatenate([columns, columns, at_zero[:, 1]])
    half = CELLS[rows, columns] - 1
    return sp.coo_matrix((np.concatenate([half, np.ones(len(rows)), np.zeros(50)]), (row, column)), CELLS.shape)


def backwards():
    """CSR whose columns stand in descending order in each row, with 64-bit indices."""
    rows = sp.csr_matrix(CELLS)
    data, indices = rows.data.copy(), rows.indices.astype(np.int64)
    for begin, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        data[begin:end], indices[begin:end] = data[begin:end][::-1].copy(), indices[begin:end][::-1].copy()
    return sp.csr_array((data, indices, rows.indptr.astype(np.int64)), shape=rows.shape)


FORMS = {
    "pieces": in_pieces,
    "pieces by row": lambda: sp.csr_matrix((in_pieces().data, (in_pieces().row, in_pieces().col)), CELLS.shape),
    "backwards": backwards,
    "integers": lambda: sp.csc_array(CELLS.astype(np.int64)),
    "single": lambda: sp.csr_matrix(CELLS.astype(np.float32)),
    "lists": lambda: sp.lil_matrix(CELLS),
    "keys": lambda: sp.dok_array(CELLS),
}


@pytest.mark.parametrize("form", FORMS)
def test_any_form_of_the_table_gives_the_same_forest_and_stays_as_it_was(kept_sparse, form, tmp_path):
    given = FORMS[form]()
    before = given.copy()
    make, target = FITS["forest"]
    assert saved(make().fit(given, target), tmp_path / "it") == saved(make().fit(CELLS, target), tmp_path / "dense")
    if hasattr(before, "indices"):
        np.testing.assert_array_equal(given.indices, before.indices)
        np.testing.assert_array_equal(given.data, before.data)
    assert given.nnz == before.nnz


def test_a_missing_cell_is_refused_by_column_and_row_where_missing_cells_are_errors(kept_sparse):
    cells = CELLS.copy()
    cells[7, 3] = np.nan
    with pytest.raises(MissingValueError, match=r"column 'x3' has 1 missing value \(first row 7\)"):
        tw.RandomForestClassifier(2, missing="error").fit(sp.csr_matrix(cells), TWO)
    forest = tw.RandomForestClassifier(2, missing="error").fit(sp.csr_matrix(CELLS), TWO)
    with pytest.raises(MissingValueError, match="column 3: 1 missing value"):
        forest.predict(sp.csr_matrix(cells))


def test_another_number_of_columns_is_refused_at_predict(kept_sparse):
    forest = tw.RandomForestClassifier(2).fit(sp.csr_matrix(CELLS), TWO)
    with pytest.raises(tw.exceptions.ColumnError, match="23 features"):
        forest.predict(sp.csr_matrix(CELLS[:, 1:]))


def test_what_needs_every_cell_says_what_grows_on_the_stored_ones(monkeypatch):
    monkeypatch.setattr(encoder, "stays_sparse", is_sparse)
    monkeypatch.setattr(memory, "available_memory", lambda: 0)
    monkeypatch.setattr(memory, "ALWAYS_ALLOWED", 0)
    with pytest.raises(TooLargeError, match=r"stored densely.*set splitter='hist', which grows on the stored cells"):
        tw.DecisionTreeRegressor(criterion="poisson").fit(sp.csr_matrix(CELLS), THREE)


def test_a_table_stays_sparse_where_that_saves_much_memory():
    wide = sp.csr_matrix((np.ones(50_000), np.arange(50_000), np.arange(0, 50_001, 50)), (1000, 50_000))
    assert stays_sparse(wide)
    assert not stays_sparse(wide[:10])  # 4 MB as a dense table
    assert not stays_sparse(sp.csr_matrix(np.arange(5_000_000.0).reshape(1000, 5000)))  # hardly a zero
    assert not stays_sparse(np.zeros((10_000, 1000)))


@pytest.mark.slow
def test_documents_that_no_dense_table_holds_are_learned_from_in_memory_of_their_stored_cells():
    """18,000 x 100,000 would be 14 GB; a forest and boosting take less than one."""
    import subprocess
    import sys

    script = """
import resource, warnings
import numpy as np, scipy.sparse as sp
import treewright as tw
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
n, p = 18_000, 100_000
column = np.minimum((p ** rng.random(n * 100)).astype(int) - 1, p - 1)
X = sp.csr_matrix((np.ones(n * 100), (np.repeat(np.arange(n), 100), column)), shape=(n, p))
y = np.asarray(X[:, :9].sum(axis=1)).ravel() > 8
for est in (
    tw.RandomForestClassifier(3, max_depth=20), tw.GradientBoostingClassifier(n_estimators=2),
    tw.DecisionTreeClassifier(max_depth=8, splitter="hist"),
):
    assert est.fit(X, y).score(X, y) > 0.6
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=900)
    assert int(ran.stdout.split()[-1]) < 2**20  # kilobytes
