"""XGBoost's models as ours: each row in the same leaf of each tree, sums within the rounding of XGBoost's own float32."""

from __future__ import annotations

import json

import numpy as np
import pytest

from treewright import load, read_model
from treewright.exceptions import InputFileError, ParameterError, TreewrightError
from treewright.importing.reading import read
from treewright.importing.xgboost import _ubjson, of_file
from treewright.model.codec import dumps

xgboost = pytest.importorskip("xgboost", reason="reads models that XGBoost trains here: pip install xgboost-cpu (19 MB)")
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
        data = xgboost.DMatrix(X, y(X) if callable(y) else y, **(rows or {}))
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
    table = pd.DataFrame({"one": X[:, 0], "town": town, "flag": X[:, 1] > 0, "count": rng.integers(0, 9, N), "z": X[:, 3]})
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
    data = xgboost.DMatrix(X, target(X))
    first = xgboost.train({"max_depth": 3}, data, 4)
    again = {"process_type": "update", "updater": "refresh", "max_depth": 3}
    return xgboost.train(again, xgboost.DMatrix(X, 2 * target(X)), 4, xgb_model=first), X


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
    "softprob of two": booster(lambda X: classes(X, 2), objective="multi:softprob", num_class=2),
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
        if not is_array and str(table.dtypes.iloc[at]) not in ("float64",):
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
            rows[:, at] = rng.choice([*range(160), -1, 10**6, np.nan], len(rows)) if is_code and is_coded(grown) else cells
        else:
            rows[rows.columns[at]] = cells
    return rows


def is_coded(grown):
    return any(any(tree["split_type"]) for tree in grown["trees"])


def matrix(own, table):
    names, types = own.feature_names, own.feature_types
    if isinstance(table, np.ndarray):
        return xgboost.DMatrix(table, feature_names=names, feature_types=types, enable_categorical=True)
    return xgboost.DMatrix(table, enable_categorical=True)


@pytest.mark.parametrize("name", MODELS)
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
        with pytest.raises(InputFileError, match="gives a share as a number"):
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
            table = np.array(tree["leaf_weights"], np.float32).reshape(-1, width)[np.array(tree["right_children"])[leaves[:, at]]]
            for score in range(width):
                lists.setdefault(score, []).append(table[:, score] * weight)
        else:
            lists.setdefault(group[at], []).append(np.array(tree["split_conditions"], np.float32)[leaves[:, at]] * weight)
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
