"""Mixed columns: what the fit says of them, blocks and tiles, missing cells, levels that the fit never saw."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from mixed_twin import twin_columns, twin_rank

from treewright.data.encoder import encode, encode_fit
from treewright.exceptions import DataError, ParameterError
from treewright.neighbors.metrics import DIFFERENCE, EQUALITY, NO_ROWS, SHARES, metric_of
from treewright.neighbors.mixed import Mixed

RULES = ("gower", "heom", "hvdm")
NAN = math.nan


def searched(rule, table, queries, k, target=None, n_threads=1, **declared):
    schema, matrix = encode_fit(table, **declared)
    metric = metric_of(rule, matrix, schema, target=target)
    points = metric.points(encode(schema, queries, unseen="majority"))
    rows, ranks = Mixed(metric.points(matrix), metric.mixed).nearest(points, k, n_threads)
    return rows, metric.distances(ranks)


def wide_table(n, p, seed=0):
    """Numbers and levels in turn, some cells missing, two classes."""
    random = np.random.default_rng(seed)
    cells = random.integers(0, 7, (n, p)) / 3.0
    levels = np.array([at % 3 == 0 for at in range(p)])
    cells[:, levels] = random.integers(0, 5, (n, levels.sum()))
    cells[random.random((n, p)) < 0.1] = NAN
    schema, matrix = encode_fit(
        {f"x{at}": [None if math.isnan(cell) else cell for cell in cells[:, at]] for at in range(p)},
        nominal=[f"x{at}" for at in range(0, p, 3)],
    )
    return schema, matrix, random.integers(0, 2, n).astype(np.int32)


def test_gower_divides_by_the_range_and_counts_levels_and_leaves_missing_columns_out():
    table = {"age": [20.0, 30.0, 40.0, None], "size": ["S", "L", "M", "S"], "sky": ["sun", "rain", None, "sun"]}
    _, distances = searched("gower", table, table, 4, ordinal={"size": ["S", "M", "L"]})
    rows, _ = searched("gower", table, table, 4, ordinal={"size": ["S", "M", "L"]})
    assert rows[0].tolist() == [0, 3, 2, 1]
    assert distances[0].tolist() == [0.0, 0.0, (1.0 + 0.5) / 2, (0.5 + 1.0 + 1.0) / 3]


def test_rows_without_a_common_known_column_are_one_apart_under_gower():
    table = {"a": [1.0, None, 2.0], "b": [None, 1.0, 4.0]}
    rows, distances = searched("gower", table, table, 3)
    assert rows[0].tolist() == [0, 1, 2]
    assert distances[0].tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize("rule", ["heom", "hvdm"])
def test_a_missing_cell_is_one_apart_from_everything_also_from_another_missing_one(rule):
    table = {"a": [None, None, 1.0, 2.0], "b": ["u", None, "u", "u"]}
    rows, distances = searched(rule, table, {"a": [None], "b": [None]}, 4, target=np.array([0, 0, 1, 1]))
    assert rows[0].tolist() == [0, 1, 2, 3]
    assert distances[0].tolist() == [math.sqrt(2.0)] * 4


@pytest.mark.parametrize("rule", RULES)
def test_a_level_that_the_fit_never_saw_is_one_apart_from_every_level(rule):
    table = {"b": ["u", "v", "u", "v"]}
    _, distances = searched(rule, table, {"b": ["w"]}, 4, target=np.array([0, 0, 0, 1]))
    assert distances[0].tolist() == [1.0] * 4


def test_two_cells_whose_levels_the_fit_never_saw_may_be_two_levels():
    schema, matrix = encode_fit({"b": ["u", "v"]})
    unseen = encode(schema, {"b": ["w", "z"]}, unseen="majority")
    for rule in RULES:
        metric = metric_of(rule, matrix, schema, target=np.array([0, 1]))
        assert Mixed(unseen, metric.mixed).nearest(unseen, 2, 1)[1].tolist() == [[1.0, 1.0]] * 2


@pytest.mark.parametrize("rule", RULES)
def test_a_constant_column_of_numbers_counts_as_a_level(rule):
    table = {"a": [5.0, 5.0], "b": [1.0, 2.0]}
    _, same = searched(rule, table, {"a": [5.0], "b": [1.0]}, 1, target=np.array([0, 1]))
    _, other = searched(rule, table, {"a": [6.0], "b": [1.0]}, 1, target=np.array([0, 1]))
    assert same.tolist() == [[0.0]]
    assert other.tolist() == [[0.5 if rule == "gower" else 1.0]]


def test_outside_the_range_of_the_fit_gower_stays_at_one_and_heom_goes_on():
    table = {"a": [0.0, 10.0]}
    _, gower = searched("gower", table, {"a": [40.0]}, 2)
    _, heom = searched("heom", table, {"a": [40.0]}, 2)
    assert gower.tolist() == [[1.0, 1.0]]
    assert heom.tolist() == [[3.0, 4.0]]


def test_hvdm_divides_by_four_deviations_and_compares_the_shares_of_classes():
    numbers = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    levels = ["u", "u", "u", "v", "v", "w"]
    schema, matrix = encode_fit({"a": numbers, "b": levels})
    mixed = metric_of("hvdm", matrix, schema, target=np.array([0, 0, 1, 1, 1, 0], np.int32)).mixed
    assert mixed.kinds.tolist() == [DIFFERENCE, SHARES]
    assert mixed.scales[0] == pytest.approx(4 * statistics.pstdev(numbers), rel=1e-14)
    assert mixed.tables.reshape(3, 2).tolist() == [[2 / 3, 1 / 3], [0.0, 1.0], [1.0, 0.0]]
    _, distances = searched("hvdm", {"b": levels}, {"b": ["u"]}, 6, target=np.array([0, 0, 1, 1, 1, 0], np.int32))
    u_to_w, u_to_v = math.hypot(1 / 3, 1 / 3), math.hypot(2 / 3, 2 / 3)
    assert distances[0] == pytest.approx([0, 0, 0, u_to_w, u_to_v, u_to_v], rel=1e-15)


def test_a_declared_level_that_no_row_has_is_one_apart_from_the_others_under_hvdm():
    table, nominal = {"b": ["u", "v", "u"]}, {"b": ["u", "v", "w"]}
    schema, matrix = encode_fit(table, nominal=nominal)
    metric = metric_of("hvdm", matrix, schema, target=np.array([0, 1, 1], np.int32))
    assert metric.mixed.tables.reshape(3, 2)[2].tolist() == [NO_ROWS] * 2
    _, distances = searched("hvdm", table, {"b": ["w"]}, 3, target=np.array([0, 1, 1], np.int32), nominal=nominal)
    assert distances.tolist() == [[1.0] * 3]
    # The other way round: rows that are none of the fit are stored, and u, v, w ask.
    ranks = Mixed(np.array([[2.0]]), metric.mixed).nearest(np.array([[0.0], [1.0], [2.0]]), 1, 1)[1]
    assert ranks.ravel().tolist() == [1.0, 1.0, 0.0]


def test_targets_of_numbers_are_ten_groups_and_equal_numbers_share_one():
    schema, matrix = encode_fit({"b": [f"level {at:02}" for at in range(20)]})
    target = np.arange(20.0)
    target[5] = target[4]
    mixed = metric_of("hvdm", matrix, schema, target=target).mixed
    groups = mixed.tables.reshape(20, 10).argmax(axis=1)
    assert groups.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9]
    target[19] = target[0]
    assert metric_of("hvdm", matrix, schema, target=target).mixed.tables.reshape(20, 10).argmax(axis=1)[19] == 0


def test_hvdm_without_a_target_or_with_two_is_refused():
    schema, matrix = encode_fit({"b": ["u", "v"]})
    with pytest.raises(ParameterError, match="there is no target"):
        metric_of("hvdm", matrix, schema)
    with pytest.raises(ParameterError, match="one target, not of 2"):
        metric_of("hvdm", matrix, schema, target=np.zeros((2, 2), np.int32))


def test_a_range_beyond_float64_is_refused_by_name():
    schema, matrix = encode_fit({"price": [1.7e308, -1.7e308]})
    with pytest.raises(DataError, match=r"'price' reaches from -1\.7e\+308 to 1\.7e\+308"):
        metric_of("gower", matrix, schema)


@pytest.mark.parametrize("rule", RULES)
def test_numbers_at_the_ends_of_float64_make_no_nan(rule):
    table = {"a": [1.7e308, 5e-324, 1e308], "b": [0.0, 5e-324, 1e-323]}
    queries = {"a": [-1.7e308, 1.7e308, 0.0], "b": [1.7e308, 0.0, -0.0]}
    _, distances = searched(rule, table, queries, 3, target=np.array([0, 1, 1]))
    assert not np.isnan(distances).any()
    assert (distances >= 0).all()


def test_hvdm_tells_numbers_apart_whose_range_is_nearly_that_of_float64():
    table = {"price": [0.0, 1e308, 0.2e308, 0.9e308]}
    rows, distances = searched("hvdm", table, {"price": [0.9e308]}, 4, target=np.array([0, 1, 0, 1]))
    assert rows.tolist() == [[3, 1, 2, 0]]
    assert (np.diff(distances[0]) > 0).all()


def test_a_column_without_any_value_is_1_apart_or_left_out():
    table = {"a": [1.0, 2.0], "b": [None, None]}
    assert searched("gower", table, table, 2)[1].tolist() == [[0.0, 1.0]] * 2
    assert searched("heom", table, table, 2)[1].tolist() == [[1.0, math.sqrt(2)]] * 2


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("n", "p", "k"), [(700, 3, 5), (40, 150, 40), (300, 4, 300), (1, 2, 1)])
def test_tiles_of_rows_and_columns_and_many_neighbours_are_the_double_loop(rule, n, p, k):
    schema, matrix, target = wide_table(n, p)
    metric = metric_of(rule, matrix, schema, target=target)
    columns = twin_columns(rule, schema, matrix, target if rule == "hvdm" else None)
    for at, column in enumerate(columns):
        column.spread = float(metric.mixed.scales[at]) if column.spread else 0.0
    queries = matrix[:: max(1, n // 7)]
    index = Mixed(metric.points(matrix), metric.mixed)
    for n_threads in (1, 4):
        rows, ranks = index.nearest(queries, k, n_threads)
        for at, query in enumerate(queries.tolist()):
            found = sorted((twin_rank(rule, query, row, columns), number) for number, row in enumerate(matrix.tolist()))
            assert list(zip(ranks[at].tolist(), rows[at].tolist(), strict=True)) == found[:k]


@pytest.mark.parametrize("rule", RULES)
def test_blocks_and_threads_change_no_byte(rule, monkeypatch):
    schema, matrix, target = wide_table(500, 9)
    metric = metric_of(rule, matrix, schema, target=target)
    index = Mixed(matrix, metric.mixed)
    whole = (*index.nearest(matrix, 7, 1), *index.nearest(matrix, 70, 1), *index.within(matrix, 0.5, 1))
    monkeypatch.setattr("treewright.neighbors.direct.BLOCK_BYTES", 10_000)
    monkeypatch.setattr("treewright.neighbors.mixed.QUERIES", 3)
    parts = (*index.nearest(matrix, 7, 3), *index.nearest(matrix, 70, 3), *index.within(matrix, 0.5, 3))
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("rule", RULES)
def test_no_queries_give_no_rows(rule):
    schema, matrix, target = wide_table(20, 3)
    index = Mixed(matrix, metric_of(rule, matrix, schema, target=target).mixed)
    rows, ranks = index.nearest(matrix[:0], 2, 2)
    assert rows.shape == ranks.shape == (0, 2)
    offsets, rows, ranks = index.within(matrix[:0], 1.0, 2)
    assert (offsets.tolist(), len(rows), len(ranks)) == ([0], 0, 0)


def test_mixed_metrics_compare_nominal_columns_by_equality_but_hvdm_by_shares():
    schema, matrix = encode_fit({"b": ["u", "v"], "n": [1, 2]})
    target = np.array([0, 1])
    kinds = [metric_of(rule, matrix, schema, target=target).mixed.kinds.tolist() for rule in RULES]
    assert kinds == [[EQUALITY, DIFFERENCE], [EQUALITY, DIFFERENCE], [SHARES, DIFFERENCE]]
