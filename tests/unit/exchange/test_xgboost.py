"""XGBoost's models as ours: each row in the same leaf of each tree, sums within the rounding of XGBoost's float32."""

from __future__ import annotations

import json
from runpy import run_path

import numpy as np
import pytest
from rotating import few

from treewright import load, read_model, report
from treewright.exceptions import InputFileError, ParameterError, TreewrightError
from treewright.exchange.foreign import read
from treewright.exchange.from_xgboost import _ubjson, of_file
from treewright.trees.codec import dumps

xgboost = pytest.importorskip(
    "xgboost", reason="reads models that XGBoost trains here: pip install xgboost-cpu (19 MB)"
)
pd = pytest.importorskip("pandas", reason="XGBoost takes categories from tables")
pytestmark = pytest.mark.filterwarnings("ignore")
EPS = float(np.finfo(np.float32).eps)
N = 220


def plain(seed=0, missing=True):
    """Four columns: numbers with ties and missing cells, one of whole numbers, zeros of both signs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 4))
    X[:, 1] = np.round(X[:, 1], 1)
    X[:, 2] = rng.integers(0, 5, N)
    X[::5, 3] = rng.choice([0.0, -0.0], len(X[::5]))
    if missing:
        X[rng.random((N, 4)) < 0.15] = np.nan
    return X


def target(X, seed=0):
    number = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) * (np.nan_to_num(X[:, 2]) > 2) + np.isnan(X[:, 3])
    return number + 0.2 * np.random.default_rng(seed).normal(size=len(X))


def classes(X, k):
    y = np.argsort(np.argsort(target(X))) * k // len(X)
    return np.minimum(y, k - 1)


def positive(X):
    return np.abs(target(X)) + 0.1


def booster(y=target, rounds=6, seed=0, missing=True, rows=None, **params):
    def make():
        X = plain(seed, missing)
        data = xgboost.DMatrix(X, y(X) if callable(y) else y, nthread=1, **(rows or {}))
        if params.get("objective") == "survival:aft":
            for side in ("lower", "upper"):
                data.set_float_info(f"label_{side}_bound", positive(X))
        if params.get("objective", "").startswith("rank"):
            data.set_group([N // 4] * 4)
        return xgboost.train({"max_depth": 3, "nthread": 1, "seed": seed, **params}, data, rounds), X

    return make


def wrapper(name, y=target, stop=False, fit=None, **params):
    def make():
        X = plain()
        model = getattr(xgboost, name)(**{"n_estimators": 6, "max_depth": 3, "n_jobs": 1, **params})
        if stop:
            model.set_params(n_estimators=40, early_stopping_rounds=2, learning_rate=0.9)
            model.fit(X[:150], y(X)[:150], eval_set=[(X[150:], y(X)[150:])], verbose=False)
            assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
        else:
            model.fit(X, y(X), **(fit or {}))
        return model, X

    return make


def frame(seed=0, n_levels=6, whole=False):
    """A table of pandas with categories: texts, or whole numbers."""
    X, rng = plain(seed), np.random.default_rng(seed)
    levels = rng.permutation(1000)[:n_levels] if whole else [f"town {i:03}" for i in rng.permutation(n_levels)]
    town = pd.Categorical(rng.choice(levels, N), categories=levels)
    table = pd.DataFrame(
        {"one": X[:, 0], "town": town, "flag": X[:, 1] > 0, "count": rng.integers(0, 9, N), "z": X[:, 3]}
    )
    table.loc[::9, "town"] = np.nan
    return table


def of_frame(name="XGBRegressor", n_levels=6, whole=False, polars=False, onehot=1, k=None, **params):
    def make():
        table = frame(0, n_levels, whole)
        y = table.town.cat.codes % 3 * 1.5 + table.one.fillna(2) + table.z.fillna(0)
        y = (y > y.median()) + (k == 3) * (y > y.quantile(0.8)) if k else y
        params_ = {"n_estimators": 5, "max_depth": 4, "max_cat_to_onehot": onehot, "n_jobs": 1, **params}
        if polars:
            pl = pytest.importorskip("polars")
            table = pl.from_pandas(table.astype({"town": str})).with_columns(pl.col("town").cast(pl.Categorical))
        return getattr(xgboost, name)(enable_categorical=True, **params_).fit(table, y.to_numpy()), table

    return make


def coded(n_levels=12, onehot=1, rounds=5):
    """Codes of categories in an array: the model keeps no levels."""

    def make():
        X, rng = plain(), np.random.default_rng(1)
        X[:, 2] = rng.integers(0, n_levels, N)
        X[::11, 2] = np.nan
        data = xgboost.DMatrix(
            X, np.nan_to_num(X[:, 2] % 3 + X[:, 0]), feature_types=["q", "q", "c", "q"], enable_categorical=True
        )
        return xgboost.train({"max_depth": 4, "max_cat_to_onehot": onehot, "nthread": 1}, data, rounds), X

    return make


def refreshed():
    X = plain()
    data = xgboost.DMatrix(X, target(X), nthread=1)
    first = xgboost.train({"max_depth": 3, "nthread": 1}, data, 4)
    again = {"process_type": "update", "updater": "refresh", "max_depth": 3, "nthread": 1}
    return xgboost.train(again, xgboost.DMatrix(X, 2 * target(X), nthread=1), 4, xgb_model=first), X


def two_targets(X):
    return np.c_[target(X), positive(X)]


WEIGHTS = np.random.default_rng(5).integers(0, 4, N) + 0.5
MODELS = {
    "squared error": booster(),
    "absolute error": booster(objective="reg:absoluteerror"),
    "pseudo huber": booster(objective="reg:pseudohubererror"),
    "squared log error": booster(positive, objective="reg:squaredlogerror"),
    "one quantile": booster(objective="reg:quantileerror", quantile_alpha=0.3),
    "three quantiles": booster(objective="reg:quantileerror", quantile_alpha=[0.1, 0.5, 0.9]),
    "poisson": booster(lambda X: np.rint(positive(X) * 3), objective="count:poisson"),
    "gamma": booster(positive, objective="reg:gamma"),
    "tweedie": booster(positive, objective="reg:tweedie", tweedie_variance_power=1.3),
    "cox": booster(positive, objective="survival:cox"),
    "aft": booster(None, objective="survival:aft"),
    "pairs": booster(lambda X: classes(X, 3), objective="rank:pairwise"),
    "ndcg": booster(lambda X: classes(X, 3), objective="rank:ndcg"),
    "map": booster(lambda X: classes(X, 2), objective="rank:map"),
    "logistic": booster(lambda X: classes(X, 2), objective="binary:logistic"),
    "logit raw": booster(lambda X: classes(X, 2), objective="binary:logitraw"),
    "softprob": booster(lambda X: classes(X, 4), objective="multi:softprob", num_class=4),
    "softmax": booster(lambda X: classes(X, 3), objective="multi:softmax", num_class=3),
    "softprob of two": booster(lambda X: (classes(X, 3) > 0) * 1, objective="multi:softprob", num_class=2),
    "one class alone": booster(lambda X: np.zeros(len(X)), objective="binary:logistic"),
    "base told": booster(objective="reg:squarederror", base_score=3.25),
    "share told": booster(lambda X: classes(X, 2), objective="binary:logistic", base_score=0.2),
    "exact": booster(tree_method="exact"),
    "approximate": booster(tree_method="approx", max_bin=16),
    "pruned": booster(tree_method="exact", gamma=8.0, max_depth=6),
    "leaf by leaf": booster(grow_policy="lossguide", max_leaves=9, max_depth=0),
    "deep": booster(max_depth=12, min_child_weight=0, rounds=4),
    "many cuts": booster(max_depth=14, min_child_weight=0, rounds=30, tree_method="exact", learning_rate=0.05),
    "stumps": booster(max_depth=1, rounds=40),
    "no splits": booster(gamma=1e9, rounds=3),
    "weights": booster(rows={"weight": WEIGHTS}),
    "monotone": booster(monotone_constraints="(1,-1,0,0)"),
    "no missing": booster(missing=False),
    "sampled": booster(subsample=0.5, colsample_bynode=0.5, seed=3),
    "l1": booster(alpha=3.0),
    "names": booster(rows={"feature_names": ["a", "b b", "c", "d"], "feature_types": ["q", "float", "int", "q"]}),
    "huge": booster(lambda X: target(X) * 1e30),
    "tiny": booster(lambda X: target(X) * 1e-30),
    "dart": booster(booster="dart", rate_drop=0.5, rounds=12),
    "dart by weight": booster(booster="dart", rate_drop=0.3, sample_type="weighted", normalize_type="forest", rounds=9),
    "dart of classes": booster(
        lambda X: classes(X, 3), booster="dart", rate_drop=0.5, objective="multi:softprob", num_class=3
    ),
    "forests by round": booster(
        lambda X: classes(X, 3), num_parallel_tree=3, subsample=0.7, objective="multi:softprob", num_class=3, rounds=2
    ),
    "refreshed": refreshed,
    "regressor": wrapper("XGBRegressor"),
    "classifier": wrapper("XGBClassifier", lambda X: classes(X, 2)),
    "three classes": wrapper("XGBClassifier", lambda X: classes(X, 3)),
    "reg:logistic of a classifier": wrapper("XGBClassifier", lambda X: classes(X, 2), objective="reg:logistic"),
    "forest": wrapper("XGBRFRegressor", n_estimators=20),
    "forest of classes": wrapper("XGBRFClassifier", lambda X: classes(X, 3), n_estimators=8),
    "two targets": wrapper("XGBRegressor", two_targets),
    "two targets in a leaf": wrapper("XGBRegressor", two_targets, multi_strategy="multi_output_tree"),
    "two labels": wrapper("XGBClassifier", lambda X: (two_targets(X) > 0.4) * 1),
    "stopped": wrapper("XGBRegressor", stop=True),
    "stopped classifier": wrapper("XGBClassifier", lambda X: classes(X, 2), stop=True),
    "stopped classes": wrapper("XGBClassifier", lambda X: classes(X, 3), stop=True),
    "stopped in a leaf": wrapper("XGBRegressor", two_targets, stop=True, multi_strategy="multi_output_tree"),
    "stopped forests": wrapper("XGBClassifier", lambda X: classes(X, 3), stop=True, num_parallel_tree=2, subsample=0.8),
    "stopped dart": wrapper("XGBRegressor", stop=True, booster="dart", rate_drop=0.1),
    "ranker": wrapper("XGBRanker", lambda X: classes(X, 3), fit={"group": [N // 2, N // 2]}),
    "towns": of_frame(),
    "towns one by one": of_frame(onehot=100),
    "many towns": of_frame(n_levels=90),
    "numbered towns": of_frame(n_levels=9, whole=True),
    "towns of polars": of_frame(polars=True),
    "towns and classes": of_frame("XGBClassifier", k=2),
    "towns and three classes": of_frame("XGBClassifier", k=3),
    "codes": coded(),
    "codes one by one": coded(onehot=100),
    "many codes": coded(150, rounds=12),
}


def parts(model):
    """What an original is asked: its booster, which rounds its predict takes, its trees as JSON and their scores."""
    own = model if isinstance(model, xgboost.Booster) else model.get_booster()
    best = own.attr("best_iteration") if own is not model else None
    rounds = (0, 0 if best is None else int(best) + 1)
    grown = json.loads(bytes(own.save_raw("json")))["learner"]["gradient_booster"]
    weights = grown.get("weight_drop")
    grown = grown.get("gbtree", grown)["model"]
    return own, rounds, grown, weights


def edges(table, grown, seed=0):
    """Rows with cells on cuts, beside them in float32 and float64, and beyond all of them."""
    rng = np.random.default_rng(seed)
    cuts = {at: [] for at in range(table.shape[1])}
    for tree in grown["trees"]:
        for at, cut, leaf in zip(tree["split_indices"], tree["split_conditions"], tree["left_children"], strict=True):
            if leaf >= 0:
                cuts[at].append(np.float32(cut))
    is_array = isinstance(table, np.ndarray)
    picked = rng.integers(0, len(table), 400)
    rows = table[picked] if not hasattr(table, "iloc") else table.iloc[picked].reset_index(drop=True)
    if not is_array and not hasattr(table, "iloc"):
        return rows
    for at in range(table.shape[1]):
        if not is_array and str(table.dtypes.iloc[at]) != "float64":
            continue
        own = np.array(cuts[at] or [0], np.float32)
        beside = [own, np.nextafter(own, np.float32(np.inf)), np.nextafter(own, np.float32(-np.inf))]
        far = [0.0, -0.0, 1e-45, -1e-45, 3.4e38, -3.4e38, 1e-300, np.nan]
        own = np.concatenate([each.astype(float) for each in beside])
        own = np.concatenate([own, np.nextafter(own, np.inf), np.nextafter(own, -np.inf), far])
        # Halfway between two of float32, and beside that.
        middle = own[: len(beside[0])] / 2 + own[len(beside[0]) : 2 * len(beside[0])] / 2
        own = np.concatenate([own, middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)])
        cells = rng.choice(own[np.abs(np.nan_to_num(own)) < 3.41e38], len(rows))
        if is_array:
            is_code = set(np.unique(table[~np.isnan(table[:, at]), at])) <= set(range(200)) and cuts[at] and at == 2
            rows[:, at] = (
                rng.choice([*range(160), -1, 10**6, np.nan], len(rows)) if is_code and is_coded(grown) else cells
            )
        else:
            rows[rows.columns[at]] = cells
    return rows


def is_coded(grown):
    return any(any(tree["split_type"]) for tree in grown["trees"])


def matrix(own, table):
    names, types = own.feature_names, own.feature_types
    if isinstance(table, np.ndarray):
        return xgboost.DMatrix(table, feature_names=names, feature_types=types, enable_categorical=True, nthread=1)
    return xgboost.DMatrix(table, enable_categorical=True, nthread=1)


@pytest.mark.parametrize("name", few(list(MODELS), 15))
def test_rows_end_in_the_same_leaves_and_sums_differ_by_roundings_of_float32(name):
    model, table = MODELS[name]()
    own, rounds, grown, weights = parts(model)
    ours = read_model(model)
    names = own.feature_names if isinstance(table, np.ndarray) else None
    for rows in (table, edges(table, grown)):
        asked = dict(zip(names, rows.T, strict=True)) if names else rows
        data = matrix(own, rows)
        leaves = own.predict(data, pred_leaf=True, iteration_range=rounds).reshape(len(rows), -1).astype(int)
        margin = own.predict(data, output_margin=True, iteration_range=rounds).reshape(len(rows), -1)
        said = contents(grown, weights, leaves)  # [n, trees, scores]
        if name == "softprob of two":  # one score here: that of the second class less that of the first
            said = (said * [-1, 1]).reshape(len(rows), -1, 1)
            margin = margin[:, 1:].astype(float) - margin[:, :1]
        assert np.array_equal(said_here(ours, asked), said)
        scores = ours.predict_scores(asked).reshape(len(rows), -1)
        base = np.abs(np.array(ours.boosting.base))
        # Each of n additions rounds what is at most the sum of all without signs; the base is rounded once or twice.
        bound = (said.shape[1] + 3) * EPS * (np.abs(said).sum(axis=1) + base + (name == "softprob of two"))
        bound += 3 * EPS * (ours.boosting.link != "identity")  # of a base that is a logarithm of a number near 1
        assert (np.abs(scores - margin) <= bound).all()
        if own is not model:
            answers_agree(model, ours, rows, asked, bound)
    one, other = (bytes(own.save_raw(kind)) for kind in ("json", "ubj"))
    if name == "reg:logistic of a classifier":
        with pytest.raises(InputFileError, match="returns a probability as a number"):
            of_file(one)
    else:
        assert dumps(of_file(one)) == dumps(of_file(other)) == dumps(read(own))


def contents(grown, weights, leaves):
    """What each tree adds to each score, by the leaf that XGBoost names: float64[n, trees of a score, scores]."""
    group = grown["tree_info"][: leaves.shape[1]]
    lists = {}
    for at in range(leaves.shape[1]):
        tree = grown["trees"][at]
        width = int(tree["tree_param"]["size_leaf_vector"])
        weight = np.float32(1 if weights is None else weights[at])
        if width > 1:
            table = np.array(tree["leaf_weights"], np.float32).reshape(-1, width)[
                np.array(tree["right_children"])[leaves[:, at]]
            ]
            for score in range(width):
                lists.setdefault(score, []).append(table[:, score] * weight)
        else:
            lists.setdefault(group[at], []).append(
                np.array(tree["split_conditions"], np.float32)[leaves[:, at]] * weight
            )
    return np.stack([np.stack(lists[score], axis=1) for score in sorted(lists)], axis=2).astype(float)


def said_here(ours, asked):
    """The same of the imported trees."""
    leaves, k = ours.apply(asked), len(ours.boosting.base)
    leaves = leaves.reshape(len(leaves), -1)
    said = np.stack([tree.value[leaves[:, at], 0] for at, tree in enumerate(ours.trees)], axis=1)
    return said.reshape(len(leaves), -1, k)


def answers_agree(model, ours, rows, asked, bound):
    if hasattr(model, "predict_proba"):
        shares, own = model.predict_proba(rows), ours.predict_proba(asked)
        if isinstance(own, list):  # several outputs: XGBoost gives the share of 1
            own = np.stack([each[:, 1] for each in own], axis=1)
        assert np.abs(own - shares).max() <= bound.max() + 8 * EPS
        clear = np.abs(shares - 0.5).min(axis=1) > bound.max() + 8 * EPS
        assert clear.mean() > 0.5
        assert np.array_equal(np.asarray(model.predict(rows))[clear], ours.predict(asked)[clear])
    else:
        assert (np.abs(ours.predict(asked) - model.predict(rows)).reshape(bound.shape) <= bound).all()


# Files and objects ----------------------------------------------------------------------------------------------------


def roundings(ours):
    """By how much a sum of all trees in float32 may be off; a base that is a logarithm is rounded at 1."""
    return (
        (len(ours.trees) + 3)
        * EPS
        * (sum(np.abs(tree.value).max() for tree in ours.trees) + 1 + abs(ours.boosting.base[0]))
    )


def test_a_file_of_a_wrapper_stops_at_the_best_round_and_a_booster_goes_on(tmp_path):
    model, _ = MODELS["stopped classes"]()
    for ending in ("json", "ubj"):
        model.save_model(tmp_path / f"model.{ending}")
        ours = read_model(tmp_path / f"model.{ending}")
        assert len(ours.trees) == 3 * (model.best_iteration + 1)
        assert dumps(ours) == dumps(read_model(model))
        assert ours.facts["imported"] == {
            "library": "XGBoost",
            "version": xgboost.__version__,
            "class": "XGBClassifier",
            "objective": "multi:softprob",
        }
    own = model.get_booster()
    assert len(read_model(own).trees) == 3 * own.num_boosted_rounds() > len(ours.trees)
    own.save_model(tmp_path / "own.ubj")
    assert len(read_model(tmp_path / "own.ubj").trees) == 3 * own.num_boosted_rounds()


def test_infinite_cells_go_as_wrappers_send_them():
    model, X = MODELS["regressor"]()
    X = X[:30].copy()
    ours = read_model(model)
    X[::3, 0], X[1::3, 1], X[2::3, 3] = np.inf, -np.inf, 1e300
    assert np.allclose(ours.predict(X), model.predict(X), rtol=0, atol=roundings(ours))


def test_a_cut_of_minus_infinity_sends_missing_cells_alone_to_the_left():
    own, X = MODELS["squared error"]()
    changed = json.loads(bytes(own.save_raw("json")))
    for tree in changed["learner"]["gradient_booster"]["model"]["trees"]:
        tree["split_conditions"][0] = float("-inf")
        tree["default_left"][0] = 1
    ours = read_bytes(json.dumps(changed).encode())
    rows = np.vstack([X, np.full((1, 4), -np.inf)])
    leaves = ours.apply(rows).reshape(len(rows), -1)
    for at, tree in enumerate(ours.trees):
        under = {0: 0}
        for node in range(tree.n_nodes):
            for child in (tree.first_child[node], tree.first_child[node] + 1) if tree.first_child[node] > 0 else ():
                under[child] = child if node == 0 else under[node]
        asked = rows[:, tree.feature[0]]
        found = np.array([under[leaf] for leaf in leaves[:, at].tolist()])
        assert len(set(found[np.isnan(asked)])) == 1
        assert set(found[np.isnan(asked)]).isdisjoint(found[~np.isnan(asked)])


def as_old(own):
    """A model as versions before 3.1 wrote it."""
    old = json.loads(bytes(own.save_raw("json")))
    old["version"] = [1, 7, 6]
    param, model = old["learner"]["learner_model_param"], old["learner"]["gradient_booster"]["model"]
    param["base_score"] = param["base_score"].strip("[]")
    del param["num_target"], model["cats"], model["iteration_indptr"]
    for tree in model["trees"]:
        tree["default_left"] = [bool(each) for each in tree["default_left"]]
    return old


def read_bytes(data):
    from treewright.model import Model

    return Model.of(of_file(data))


def test_files_of_older_versions_are_read():
    for name in ("squared error", "logistic", "gamma", "codes"):
        own, X = MODELS[name]()
        old = as_old(own)
        other = xgboost.Booster(model_file=bytearray(json.dumps(old).encode()))
        asked = dict(zip(own.feature_names, X.T, strict=True)) if own.feature_names else X
        ours = read_bytes(json.dumps(old).encode())
        assert np.array_equal(ours.predict_scores(asked), read_model(own).predict_scores(asked))
        margin = other.predict(matrix(own, X), output_margin=True)
        assert np.allclose(ours.predict_scores(asked).ravel(), margin, rtol=0, atol=roundings(ours))
    old = as_old(MODELS["stopped"]()[0].get_booster())
    old["learner"]["attributes"]["scikit_learn"] = '{"_estimator_type": "regressor"}'
    assert len(of_file(json.dumps(old).encode()).trees) == int(old["learner"]["attributes"]["best_iteration"]) + 1


def test_levels_are_the_texts_of_the_table_and_a_new_one_is_refused_as_there():
    model, table = MODELS["towns"]()
    ours = read_model(model)
    town = ours.schema.columns[1]
    assert town.kind == "nominal"
    assert set(town.levels) == set(table.town.cat.categories)
    as_text = {name: table[name].astype(object).where(table[name].notna(), None).tolist() for name in table}
    assert np.array_equal(ours.predict(as_text), ours.predict(table))
    as_text["town"][3] = "Ulm"
    with pytest.raises(TreewrightError, match="Ulm"):
        ours.predict(as_text)
    with pytest.raises(xgboost.core.XGBoostError, match="not in the training set"):
        model.predict(table.assign(town=pd.Categorical(["zzz"] * len(table))))


def test_a_code_that_no_node_lists_goes_where_it_goes_there():
    own, X = MODELS["codes"]()
    rows = X[:40].copy()
    rows[:, 2] = [*range(36), -1, 200, 1e6, np.nan]
    found, ours = own.predict(matrix(own, rows)), read_model(own)
    assert np.allclose(ours.predict(rows), found, rtol=0, atol=roundings(ours))
    assert len(ours.schema.columns[2].levels) <= 12


@pytest.mark.parametrize(
    "name", ["regressor", "three classes", "towns", "poisson", "dart", "three quantiles", "two labels"]
)
def test_all_verbs_work(name, tmp_path):
    model, table = MODELS[name]()
    ours = read_model(model)
    answers = ours.predict(table)
    assert ours.tree(0).show().count("\n") > 3
    assert "<svg" in ours.tree(0).plot()._repr_svg_()
    ours.save(tmp_path / "model.tw")
    assert dumps(load(tmp_path / "model.tw")) == dumps(ours)
    first = table.iloc[0].to_dict() if hasattr(table, "iloc") else table[0].tolist()
    assert np.array_equal(ours.predict_one(first), answers[0])
    assert len(ours.prune("rounds", n_rounds=2).trees) == 2 * len(ours.boosting.base)
    assert ours.importances("gain").sum() == pytest.approx(1.0) == ours.importances("cover").sum()
    why = ours.explain(table[:5] if not hasattr(table, "iloc") else table.iloc[:5])
    scores = ours.predict_scores(table)[:5].reshape(5, -1)
    total = np.asarray(why.values).reshape(5, -1, scores.shape[1]).sum(axis=1) + np.asarray(why.base).reshape(1, -1)
    assert total == pytest.approx(scores, abs=1e-9)
    ours.export(tmp_path / "model.py")
    code = run_path(str(tmp_path / "model.py"))
    cells = dict(zip(ours.schema.names, first.values() if isinstance(first, dict) else first, strict=True))
    assert np.ravel(code["sums"](code["encode"](cells))).tolist() == scores[0].tolist()
    assert "<html" in report(ours, table, answers).html


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (booster(booster="gblinear"), "only the trees of 'gbtree' and 'dart' are read"),
        (booster(lambda X: classes(X, 2), objective="binary:hinge"), "without probabilities"),
        (booster(lambda X: classes(X, 2), objective="reg:logistic"), "a probability as a number"),
        (wrapper("XGBRegressor", lambda X: classes(X, 2), objective="binary:logistic"), "a probability as a number"),
        (wrapper("XGBClassifier", lambda X: classes(X, 2), objective="binary:logitraw"), "get_booster"),
        (wrapper("XGBRegressor", missing=-1.0), "missing=-1.0"),
        (lambda: (xgboost.XGBRegressor(), None), "is it fitted"),
        (lambda: (xgboost.DMatrix(np.zeros((2, 2))), None), "is not a model"),
        (booster(lambda X: np.zeros(len(X)), objective="count:poisson"), "no finite score"),
        (of_frame(n_levels=0), "beyond ASCII"),
    ],
)
def test_what_ours_cannot_say_is_refused_with_the_reason(make, said, monkeypatch):
    if "ASCII" in said:
        table = pd.DataFrame({"town": pd.Categorical(["Köln", "Ulm", "Été"] * 20)})
        model = xgboost.XGBRegressor(n_estimators=1, enable_categorical=True).fit(table, np.arange(60.0))
    else:
        model, _ = make()
    with pytest.raises(ParameterError, match=said):
        read_model(model)


def changed(path, value):
    """A small model with another value at one place."""
    found = json.loads(SMALL)
    *way, last = path
    here = found
    for step in way:
        here = here[step]
    here[last] = value
    return json.dumps(found).encode()


def small(kind):
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=60), rng.integers(0, 4, 60)]
    data = xgboost.DMatrix(
        X, X[:, 0] + 5 * (X[:, 1] == 2), feature_types=["q", "c"], enable_categorical=True, nthread=1
    )
    return bytes(
        xgboost.train(
            {"max_leaves": 3, "grow_policy": "lossguide", "nthread": 1, "max_cat_to_onehot": 1}, data, 1
        ).save_raw(kind)
    )


SMALL = small("json")
LEARNER, MODEL = ("learner",), ("learner", "gradient_booster", "model")
PARAM, TREE = (*LEARNER, "learner_model_param"), (*MODEL, "trees", 0)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"binf and so on", "old binary form"),
        (changed((*LEARNER, "objective", "name"), "reg:own"), "the known ones are"),
        (changed((*PARAM, "num_feature"), "999999999999"), "is 999999999999 in one place, 2 in another"),
        (changed((*PARAM, "num_class"), "2000000000"), "tree_info does not assign 1 trees"),
        (changed((*PARAM, "num_target"), "2"), "tree_info does not assign 1 trees"),
        (changed((*PARAM, "base_score"), "[1,2]"), "2 base scores for 1 scores"),
        (changed((*PARAM, "base_score"), "[nan]"), "no finite score"),
        (changed((*PARAM, "base_score"), "much"), "damaged, or not a model of XGBoost"),
        (changed((*MODEL, "tree_info"), [0, 0]), "1 trees and 2 entries of tree_info"),
        (changed((*MODEL, "tree_info"), [7]), "tree_info does not assign 1 trees"),
        (changed((*MODEL, "trees"), []), "0 trees"),
        (changed((*TREE, "id"), 5), "another number"),
        (changed((*TREE, "default_left", 0), 255), "default_left 255, expected 0 or 1"),
        (changed((*TREE, "default_left", 0), -1), "default_left -1, expected 0 or 1"),
        (changed((*TREE, "split_type", 0), 2), "split_type 2, expected 0 or 1"),
        (changed((*TREE, "split_type"), [0] * 5), "categories_nodes of tree 0 are not its categorical nodes"),
        (changed((*TREE, "parents", 1), 2), "the parents of tree 0 are not those of its branches"),
        (changed((*TREE, "parents", 0), 0), "the parents of tree 0 are not those of its branches"),
        (changed((*TREE, "tree_param", "num_nodes"), "3"), "number of nodes of tree 0 is 5 in one place, 3 in another"),
        (changed((*TREE, "tree_param", "num_deleted"), "1"), "number of pruned nodes of tree 0 is 0 in one place, 1"),
        (changed((*MODEL, "gbtree_model_param", "num_trees"), "2"), "number of trees is 1 in one place, 2 in another"),
        (changed((*MODEL, "iteration_indptr"), [1, 1]), "iteration_indptr does not divide 1 trees"),
        (changed((*MODEL, "iteration_indptr"), [0, 2]), "iteration_indptr does not divide 1 trees"),
        (SMALL.replace(b'"num_class":"0"', b'"num_class":"0","num_class":"3"'), "'num_class' occurs twice"),
        (small("ubj").replace(b"\x0anum_target", b"\x09num_class"), "'num_class' occurs twice"),
        (changed((*TREE, "tree_param", "size_leaf_vector"), "2000000000"), "2000000000 numbers"),
        (changed((*TREE, "left_children"), "abc"), "is not a list of whole numbers"),
        (changed((*TREE, "split_conditions"), [1.5]), "is not a list of 5 numbers"),
        (changed((*TREE, "sum_hessian"), [float("nan")] * 5), "a hessian that is not a number"),
        (changed((*TREE, "categories_sizes"), [10**9]), "lists categories that do not exist"),
        (changed((*TREE, "categories_nodes"), []), "is not a list|are not its categorical nodes"),
        (changed((*TREE, "split_indices"), [10**6] * 5), "column"),
        (changed((*LEARNER, "feature_types"), ["q", "q", "q"]), "0 names and 3 types do not match"),
        (changed((*LEARNER, "feature_names"), [1, 2]), "is not a string"),
        (changed((*LEARNER, "feature_names"), ["a", "a"]), "one column name twice"),
        (b'{"learner":' * 100_000, "nested too deep"),
        (b'{"learner": 1' + b"9" * 9999 + b"}", "no whole JSON|damaged"),
        (b"{L\0\0\0\0\0\0\0\7learner" + b"[" * 100_000, "nested too deep"),
        (b"{L\0\0\0\0\0\0\0\7learner[$d#L\x7f\xff\xff\xff\xff\xff\xff\xff", "bytes follow"),
        (b"{L\0\0\0\0\0\0\0\7learner[$D#U\x09123456789", "ends within the numbers"),
        (b"{L\0\0\0\0\0\0\0\7learner[$Z#L\0\0\0\0\xff\xff\xff\xff", "no list of numbers begins"),
        (b"{L\0\0\0\0\0\0\0\7learner[#l\xff\xff\xff\xff", "bytes follow"),
        (b"{L\0\0\0\0\0\0\0\7learnerZ} ", "1 bytes after its end"),
        (b"{L\0\0\0\0\0\0\0\7learnerSd\0\0\0\0", "no length begins"),
    ],
)
def test_a_damaged_file_is_refused_with_what_is_wrong(data, said, tmp_path):
    (tmp_path / "model.json").write_bytes(data)
    with pytest.raises(InputFileError, match=said):
        read(tmp_path / "model.json")


@pytest.mark.parametrize("kind", few(["json", "ubj"], 1))
def test_no_changed_or_missing_byte_does_more_than_a_refusal(kind, tmp_path):
    data, path, refused = small(kind), tmp_path / "model", 0
    read_bytes(data)
    damaged = [data[:end] for end in range(0, len(data), 8)]
    damaged += [data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :] for at in range(len(data))]
    with path.open("wb") as file:  # one file: a new one each time waits for the disk
        for each in damaged:
            file.seek(0)
            file.write(each)
            file.truncate()
            file.flush()
            try:
                read(path)
            except InputFileError:
                refused += 1
    assert refused > len(damaged) // 3


def test_forms_of_ubjson_that_xgboost_does_not_write_are_read():
    data = b"{U\x01a[i\xffI\xff\xfeTFZSU\x02hi{}]U\x01bD" + np.array([0.1], ">f8").tobytes() + b"}"
    assert _ubjson(data, 0, 0) == ({"a": [-1, -2, True, False, None, "hi", {}], "b": 0.1}, len(data))
