"""Metrics by name: they are SciPy's and scikit-learn's, what cannot be compared is refused by name, ends of float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighbors_twin import twin_rank
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import cosine_distances

from treewright.data.encoder import encode_fit
from treewright.data.schema import Column, Schema
from treewright.exceptions import DataError, MissingValueError, ParameterError
from treewright.neighbors.direct import Direct
from treewright.neighbors.metrics import METRICS, Metric, metric_of
from treewright.neighbors.nearest import CALLED, CHEBYSHEV, MANHATTAN, MIXED, POWERS, SQUARES

NUMERIC = ("euclidean", "manhattan", "chebyshev", "minkowski", "mahalanobis", "correlation", "cosine", "angle")
NUMERIC = (*NUMERIC, "hamming", "jaccard", "canberra")
NAN, INF = math.nan, math.inf


def schema_of(p, kind="numeric"):
    return Schema(tuple(Column(f"x{at}", kind, () if kind == "numeric" else ("u", "v", "w")) for at in range(p)))


def made(name, matrix, **options):
    matrix = np.asarray(matrix)
    return metric_of(name, matrix, schema_of(matrix.shape[1]), **options)


def pairs(metric, one, other):
    """The metric's distance of every pair, as the search by every pair finds it."""
    points = metric.points(np.asarray(other, float))
    rows, ranks = Direct(points, metric.kind, metric.p).nearest(metric.points(np.asarray(one, float)), len(points), 1)
    found = np.empty(rows.shape)
    np.put_along_axis(found, rows, metric.distances(ranks), axis=1)
    return found


def numbers(n=60, p=5, seed=0):
    random = np.random.default_rng(seed)
    cells = random.normal(size=(n, p)) * [1, 10, 0.1, 1e3, 1][:p] + [0, 5, 0, 1e3, -1][:p]
    return cells, random.normal(size=(20, p)) * 3


@pytest.mark.parametrize(
    ("name", "options", "theirs"),
    [
        ("euclidean", {}, {"metric": "euclidean"}),
        ("l2", {}, {"metric": "euclidean"}),
        ("euclidean", {"metric_params": {"w": [1, 2, 0, 4, 0.5]}}, {"metric": "euclidean", "w": [1, 2, 0, 4, 0.5]}),
        ("manhattan", {}, {"metric": "cityblock"}),
        ("cityblock", {"metric_params": {"w": [1, 2, 0, 4, 0.5]}}, {"metric": "cityblock", "w": [1, 2, 0, 4, 0.5]}),
        ("l1", {}, {"metric": "cityblock"}),
        ("chebyshev", {}, {"metric": "chebyshev"}),
        ("minkowski", {"p": 1}, {"metric": "cityblock"}),
        ("minkowski", {"p": 2}, {"metric": "euclidean"}),
        ("minkowski", {"p": 3.5}, {"metric": "minkowski", "p": 3.5}),
        ("minkowski", {"p": INF}, {"metric": "chebyshev"}),
        (
            "minkowski",
            {"p": 3, "metric_params": {"w": [1, 2, 0, 4, 0.5]}},
            {"metric": "minkowski", "p": 3, "w": [1, 2, 0, 4, 0.5]},
        ),
        ("correlation", {}, {"metric": "correlation"}),
        ("cosine", {}, {"metric": "cosine"}),
        ("canberra", {}, {"metric": "canberra"}),
    ],
)
def test_distances_are_those_of_scipy(name, options, theirs):
    matrix, queries = numbers()
    expected = cdist(queries, matrix, **theirs)
    np.testing.assert_allclose(pairs(made(name, matrix, **options), queries, matrix), expected, rtol=1e-11, atol=1e-15)


def test_hamming_and_jaccard_are_those_of_scipy():
    random = np.random.default_rng(0)
    matrix, queries = random.integers(0, 3, (2, 40, 6)).astype(float)
    np.testing.assert_array_equal(pairs(made("hamming", matrix), queries, matrix), cdist(queries, matrix, "hamming"))
    matrix[0] = queries[0] = 0
    expected = cdist(queries != 0, matrix != 0, "jaccard")
    np.testing.assert_array_equal(pairs(made("jaccard", matrix), queries, matrix), expected)


def test_angle_is_the_arc_of_the_cosine_also_where_that_loses_every_digit():
    matrix = np.array([[1.0, 0.0], [1.0, 1e-9], [0.0, 2.0], [-3.0, 0.0], [1.0, 1.0]])
    found = pairs(made("angle", matrix), matrix[:1], matrix)[0]
    expected = [0.0, 1e-9, math.pi / 2, math.pi, math.pi / 4]
    assert found == pytest.approx(expected, rel=1e-15)
    assert found[3] == math.pi
    cosines = pairs(made("cosine", matrix), matrix[:1], matrix)[0]
    assert cosines[1] == pytest.approx(0.5e-18, rel=1e-12)


@pytest.mark.parametrize(("name", "across"), [("cosine", 1.0), ("correlation", 1.0), ("angle", math.pi / 2)])
@pytest.mark.parametrize("p", [1, 2, 3, 7, 50, 400])
def test_a_row_without_direction_is_exactly_at_a_right_angle_to_every_other(name, across, p):
    random = np.random.default_rng(p)
    matrix = random.normal(size=(300, p)) * 10.0 ** random.integers(-300, 300, (300, 1))
    matrix[random.random((300, p)) < 0.3] = 0
    matrix[::50] = 0.1 if name == "correlation" else 0.0
    # Centring leaves one column nothing, and rows that are equal throughout.
    has_none = np.ptp(matrix, axis=1) == 0 if name == "correlation" else ~matrix.any(axis=1)
    metric = made(name, matrix)
    found = pairs(metric, matrix[:1], matrix)[0]
    assert (found[~has_none] == across).all()
    assert (found[has_none] == 0).all()
    rows, _ = Direct(metric.points(matrix), SQUARES).nearest(metric.points(matrix[:1]), 300, 1)
    assert rows[0].tolist() == [*np.flatnonzero(has_none), *np.flatnonzero(~has_none)]


def test_cosine_of_a_row_of_zeros_is_that_of_scikit_learn():
    matrix, queries = numbers()
    queries[3] = 0
    np.testing.assert_allclose(
        pairs(made("cosine", matrix), queries, matrix), cosine_distances(queries, matrix), atol=1e-14
    )
    assert (pairs(made("cosine", matrix), queries[3:4], matrix) == 1).all()


@given(row=st.lists(st.floats(-1e308, 1e308), min_size=1, max_size=12))
def test_the_last_coordinate_makes_up_for_the_rounding_of_squares(row):
    matrix = np.array([row])
    point = made("cosine", matrix).points(matrix)
    zeros = made("cosine", matrix).points(np.zeros(matrix.shape))
    assert twin_rank(point[0], zeros[0], SQUARES) == (2.0 if any(row) else 0.0)
    assert abs(point[0, -1]) < 1e-14 or not any(row)


def test_auto_is_euclidean_for_whole_numbers_and_heom_else():
    numeric = encode_fit({"a": [1, 2], "b": [3, 4]})
    ordinal = encode_fit({"a": [1, 2], "b": ["S", "L"]}, ordinal={"b": ["S", "L"]})
    nominal = encode_fit({"a": [1, 2], "b": ["u", "v"]})
    missing = encode_fit({"a": [1, None], "b": [3, 4]})
    assert [metric_of("auto", matrix, schema).name for schema, matrix in (numeric, ordinal, nominal, missing)] == [
        "euclidean",
        "heom",
        "heom",
        "heom",
    ]


def test_kinds_are_those_that_indexes_have_a_formula_for():
    matrix, _ = numbers()
    kinds = [made("minkowski", matrix, p=p).kind for p in (1, 2, 3, INF)]
    assert kinds == [MANHATTAN, SQUARES, POWERS, CHEBYSHEV]
    assert made(lambda a, b: abs(a - b).sum(), matrix).kind == CALLED
    assert made("gower", matrix).kind == MIXED


def test_a_callable_gets_its_parameters_and_scaled_rows():
    def mine(a, b, power):
        return float((abs(a - b) ** power).sum())

    matrix = np.array([[0.0, 0.0], [2.0, 8.0]])
    metric = made(mine, matrix, scale="range", metric_params={"power": 3})
    one, other = metric.points(matrix)
    assert (metric.name, metric.function(one, other)) == ("mine", 2.0)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("euclidian", {}, "did you mean 'euclidean'"),
        ("seuclidean", {}, "scale='standard'"),
        (7, {}, "or a callable"),
        (dict, {}, "is a class"),
        ("minkowski", {"p": 0.5}, "p=0.5: minkowski takes a number >= 1"),
        ("minkowski", {"p": NAN}, "p=nan"),
        ("minkowski", {"p": "2"}, "p='2'"),
        ("minkowski", {"p": True}, "p=True"),
        ("cosine", {"p": 1}, "p=1: metric='cosine' does not use p, the power of metric='minkowski'"),
        ("euclidean", {"p": 1}, "p=1: metric='euclidean' does not use p"),
        ("manhattan", {"p": 3}, "p=3: metric='manhattan' does not use p"),
        ("gower", {"p": 1}, "p=1: metric='gower' does not use p"),
        (math.dist, {"p": 1}, "p=1: a function as metric does not use p"),
        ("euclidean", {"scale": "standart"}, "did you mean 'standard'"),
        ("euclidean", {"scale": [1, 2]}, "one number for each of the 5 columns"),
        ("euclidean", {"scale": 3}, "one number for each of the 5 columns"),
        ("euclidean", {"scale": [1, 2, -1, 1, 1]}, r"scale\[2\]=-1.0"),
        ("euclidean", {"scale": [1, 2, NAN, 1, 1]}, r"scale\[2\]=nan"),
        ("euclidean", {"scale": [0] * 5}, "scale is 0 for every column"),
        ("euclidean", {"scale": "abcde"}, "None, one of"),
        ("euclidean", {"metric_params": {"w": [0] * 5}}, "w is 0 for every column"),
        ("euclidean", {"metric_params": {"w": [1, 1]}}, "w=.*one number for each of the 5"),
        ("euclidean", {"metric_params": {"V": np.eye(5)}}, "has no 'V': it takes 'w'"),
        ("euclidean", {"metric_params": [1]}, "give a dict"),
        ("minkowski", {"metric_params": {"p": 3}}, "p is a parameter of its own"),
        ("minkowski", {"p": INF, "metric_params": {"w": [1] * 5}}, "no weights"),
        ("cosine", {"metric_params": {"w": [1] * 5}}, "it takes none; weights of columns are given as scale"),
        ("mahalanobis", {"scale": "standard"}, "has the scales of its covariance"),
        ("hamming", {"scale": "range"}, "whether cells are equal"),
        ("jaccard", {"scale": "range"}, "which cells are 0"),
        ("gower", {"scale": "range"}, "by its own range"),
        ("mahalanobis", {"metric_params": {"V": np.eye(5), "VI": np.eye(5)}}, "not both"),
        ("mahalanobis", {"metric_params": {"V": np.eye(4)}}, "5 rows and 5 columns"),
        ("mahalanobis", {"metric_params": {"V": np.triu(np.ones((5, 5)))}}, "not symmetric"),
        ("mahalanobis", {"metric_params": {"V": np.ones((5, 5))}}, "singular"),
        ("mahalanobis", {"metric_params": {"V": np.zeros((5, 5))}}, "singular"),
        ("mahalanobis", {"metric_params": {"V": -np.eye(5)}}, "variances, >= 0"),
        ("mahalanobis", {"metric_params": {"V": np.full((5, 5), NAN)}}, "nan or infinity"),
        ("mahalanobis", {"metric_params": {"V": "x"}}, "5 columns of numbers"),
        ("mahalanobis", {"metric_params": {"VI": np.ones((5, 5)) - np.eye(5) * 0.5}}, "negative eigenvalue"),
        ("mahalanobis", {"metric_params": {"VI": np.zeros((5, 5))}}, "VI is 0 everywhere"),
    ],
)
def test_every_mistake_is_refused_by_name(name, options, message):
    with pytest.raises(ParameterError, match=message):
        made(name, numbers()[0], **options)


@pytest.mark.parametrize("name", sorted({*METRICS} - {"precomputed"}))
def test_infinite_cells_are_refused_with_column_count_and_row(name):
    matrix = numbers()[0]
    schema, metric = schema_of(5), made(name, matrix, target=np.arange(60))
    wrong = matrix.copy()
    wrong[[7, 9], 2] = [INF, -INF]
    for act in (
        lambda: metric_of(name, wrong, schema, target=np.arange(60)),
        lambda: metric.points(wrong),
        lambda: metric.check(wrong, schema),
    ):
        with pytest.raises(DataError, match=r"column 'x2' has 2 infinite value\(s\) \(first row 7\)"):
            act()


@pytest.mark.parametrize("name", [*NUMERIC, "auto"])
def test_missing_cells_and_nominal_columns_are_refused_with_a_remedy(name):
    matrix = numbers()[0]
    metric = made(name, matrix)
    wrong = matrix.copy()
    wrong[3, 4] = NAN
    for act in (lambda: made(name, wrong), lambda: metric.points(wrong))[name == "auto" :]:
        with pytest.raises(MissingValueError, match=r"'x4' has 1 missing value\(s\) \(first row 3\).*metric='heom'"):
            act()
    if name != "auto":
        with pytest.raises(DataError, match=r"'x0' \(and 1 more column\(s\)\) is nominal.*metric='heom'"):
            metric_of(name, np.zeros((2, 2)), schema_of(2, "nominal"))


@pytest.mark.parametrize("name", NUMERIC)
def test_numbers_at_the_ends_of_float64_make_no_nan(name):
    ends = np.array([0.0, -0.0, 5e-324, 1e-200, 1.0, 1e40, 1e200, 1.7e308, -1.7e308])
    random = np.random.default_rng(0)
    matrix = random.choice(ends, (40, 3))
    scales = [None] if name in {"mahalanobis", "hamming", "jaccard"} else [None, "standard", "range", "robust"]
    for scale in scales:
        metric = made(name, matrix, scale=scale)
        points = metric.points(random.choice(ends, (20, 3)))
        assert np.isfinite(points).all()
        _, ranks = Direct(metric.points(matrix), metric.kind, metric.p).nearest(points, 40, 1)
        assert not np.isnan(metric.distances(ranks)).any()
        assert (ranks >= 0).all()


def test_an_exponent_that_leaves_float64_is_refused():
    with pytest.raises(DataError, match=r"p=400\.0: differences of up to 1e"):
        made("minkowski", [[0.0], [1e3]], p=400)
    with pytest.raises(DataError, match=r"p=400\.0: differences of up to"):
        made("minkowski", [[0.0], [1e-3]], p=400)
    assert made("minkowski", [[5.0], [5.0]], p=400).kind == POWERS


@pytest.mark.parametrize("name", ["euclidean", "minkowski"])
def test_differences_whose_squares_would_vanish_are_refused(name):
    matrix = np.random.default_rng(0).normal(size=(50, 3)) * 1e-170
    with pytest.raises(DataError, match=r"differences of up to .*e-170 have squares.*scale='standard'"):
        made(name, matrix)
    assert (pairs(made(name, matrix, scale="standard"), matrix, matrix).argmin(axis=1) == np.arange(50)).all()
    assert made(name, matrix * [0, 0, 1e170]).kind == SQUARES  # one column is enough
    assert made(name, matrix[:1]).kind == SQUARES


@pytest.mark.parametrize(("p", "name"), [(1, "manhattan"), (2, "euclidean"), (3.5, "minkowski"), (INF, "chebyshev")])
def test_auto_uses_the_power_for_numbers_and_a_metric_may_repeat_its_own(p, name):
    matrix = numbers()[0]

    found = made("auto", matrix, p=p)

    same = made(name, matrix, p=p)
    np.testing.assert_array_equal(pairs(found, matrix, matrix), pairs(same, matrix, matrix))


def test_auto_refuses_a_power_for_columns_that_it_compares_otherwise():
    schema, matrix = encode_fit({"sky": ["sun", "rain"], "wind": [1.0, 2.0]})

    with pytest.raises(ParameterError, match=r"p=1: metric='auto' is heom for nominal columns and missing cells"):
        metric_of("auto", matrix, schema, p=1)


@pytest.mark.parametrize("name", [*NUMERIC, "gower", "heom", "hvdm"])
@given(distance=st.one_of(st.floats(0, 4), st.floats(min_value=0), st.sampled_from([0.0, 5e-324, 1.0, math.pi, INF])))
def test_the_rank_of_a_radius_is_the_largest_that_is_inside(name, distance):
    matrix = numbers()[0]
    metric = made(name, matrix, target=np.arange(60), p=3 if name == "minkowski" else 2)
    rank = metric.ranks(distance)
    assert metric.distances(np.array([rank]))[0] <= distance
    if rank < INF:
        assert metric.distances(np.array([math.nextafter(rank, INF)]))[0] > distance


def test_a_radius_below_zero_or_nan_is_refused():
    for distance in (-1.0, NAN):
        with pytest.raises(ParameterError, match="give a number >= 0"):
            Metric("euclidean", SQUARES).ranks(distance)


@pytest.mark.parametrize("name", NUMERIC)
def test_a_row_has_the_same_point_alone_and_among_others(name):
    matrix, queries = numbers(n=300)
    metric = made(name, matrix, scale=None if name in {"mahalanobis", "hamming", "jaccard"} else "standard")
    together = metric.points(queries)
    for at in range(len(queries)):
        assert metric.points(queries[at : at + 1]).tobytes() == together[at : at + 1].tobytes()
    assert metric.points(np.asfortranarray(queries)).tobytes() == together.tobytes()
    assert together.flags.c_contiguous


def test_points_of_single_precision_are_those_of_the_same_numbers():
    matrix = numbers()[0].astype(np.float32)
    for name in NUMERIC:
        metric = made(name, matrix)
        assert metric.points(matrix).tobytes() == metric.points(matrix.astype(float)).tobytes()


@pytest.mark.parametrize("name", ["cosine", "correlation"])
def test_a_radius_of_two_holds_the_opposite_of_every_row(name):
    rows = np.random.default_rng(0).normal(size=(200, 5))
    metric = made(name, rows)
    points, opposite = metric.points(rows), metric.points(-rows)
    squares = ((points - opposite) ** 2).sum(axis=1)
    assert (squares > 4.0).any()  # which rounding does to some
    assert (metric.distances(squares) <= 2.0).all()
    assert metric.ranks(2.0) >= squares.max()


@pytest.mark.parametrize("name", NUMERIC)
def test_arrays_that_cannot_be_written_to_have_points_of_the_usual_type(name):
    matrix = numbers()[0]
    metric = made(name, matrix)
    expected = metric.points(matrix).tobytes()
    matrix.setflags(write=False)
    points = metric.points(matrix)
    assert points.flags.writeable
    assert points.tobytes() == expected


def test_an_exponent_under_which_near_rows_are_at_distance_0_is_refused():
    matrix, schema = np.linspace(0, 1, 100)[:, None], schema_of(1, "numeric")
    with pytest.raises(DataError, match=r"p=100\.0.*chebyshev"):
        metric_of("minkowski", matrix, schema, p=100)
    assert metric_of("minkowski", matrix, schema, p=30).p == 30
