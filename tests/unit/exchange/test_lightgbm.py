"""Models of LightGBM say here what they say there: raw scores to the bit, beside every cut, too; damage is refused."""

from __future__ import annotations

import json
import re
import runpy

import numpy as np
import pytest

import treewright
from treewright.cli.app import app
from treewright.data.encoder import encode
from treewright.data.schema import Column
from treewright.exceptions import InputFileError, ParameterError
from treewright.exchange import from_lightgbm as reader
from treewright.exchange.from_lightgbm import ZERO, of_file
from treewright.exchange.structure import to_structure
from treewright.model import Model, load, read_model
from treewright.predict.ensemble import scores_of
from treewright.trees.data import BoostedTrees

lgb = pytest.importorskip("lightgbm", reason="the library whose models are read")
pd = pytest.importorskip("pandas", reason="LightGBM takes categories from pandas")

N = 240
pytestmark = pytest.mark.filterwarnings(
    "ignore::treewright.exceptions.DataWarning", "ignore::UserWarning", "ignore::FutureWarning"
)


def table(seed=0, missing=0.1, zeros=0.3):
    """Numbers with ties, many zeros and missing cells, a column of few whole numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 5))
    X[:, 1] = X[:, 1].round(1)
    X[:, 2] = rng.integers(-2, 3, N)
    X[rng.random(X.shape) < zeros] = 0.0
    X[:, 4] = rng.integers(0, 12, N)
    X[rng.random(X.shape) < missing] = np.nan
    return X


def target(X, seed=0):
    rng = np.random.default_rng(seed)
    Z = np.nan_to_num(X)
    return Z[:, 0] + 0.5 * Z[:, 1] * (Z[:, 2] > 0) + (Z[:, 4] % 3 == 1) + 0.3 * rng.normal(size=len(X))


def trained(X, y, rounds=8, **parameters):
    options = {"verbose": -1, "num_leaves": 12, "min_data_in_leaf": 3, "learning_rate": 0.2, "num_threads": 1}
    given = dict(parameters)
    categorical = given.pop("categorical", "auto")
    group = given.pop("group", None)
    weight = given.pop("weight", None)
    data = lgb.Dataset(X, y, weight=weight, group=group, categorical_feature=categorical, free_raw_data=False)
    return lgb.train({**options, **given}, data, rounds)


def rows_beside(model, X, seed=1, n=1500):
    """Rows of cells on and beside every cut, around zero, infinite, missing, of known and unknown categories."""
    rng = np.random.default_rng(seed)
    rows = np.empty((n, len(model.schema)))
    for at, column in enumerate(model.schema.columns):
        if column.kind == "nominal":
            cells = np.array([*column.levels, max(column.levels) + 1, 10_000, -1, np.nan], float)
        else:
            cuts = np.concatenate([tree.threshold[tree.feature == at] for tree in model.trees])
            cuts = np.concatenate([cuts, [0.0, ZERO, -ZERO, 1e-36, -1e-36, 1e-34, -1e-34, 1e300]])
            single = np.float32(cuts[np.abs(cuts) < 1e30]).astype(float)
            beside = [cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf), single]
            ends = [np.nan, np.inf, -np.inf, -0.0, 1.7e308, -1.7e308]
            cells = np.concatenate([*beside, ends, X[:, at]])
        rows[:, at] = rng.choice(cells, n)
    return np.vstack([X, rows])


def raw_of(model, rows):
    return scores_of(model, encode(model.schema, rows, unseen=model.unseen))


def assert_same(booster, X, scale=None, **checks):
    """Raw scores are the same bits (or of scaled leaves as near as a sum is), answers are near to the last digits."""
    model = read_model(booster)
    rows = rows_beside(model, np.asarray(X, float))
    there, here = booster.predict(rows, raw_score=True).reshape(len(rows), -1), raw_of(model, rows)
    if scale is None:
        assert np.array_equal(here, there)
    else:
        assert np.allclose(here, there * scale, rtol=0, atol=1e-14 * max(1.0, np.abs(there).max()))
    answer = booster.predict(rows)
    if model.task == "classification":
        shares = model.predict_proba(rows)
        answer = np.stack([1 - answer, answer], axis=1) if answer.ndim == 1 else answer
        assert np.allclose(shares, answer, rtol=1e-14, atol=2e-16)
    else:
        assert np.allclose(model.predict(rows), answer, rtol=4e-16, atol=0)
    return model


NUMBERS = {
    "l2": {},
    "l1": {"objective": "regression_l1"},
    "huber": {"objective": "huber"},
    "fair": {"objective": "fair"},
    "quantile": {"objective": "quantile", "alpha": 0.3},
    "mape": {"objective": "mape"},
    "poisson": {"objective": "poisson"},
    "gamma": {"objective": "gamma"},
    "tweedie": {"objective": "tweedie"},
    "dart": {"boosting": "dart", "drop_rate": 0.5},
    "goss": {"data_sample_strategy": "goss"},
    "extra_trees": {"extra_trees": True},
    "monotone": {"monotone_constraints": [1, 0, -1, 0, 0], "monotone_constraints_method": "advanced"},
    "bins_15": {"max_bin": 15},
    "bins_4000": {"max_bin": 4000, "min_data_in_bin": 1, "num_leaves": 120, "rounds": 20, "min_data_in_leaf": 1},
    "no_average": {"boost_from_average": False},
    "bagging": {"bagging_fraction": 0.5, "bagging_freq": 1, "feature_fraction": 0.5},
    "l1_l2": {"lambda_l1": 1.0, "lambda_l2": 3.0, "path_smooth": 2.0, "max_depth": 3},
    "stump": {"num_leaves": 2},
    "no_missing": {"use_missing": False},
    "quantized": {"use_quantized_grad": True},
    "interaction": {"interaction_constraints": [[0, 1], [2, 3, 4]]},
    "categories": {"categorical": [2, 4]},
    "categories_one_hot": {"categorical": [4], "max_cat_to_onehot": 20},
    "zeros": {"zero_as_missing": True},
    "zeros_categories": {"zero_as_missing": True, "categorical": [4]},
    "zeros_deep": {"zero_as_missing": True, "num_leaves": 40, "min_data_in_leaf": 1},
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_are_the_same_bits(kind, weighted):
    X = table()
    if kind.startswith("categories") or kind == "zeros_categories":
        X[:, 2] = np.abs(X[:, 2])
    y = target(X)
    y = np.abs(y) + 0.1 if kind in ("poisson", "gamma", "tweedie", "mape") else y
    weight = np.random.default_rng(7).random(N) + 0.1 if weighted else None
    model = assert_same(trained(X, y, weight=weight, **NUMBERS[kind]), X)
    assert model.facts["algorithm"] == "gradient_boosting"
    assert len(model.trees) > 1


CLASSES = {
    "binary": ({"objective": "binary"}, 2),
    "unbalanced": ({"objective": "binary", "is_unbalance": True}, 2),
    "binary_zeros": ({"objective": "binary", "zero_as_missing": True}, 2),
    "multiclass": ({"objective": "multiclass", "num_class": 3}, 3),
    "multiclass_categories": ({"objective": "multiclass", "num_class": 4, "categorical": [4]}, 4),
    "multiclass_dart": ({"objective": "multiclass", "num_class": 3, "boosting": "dart", "drop_rate": 0.5}, 3),
    "multiclass_zeros": ({"objective": "multiclass", "num_class": 3, "zero_as_missing": True}, 3),
    "five": ({"objective": "multiclass", "num_class": 5}, 5),
}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", CLASSES)
def test_scores_of_classes_are_the_same_bits(kind, seed):
    parameters, n_classes = CLASSES[kind]
    X = table(seed)
    y = target(X, seed)
    codes = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = assert_same(trained(X, codes, **parameters), X)
    assert model.classes[0].tolist() == list(range(n_classes))
    assert model.facts["loss"] == {"name": "log_loss"}


def test_a_sigmoid_of_another_slope_is_in_the_leaves():
    X = table()
    assert_same(trained(X, target(X) > 0, objective="binary", sigmoid=0.7), X, scale=0.7)


def test_two_scores_of_two_classes_become_their_difference():
    X = table()
    booster = trained(X, target(X) > 0, objective="multiclass", num_class=2)
    model = read_model(booster)
    rows = rows_beside(model, X)
    assert np.allclose(model.predict_proba(rows), booster.predict(rows), rtol=1e-13, atol=1e-15)
    raw = booster.predict(rows, raw_score=True)
    assert np.allclose(raw_of(model, rows)[:, 0], raw[:, 1] - raw[:, 0], rtol=0, atol=1e-13)


def test_cross_entropy_becomes_a_share():
    X = table()
    booster = trained(X, np.clip(target(X) / 4 + 0.5, 0, 1), objective="cross_entropy")
    model = assert_same(booster, X)
    assert model.task == "classification"


@pytest.mark.parametrize("objective", ["lambdarank", "rank_xendcg"])
def test_ranks_are_scores(objective):
    X = table()
    relevance = np.digitize(target(X), [0, 1, 2])
    assert_same(trained(X, relevance, objective=objective, group=[20] * 12), X)


@pytest.mark.parametrize("n_scores", [1, 3])
def test_of_a_function_of_the_users_come_the_scores(n_scores):
    X = table()
    y = target(X)

    def halves(scores, data):
        goal = np.repeat(y[:, None], n_scores, 1) * np.arange(1, n_scores + 1)
        gradient = scores.reshape(goal.shape) - goal
        return (gradient, np.ones_like(goal)) if n_scores > 1 else (gradient.ravel(), np.ones(N))

    booster = trained(X, y, objective=halves, num_class=n_scores)
    model = read_model(booster)
    rows = rows_beside(model, X)
    assert np.array_equal(model.predict(rows), booster.predict(rows))
    assert "loss" not in model.facts


FOREST = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}


@pytest.mark.parametrize("rounds", [1, 7])
def test_a_forest_for_numbers_is_a_mean_of_the_same_bits(rounds):
    X = table()
    booster = trained(X, target(X), rounds=rounds, **FOREST)
    model = read_model(booster)
    rows = rows_beside(model, X)
    assert np.array_equal(model.predict(rows), booster.predict(rows))
    assert model.facts["algorithm"] == "random_forest"


@pytest.mark.parametrize("objective", ["binary", "multiclass", "poisson"])
def test_a_forest_of_scores_has_their_mean_in_its_leaves(objective):
    X = table()
    y = target(X)
    y = np.abs(y) if objective == "poisson" else np.digitize(y, [0.5] if objective == "binary" else [0, 1])
    many = {"num_class": 3} if objective == "multiclass" else {}
    booster = trained(X, y, rounds=7, objective=objective, **FOREST, **many)
    model = read_model(booster)
    rows = rows_beside(model, X)
    shares = booster.predict(rows)
    if objective == "binary":
        shares = np.stack([1 - shares, shares], axis=1)
    answers = model.predict(rows) if objective == "poisson" else model.predict_proba(rows)
    assert np.allclose(answers, shares, rtol=1e-13, atol=1e-15)


def frame(seed=0):
    rng = np.random.default_rng(seed)
    X = table(seed)
    columns = {
        "a b": X[:, 0],
        "town": pd.Categorical(np.where(rng.random(N) < 0.1, None, rng.choice(["Köln", "Lima", 'a "b"', ""], N))),
        "größe": X[:, 1],
        "size": pd.Categorical(rng.choice([40, 42, 47], N)),
        "rate": pd.Categorical(rng.choice([0.5, 1.0, 2.25], N)),
        "on": pd.Categorical(rng.choice([True, False], N)),
        "flag": rng.random(N) < 0.5,
    }
    y = X[:, 1] + (columns["town"] == "Lima") - (columns["size"] == 42) + columns["flag"] + (columns["rate"] == 0.5)
    y = y + 0.8 * (columns["on"] == True)  # noqa: E712
    return pd.DataFrame(columns), np.nan_to_num(np.asarray(y, float))


def in_our_names(X):
    """LightGBM writes _ for a space in a name."""
    return X.rename(columns=lambda name: name.replace(" ", "_"))


def test_categories_of_pandas_come_as_they_were():
    X, y = frame()
    options = {"min_data_per_group": 1, "cat_smooth": 1, "max_cat_to_onehot": 1, "min_data_in_leaf": 2}
    booster = trained(X, y, rounds=12, **options)
    model = read_model(booster)
    assert [(column.name, column.levels, column.family) for column in model.schema.columns] == [
        ("a_b", (), "number"),
        ("town", ("", "Köln", "Lima", 'a "b"'), "string"),
        ("größe", (), "number"),
        ("size", (40, 42, 47), "number"),
        ("rate", (0.5, 1.0, 2.25), "number"),
        ("on", (False, True), "boolean"),
        ("flag", (), "number"),
    ]
    assert len(set().union(*(tree.feature.tolist() for tree in model.trees)) - {-1}) == 7
    assert np.array_equal(model.predict(in_our_names(X)), booster.predict(X))
    other = X.iloc[::-1].assign(
        town=pd.Categorical(["Lima", "Rome", None, "Köln"] * (N // 4)),
        size=pd.Categorical([47, 99, 40] * (N // 3)),
    )
    assert np.array_equal(model.predict(in_our_names(other)), booster.predict(other))
    plain = in_our_names(other).astype({"town": object, "size": float, "rate": float, "on": object})
    assert np.array_equal(model.predict(plain), booster.predict(other))


def test_more_than_254_categories():
    X = table()
    X = np.vstack([X] * 8)
    X[:, 4] = np.arange(len(X)) % 400 * 7
    y = np.sin(X[:, 4]) + np.nan_to_num(X[:, 0])
    booster = trained(X, y, categorical=[4], min_data_per_group=1, cat_smooth=1, max_bin=500)
    model = assert_same(booster, X)
    assert isinstance(model.trees, BoostedTrees)
    assert len(model.schema.columns[4].levels) > 254


def test_several_hundred_leaves():
    X = np.random.default_rng(0).normal(size=(4000, 5))
    model = assert_same(trained(X, X[:, 0] * X[:, 1], rounds=4, num_leaves=500, min_data_in_leaf=1), X)
    assert max(tree.n_leaves for tree in model.trees) == 500


def test_forced_tests(tmp_path):
    path = tmp_path / "forced.json"
    path.write_text('{"feature": 3, "threshold": 0.1, "left": {"feature": 0, "threshold": 0.5}}', encoding="utf-8")
    X = table()
    model = assert_same(trained(X, target(X), forcedsplits_filename=str(path)), X)
    assert model.trees[0].feature[0] == 3


def test_a_target_of_one_number_is_a_leaf():
    X = table()
    model = assert_same(trained(X, np.full(N, 2.5)), X)
    assert model.predict(X[:2]).tolist() == [2.5, 2.5]


def test_classes_are_those_of_the_object_and_trees_those_that_it_predicts_with():
    X, y = table(), np.where(target(table()) > 0.5, "yes", "no")
    wrapper = lgb.LGBMClassifier(n_estimators=60, num_leaves=8, verbose=-1, n_jobs=1)
    stop = lgb.early_stopping(3, verbose=False)
    wrapper.fit(X[:160], y[:160], eval_set=[(X[160:], y[160:])], callbacks=[stop])
    model = read_model(wrapper)
    assert len(model.trees) == wrapper.best_iteration_ < 60
    assert model.classes[0].tolist() == ["no", "yes"]
    assert np.array_equal(model.predict(X), wrapper.predict(X))
    assert np.allclose(model.predict_proba(X), wrapper.predict_proba(X), rtol=1e-14, atol=2e-16)
    assert np.array_equal(raw_of(model, X)[:, 0], wrapper.predict(X, raw_score=True))
    assert model.facts["imported"] == {
        "library": "lightgbm", "format": "v4", "version": lgb.__version__, "class": "LGBMClassifier",
    }  # fmt: skip


@pytest.mark.parametrize("labels", [np.array([3, 5, 9]), pd.Series(["a", "b", "c"]).to_numpy()])
def test_many_classes_of_an_object(labels):
    X = table()
    y = labels[np.digitize(target(X), [0, 1])]
    wrapper = lgb.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1).fit(X, y)
    assert np.array_equal(read_model(wrapper).predict(X), wrapper.predict(X))


def test_regressors_and_rankers():
    X = table()
    y = target(X)
    numbers = lgb.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(X, y)
    ranks = lgb.LGBMRanker(n_estimators=5, verbose=-1, n_jobs=1).fit(X, np.digitize(y, [0, 1]), group=[20] * 12)
    for wrapper in (numbers, ranks):
        assert np.array_equal(read_model(wrapper).predict(X), wrapper.predict(X))


def test_a_file_is_the_object(tmp_path):
    X, y = frame()
    booster = trained(X, y)
    path = tmp_path / "model.txt"
    booster.save_model(path)
    model = read_model(path)
    assert np.array_equal(model.predict(in_our_names(X)), booster.predict(X))
    assert read_model(lgb.Booster(model_file=path)).schema == model.schema
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert np.array_equal(read_model(path).predict(in_our_names(X)), booster.predict(X))
    booster.save_model(path, start_iteration=2, num_iteration=3)
    late = read_model(path)
    assert len(late.trees) == 3
    assert np.array_equal(late.predict(in_our_names(X)), lgb.Booster(model_file=path).predict(X))


def test_a_column_without_names_is_asked_without():
    X = table()
    model = read_model(trained(X, target(X), categorical=[4]))
    assert not model.schema.named
    assert model.schema.columns[4] == Column("x4", "nominal", tuple(range(12)), True, "number")
    missing_seen = [column.missing_seen for column in model.schema.columns]
    full = read_model(trained(np.nan_to_num(X), target(X)))
    assert missing_seen == [True] * 5
    assert [column.missing_seen for column in full.schema.columns] == [False] * 5


def test_a_cell_that_is_no_whole_number_is_a_category_never_seen():
    X = table(missing=0)
    model = read_model(trained(X, target(X), categorical=[4]))
    rows = np.repeat(X, 2, axis=0)
    rows[0::2, 4], rows[1::2, 4] = 1.5, 10_000
    assert np.array_equal(model.predict(rows[0::2]), model.predict(rows[1::2]))


def test_the_command_imports_a_file(tmp_path):
    X = table()
    booster = trained(X, target(X))
    booster.save_model(tmp_path / "model.txt")
    app(["import", str(tmp_path / "model.txt"), "--out", str(tmp_path / "model.tw")], standalone_mode=False)
    assert np.array_equal(load(tmp_path / "model.tw").predict(X), booster.predict(X))


def test_trees_of_zeros_that_grow_beyond_all_bounds_are_refused(monkeypatch):
    X = table()
    booster = trained(X, target(X), zero_as_missing=True)
    assert sum(tree.n_nodes for tree in read_model(booster).trees) > 200
    monkeypatch.setattr(reader, "_MOST_NODES", 200)
    with pytest.raises(ParameterError, match="zero_as_missing sends 0 to a branch of its own"):
        read_model(booster)


def test_contributions_are_those_that_lightgbm_tells():
    X, y = frame()
    for booster in (trained(X, y), trained(X, y > y.mean(), objective="binary")):
        explained = read_model(booster).explain(in_our_names(X))
        told = booster.predict(X, pred_contrib=True)
        ours = np.column_stack([explained.values.reshape(N, -1), np.full(N, float(np.ravel(explained.base)[0]))])
        assert np.allclose(ours, told, rtol=0, atol=1e-12)


def test_what_ours_can_do_with_trees_works_with_these(tmp_path):
    X, y = frame()
    label = y > y.mean()
    booster = trained(X, label, objective="binary")
    model, ours = read_model(booster), in_our_names(X)
    asks_town = next(number for number, tree in enumerate(model.trees) if 1 in tree.feature)
    assert "town" in model.show(tree=asks_town)
    assert "town" in str(model.plot(tree=asks_town))
    assert "Lima" in json.dumps(to_structure(model))
    assert "town" in treewright.report(model, ours, label.astype(int)).html
    first = model.prune("rounds", n_rounds=3)
    assert np.allclose(first.predict_proba(ours)[:, 1], booster.predict(X, num_iteration=3), rtol=1e-14)
    assert model.prune("rounds", ours, label.astype(int)).prune_log.loss == "log_loss"
    one = model.predict_proba_one(ours.iloc[0].to_dict())
    assert np.array_equal(list(one.values()) if isinstance(one, dict) else one, model.predict_proba(ours)[0])
    model.save(tmp_path / "model.tw")
    again = load(tmp_path / "model.tw")
    assert np.array_equal(again.predict_proba(ours), model.predict_proba(ours))
    again.save(tmp_path / "again.tw")
    assert (tmp_path / "again.tw").read_bytes() == (tmp_path / "model.tw").read_bytes()
    gains = booster.feature_importance("gain")
    assert model.importances("gain") == pytest.approx(gains / gains.sum(), rel=1e-6)
    model.export(tmp_path / "model.py")
    functions = runpy.run_path(str(tmp_path / "model.py"))
    rows = ours.head(20).astype(object).where(ours.head(20).notna(), None).to_dict("records")
    sums = [functions["sums"](functions["encode"](row))[0] for row in rows]
    assert sums == booster.predict(X.head(20), raw_score=True).tolist()


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"linear_tree": True}, "linear_tree: leaves with linear models are not read"),
        ({"reg_sqrt": True}, "reg_sqrt predicts the square"),
        ({"objective": "multiclassova", "num_class": 3}, "the probabilities of its classes do not add up to 1"),
        ({"objective": "cross_entropy_lambda"}, "log\\(1 \\+ exp"),
    ],
)
def test_what_ours_cannot_say_is_refused(parameters, said):
    X = table()
    y = np.digitize(target(X), [0, 1]) / (2 if "num_class" not in parameters else 1)
    booster = trained(X, y, **parameters)
    with pytest.raises(ParameterError, match=said):
        read_model(booster)
    with pytest.raises(InputFileError, match=said):
        of_file(booster.model_to_string().encode())


def test_objects_without_trees_or_with_one_class_are_refused():
    with pytest.raises(ParameterError, match="LGBMClassifier is not fitted"):
        read_model(lgb.LGBMClassifier())
    with pytest.raises(ParameterError, match="give a Booster"):
        read_model(lgb.Dataset(table()))
    one = lgb.LGBMClassifier(n_estimators=2, verbose=-1, n_jobs=1).fit(table(), ["a"] * N)
    with pytest.raises(ParameterError, match="1 classes, but its trees predict 2"):
        read_model(one)


def test_pandas_categories_whose_columns_are_not_told_are_refused():
    X, y = frame()
    X["size"] = X["size"].cat.as_ordered()
    with pytest.raises(ParameterError, match="4 columns held pandas categories, but 3 are tested"):
        read_model(trained(X, y))


def small_file(rounds=1):
    X, y = frame()
    X = X[["a b", "town", "size"]].assign(zero=table()[:, 1])
    options = {"min_data_per_group": 1, "cat_smooth": 1, "max_cat_to_onehot": 1, "zero_as_missing": True}
    text = trained(X, 3 * (X["town"] == "Lima") + y, rounds=rounds, num_leaves=5, **options).model_to_string()
    return re.sub(r"parameters:\n.*(\[categorical_feature.*?\n).*end of parameters\n", r"parameters:\n\1", text,
                  flags=re.DOTALL).encode()  # fmt: skip


def test_a_damaged_file_is_refused_or_is_a_model(tmp_path):
    data = small_file()
    rng = np.random.default_rng(0)
    path = tmp_path / "model.txt"
    n_refused = 0
    for at in range(len(data)):
        for damaged in (data[:at], data[:at] + bytes([int(rng.choice(list(b"0919-.=: \n[e\xff")))]) + data[at + 1 :]):
            path.write_bytes(damaged)
            try:
                assert isinstance(read_model(path), Model)
            except InputFileError:
                n_refused += 1
    assert n_refused > len(data)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (r"version=v4", "version=v9", "v3, v4 are read"),
        (r"\nend of trees\n.*", "", "the model is incomplete"),
        (r"\nTree=0\n.*?\nend of trees", "\nend of trees", "no trees"),
        (r"num_tree_per_iteration=1", "num_tree_per_iteration=99999999999999", "contradicts the head of the file"),
        (r"max_feature_idx=3", "max_feature_idx=999999999999", "column descriptions do not match"),
        (r"left_child=2", "left_child=0", "is not a tree"),
        (r"leaf_value=\S+", "leaf_value=nan", "a leaf whose value is not finite"),
        (r"threshold=\S+", "threshold=nan", "nan as a cut|do not match its tests"),
        (r"split_feature=\d", "split_feature=7", "column|the model is incomplete"),
        (r"num_leaves=5", "num_leaves=99999999999", "expected one test fewer than leaves"),
        (r"pandas_categorical:.*", 'pandas_categorical:["abc", "de"]', "is not a list of lists of categories"),
        (r"pandas_categorical:.*", "pandas_categorical:" + "[" * 100_000, "nested too deep"),
        (r"pandas_categorical:.*", "pandas_categorical:[[null], [1]]", "only 1 pandas categories|not a string"),
        (r"cat_threshold=\d+", "cat_threshold=4294967295", "only 4 pandas categories"),
        (r"cat_boundaries=0 1", "cat_boundaries=0 900000000000", "does not exist|do not match its tests"),
        (r"objective=regression", "objective=magic", "objective magic is not known"),
        (r"num_class=1", "num_class=3", "contradicts itself: num_class is 1 in one place, 3"),
        (r"parameters:\n", "parameters:\n[objective: binary]\n", "contradicts itself: objective is regression"),
        (r"parameters:\n", "parameters:\n[objective: multiclassova]\n", "contradicts itself: objective is regression"),
        (r"parameters:\n", "parameters:\n[num_class: 4]\n", "num_class of the parameters is 1 in one place, 4"),
        (r"parameters:\n", "parameters:\n[reg_sqrt: 1]\n", "contradicts itself: reg_sqrt is 0 in one place, 1"),
        (r"parameters:\n", "parameters:\n[boosting: rf]\n", "contradicts itself: boosting=rf is False in one place"),
        (r"parameters:\n", "parameters:\n[seed: 1]\n[seed: 2]\n", "'seed' occurs twice"),
        (r"num_cat=\d", "num_cat=7", "tests of categories and a num_cat of 7"),
        (r"num_leaves=5\n", "num_leaves=5\nnum_leaves=5\n", "'num_leaves' occurs twice"),
        (r"label_index=0\n", "label_index=0\nobjective=binary sigmoid:1\n", "'objective' occurs twice"),
    ],
)
def test_nonsense_is_refused_with_its_reason(tmp_path, old, new, said):
    text = small_file(rounds=2).decode()
    damaged = re.sub(old, lambda _: new, text, count=1, flags=re.DOTALL)
    assert damaged != text
    path = tmp_path / "model.txt"
    path.write_text(damaged, encoding="utf-8")
    with pytest.raises(InputFileError, match=said):
        read_model(path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[sigmoid: 2]", "[sigmoid: 1]", "sigmoid is 2 in one place, 1"),
        ("[boosting: rf]", "[boosting: gbdt]", "boosting=rf is True in one place, False"),
        ("\naverage_output\n", "\n", "boosting=rf is False in one place, True"),
        ("[objective: binary]", "[objective: cross_entropy]", "objective is binary in one place"),
    ],
)
def test_parameters_that_contradict_the_head_are_refused_and_others_are_not(old, new, said):
    X, y = frame()
    options = {"objective": "binary", "sigmoid": 2.0, "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5,
               "reg_sqrt": True, "num_leaves": 4, "verbose": -1}  # fmt: skip
    text = lgb.train(options, lgb.Dataset(X[["a b", "size"]], y > 0), 2).model_to_string()

    assert of_file(text.encode()).task == "classification"
    with pytest.raises(InputFileError, match=said):
        of_file(text.replace(old, new, 1).encode())
