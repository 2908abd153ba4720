"""Models of YDF: each row ends in the same leaves, answers are equal within float32, what cannot be said is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from rotating import few

import treewright as tw
from treewright.exceptions import InputFileError, ParameterError

ydf = pytest.importorskip("ydf", reason="models of YDF are made here by YDF (pip install ydf)")
pandas = pytest.importorskip("pandas", reason="tables for YDF are of pandas")
ydf.verbose(0)

pytestmark = pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")  # missing cells on purpose

N = 240
LEVELS = [*"uvwxyz"]
FEATURES = ["a", "b", ("town", ydf.Semantic.CATEGORICAL), ("code", ydf.Semantic.CATEGORICAL), "flag"]
NAMES = ["a", "b", "town", "code", "flag"]


def table(n=N, seed=0):
    """Numbers, texts, whole numbers that are levels, booleans; missing cells in two columns."""
    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.integers(0, 6, n).astype(float),
            "town": rng.choice(LEVELS, n),
            "code": rng.integers(3, 7, n),
            "flag": rng.random(n) < 0.5,
        }
    )
    frame.loc[::5, "a"] = np.nan
    frame.loc[::9, "town"] = None
    frame.loc[0, "town"] = "rare"  # too rare for the dictionary
    signal = 3.0 * (frame["town"] == "u") + 2.0 * (frame["code"] == 4) + frame["a"].fillna(1.0) + 2.0 * frame["flag"]
    frame["y"] = signal + 0.3 * frame["b"] + rng.normal(size=n)
    frame["count"] = np.floor(np.abs(frame["y"]))
    frame["two"] = np.where(frame["y"] > 2, "yes", "no")
    frame["three"] = np.digitize(frame["y"], [1, 3])
    frame["truth"] = frame["y"] > 2
    frame["weight"] = np.linspace(0.5, 3.0, n)
    frame["group"] = np.arange(n) // 20
    return frame


FRAME = table()
KINDS = {"y": "REGRESSION", "count": "REGRESSION", "two": "CLASSIFICATION", "three": "CLASSIFICATION"}


def grown(learner, label, **options):
    task = getattr(ydf.Task, options.pop("task", KINDS.get(label, "CLASSIFICATION")))
    options = {"features": FEATURES, "num_trees": 8, "random_seed": 3} | options
    if learner is ydf.CartLearner:
        del options["num_trees"]
    return learner(label=label, task=task, num_threads=1, **options).train(FRAME)


BOOSTED, FOREST, CART = ydf.GradientBoostedTreesLearner, ydf.RandomForestLearner, ydf.CartLearner
MADE = {f"boosted-{label}": (BOOSTED, label, {}) for label in ("y", "two", "three", "truth")}
MADE |= {f"forest-{label}": (FOREST, label, {}) for label in ("y", "two", "three", "truth")}
MADE |= {f"cart-{label}": (CART, label, {}) for label in ("y", "two", "three", "truth")}
MADE |= {
    f"mean-{label}-{n}": (FOREST, label, {"winner_take_all": False, "num_trees": n})
    for label, n in itertools.product(("two", "three"), (1, 8))
}
MADE |= {f"vote-two-{n}": (FOREST, "two", {"num_trees": n, "max_depth": 2}) for n in (1, 2, 4)}
MADE |= {
    f"{policy}-{name}": (learner, "y", {"missing_value_policy": policy})
    for policy in ("LOCAL_IMPUTATION", "RANDOM_LOCAL_IMPUTATION")
    for name, learner in (("boosted", BOOSTED), ("forest", FOREST))
}
MADE |= {
    f"boosted-{name}": (BOOSTED, label, options)
    for name, label, options in (
        ("poisson", "count", {"loss": "POISSON"}), ("absolute", "y", {"loss": "MEAN_AVERAGE_ERROR"}),
        ("focal", "two", {"loss": "BINARY_FOCAL_LOSS"}), ("dart", "y", {"dart_dropout": 0.3}),
        ("rank", "count", {"task": "RANKING", "ranking_group": "group"}), ("weights", "y", {"weights": "weight"}),
        ("missing", "y", {"allow_na_conditions": True}), ("global", "y", {"growing_strategy": "BEST_FIRST_GLOBAL"}),
        ("random", "y", {"categorical_algorithm": "RANDOM"}), ("subsample", "three", {"subsample": 0.5}),
        ("bins", "y", {"discretize_numerical_columns": True}), ("all", "y", {"validation_ratio": 0.0}),
        ("early", "y", {"num_trees": 100, "shrinkage": 0.5}), ("deep", "y", {"max_depth": 12, "min_examples": 1}),
        ("hessian", "two", {"use_hessian_gain": True}), ("goss", "y", {"sampling_method": "GOSS"}),
        ("monotone", "y", {"features": [ydf.Feature("a", monotonic=1), *FEATURES[1:]], "use_hessian_gain": True}),
    )
}  # fmt: skip
MADE |= {
    f"forest-{name}": (FOREST, label, options)
    for name, label, options in (
        ("weights", "two", {"weights": "weight"}), ("honest", "y", {"honest": True}),
        ("missing", "three", {"allow_na_conditions": True}),
        ("bins", "three", {"discretize_numerical_columns": True}), ("deep", "y", {"max_depth": -1, "min_examples": 1}),
    )
}  # fmt: skip


def conditions(model):
    """All conditions of a model."""
    nodes = [tree.root for tree in model.iter_trees()]
    while nodes:
        node = nodes.pop()
        if not node.is_leaf:
            yield node.condition
            nodes += [node.pos_child, node.neg_child]


def edges(model, n=500):
    """Rows of thresholds with their neighbours in float32 and float64, of all levels, unknown and missing ones."""
    rng = np.random.default_rng(7)
    cells = {"a": [np.nan, np.inf, -np.inf, -0.0, 0.0], "b": [np.nan, np.inf, -np.inf, 2.5]}
    names = [column.name for column in model.data_spec().columns]
    for asked in conditions(model):
        if type(asked).__name__ == "NumericalHigherThanCondition":
            at = np.float32(asked.threshold)
            below = float(np.nextafter(at, np.float32(-np.inf)))
            near = [float(at), below, (float(at) + below) / 2]
            cells[names[asked.attribute]] += [*near, *np.nextafter(near, np.inf), *np.nextafter(near, -np.inf)]
    frame = table(n, seed=1)
    for name, own in cells.items():
        frame[name] = rng.choice(own, n)
    frame["town"] = rng.choice(np.array([*LEVELS, "", "rare", "elsewhere", None], object), n)
    frame["code"] = rng.integers(2, 9, n)
    return frame


def check_same(model):
    ours, label = tw.read_model(model), model.label()
    for frame in (FRAME, edges(model)):
        theirs, found = model.predict_leaves(frame), ours.apply(frame[NAMES]).reshape(len(frame), -1)
        assert theirs.shape == found.shape
        for one, other in zip(theirs.T, found.T, strict=True):
            pairs = np.unique(np.column_stack([one, other]), axis=0)
            assert len(np.unique(pairs[:, 0])) == len(np.unique(pairs[:, 1])) == len(pairs)
        for slow in (False, True) if model.list_compatible_engines() else (True,):
            answer = model.predict(frame, use_slow_engine=slow)
            if ours.task == "classification":
                shares = ours.predict_proba(frame[NAMES])
                shares = shares[:, 1] if answer.ndim == 1 else shares
                assert np.abs(shares - answer).max() < 1e-6
            else:
                numbers = ours.predict(frame[NAMES])
                # float32 is added in float32: each addition rounds by half a unit of the sum.
                assert np.abs(numbers - answer).max() <= np.abs(answer).max() * len(ours.trees) * 2.0**-23
        if ours.task == "classification":
            classes = model.predict_class(frame, use_slow_engine=True)
            same = classes == np.char.lower(ours.predict(frame[NAMES]).astype(str))
            ordered = np.sort(ours.predict_proba(frame[NAMES]), axis=1)
            is_tie = ordered[:, -1] - ordered[:, -2] < 1e-6  # YDF rounds to float32 before it compares
            assert same[~is_tie].all()
            assert set(ours.classes_.tolist()) == set(FRAME[label])
    return ours


@pytest.mark.parametrize("name", few(list(MADE), 12))
def test_each_row_ends_in_its_leaf_and_answers_are_those_of_ydf(name):
    learner, label, options = MADE[name]
    model = grown(learner, label, **options)
    ours = check_same(model)
    kinds = {type(asked).__name__ for asked in conditions(model)}
    if name.endswith("missing"):
        assert "IsMissingInCondition" in kinds
    if name.endswith("bins"):
        assert "DiscretizedNumericalHigherThanCondition" in kinds
    assert ours.facts["imported"]["library"] == "ydf"


def test_votes_that_are_even_are_for_the_second_class():
    model = grown(FOREST, "two", num_trees=2)
    ours = tw.read_model(model)
    even = ours.predict_proba(FRAME[NAMES])[:, 0] == 0.5
    assert even.any()
    assert (ours.predict(FRAME[NAMES])[even] == "yes").all()
    assert (model.predict_class(FRAME)[even] == "yes").all()


def test_gains_are_the_scores_of_ydf():
    model = grown(BOOSTED, "y")
    told = {name: score for score, name in model.variable_importances()["SUM_SCORE"]}
    expected = np.array([told[name] for name in NAMES])
    assert tw.read_model(model).importances("gain") == pytest.approx(expected / expected.sum(), rel=1e-5)


def test_columns_are_as_the_table_had_them():
    columns = tw.read_model(grown(BOOSTED, "y")).schema.columns
    assert [column.name for column in columns] == NAMES
    assert [column.family for column in columns] == ["number", "number", "string", "number", "boolean"]
    assert [column.missing_seen for column in columns] == [True, False, True, False, False]
    assert set(columns[2].levels) == {*LEVELS, ""}
    assert set(columns[3].levels) == {3, 4, 5, 6}
    assert columns[4].levels == (False, True)


def test_a_column_of_sets_that_no_tree_asks_is_left_out():
    frame = FRAME.assign(words=[["the", "same"]] * N)
    model = ydf.CartLearner(label="y", task=ydf.Task.REGRESSION, features=["a", "words"]).train(frame)
    assert np.abs(tw.read_model(model).predict(frame[["a"]]) - model.predict(frame)).max() < 1e-6


def of_sets():
    words = [["sun"] if y > 2 else ["rain", "wind"] for y in FRAME["y"]]
    features = [("words", ydf.Semantic.CATEGORICAL_SET)]
    learner = ydf.RandomForestLearner(label="y", task=ydf.Task.REGRESSION, features=features, num_trees=20)
    return learner.train(FRAME.assign(words=words))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: grown(BOOSTED, "y", split_axis="SPARSE_OBLIQUE", features=["a", "b"]), "ObliqueCondition"),
        (of_sets, "CategoricalSetContainsCondition"),
        (lambda: ydf.IsolationForestLearner(features=["a"], num_trees=2).train(FRAME), "IsolationForestModel is not"),
        (lambda: grown(BOOSTED, "two", loss="MULTINOMIAL_LOG_LIKELIHOOD"), "2 scores for 2 classes"),
        (lambda: ydf.CartLearner(label="y"), "CartLearner is not read"),
    ],
)  # fmt: skip
def test_what_trees_here_cannot_say_is_refused(make, reason):
    with pytest.raises(ParameterError, match=reason):
        tw.read_model(make())


def test_a_folder_is_refused_with_what_to_do(tmp_path):
    model = grown(CART, "y")
    model.save(str(tmp_path / "model"))
    with pytest.raises(InputFileError, match=r"ydf\.load_model"):
        tw.read_model(tmp_path / "model")
    again = tw.read_model(ydf.load_model(str(tmp_path / "model")))
    assert np.array_equal(again.predict(FRAME[NAMES]), tw.read_model(model).predict(FRAME[NAMES]))


@pytest.mark.parametrize(("learner", "label"), [(BOOSTED, "y"), (FOREST, "two"), (CART, "two")])
def test_an_imported_model_is_one_of_ours(learner, label, tmp_path):
    X, y = FRAME[NAMES], FRAME[label].to_numpy()
    ours = tw.read_model(grown(learner, label))
    answer = ours.predict(X)
    one = ours if ours.is_single_tree else ours.tree(0)
    assert one.show()
    assert "<svg" in one.plot()._repr_svg_()
    one.export(tmp_path / "tree.json")
    found = ours.explain(X.iloc[:5])
    total = found.values.sum(axis=1) + found.base
    said = ours.predict_scores(X.iloc[:5]) if ours.has_scores else ours.predict_proba(X.iloc[:5])
    assert total.reshape(5, -1)[:, -1] == pytest.approx(said.reshape(5, -1)[:, -1])
    ours.save(tmp_path / "ours.tw")
    again = tw.load(tmp_path / "ours.tw")
    assert np.array_equal(again.predict(X), answer)
    again.save(tmp_path / "again.tw")
    assert (tmp_path / "again.tw").read_bytes() == (tmp_path / "ours.tw").read_bytes()
    ours.export(tmp_path / "model.py")
    assert ours.predict_one(X.iloc[1].to_dict()) == answer[1]
    if ours.has_scores:
        assert len(ours.prune("rounds", X, y).trees) <= len(ours.trees)
        ours.prune("rounds", n_rounds=3)
    tw.report(ours, X[:40], y[:40], tmp_path / "report.html", cv=None, examples=2)
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
