"""Explanations: what they hold, how they are printed and handed on, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import treewright as tw
from treewright.exceptions import DataError, MissingLibraryError, ParameterError

TABLE = {
    "sky": ["sun", "sun", "rain", None, "sun", "rain", "rain", "sun"],
    "wind": [1.0, 5.0, 2.0, 7.0, None, 3.0, 6.0, 2.0],
}
PLAY = ["yes", "yes", "no", "no", "yes", "no", "no", "yes"]
HOURS = [4.0, 3.0, 1.0, 0.5, 4.5, 1.5, 0.0, 4.0]
CLASSES = tw.DecisionTreeClassifier(missing="branch").fit(TABLE, PLAY)
NUMBERS = tw.DecisionTreeRegressor(max_depth=2).fit(TABLE, HOURS)


def test_of_one_output_without_a_last_axis_and_of_classes_with_one():
    one, two = NUMBERS.explain(TABLE), CLASSES.explain(TABLE)
    assert (one.values.shape, two.values.shape) == ((8, 2), (8, 2, 2))
    assert isinstance(one.base, float)
    assert two.base.shape == (2,)
    assert (one.outputs, one.scale, two.outputs, two.scale) == (("y",), "number", ("no", "yes"), "share")
    np.testing.assert_allclose(one.totals, NUMBERS.predict(TABLE), atol=1e-15)
    np.testing.assert_allclose(two.totals, CLASSES.predict_proba(TABLE), atol=1e-15)
    assert two.cells[0][:4] == ["sun", "sun", "rain", None]
    assert two.for_output("yes").values.tolist() == two.values[:, :, 1].tolist()
    assert NUMBERS.explain(TABLE, order=2).values.shape == (8, 2, 2)


def test_scores_of_boosted_classes_are_named_by_their_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
    two = tw.GradientBoostingClassifier(3).fit(X, y > 0).explain(X[:5])
    three = tw.GradientBoostingClassifier(3).fit(X, y).explain(X[:5])
    assert (two.outputs, two.scale, two.values.shape) == ((True,), "score", (5, 3))
    assert (three.outputs, three.values.shape) == ((0, 1, 2), (5, 3, 3))


def test_several_targets_have_their_names():
    X = np.arange(20.0)[:, None]
    targets = pd.DataFrame({"up": np.arange(20.0), "down": -np.arange(20.0)})
    assert tw.DecisionTreeRegressor().fit(X, targets).explain(X).outputs == ("up", "down")


def test_derived_columns_play_with_their_source_and_pairs_for_themselves():
    rng = np.random.default_rng(0)
    names = rng.integers(0, 60, 400)
    table = {"x": rng.normal(size=400), "name": [f"n{code}" for code in names]}
    est = tw.RandomForestRegressor(5).fit(table, table["x"] + (names > 30))
    assert [column.name for column in est.model_.schema.columns] == ["x", "name", "name.rows"]
    assert est.explain(table).columns == ("x", "name")
    dates = pl.DataFrame({"day": pl.datetime_range(pl.datetime(2024, 1, 1), pl.datetime(2024, 6, 1), eager=True)})
    month = tw.DecisionTreeRegressor(calendar=["month"]).fit(dates, dates["day"].dt.month().to_numpy() % 2.0)
    assert month.explain(dates[:5]).columns == ("day",)


def test_one_row_is_printed_with_its_cells_and_many_by_mean_size():
    text = str(NUMBERS.explain({"sky": ["sun"], "wind": [None]}))
    assert "sky = sun       +1.76" in text
    assert text.startswith("predicts 4.17\ncontributions to the predicted value")
    many = str(CLASSES.explain(TABLE))
    assert "yes: mean size over 8 rows" in many
    assert str(CLASSES.explain(TABLE).rows(0)).count("=") >= 2
    assert len(list(CLASSES.explain(TABLE))) == 8


def test_frames_have_a_line_for_each_row_output_and_column():
    for library, kind in (("polars", pl.DataFrame), ("pandas", pd.DataFrame)):
        frame = CLASSES.explain(TABLE).to_frame(library)
        assert isinstance(frame, kind)
        assert frame.shape == (32, 5)
        assert list(frame.columns) == ["row", "output", "column", "cell", "contribution"]
    pairs = NUMBERS.explain(TABLE, order=2).to_dict()
    assert list(pairs) == ["row", "column", "with", "cell", "contribution"]
    assert (pairs["column"][:4], pairs["with"][:4]) == (["sky", "sky", "wind", "wind"], ["sky", "wind", "sky", "wind"])
    with pytest.raises(ParameterError, match="choose 'polars'"):
        CLASSES.explain(TABLE).to_frame("excel")


def test_importances_are_mean_sizes_with_their_standard_errors():
    found = NUMBERS.explain(TABLE)
    size, error = found.importances()["sky"]
    sizes = np.abs(found.values[:, 0])
    assert size[0] == pytest.approx(sizes.mean())
    assert error[0] == pytest.approx(sizes.std(ddof=1) / np.sqrt(8))


def test_without_shap_its_explanation_is_refused(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "shap", None)
    with pytest.raises(MissingLibraryError, match="pip install shap"):
        NUMBERS.explain(TABLE).to_shap()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"kind": "gain"}, ParameterError, "choose one of 'path', 'interventional', 'steps'"),
        ({"order": 3}, ParameterError, r"choose 1 \(columns\) or 2 \(pairs"),
        ({"order": True}, ParameterError, "order=True"),
        ({"kind": "steps", "order": 2}, ParameterError, "no pairs"),
        ({"kind": "interventional"}, ParameterError, "needs background="),
        ({"background": TABLE}, ParameterError, "leave it out"),
        ({"kind": "interventional", "background": {"sky": [], "wind": []}}, DataError, "0 rows|no rows"),
        ({"kind": "interventional", "background": {"sky": ["sun"]}}, DataError, "wind"),
    ],
)
def test_what_cannot_be_explained_is_refused_with_the_remedy(options, error, words):
    with pytest.raises(error, match=words):
        CLASSES.explain(TABLE, **options)


def test_rows_that_do_not_fit_and_outputs_that_are_not_there_are_refused():
    with pytest.raises(DataError, match="wind"):
        CLASSES.explain({"sky": ["sun"]})
    with pytest.raises(ParameterError, match="no output"):
        CLASSES.explain(TABLE).for_output("perhaps")


def test_medians_neighbours_and_parts_of_missing_cells_say_what_to_use():
    X, y = np.arange(30.0)[:, None], np.arange(30.0) % 7
    medians = tw.AdaBoostRegressor(n_estimators=3).fit(X, y)
    with pytest.raises(ParameterError, match="median over its trees"):
        medians.explain(X)
    with pytest.raises(ParameterError, match="no trees whose contributions"):
        tw.KNeighborsRegressor().fit(X, y).explain(X)
    parts = tw.DecisionTreeClassifier(missing="fractional").fit(TABLE, PLAY)
    with pytest.raises(DataError, match="kind='path'"):
        parts.explain(TABLE, kind="interventional", background=TABLE)


def test_a_loaded_model_explains_alike(tmp_path):
    CLASSES.save(tmp_path / "m.tw")
    again = tw.load(tmp_path / "m.tw").explain(TABLE)
    assert again.values.tobytes() == CLASSES.explain(TABLE).values.tobytes()


def test_boosted_classes_of_several_targets_have_outputs_of_their_own():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    found = tw.GradientBoostingClassifier(3, min_samples_leaf=5).fit(X, X > 0).explain(X)
    assert found.outputs == ("y0: True", "y1: True")
    assert (
        found.for_output("y1: True").values.tolist()
        == found.for_output(1).values.tolist()
        == found.values[..., 1].tolist()
    )
    first, second = str(found).split("\n\n")[1:]
    assert first.split("\n")[1].split()[0] == "x0"
    assert second.split("\n")[1].split()[0] == "x1"


def test_quantiles_are_called_by_their_levels():
    X = np.random.default_rng(0).normal(size=(100, 2))
    est = tw.GradientBoostingRegressor(3, loss="quantile", quantile=[0.1, 0.5]).fit(X, X[:, 0] + X[:, 1])
    assert est.explain(X).outputs == ("quantile 0.1", "quantile 0.5")


def test_means_over_no_rows_are_refused():
    with pytest.raises(ParameterError, match="this explanation has no rows"):
        NUMBERS.explain(TABLE).rows(slice(0, 0)).importances()


def test_a_large_tree_beside_many_rows_is_explained_in_blocks(monkeypatch):
    from treewright.explain import contributions

    X = np.random.default_rng(1).normal(size=(400, 3))
    est = tw.ExtraTreeRegressor(random_state=0).fit(X, X[:, 0] + X[:, 1])
    whole = {kind: est.explain(X, kind=kind) for kind in ("path", "steps")}
    mean = est.explain(X[:9], kind="interventional", background=X)
    monkeypatch.setattr(contributions, "_SCRATCH_BYTES", 1)
    for kind, found in whole.items():
        assert est.explain(X, kind=kind).values.tobytes() == found.values.tobytes()
    again = est.explain(X[:9], kind="interventional", background=X)
    np.testing.assert_allclose(again.values, mean.values, atol=1e-14)


def test_whole_numbers_are_labels_not_positions():
    est = tw.DecisionTreeClassifier().fit({"a": [1.0, 2.0, 3.0]}, [1, 2, 3])
    found = est.explain({"a": [2.0]})
    said = [part.split("\n")[0] for part in str(found).split("\n\n")[1:]]
    assert [line.split(" = ")[0] for line in said] == ["1: 0", "2: 1", "3: 0"]
    assert found.for_output(2).totals.tolist() == [1.0]
    with pytest.raises(ParameterError, match="there is no output 0"):
        found.for_output(0)


def test_one_class_is_its_own_base():
    for kind in (tw.DecisionTreeClassifier, tw.RandomForestClassifier):
        found = kind().fit([[1.0], [2.0]], ["k", "k"]).explain([[1.0]])
        assert (found.outputs, found.values.tolist()) == (("k",), [[0.0]])
        assert found.base == pytest.approx(1.0)
        assert str(found).endswith("k: 1 = base 1")


def test_votes_over_parts_of_missing_cells_are_refused():
    est = tw.AdaBoostClassifier(tw.DecisionTreeClassifier(max_depth=2, missing="fractional"), n_estimators=3)
    est.fit(TABLE, PLAY)
    with pytest.raises(DataError, match="a vote is not a sum"):
        est.explain(TABLE)


def test_the_base_of_a_background_is_its_own_mean_beside_huge_answers_elsewhere():
    x, y = np.arange(100.0)[:, None], np.arange(100.0)
    y[99] = 1e15
    found = tw.DecisionTreeRegressor().fit(x, y).explain(x[:5], kind="interventional", background=x[:50])
    assert found.base == 24.5
    assert NUMBERS.explain(TABLE).values.dtype == np.float64
    huge = tw.DecisionTreeRegressor().fit(TABLE, np.array(HOURS) * 1e300).explain(TABLE)
    assert all(np.isfinite(error).all() for _, error in huge.importances().values())


@pytest.mark.parametrize("some", [8, -9, "a", None, True, [0, 1.5], (0, 99)])
def test_rows_that_are_not_there_are_refused(some):
    with pytest.raises(ParameterError, match="positions of the 8 rows"):
        NUMBERS.explain(TABLE).rows(some)
    assert len(NUMBERS.explain(TABLE).rows((1, -1))) == 2


def test_of_many_classes_the_text_tells_some():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    text = str(tw.DecisionTreeClassifier().fit(X, rng.integers(0, 60, 300)).explain(X[:1]))
    assert "48 more outputs" in text


def test_a_page_is_written_whole_and_shown_in_a_notebook(tmp_path):
    found = CLASSES.explain(TABLE)
    found.save(tmp_path / "why.html")
    text = (tmp_path / "why.html").read_text()
    assert text == found.html
    assert "share of no, yes" in text
    assert found._repr_html_().startswith("<iframe")
    with pytest.raises(ParameterError, match=r"\.html"):
        found.save(tmp_path / "why.pdf")


def test_a_page_of_pairs_of_steps_of_dates_and_of_nothing():
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=8), "wind": TABLE["wind"]})
    dated = tw.DecisionTreeRegressor().fit(days, HOURS)
    for found in (NUMBERS.explain(TABLE, order=2), NUMBERS.explain(TABLE, kind="steps"), dated.explain(days)):
        assert "Contributions to y" in found.html
    assert '"dates":"date' in dated.explain(days).html
    assert "day = 2024-01-03" in str(dated.explain(days.iloc[2:3]))
    assert "2024-01-03" in dated.explain(days).to_dict()["cell"]
    assert "Contributions to y" in NUMBERS.explain({"sky": [], "wind": []}).html
    hostile = tw.DecisionTreeClassifier().fit({"<script>": [1.0, 2.0]}, ["</script>", "b"])
    assert "<script>=" not in hostile.explain({"<script>": [1.0, 2.0]}).html


def test_a_scatter_over_dates_shows_dates():
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=8), "wind": TABLE["wind"]})
    figure = tw.DecisionTreeRegressor().fit(days, HOURS).explain(days).plot("scatter", column="day")
    figure.draw_without_rendering()
    assert "2024-01-04" in [label.get_text() for label in figure.axes[0].get_xticklabels()]


def test_shares_together_are_of_pairs():
    found = CLASSES.explain(TABLE, order=2)
    one, other = (np.abs(found.values[:, 0, at]).mean(axis=0) for at in (0, 1))
    np.testing.assert_allclose(found.shares_together()["sky"], other / (one + other))
    with pytest.raises(ParameterError, match="order=2"):
        CLASSES.explain(TABLE).shares_together()
    with pytest.raises(ParameterError, match="this explanation has no rows"):
        found.rows([]).shares_together()


@pytest.mark.parametrize(("old", "new"), [("answers", "totals"), ("clocks", "dates"), ("of", "for_output")])
def test_an_old_name_still_works_and_warns(old, new):
    found = NUMBERS.explain(TABLE)

    with pytest.warns(FutureWarning, match=f"Explanation.{old} is now called {new}"):
        former = getattr(found, old)
    assert repr(former) == repr(getattr(found, new))
