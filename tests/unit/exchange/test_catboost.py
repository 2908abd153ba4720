"""Models of CatBoost: each row goes its way, sums are those of CatBoost, and what cannot be said is refused."""

from __future__ import annotations

import contextlib
import copy
import json
import random

import numpy as np
import pytest

import treewright as tw
from treewright.core.elementary import exp_of
from treewright.exceptions import InputFileError, ParameterError
from treewright.exchange.foreign import READERS

catboost = pytest.importorskip("catboost", reason="models of CatBoost are made here by CatBoost (pip install catboost)")

pytestmark = pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")  # missing cells on purpose

QUIET = {"iterations": 12, "depth": 4, "verbose": 0, "allow_writing_files": False, "thread_count": 1, "random_seed": 1}
N = 150


def table(seed=0):
    """Numbers, a few of them equal, and missing cells in two of four columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 4))
    X[:, 3] = rng.integers(0, 4, N)
    X[rng.random(N) < 0.2, 1] = np.nan
    X[rng.random(N) < 0.1, 2] = np.nan
    signal = X[:, 0] + np.where(np.isnan(X[:, 1]), 2.0, X[:, 1] ** 2) + 0.5 * X[:, 3]
    return X, signal + rng.normal(size=N) * 0.3


X, Y = table()
CLASSES = np.digitize(Y, [0.5, 1.5, 3.0])
TWO = (Y > 1.5).astype(int)
COUNTS = np.floor(np.abs(Y))
BOTH = np.column_stack([Y, -2 * Y + X[:, 0]])
LABELS = np.column_stack([Y > 1, Y > 2, X[:, 0] > 0]).astype(int)

FORMS = {
    "symmetric": {},
    "stumps": {"depth": 1},
    "deep": {"depth": 8},
    "lossguide": {"grow_policy": "Lossguide", "max_leaves": 9},
    "depthwise": {"grow_policy": "Depthwise"},
    "nan_max": {"nan_mode": "Max"},
    "few_borders": {"border_count": 3},
}
LOSSES = {
    "RMSE": Y, "MAE": Y, "Quantile:alpha=0.3": Y, "Huber:delta=2": Y, "Expectile:alpha=0.2": Y, "MAPE": Y + 9,
    "LogCosh": Y, "LogLinQuantile": Y + 9, "Poisson": COUNTS, "Tweedie:variance_power=1.5": COUNTS,
    "MultiRMSE": BOTH, "MultiQuantile:alpha=0.2,0.8": Y,
}  # fmt: skip
CLASS_LOSSES = {
    "Logloss": TWO, "CrossEntropy": (Y - Y.min()) / np.ptp(Y), "Focal:focal_alpha=0.5;focal_gamma=2": TWO,
    "MultiClass": CLASSES, "MultiLogloss": LABELS,
}  # fmt: skip
REGRESSORS = [(form, loss) for form in FORMS for loss in ("RMSE", "Poisson", "MultiRMSE")]
REGRESSORS += [("symmetric", loss) for loss in LOSSES if ("symmetric", loss) not in REGRESSORS]
CLASSIFIERS = [(form, loss) for form in FORMS for loss in ("Logloss", "MultiClass")]
CLASSIFIERS += [("symmetric", loss) for loss in CLASS_LOSSES if ("symmetric", loss) not in CLASSIFIERS]
OTHERS = {
    "weights": lambda: catboost.CatBoostRegressor(**QUIET).fit(X, Y, sample_weight=np.linspace(0, 3, N)),
    "monotone": lambda: catboost.CatBoostRegressor(**QUIET, monotone_constraints=[1, 0, 0, 0]).fit(X, Y),
    "early": lambda: catboost.CatBoostRegressor(
        **QUIET | {"iterations": 200, "learning_rate": 0.5}, early_stopping_rounds=3
    ).fit(X[:100], Y[:100], eval_set=(X[100:], Y[100:])),
    "shrunk": lambda: catboost.CatBoostRegressor(**QUIET, model_shrink_rate=0.2, learning_rate=0.3).fit(X, Y),
    "langevin": lambda: catboost.CatBoostRegressor(**QUIET, langevin=True).fit(X, Y),
    "ordered": lambda: catboost.CatBoostClassifier(**QUIET, boosting_type="Ordered").fit(X, TWO),
    "balanced": lambda: catboost.CatBoostClassifier(**QUIET, auto_class_weights="Balanced").fit(X, CLASSES),
    "bayesian": lambda: catboost.CatBoostClassifier(**QUIET, bootstrap_type="Bernoulli", subsample=0.5).fit(X, TWO),
    "two_scores": lambda: catboost.CatBoostClassifier(**QUIET, loss_function="MultiClass").fit(X, TWO),
    "ranker": lambda: catboost.CatBoostRanker(**QUIET).fit(X, CLASSES, group_id=np.repeat(range(15), 10)),
    "pairs": lambda: catboost.CatBoost({**QUIET, "loss_function": "PairLogit"}).fit(
        X, CLASSES, group_id=np.repeat(range(15), 10)
    ),
    "ignored": lambda: catboost.CatBoostRegressor(**QUIET, ignored_features=[0]).fit(X, Y),
    "base": lambda: catboost.CatBoost(QUIET).fit(X, Y),
    "one_round": lambda: catboost.CatBoostRegressor(**QUIET | {"iterations": 1, "depth": 2}).fit(X, Y),
    "booleans": lambda: catboost.CatBoostRegressor(**QUIET).fit(X[:, 3:] > 2, Y),
}


def saved(model, folder):
    path = folder / "model.json"
    model.save_model(str(path), format="json")
    return path


def edges(path, n=400):
    """Rows of borders with their neighbours in float32 and float64, and of cells that have none."""
    features = json.loads(path.read_bytes())["features_info"]["float_features"]
    rng = np.random.default_rng(5)
    rows = np.empty((n, len(features)))
    for at, feature in enumerate(features):
        borders = np.array(feature["borders"], np.float32)
        with np.errstate(over="ignore"):
            above, below = (np.nextafter(borders, np.float32(to)).astype(float) for to in (np.inf, -np.inf))
        near = np.concatenate([borders.astype(float), above, below, (borders.astype(float) + above) / 2])
        beside = np.concatenate([near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf)])
        rows[:, at] = rng.choice(np.concatenate([beside, [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e300]]), n)
    return rows


def check_same(model, folder):
    """Leaves are the same ones; scores are, to the bit where there is no bias, else up to rounding."""
    path = saved(model, folder)
    ours, live = tw.read_model(path), tw.read_model(model)
    told = json.loads(path.read_bytes())
    scale, bias = told["scale_and_bias"]
    width = len(told["features_info"]["float_features"])
    near = edges(path)
    rows = np.vstack([X[:, :width], near]) if width == 4 else near
    scores, leaves = ours.predict_scores(rows), ours.apply(rows).reshape(len(rows), -1)
    theirs = model.calc_leaf_indexes(rows)
    n_scores, per_round = len(bias), len(ours.boosting.base)
    for number in range(theirs.shape[1]):
        for score in range(per_round):
            pairs = np.column_stack([theirs[:, number], leaves[:, number * per_round + score]])
            pairs = np.unique(pairs, axis=0)
            assert len(np.unique(pairs[:, 0])) == len(np.unique(pairs[:, 1])) == len(pairs)
    asked = {} if isinstance(model, catboost.CatBoostRanker) else {"prediction_type": "RawFormulaVal"}
    raw = model.predict(rows, **asked)
    if raw.ndim == 2:
        raw = raw[:, np.isfinite(raw[0])]  # a class that no row had
    if n_scores == 2 and per_round == 1:
        raw = raw[:, 1] - raw[:, 0]
    if not np.any(bias) and scale == 1 and n_scores == per_round:
        assert np.array_equal(scores, raw)
    else:
        trees = told.get("oblivious_trees") or told["trees"]
        largest = 1e-15 * (np.abs(bias).max() + np.abs(raw).max() + len(trees))
        assert np.abs(scores - raw).max() <= largest * len(trees)
    answer = ours.predict(rows)
    assert np.array_equal(live.predict(rows), answer)
    if ours.task == "classification":
        assert np.array_equal(answer, np.asarray(model.predict(rows)).reshape(answer.shape).astype(answer.dtype))
    elif told["model_info"]["params"]["loss_function"]["type"] in ("Poisson", "Tweedie"):
        assert np.array_equal(answer, exp_of(scores))
        assert answer == pytest.approx(model.predict(rows), rel=1e-13)
    else:
        assert np.array_equal(answer, scores)
    return ours


@pytest.mark.parametrize(("form", "loss"), REGRESSORS)
def test_numbers_are_those_of_catboost(form, loss, tmp_path):
    model = catboost.CatBoostRegressor(**QUIET | FORMS[form], loss_function=loss).fit(X, LOSSES[loss])
    ours = check_same(model, tmp_path)
    assert ours.facts["imported"]["library"] == "catboost"


@pytest.mark.parametrize(("form", "loss"), CLASSIFIERS)
def test_classes_are_those_of_catboost(form, loss, tmp_path):
    model = catboost.CatBoostClassifier(**QUIET | FORMS[form], loss_function=loss).fit(X, CLASS_LOSSES[loss])
    ours = check_same(model, tmp_path)
    shares = model.predict_proba(X)
    if loss == "MultiLogloss":
        assert np.column_stack([each[:, 1] for each in ours.predict_proba(X)]) == pytest.approx(shares, abs=1e-14)
    else:
        assert ours.predict_proba(X) == pytest.approx(shares, abs=1e-14)


@pytest.mark.parametrize("name", OTHERS)
def test_models_of_other_options_say_what_catboost_says(name, tmp_path):
    check_same(OTHERS[name](), tmp_path)


@pytest.mark.parametrize(
    ("labels", "given"),
    [
        ([3, 7, 9, 11], None), (["b", "a", "zz", "c"], None), ([0.5, 2.5, -1.0, 8.0], None), ([True, False], None),
        (["yes", "no"], ["yes", "no"]), ([9, 2, 5, 1], [9, 2, 5, 1]), (["x", "y", "z"], ["z", "x", "never", "y"]),
    ],
)  # fmt: skip
def test_labels_come_as_they_were(labels, given, tmp_path):
    y = np.array(labels)[CLASSES % len(labels)]
    model = catboost.CatBoostClassifier(**QUIET, class_names=given).fit(X, y)
    ours = check_same(model, tmp_path)
    assert set(ours.classes_.tolist()) == set(labels)
    assert type(ours.classes_.tolist()[0]) is type(labels[0])


def test_a_threshold_set_in_catboost_is_kept(tmp_path):
    model = catboost.CatBoostClassifier(**QUIET).fit(X, TWO)
    model.set_probability_threshold(0.8)
    ours = check_same(model, tmp_path)
    assert (ours.predict(X) != (model.predict_proba(X)[:, 1] > 0.5)).any()


def test_a_scale_and_summed_models_are_read(tmp_path):
    one, two = (catboost.CatBoostRegressor(**QUIET).fit(X, y) for y in (Y, X[:, 0]))
    one.set_scale_and_bias(0.3, 5.0)
    check_same(one, tmp_path)
    both = catboost.sum_models([one, two], weights=[0.5, 0.25])
    path = saved(both, tmp_path)
    assert tw.read_model(path).predict(X) == pytest.approx(both.predict(X), rel=1e-13)


def test_a_branch_that_no_row_can_take_is_left_out():
    wide = catboost.CatBoostRegressor(**QUIET | {"depth": 6}).fit(X[:, :1], np.sin(3 * X[:, 0]))
    ours = tw.read_model(wide)
    assert max(tree.n_leaves for tree in ours.trees) <= 7  # six cuts of one column part it in seven
    assert np.array_equal(ours.predict(X[:, :1]), tw.read_model(wide).predict(X[:, :1]))
    assert all(int(tree.n_samples[0]) == N for tree in ours.trees)


def test_columns_are_matched_by_their_names():
    pandas = pytest.importorskip("pandas", reason="names come with a table of pandas")
    frame = pandas.DataFrame(X, columns=["age", "size", "pay", "rooms"])
    model = catboost.CatBoostRegressor(**QUIET).fit(frame, Y)
    ours = tw.read_model(model)
    assert ours.schema.names == ("age", "size", "pay", "rooms")
    assert np.array_equal(ours.predict(frame[["pay", "rooms", "age", "size"]]), ours.predict(frame))
    assert not tw.read_model(catboost.CatBoostRegressor(**QUIET).fit(X, Y)).schema.named


def test_levels_are_refused_with_the_reason_unless_no_tree_asks_them(tmp_path):
    pandas = pytest.importorskip("pandas", reason="levels come with a table of pandas")
    frame = pandas.DataFrame({"x": X[:, 0], "town": np.array([*"abc"])[np.arange(N) % 3]})
    target = (frame["town"] == "a") * 5.0 + X[:, 0]
    for size, reason in ((10, "tests for a level of a categorical feature"), (0, "statistics of the target by level")):
        model = catboost.CatBoostRegressor(**QUIET, one_hot_max_size=size or 1, cat_features=["town"])
        model.fit(frame, target)
        with pytest.raises(ParameterError, match=f"{reason}.*32-bit hashes"):
            tw.read_model(model)
        with pytest.raises(InputFileError, match=f"model.json.*{reason}"):
            tw.read_model(saved(model, tmp_path))
    model = catboost.CatBoostRegressor(**QUIET, cat_features=["town"]).fit(frame.assign(town="a"), X[:, 0])
    ours = tw.read_model(model)
    assert ours.predict({"x": X[:, 0]}) == pytest.approx(model.predict(frame), rel=1e-13)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: catboost.CatBoost({**QUIET, "loss_function": "MultiClassOneVsAll"}).fit(X, CLASSES), "add up to 1"),
        (lambda: catboost.CatBoostRegressor(**QUIET, loss_function="RMSEWithUncertainty").fit(X, Y), "a variance"),
        (catboost.CatBoostRegressor, "does not write this CatBoostRegressor"),
        (lambda: catboost.Pool(X, Y), "Pool is not a model"),
    ],
)  # fmt: skip
def test_what_trees_here_cannot_say_is_refused(make, reason):
    with pytest.raises(ParameterError, match=reason):
        tw.read_model(make())


def test_a_file_in_catboosts_own_form_is_refused_with_what_to_do(tmp_path):
    catboost.CatBoostRegressor(**QUIET).fit(X, Y).save_model(str(tmp_path / "model.cbm"))
    with pytest.raises(InputFileError, match='format="json"'):
        tw.read_model(tmp_path / "model.cbm")


def test_an_imported_model_is_one_of_ours(tmp_path):
    for model, y in (
        (catboost.CatBoostRegressor(**QUIET).fit(X, Y), Y),
        (catboost.CatBoostClassifier(**QUIET, grow_policy="Depthwise").fit(X, CLASSES), CLASSES),
    ):
        ours = tw.read_model(model)
        answer = ours.predict(X)
        assert ours.tree(0).show()
        assert "<svg" in ours.tree(0).plot()._repr_svg_()
        ours.tree(0).export(tmp_path / "tree.json")
        found = ours.explain(X[:5])
        total = found.values.sum(axis=1) + found.base
        assert total == pytest.approx(ours.predict_scores(X[:5]))
        ours.save(tmp_path / "ours.tw")
        again = tw.load(tmp_path / "ours.tw")
        assert np.array_equal(again.predict(X), answer)
        again.save(tmp_path / "again.tw")
        assert (tmp_path / "again.tw").read_bytes() == (tmp_path / "ours.tw").read_bytes()
        ours.export(tmp_path / "model.py")
        assert ours.predict_one(X[0].tolist()) == answer[0]
        assert len(ours.prune("rounds", X, y).trees) <= len(ours.trees)
        fewer = ours.prune("rounds", n_rounds=3).predict_scores(X)
        assert fewer == pytest.approx(
            model.predict(X, prediction_type="RawFormulaVal", ntree_end=3), rel=1e-12, abs=1e-13
        )
        tw.report(ours, X[:40], y[:40], path=tmp_path / "report.html", cv=None, examples=2)
        assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
        assert ours.importances("gain").sum() == pytest.approx(1.0)


SMALL = {**QUIET, "iterations": 1, "depth": 2, "border_count": 4}


def small_files(folder):
    for name, model in (
        ("symmetric", catboost.CatBoostClassifier(**SMALL).fit(X, TWO)),
        ("grown", catboost.CatBoostClassifier(**SMALL, grow_policy="Depthwise").fit(X, CLASSES)),
    ):
        told = json.loads(saved(model, folder).read_bytes())
        told["model_info"] = {
            key: value for key, value in told["model_info"].items() if key in ("class_params", "catboost_version_info")
        } | {"params": {"loss_function": told["model_info"]["params"]["loss_function"]}}
        yield name, told


def test_a_file_damaged_at_any_byte_is_refused_or_still_a_model(tmp_path):
    (reader,) = (each for each in READERS if each.name == "CatBoost")
    rng = random.Random(3)
    seen = {"refused": 0, "read": 0}
    path = tmp_path / "damaged.json"
    for _, told in small_files(tmp_path):
        data = json.dumps(told, separators=(",", ":")).encode()
        assert len(data) < 6000
        damaged = [data[:at] for at in range(0, len(data), 37)]
        for at in range(rng.randrange(13), len(data), 13):
            others = (data[at] ^ 1 << rng.randrange(8), rng.choice(b'0-9e]}"n'))
            damaged += [data[:at] + bytes([byte]) + data[at + 1 :] for byte in others]
        for each in damaged:
            path.write_bytes(each)
            try:
                tw.read_model(path)
            except InputFileError:
                seen["refused"] += 1
            else:
                seen["read"] += 1
    assert min(seen.values()) > 50
    assert reader.begins(data, ".json")


def parts_of(told, way=()):
    """Every place of a JSON document."""
    pairs = told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ()
    for key, value in pairs:
        yield (*way, key)
        yield from parts_of(value, (*way, key))


def test_any_part_of_another_type_is_refused_or_still_a_model(tmp_path):
    path = tmp_path / "damaged.json"
    random.seed(1)
    for _, told in small_files(tmp_path):
        path.write_text(json.dumps(told))
        tw.read_model(path)
        for way in list(parts_of(told)):
            for value in random.sample((None, "text", -1, 10**30, 1e400, [], {"a": [1]}), 3):
                changed = copy.deepcopy(told)
                place = changed
                for key in way[:-1]:
                    place = place[key]
                place[way[-1]] = value
                path.write_text(json.dumps(changed))
                with contextlib.suppress(InputFileError):
                    tw.read_model(path)
    path.write_text('{"features_info":' + "[" * 100_000)
    with pytest.raises(InputFileError, match=r"nested too deep|no whole JSON"):
        tw.read_model(path)


def test_a_tree_of_more_splits_than_leaves_is_refused(tmp_path):
    name, told = next(small_files(tmp_path))
    assert name == "symmetric"
    told["oblivious_trees"][0]["splits"] *= 30
    path = tmp_path / "model.json"
    path.write_text(json.dumps(told))
    with pytest.raises(InputFileError, match="4 leaf values for 60 splits"):
        tw.read_model(path)


def _first_split(told):
    return told["oblivious_trees"][0]["splits"][0] if "oblivious_trees" in told else told["trees"][0]["split"]


def _tested(told):
    return told["features_info"]["float_features"][_first_split(told)["float_feature_index"]]


CONTRADICTIONS = {
    "a border of a feature": lambda told: _tested(told).update(
        borders=[each + 0.25 for each in _tested(told)["borders"]]
    ),
    "a border less": lambda told: told["features_info"]["float_features"][0]["borders"].pop(),
    "a border of a split": lambda told: _first_split(told).update(border=_first_split(told)["border"] + 0.25),
    "the number of a split": lambda told: _first_split(told).update(split_index=_first_split(told)["split_index"] + 1),
    "the feature of a split": lambda told: _first_split(told).update(
        float_feature_index=(_first_split(told)["float_feature_index"] + 1) % 4
    ),
    "a feature twice": lambda told: told["features_info"]["float_features"][1].update(feature_index=0),
    "missing cells": lambda told: told["features_info"]["float_features"][0].update(
        has_nans=False, nan_value_treatment="AsTrue"
    ),
    "two kinds of trees": lambda told: told.update(trees=[], oblivious_trees=[]),
    "a class more": lambda told: told["model_info"]["class_params"]["class_names"].append(9),
    "a class twice": lambda told: told["model_info"]["class_params"].update(class_to_label=[0, -1]),
    "the number of classes": lambda told: told["model_info"]["class_params"].update(classes_count=9),
    "the loss": lambda told: told["model_info"]["params"]["metrics"]["objective_metric"].update(type="RMSE"),
}


@pytest.mark.parametrize("change", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
@pytest.mark.parametrize("form", [{}, {"grow_policy": "Depthwise"}], ids=["symmetric", "grown"])
def test_a_file_that_contradicts_itself_is_refused(tmp_path, form, change):
    model = catboost.CatBoostClassifier(**SMALL | {"iterations": 2}, **form).fit(np.nan_to_num(X), TWO)
    told = json.loads(saved(model, tmp_path).read_bytes())
    change(told)
    (tmp_path / "model.json").write_text(json.dumps(told))
    with pytest.raises(InputFileError, match="contradicts itself"):
        tw.read_model(tmp_path / "model.json")
