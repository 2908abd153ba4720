"""The columns of a report: numbers equal to those of the table and of the verbs, and no more than a page holds."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris

import treewright as tw
from treewright.exceptions import DataWarning
from treewright.reporting.columns import _mean_in, columns_part, mean_and_sd
from treewright.reporting.data import Options, report_data
from treewright.show.page.render import json_for_script

X, Y = load_iris(return_X_y=True)
TREE = tw.DecisionTreeClassifier(max_depth=3).fit(X[::2], Y[::2])
OTHERS = X[1::2], Y[1::2]


def parts_of(est, table, target, weights=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        judged = report_data(est.model_, est, table, target, weights)
        return columns_part(judged, Options(**options))


def by_name(parts):
    return {part.name: part for part in parts}


@pytest.mark.parametrize(
    "kind", [tw.DecisionTreeClassifier(max_depth=3), tw.GradientBoostingClassifier(n_estimators=5, random_state=0)]
)
def test_importances_are_those_of_the_estimator(kind):
    est = clone(kind).fit(X[::2], Y[::2])
    parts = parts_of(est, *OTHERS)
    told = est.importances("permutation", *OTHERS)

    for part in parts:
        assert part.permutation == told.values[part.position]
        assert part.error == told.standard_errors[part.position]
        assert part.impurity == est.feature_importances_[part.position]
        boosted = told.meaning.replace("the loss", "the loss (log loss)")
        is_tree = isinstance(est, tw.DecisionTreeClassifier)
        assert part.measure == ("drop of the accuracy when the column is shuffled" if is_tree else boosted)
    assert [part.permutation for part in parts] == sorted((part.permutation for part in parts), reverse=True)


@pytest.mark.parametrize(
    "est",
    [
        tw.DecisionTreeRegressor(max_depth=3), tw.GradientBoostingRegressor(n_estimators=40),
        tw.KNeighborsRegressor(n_neighbors=3),
    ],
)  # fmt: skip
def test_what_squared_errors_rise_by_is_told_as_the_drop_of_r2(est):
    """126,502 says nothing to a reader; scikit-learn's permutation importance by R2 is of the same size."""
    from sklearn.inspection import permutation_importance

    table, target = load_diabetes(return_X_y=True)
    est.fit(table[::2], target[::2])
    parts = by_name(parts_of(est, table[1::2], target[1::2]))
    theirs = permutation_importance(est, table[1::2], target[1::2], n_repeats=20, random_state=0)

    assert {part.measure for part in parts.values()} == {"drop of R2 when the column is shuffled"}
    ours = [parts[f"x{at}"].permutation for at in range(10)]
    np.testing.assert_allclose(ours, theirs.importances_mean, atol=0.06)
    assert max(theirs.importances_mean) > 0.15


def test_dependence_is_that_of_the_estimator():
    for part in parts_of(TREE, *OTHERS):
        if not part.asked:
            assert part.dependence is None
            continue
        told = TREE.partial_dependence(OTHERS[0], part.position)
        assert part.dependence.values == told.axes[0].values
        assert [line.means for line in part.dependence.lines] == [tuple(row) for row in told.values.tolist()]
        assert part.dependence.n_rows == len(OTHERS[0])


def test_single_rows_are_the_models_answers_to_four_digits():
    part = next(part for part in parts_of(TREE, *OTHERS) if part.asked)
    told = TREE.partial_dependence(OTHERS[0], part.position, individual=16)

    for at, line in enumerate(part.dependence.lines):
        np.testing.assert_allclose(line.rows, told.individual[at], rtol=5e-4)


def test_a_numeric_column_is_told_by_its_numbers():
    part = by_name(parts_of(TREE, *OTHERS))["x2"]
    cells = OTHERS[0][:, 2]

    assert (part.kind, part.missing, part.n_distinct) == ("numeric", 0.0, len(np.unique(cells)))
    assert (part.low, part.high) == (cells.min(), cells.max())
    assert part.mean == pytest.approx(cells.mean())
    assert part.sd == pytest.approx(cells.std(ddof=1))
    assert part.quartiles == tuple(np.quantile(cells, [0.25, 0.5, 0.75], method="inverted_cdf"))
    counted = [np.histogram(cells[OTHERS[1] == code], part.spread.edges)[0].tolist() for code in range(3)]
    assert [list(values) for values in part.spread.parts] == counted


def test_levels_gaps_and_strangers_have_bars_of_their_own():
    sky = ["sun"] * 6 + ["rain"] * 4 + [None] * 2
    other = ["rain"] * 5 + ["sun"] * 3 + [None, None, "hail", "fog"]
    label = ["go"] * 6 + ["stay"] * 6
    est = tw.DecisionTreeClassifier(max_depth=1).fit({"sky": sky}, label)
    part = parts_of(est, {"sky": other}, label)[0]

    assert part.spread.labels == ("rain", "sun", "not in the training rows", "missing")
    assert part.spread.names == ("go", "stay")
    assert part.spread.parts == ((5.0, 1.0, 0.0, 0.0), (0.0, 2.0, 2.0, 2.0))
    assert part.missing == 2 / 12
    assert part.told == "2 levels"
    assert part.dependence.labels == ("rain", "sun")


def test_of_many_levels_twenty_have_a_bar_and_ordinal_ones_keep_their_order():
    town = [f"t{at % 30:02d}" for at in range(300)] + ["t29"] * 9
    size = ["s", "m", "l"] * 103
    label = ["a" if name > "t14" else "b" for name in town]
    est = tw.DecisionTreeClassifier(max_depth=3, ordinal={"size": ["s", "m", "l"]}).fit(
        {"town": town, "size": size}, label
    )
    parts = by_name(parts_of(est, {"town": town, "size": size}, label))

    assert len(parts["town"].spread.labels) == 21
    assert parts["town"].spread.labels[0] == "t29"
    assert parts["town"].spread.labels[-1] == "other levels (10)"
    assert sum(map(sum, parts["town"].spread.parts)) == len(town)
    assert parts["size"].spread.labels == ("s", "m", "l")


def test_a_target_of_numbers_has_its_mean_in_each_cell():
    table, target = load_diabetes(return_X_y=True)
    est = tw.DecisionTreeRegressor(max_depth=3).fit(table, target)
    parts = by_name(parts_of(est, table, target))
    sex, bmi = parts["x1"].spread, parts["x2"].spread

    for at, value in enumerate(np.unique(table[:, 1])):
        held = target[table[:, 1] == value]
        assert sex.parts[0][at] == len(held)
        assert sex.means[at] == pytest.approx(held.mean())
        assert sex.errors[at] == pytest.approx(held.std(ddof=1) / math.sqrt(len(held)))
    assert sum(bmi.parts[0]) == len(target)
    assert len(bmi.means) == len(bmi.edges) - 1


def test_weights_count():
    weights = np.where(OTHERS[1] == 2, 3.0, 1.0)
    part = by_name(parts_of(TREE, *OTHERS, weights))["x2"]
    repeated = np.repeat(np.arange(len(OTHERS[1])), weights.astype(int))
    same = by_name(parts_of(TREE, OTHERS[0][repeated], OTHERS[1][repeated]))["x2"]

    assert part.mean == pytest.approx(same.mean)
    assert part.quartiles == same.quartiles
    assert part.spread.parts == same.spread.parts
    for one, other in zip(part.dependence.lines, same.dependence.lines, strict=True):
        np.testing.assert_allclose(one.means, other.means, atol=1e-12)


def test_a_few_numbers_far_off_do_not_squeeze_the_rest():
    cells = np.append(np.linspace(0.0, 1.0, 999), 1e6)
    label = np.where(cells > 0.5, "yes", "no")
    part = parts_of(tw.DecisionTreeClassifier().fit({"x": cells}, label), {"x": cells}, label)[0]

    assert part.high == 1e6
    assert part.spread.edges[-1] < 2.0
    assert sum(map(sum, part.spread.parts)) == 1000
    assert part.spread.n_beyond == int(((cells < part.spread.edges[0]) | (cells > part.spread.edges[-1])).sum()) > 0
    assert part.dependence.values[-1] < 2.0


def test_each_cell_of_whole_numbers_holds_as_many_of_them():
    year = np.arange(300) % 30 + 1970
    label = np.where(year > 1980, "new", "old")
    part = parts_of(tw.DecisionTreeClassifier().fit({"year": year}, label), {"year": year}, label)[0]

    assert part.spread.edges == tuple(1969.5 + 2 * at for at in range(16))
    assert [sum(cell) for cell in zip(*part.spread.parts, strict=True)] == [20.0] * 15


def test_numbers_at_the_ends_of_float64_give_finite_numbers_or_none():
    cells = np.concatenate([1.7e308 * np.linspace(-1.0, 1.0, 60), [math.inf, -math.inf, math.nan]])
    est = tw.DecisionTreeRegressor(max_depth=2).fit({"x": cells}, np.linspace(-1e300, 1e300, 63))
    (part,) = parts_of(est, {"x": cells}, np.linspace(-1e300, 1e300, 63))

    assert part.permutation is None  # squares of such numbers are beyond float64
    assert part.missing == pytest.approx(1 / 63)
    assert math.isfinite(part.mean)
    assert all(map(math.isfinite, part.spread.edges))
    json.loads(json_for_script(part))


def test_of_two_hundred_columns_only_the_first_have_charts():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 200))
    label = np.where(table[:, :3].sum(axis=1) > 0, "yes", "no")
    forest = tw.RandomForestClassifier(10, max_features=None, random_state=0).fit(table, label)
    parts = parts_of(forest, table, label, columns=5)

    assert len(parts) == 200
    assert sum(part.dependence is not None for part in parts) == 5
    assert sum(part.spread is not None for part in parts) == 40
    assert {part.name for part in parts[:3]} == {"x0", "x1", "x2"}
    assert len(json_for_script(parts)) < 200_000


def test_many_classes_are_told_as_the_commonest_and_the_others():
    label = np.repeat(np.arange(30), np.arange(30, 0, -1))
    table = {"x": label + 0.5}
    part = parts_of(tw.DecisionTreeClassifier().fit(table, label), table, label)[0]

    assert part.spread.names == (*map(str, range(10)), "other classes (20)")
    assert part.spread.codes == (*range(10), None)
    assert sum(map(sum, part.spread.parts)) == len(label)
    assert [line.code for line in part.dependence.lines] == list(range(6))


def test_neighbours_have_importances_and_dependence_too():
    est = tw.KNeighborsClassifier(5).fit(X[::2], Y[::2])
    parts = parts_of(est, *OTHERS)
    first = parts[0]
    changed = OTHERS[0].copy()
    changed[:, first.position] = first.dependence.values[3]

    assert all(part.impurity is None and part.asked for part in parts)
    np.testing.assert_allclose(
        [line.means[3] for line in first.dependence.lines], est.predict_proba(changed).mean(axis=0), atol=1e-12
    )
    assert first.permutation > 0.1


def test_the_same_rows_and_seed_give_the_same_bytes_and_other_seeds_others():
    forest = tw.RandomForestClassifier(5, random_state=0).fit(X, Y)
    one, again, other = (json_for_script(parts_of(forest, X, Y, random_state=seed, rows=90)) for seed in (0, 0, 1))

    assert one == again != other


def test_a_tree_that_asks_nothing_has_columns_without_curves():
    parts = parts_of(tw.DecisionTreeClassifier().fit(X[:5], [0, 0, 0, 0, 0]), X[:5], [0, 0, 0, 0, 0])

    assert [part.asked for part in parts] == [False] * 4
    assert [part.permutation for part in parts] == [0.0] * 4
    assert all(part.dependence is None and part.spread is not None for part in parts)


def test_the_error_of_a_weighted_mean_is_of_as_many_rows_as_the_weights_are_worth():
    truth, weights = np.array([1.0, 3.0, 5.0, 9.0]), np.array([4.0, 1.0, 1.0, 1.0])
    mean, sd = mean_and_sd(truth, weights)

    assert _mean_in(truth, weights) == (mean, pytest.approx(sd / math.sqrt(49 / 19)))
