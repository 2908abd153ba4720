from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris

import treewright as tw
from treewright.data.schema import Column, Schema
from treewright.exceptions import ColumnError, DataError, ParameterError
from treewright.explain.counterfactual import counterfactual, preferred_level, scales_of_rows, scales_of_tree
from treewright.trees.arrays import MULTIWAY
from treewright.trees.data import ModelData
from treewright.trees.tests import Bound


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    return X, names[y]


@pytest.fixture(scope="module")
def iris_tree(iris):
    return tw.DecisionTreeClassifier(max_depth=2).fit(*iris)


class TestWhatItFinds:
    def test_a_number_moves_to_the_edge_of_the_nearest_leaf(self, iris, iris_tree):
        found = iris_tree.counterfactual(iris[0][:1], "versicolor")

        [change] = found.changes
        assert change.column == "petal length (cm)"
        assert (change.before, change.after) == (1.4, math.nextafter(2.45, math.inf))
        assert found.cost == (1, change.distance)
        assert iris_tree.apply(found.table)[0] == found.leaf
        assert iris_tree.predict(found.table).tolist() == ["versicolor"]

    def test_at_most_a_cut_is_the_cut_itself(self, iris, iris_tree):
        found = iris_tree.counterfactual(iris[0][60:61], "setosa")

        assert [change.after for change in found.changes] == [iris_tree.tree_.threshold[0]]

    def test_any_other_class_is_the_nearest_of_all(self, iris, iris_tree):
        each = [iris_tree.counterfactual(iris[0][60:61], to) for to in ("setosa", "virginica")]

        assert iris_tree.counterfactual(iris[0][60:61]).cost == min(found.cost for found in each)

    def test_a_row_that_is_answered_so_already_stays(self, iris, iris_tree):
        found = iris_tree.counterfactual(iris[0][:1], "setosa")

        assert (found.changes, found.cost, found.before, found.after) == ((), (0, 0.0), "setosa", "setosa")
        assert found.leaf == iris_tree.apply(iris[0][:1])[0]
        assert "nothing has to change" in str(found)

    def test_columns_that_are_kept_are_never_changed(self, iris):
        est = tw.DecisionTreeClassifier().fit(*iris)
        free = est.counterfactual(iris[0][60:61], "virginica", like=iris[0])
        kept = [change.column for change in free.changes]
        found = est.counterfactual(iris[0][60:61], "virginica", keep=kept, like=iris[0])

        assert found.found
        assert not {change.column for change in found.changes} & set(kept)
        assert found.cost > free.cost

    def test_what_cannot_be_reached_is_said_so(self, iris, iris_tree):
        found = iris_tree.counterfactual(iris[0][:1], "virginica", keep="petal length (cm)")

        assert not found.found
        assert (found.after, found.leaf, found.cost, found.row, found.table) == (None, None, None, None, None)
        assert found.why == "no row reaches a leaf that predicts it while the kept columns stay as they are"

    def test_a_class_that_no_leaf_predicts_is_said_so(self, iris):
        stump = tw.DecisionTreeClassifier(max_depth=1).fit(*iris)

        assert stump.counterfactual(iris[0][:1], "virginica").why == "no leaf predicts it"

    def test_fewer_columns_come_before_a_shorter_way(self):
        X = {"a": [0, 0, 1, 1, 9, 9], "b": [0, 1, 0, 1, 0, 1]}
        est = tw.DecisionTreeClassifier().fit(X, ["n", "n", "n", "y", "y", "y"])
        found = est.counterfactual({"a": 0, "b": 0}, "y", like=X)

        assert [change.column for change in found.changes] == ["a"]
        assert found.cost[1] > est.counterfactual({"a": 0, "b": 1}, "y", like=X).cost[1]

    def test_numbers_are_asked_for_by_their_ends(self, iris):
        X, y = iris[0].iloc[:, 1:], iris[0].iloc[:, 0]
        est = tw.DecisionTreeRegressor(max_depth=4).fit(X, y)
        now = est.predict(X[:1])[0]

        more = est.counterfactual(X[:1], at_least=now + 1)
        less = est.counterfactual(X[:1], at_most=now - 0.2)
        between = est.counterfactual(X[:1], at_least=now + 0.5, at_most=now + 0.9)

        assert est.predict(more.table)[0] == more.after >= now + 1
        assert est.predict(less.table)[0] == less.after <= now - 0.2
        assert now + 0.5 <= est.predict(between.table)[0] <= now + 0.9
        assert str(more).startswith(f"predicted: {now:.6g}")

    def test_several_targets_are_asked_for_one_by_one(self, iris):
        X = iris[0]
        y = np.column_stack([iris[1], np.where(X.iloc[:, 0] > 6, "long", "short")])
        est = tw.DecisionTreeClassifier(max_depth=5).fit(X, y)

        found = est.counterfactual(X[:1], (None, "long"))

        assert est.predict(found.table)[0].tolist() == list(found.after)
        assert found.after[1] == "long"
        with pytest.raises(ParameterError, match="2 targets"):
            est.counterfactual(X[:1], "long")


class TestLevelsAndMissing:
    def test_a_level_that_was_in_the_node_is_preferred(self):
        X = {"town": ["a", "b", "c", "d"] * 5, "x": [0, 0, 0, 1] * 5}
        y = ["no", "no", "yes", "yes"] * 5
        est = tw.DecisionTreeClassifier(max_depth=1).fit(X, y)

        found = est.counterfactual({"town": "a", "x": 0}, "yes")

        assert found.row in ({"town": "c", "x": 0}, {"town": "a", "x": 0.5000000000000001})
        assert est.predict(found.table)[0] == "yes"

    def test_levels_come_back_as_they_are(self):
        table = {"flag": [True, False] * 6, "size": [1, 1, 2, 2] * 3}
        y = np.where(np.array(table["flag"]), "in", "out")
        est = tw.ID3Classifier(nominal=["size"]).fit(table, y)

        found = est.counterfactual({"flag": True, "size": 2}, "out")

        assert found.row == {"flag": False, "size": 2}
        assert type(found.row["flag"]) is bool

    def test_ordinal_levels_move_to_the_nearest(self):
        levels = ["S", "M", "L", "XL"]
        est = tw.DecisionTreeClassifier(ordinal={"size": levels}).fit(
            {"size": levels * 5}, np.array(["small", "small", "large", "large"] * 5)
        )

        assert est.counterfactual({"size": "XL"}, "small").row == {"size": "M"}
        assert est.counterfactual({"size": "XL"}, "small").cost == (1, 2.0)
        assert est.counterfactual({"size": "S"}, "large").row == {"size": "L"}

    def test_a_missing_cell_stays_where_it_goes_the_right_way(self, penguin_model):
        model = tw.Model.of(penguin_model)
        row = {"island": None, "flipper": None, "town": "A", "price": "$"}

        found = model.counterfactual(row, "Gentoo", owner="Model")

        assert model.predict(found.table).tolist() == ["Gentoo"]
        assert found.row["island"] is None
        assert all(change.after is not None for change in found.changes)

    def test_a_missing_cell_is_filled_in_where_it_goes_every_way(self, fractional_model):
        model = tw.Model.of(fractional_model)
        found = model.counterfactual({"x": None}, "no")

        assert str(found.changes[0]) == "x: missing -> at most 2.5"
        assert model.predict(found.table).tolist() == ["no"]

    def test_a_row_in_several_leaves_that_is_answered_so_stays(self, fractional_model):
        model = tw.Model.of(fractional_model)

        assert model.counterfactual({"x": None}, model.predict({"x": [None]})[0]).changes == ()

    def test_too_many_choices_fill_in_what_is_missing(self, surrogate_model, monkeypatch):
        row = [math.nan, math.nan, "a", 9.0]
        exact = counterfactual(surrogate_model, row, "setosa")
        monkeypatch.setattr("treewright.explain.cheapest_leaf.MAX_STEPS", 0)
        found = counterfactual(surrogate_model, row, "setosa")

        assert exact.exact
        assert not found.exact
        assert "possibly not the smallest change" in str(found)
        assert found.cost >= exact.cost
        for each in (exact, found):
            assert tw.Model.of(surrogate_model).predict(each.table).tolist() == ["setosa"]

    def test_a_level_that_fit_never_saw_may_stay(self):
        X = {"town": ["a", "b"] * 10, "x": list(range(20))}
        est = tw.DecisionTreeClassifier(unseen="majority").fit(X, np.array(["lo"] * 10 + ["hi"] * 10))

        found = est.counterfactual({"town": "new", "x": 3}, "hi")

        assert found.row["town"] == "new"
        assert est.predict(found.table)[0] == "hi"


class TestWhatItTakes:
    @pytest.mark.parametrize("shape", ["mapping", "list", "array", "frame", "polars", "matrix", "series"])
    def test_one_row_in_any_form(self, iris, iris_tree, shape):
        first = iris[0].iloc[0]
        row = {
            "mapping": first.to_dict(), "list": first.tolist(), "array": first.to_numpy(), "frame": iris[0][:1],
            "polars": pl.DataFrame(iris[0][:1].to_dict("list")), "matrix": None, "series": first,
        }[shape]  # fmt: skip
        if shape == "matrix":
            plain = tw.DecisionTreeClassifier(max_depth=2).fit(iris[0].to_numpy(), iris[1])
            found = plain.counterfactual(iris[0].to_numpy()[:1], "versicolor")
            assert plain.predict(found.table).tolist() == ["versicolor"]
            assert isinstance(found.row, list)
            return

        assert iris_tree.counterfactual(row, "versicolor").row == iris_tree.counterfactual(first, "versicolor").row

    def test_the_model_says_what_the_estimator_says(self, iris, iris_tree):
        row = iris[0][:1]

        assert iris_tree.model_.counterfactual(row, "virginica") == iris_tree.counterfactual(row, "virginica")

    def test_more_than_one_row_is_refused(self, iris, iris_tree):
        with pytest.raises(DataError, match="takes one row, the table has 3"):
            iris_tree.counterfactual(iris[0][:3])

    def test_a_row_of_another_width_is_refused(self, iris_tree):
        with pytest.raises(ColumnError, match="the row has 2 features"):
            iris_tree.counterfactual([1.0, 2.0])

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"to": "rose"}, "to is 'rose'; the classes are setosa, versicolor, virginica"),
            ({"at_least": 3}, "at_least is for regression"),
            ({"keep": ["petal"]}, "keep names 'petal'"),
            ({"keep": [9]}, "keep names 9"),
            ({"keep": [[]]}, "which is not a column of the model"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, iris, iris_tree, options, told):
        with pytest.raises(ParameterError, match=told):
            iris_tree.counterfactual(iris[0][:1], **options)

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"to": 3}, "to= is for classification"),
            ({}, "predicts numbers: give at_least= or at_most="),
            ({"at_least": 3, "at_most": 2}, "no number is at least 3 and at most 2"),
            ({"at_least": "3"}, "give a number"),
            ({"at_most": math.nan}, "give a number"),
        ],
    )
    def test_numbers_that_make_no_sense_are_refused(self, mean_model, options, told):
        with pytest.raises(ParameterError, match=told):
            tw.Model.of(mean_model).counterfactual({"x": 1.0}, **options)

    def test_many_trees_have_no_one_leaf(self, iris):
        forest = tw.RandomForestClassifier(n_estimators=2, random_state=0).fit(*iris)

        with pytest.raises(ParameterError, match="one tree"):
            forest.model_.counterfactual(iris[0][:1])
        assert forest.model_.tree(0).counterfactual(iris[0][:1]).found


class TestWords:
    def test_numbers_that_look_alike_are_told_apart(self, mean_model):
        found = tw.Model.of(mean_model).counterfactual({"x": 0.30000000000000001}, at_least=7)

        assert found.changes[0].text == "x: 0.29999999999999999 -> more than 0.3"

    def test_a_change_of_level_names_all_that_will_do(self, golf_model):
        model = tw.Model.of(golf_model)
        found = model.counterfactual({"outlook": "sunny", "temperature": "cool", "humidity": 95.0}, "yes")

        assert found.changes[0].text == "outlook: sunny -> overcast"
        assert str(found) == (
            "predicted: no\nyes: 1 column has to change (leaf 1, predicts yes)\n  outlook: sunny -> overcast"
        )
        assert repr(found) == "<treewright.Counterfactual: yes, 1 change>"

    def test_hostile_names_stay_one_line(self, hostile_model):
        found = counterfactual(hostile_model, {column.name: 0.0 for column in hostile_model.schema.columns})

        assert len(str(found).splitlines()) == 2 + len(found.changes)
        assert "\x1b" not in str(found)
        assert len(str(found)) < 2_000


class TestScales:
    def test_rows_give_the_median_distance_from_the_median(self):
        schema = Schema((Column("x", "numeric"), Column("same", "numeric"), Column("few", "numeric")))
        matrix = np.array([[1.0, 5, 0], [2, 5, 0], [4, 5, 0], [8, 5, 0], [16, math.nan, 3]])

        assert scales_of_rows(schema, matrix).tolist() == [3.0, 1.0, 0.6]

    def test_a_tree_gives_the_distance_of_its_outermost_cuts(self, iris, iris_tree, full_model, golf_model):
        scales = scales_of_tree(iris_tree.model_.schema, iris_tree.tree_)

        assert scales.tolist() == [1.0, 1.0, 2.45, 1.75]
        assert scales_of_tree(golf_model.schema, golf_model.trees[0]).tolist() == [1.0, 1.0, 15.0]
        assert scales_of_tree(full_model.schema, full_model.trees[0]).tolist() == [2.5, 1.0, 1.0]


class TestLargeTrees:
    def test_a_tree_of_20_000_levels(self, chain_model):
        model = chain_model(20_000)
        numbers = np.unique(model.trees[0].value[model.trees[0].is_leaf])

        found = counterfactual(model, {"x": -1e9}, at_least=float(numbers[-1]))
        assert tw.Model.of(model).predict(found.table)[0] == numbers[-1]

    def test_a_test_of_20_000_branches(self, chain_model):
        n = 20_000
        levels = tuple(f"l{at}" for at in range(n))
        ints = lambda *parts: np.concatenate([np.asarray(part) for part in parts]).astype(np.int32)  # noqa: E731
        leaf = np.zeros(n)
        tree = chain_model(1).trees[0].__class__(
            kind=ints([MULTIWAY], leaf).astype(np.uint8), feature=ints([0], leaf - 1),
            threshold=np.zeros(n + 1), first_child=ints([1], leaf - 1), n_branches=ints([n], leaf),
            missing_branch=ints([0], leaf), level_set=ints([0], leaf - 1),
            n_samples=ints([n], leaf + 1).astype(np.int64), weight=np.append(n, leaf + 1.0), impurity=np.zeros(n + 1),
            value=np.append(0.0, np.arange(n))[:, None], levels_left=np.zeros(0, np.uint64),
            levels_seen=np.zeros(0, np.uint64), level_branch=ints(np.arange(n), [0]),
        )  # fmt: skip
        schema = Schema((Column("code", "nominal", levels, family="string"),))
        model = ModelData("regression", schema, (tree,), facts={"criterion": "squared_error"})

        found = counterfactual(model, {"code": "l7"}, at_least=n - 1)
        assert found.row == {"code": levels[-1]}


class TestPreferredLevels:
    def test_the_first_level_that_comes_this_way_and_was_there(self):
        allowed, named = np.array([1, 0, 1, 1], bool), np.array([0, 0, 0, 1], bool)

        assert preferred_level(Bound(allowed=allowed, named=named)) == 3
        assert preferred_level(Bound(allowed=allowed, named=~allowed)) is None
        assert preferred_level(Bound()) is None

    def test_a_level_that_the_leaf_never_held_is_the_last_choice(self):
        X = {"x": [0] * 6 + [1] * 4, "town": ["b", "c"] * 3 + ["a", "a", "b", "b"]}
        est = tw.DecisionTreeClassifier().fit(X, [*["b", "c"] * 3, "one", "one", "one", "one"])

        # Where x is 0 the fit saw no a; it goes where b goes, or where c goes.
        for to in ("b", "c"):
            assert est.counterfactual({"x": 1, "town": "a"}, to, keep=[]).row["town"] in (to, "a")
            assert est.counterfactual({"x": 0, "town": "c" if to == "b" else "b"}, to).row["town"] == to
