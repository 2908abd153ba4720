"""Claims about decision regions: what is drawn is what the model says, for any model and any sort of table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import treewright as tw
from treewright.exceptions import DataError, DataWarning, ParameterError
from treewright.show.figures.plane import region_colors
from treewright.show.style import class_color

COLUMNS = {
    "age": [20.0, 30.0, 40.0, 50.0, 60.0, np.nan, 33.0, 47.0],
    "city": ["Oslo", "Lima", "Oslo", "Lima", "Rome", "Oslo", "Oslo", None],
    "size": ["S", "M", "L", "S", "M", "L", "S", "M"],
    "pay": [1, 2, 3, 4, 5, 6, 7, 8],
}
AGES = [None if np.isnan(age) else age for age in COLUMNS["age"]]
LABELS = ["no", "no", "yes", "yes", "no", "yes", "no", "yes"]
SIZES = {"size": ["S", "M", "L"]}
# A column of the plane that the tree does not ask for makes one colour, which is what the warning is for.
HIDES = pytest.mark.filterwarnings("ignore:.* held at one value each:treewright.exceptions.DataWarning")


def image_of(figure):
    return np.asarray(figure.axes[0].images[0].get_array())


def codes_of(figure, n_classes, likelihood=None):
    """Class at each point, read back from the colour: the hue of the class whose colour fits at some strength."""
    image = image_of(figure).astype(float)
    colors = np.array([[int(class_color(at)[i : i + 2], 16) for i in (1, 3, 5)] for at in range(n_classes)], float)
    towards, drawn = 255 - colors, 255 - image
    strength = (drawn @ towards.T) / (towards**2).sum(axis=1)
    off = np.abs(drawn[..., None, :] - strength[..., None] * towards).sum(axis=-1)
    assert off.min(axis=-1).max() < 4
    return off.argmin(axis=-1)


def grid_of(figure):
    left, right, low, high = figure.axes[0].images[0].get_extent()
    n_up, n_across = image_of(figure).shape[:2]
    across = left + (np.arange(n_across) + 0.5) * (right - left) / n_across
    up = low + (np.arange(n_up) + 0.5) * (high - low) / n_up
    return np.meshgrid(across, up)


def points_of(figure):
    return sum(len(line.get_xdata()) for line in figure.axes[0].get_lines() if line.get_linestyle() == "None")


@pytest.mark.parametrize(
    "est",
    [
        tw.DecisionTreeClassifier(max_depth=3),
        DecisionTreeClassifier(max_depth=3, random_state=0),
        RandomForestClassifier(5, random_state=0),
        KNeighborsClassifier(5),
    ],
    ids=lambda est: f"{type(est).__module__}.{type(est).__name__}",
)
def test_the_colour_of_every_point_is_the_class_that_is_predicted_there(est):
    X, y = load_iris(return_X_y=True)
    est.fit(X, y)

    figure = tw.plot.decision_regions(est, X, y, features=(2, 3), resolution=40)
    x2, x3 = grid_of(figure)
    held = np.median(X, axis=0)
    table = np.stack([np.full(x2.size, held[0]), np.full(x2.size, held[1]), x2.ravel(), x3.ravel()], axis=1)

    assert np.array_equal(codes_of(figure, 3).ravel(), est.predict(table))
    assert figure.axes[0].get_title(loc="left").split("\n")[0] == "held: column 0 5.8, column 1 3"
    assert points_of(figure) == 150


def test_a_certain_class_is_drawn_stronger_than_an_uncertain_one():
    codes = np.zeros((1, 3), np.int64)

    colors = region_colors(codes, np.array([[1.0, 0.75, 0.5]]), 2).astype(int).sum(axis=2)[0]

    assert colors[0] < colors[1] < colors[2] < 3 * 255


def test_a_surface_of_numbers_is_what_is_predicted_there():
    X, y = load_diabetes(return_X_y=True)
    for est in (tw.DecisionTreeRegressor(max_depth=3).fit(X[:, [2, 8]], y), KNeighborsRegressor().fit(X[:, [2, 8]], y)):
        figure = tw.plot.decision_regions(est, X[:, [2, 8]], y, resolution=30)
        across, up = grid_of(figure)

        assert np.array_equal(image_of(figure), est.predict(np.stack([across.ravel(), up.ravel()], 1)).reshape(30, 30))
        assert figure.axes[1].get_ylabel() == "prediction (points: y)"
        assert len(figure.axes[0].collections[0].get_offsets()) == 442


def tables():
    frame = pd.DataFrame(COLUMNS, index=range(8, 0, -1))
    frame["city"] = frame["city"].astype("category")
    return {
        "dict": COLUMNS,
        "dict of arrays": {name: np.array(column, dtype=object) for name, column in COLUMNS.items()},
        "dict of series": {name: pd.Series(column, index=range(8, 0, -1)) for name, column in COLUMNS.items()},
        "pandas": frame,
        "polars": pl.DataFrame({**COLUMNS, "age": AGES}),
        "pyarrow": pa.table({**COLUMNS, "age": AGES}),
        "list": [list(row) for row in zip(*COLUMNS.values(), strict=True)],
        "objects": np.array([list(row) for row in zip(*COLUMNS.values(), strict=True)], dtype=object),
    }


@HIDES
@pytest.mark.parametrize("sort", list(tables()))
def test_every_sort_of_table_gives_the_same_regions(sort):
    named = sort not in ("list", "objects")
    declared = SIZES if named else {2: SIZES["size"]}
    wanted = tw.DecisionTreeClassifier(ordinal=SIZES).fit(COLUMNS, LABELS)
    first = tw.plot.decision_regions(wanted, COLUMNS, LABELS, features=("age", "size"), resolution=20)
    table = tables()[sort]
    est = tw.DecisionTreeClassifier(ordinal=declared).fit(table, LABELS)

    figure = tw.plot.decision_regions(est, table, LABELS, features=("age", "size") if named else (0, 2), resolution=20)

    assert np.array_equal(image_of(figure), image_of(first))
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["S", "M", "L"]
    expected = "held: city Oslo, pay 4.5" if named else "held: column 1 Oslo, column 3 4.5"
    assert figure.axes[0].get_title(loc="left").split("\n")[0] == expected
    assert points_of(figure) == 7


@pytest.mark.parametrize("sort", ["float32", "ints", "sparse", "structured", "masked", "frame of floats"])
def test_numbers_in_any_container_are_drawn(sort):
    matrix = np.arange(24.0).reshape(8, 3) % 7
    X = {
        "float32": matrix.astype(np.float32),
        "ints": matrix.astype(np.int64),
        "sparse": sparse.csr_matrix(matrix),
        "structured": np.array([tuple(row) for row in matrix], dtype=[("a", float), ("b", float), ("c", float)]),
        "masked": np.ma.MaskedArray(matrix, mask=matrix == 3),
        "frame of floats": pd.DataFrame(matrix, columns=[10, 11, 12]),
    }[sort]
    est = tw.DecisionTreeClassifier().fit(X, LABELS)

    figure = tw.plot.decision_regions(est, X, LABELS, resolution=10)

    assert image_of(figure).shape == (10, 10, 3)


def test_a_pipeline_of_scikit_learn_gets_a_frame_like_its_own():
    X = pd.DataFrame({"city": ["a", "b", "c", "a"] * 5, "age": np.arange(20), "pay": np.arange(20) % 3})
    y = ["x", "y"] * 10
    est = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough"), KNeighborsClassifier(1)
    ).fit(X, y)

    figure = tw.plot.decision_regions(est, X, y, features=("city", "age"), fixed={"pay": 2}, resolution=10)

    _, age = grid_of(figure)
    table = pd.DataFrame({"city": np.tile(["a", "b", "c"], 10), "age": age.ravel(), "pay": 2.0})
    assert np.array_equal(codes_of(figure, 2).ravel(), est.predict(table) == "y")


@HIDES
def test_a_model_without_its_estimator_is_drawn_the_same():
    X, y = load_iris(return_X_y=True)
    est = tw.DecisionTreeClassifier(max_depth=2).fit(X, y)

    one = tw.plot.decision_regions(est, X, features=(3, 2), resolution=9)
    other = tw.plot.decision_regions(est.model_, X, features=(3, 2), resolution=9)

    assert np.array_equal(image_of(one), image_of(other))
    number = tw.DecisionTreeRegressor(max_depth=2).fit(X, y).model_
    assert image_of(tw.plot.decision_regions(number, X, resolution=9)).shape == (9, 9)


def test_anything_that_predicts_labels_is_drawn():
    class Above:
        def predict(self, X):
            return np.where(X[:, 0] > 1, "far", "near")

    X = np.array([[0.0, 1.0], [2.0, 3.0]])
    figure = tw.plot.decision_regions(Above(), X, ["near", "else"], resolution=4)

    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["far", "near", "other labels"]
    assert figure.axes[0].get_legend().get_title().get_text() == "predicted"


def test_a_label_that_is_no_class_is_refused_and_a_missing_one_is_another_label():
    class Odd:
        classes_ = np.array(["a", "b"])

        def predict(self, X):
            return np.full(len(X), "c")

    with pytest.raises(ParameterError, match="predict returned 'c'"):
        tw.plot.decision_regions(Odd(), X4)
    est = tw.DecisionTreeClassifier().fit(X4, ["a", "b", "a", "b"])
    figure = tw.plot.decision_regions(est, X4, pd.Series(["a", pd.NA, None, "b"]), resolution=4)
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["a", "b", "other labels"]


@HIDES
def test_bands_stand_in_the_declared_order_and_points_stay_in_their_band():
    est = tw.DecisionTreeClassifier(ordinal=SIZES).fit(COLUMNS, LABELS)

    figure = tw.plot.decision_regions(est, COLUMNS, LABELS, features=("size", "city"))
    ax = figure.axes[0]
    points = np.concatenate([line.get_xydata() for line in ax.get_lines() if line.get_linestyle() == "None"])

    assert [label.get_text() for label in ax.get_xticklabels()] == ["S", "M", "L"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Lima", "Oslo", "Rome"]
    assert image_of(figure).shape == (3, 3, 3)
    near = np.round(points).astype(int)
    assert np.abs(points - near).max() <= 0.36
    sizes, cities = ["S", "M", "L"], ["Lima", "Oslo", "Rome"]
    wanted = [(sizes.index(s), cities.index(c)) for s, c in zip(COLUMNS["size"], COLUMNS["city"], strict=True) if c]
    assert sorted(map(tuple, near.tolist())) == sorted(wanted)


def test_numbers_declared_as_names_have_bands():
    X = np.array([[1.0, 5.0], [2.0, 6.0], [10.0, 7.0], [1.0, 8.0]])
    est = tw.DecisionTreeClassifier(nominal=[0]).fit(X, [0, 1, 0, 1])

    figure = tw.plot.decision_regions(est, X, [0, 1, 0, 1], resolution=5)

    assert image_of(figure).shape == (5, 3, 3)


def test_columns_are_held_where_the_caller_says():
    est = tw.DecisionTreeClassifier().fit(COLUMNS, LABELS)
    seen = []

    class Spy:
        def predict(self, X):
            seen.append(X)
            return est.predict(X)

    figure = tw.plot.decision_regions(
        Spy(), COLUMNS, features=("age", 3), fixed={"city": "Rome", "size": "M"}, resolution=3
    )
    tw.plot.decision_regions(Spy(), COLUMNS, features=("size", 3), fixed={"city": None, "age": None}, resolution=3)

    assert set(seen[0]["city"]) == {"Rome"}
    assert set(seen[0]["size"]) == {"M"}
    assert set(seen[1]["city"]) == {None}
    assert np.isnan(seen[1]["age"]).all()
    assert figure.axes[0].get_title(loc="left") == "held: city Rome, size M"


def test_missing_and_infinite_values_are_left_out_of_the_points_and_of_the_range():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [np.nan, 0.5], [0.5, np.nan], [np.inf, 0.2]])
    est = KNeighborsClassifier(1).fit(X[:2], [0, 1])

    figure = tw.plot.decision_regions(est, X, [0, 1, 0, 1, 1], resolution=5)

    assert points_of(figure) == 2
    assert figure.axes[0].get_xlim() == (-0.04, 1.04)


def test_of_many_rows_some_are_drawn_from_the_whole_table_and_from_classes_that_take_turns():
    X = np.random.default_rng(0).random((3000, 2))
    y = np.arange(3000) % 3
    est = tw.DecisionTreeClassifier(max_depth=2).fit(X, y)

    figure = tw.plot.decision_regions(est, X, y, resolution=5, sample_points=300)

    shares = [len(line.get_xdata()) for line in figure.axes[0].get_lines()]
    assert sum(shares) == 300
    assert min(shares) > 80
    assert points_of(tw.plot.decision_regions(est, X, y, resolution=5, sample_points=0)) == 0


def test_a_fine_grid_is_asked_in_blocks_and_the_same():
    X, y = load_iris(return_X_y=True)
    est = tw.DecisionTreeClassifier(max_depth=3).fit(X[:, :2], y)
    sizes = []

    class Spy:
        classes_ = est.classes_

        def predict(self, X):
            sizes.append(len(X))
            return est.predict(X)

    figure = tw.plot.decision_regions(Spy(), X[:, :2], resolution=300)
    across, up = grid_of(figure)

    assert sizes == [1 << 16, 300 * 300 - (1 << 16)]
    assert np.array_equal(codes_of(figure, 3).ravel(), est.predict(np.stack([across.ravel(), up.ravel()], 1)))


X4, Y4 = np.arange(12.0).reshape(4, 3), [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"features": (0, 3)}, ParameterError, "features names column 3, which X does not have"),
        ({"features": (0, -1)}, ParameterError, "column -1"),
        ({"features": ("a", 1)}, ParameterError, "positions 0 to 2"),
        ({"features": (True, 0)}, ParameterError, "column True"),
        ({"features": (1, 1)}, ParameterError, "column 1 twice"),
        ({"features": (1,)}, ParameterError, "give two columns"),
        ({"features": "ab"}, ParameterError, "give two columns"),
        ({"fixed": {0: 1}}, ParameterError, "one of the two features"),
        ({"fixed": {2: "a"}}, ParameterError, "the column is numeric"),
        ({"fixed": {7: 1}}, ParameterError, "fixed names column 7"),
        ({"resolution": 1}, ParameterError, "resolution=1: give a whole number from 2 to 2000"),
        ({"resolution": 20.0}, ParameterError, "resolution"),
        ({"sample_points": -1}, ParameterError, "sample_points"),
        ({"y": [0, 1]}, DataError, "X has 4 rows and y has 2"),
        ({"y": [[0, 1]] * 4}, DataError, "2 outputs"),
        ({"X": X4[:, :1]}, DataError, "1 column"),
        ({"X": X4[:0]}, DataError, "no rows"),
        ({"X": np.full((4, 3), np.nan)}, DataError, "no finite value"),
        ({"X": X4 * 1e305}, DataError, "too large"),
        ({"est": 3}, ParameterError, "no predict"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change, error, words):
    given = {"est": tw.DecisionTreeClassifier().fit(X4, Y4), "X": X4, "y": Y4} | change

    with pytest.raises(error, match=words):
        tw.plot.decision_regions(given.pop("est"), given.pop("X"), given.pop("y"), **given)


def test_unknown_names_and_levels_are_refused_with_those_there_are():
    est = tw.DecisionTreeClassifier().fit(COLUMNS, LABELS)

    with pytest.raises(ParameterError, match="'wage', which X does not have; it has 'age', 'city', 'size', 'pay'"):
        tw.plot.decision_regions(est, COLUMNS, features=("age", "wage"))
    with pytest.raises(ParameterError, match="'Paris', which no row of X has; choose one of Lima, Oslo, Rome"):
        tw.plot.decision_regions(est, COLUMNS, features=("age", "pay"), fixed={"city": "Paris"})
    with pytest.raises(ParameterError, match="X has none there"):
        tw.plot.decision_regions(est, COLUMNS, features=("age", "pay"), fixed={"size": None})


def test_a_model_of_several_outputs_and_text_for_numbers_are_refused():
    two = tw.DecisionTreeClassifier().fit(X4, [[0, 1], [1, 0], [0, 0], [1, 1]])
    with pytest.raises(ParameterError, match="one output"):
        tw.plot.decision_regions(two, X4)
    numbers = tw.DecisionTreeRegressor().fit(X4, [0.5, 1, 2, 3])
    with pytest.raises(DataError, match="est predicts numbers"):
        tw.plot.decision_regions(numbers, X4, ["a", "b", "c", "d"])


def test_many_classes_and_many_levels_are_named_in_part():
    n = 60
    X = {"level": [f"level {at:02}" for at in range(n)], "x": list(range(n))}
    y = [f"class {at % 30}" for at in range(n)]
    with pytest.warns(DataWarning, match="30 classes in 60 rows"):
        est = tw.DecisionTreeClassifier(max_depth=3, nominal=["level"], numeric=["x"]).fit(X, y)

    figure = tw.plot.decision_regions(est, X, y, features=("level", "x"), resolution=5)
    figure.draw_without_rendering()

    assert len(figure.axes[0].get_xticks()) == 20
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()][-1] == "and 17 more"
