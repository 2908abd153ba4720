"""A model of every kind that export writes, over one table with hostile levels and missing cells."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

import treewright as tw
from treewright.data.derived import level_pairs, linear_score, pairs_of, rows_of_levels, with_derived
from treewright.data.derived import with_derived_cells as widened
from treewright.data.encoder import encode

RNG = np.random.default_rng(0)
N = 240
TOWNS = ["Lima", 'Oslo "x"', "Rome\\n", "\u6f22 <b>", "a??/b"]
TABLE = {
    "a": np.where(RNG.random(N) < 0.15, np.nan, RNG.normal(size=N)),
    "b": RNG.integers(0, 6, N).astype(float),
    "town": [None if RNG.random() < 0.1 else TOWNS[RNG.integers(0, 5)] for _ in range(N)],
    "rank": RNG.choice(["low", "mid", "high"], N).tolist(),
}
NUMBER = np.nan_to_num(TABLE["a"]) * TABLE["b"] + np.array([TOWNS.index(town or "Lima") for town in TABLE["town"]])
CLASS, TWO = np.array(["no", "maybe", 'y"es'])[np.digitize(NUMBER, [1, 4])], NUMBER > 3
HOW = {"nominal": ["town"], "ordinal": {"rank": ["low", "mid", "high"]}}
FEW = {"n_estimators": 9, "random_state": 0, **HOW}
ROUNDS = {"n_estimators": 12, "random_state": 0, **HOW}
SKY = np.random.default_rng(1).choice(["rain", "sun", "snow"], N).tolist()
CELLS = {**TABLE, "sky": SKY}  # of the columns of every model


def made_columns(unseen):
    """A forest that asks columns of all kinds that are made of others."""
    how = {"nominal": ["town", "sky"], "ordinal": HOW["ordinal"]}
    table = {**TABLE, "sky": [None if at % 7 == 0 else sky for at, sky in enumerate(SKY)]}
    schema = tw.DecisionTreeRegressor(**how).fit(table, NUMBER).model_.schema
    matrix = encode(schema, table)
    numbers = [0.25, -1.0, 1.5, 0.3, 0.7, 0.0, 4.0, -0.1, -0.3]  # intercept; a; b
    numbers += [-1.0, -0.3, 0.0, 0.7, 0.1, 0.11, 0.0, 2.0, 0.3, 0.9, 0.1, -0.2, 0.4, 0.05]  # town; rank; sky
    made = [
        rows_of_levels(schema, 2, matrix[:, 2], None),
        *pairs_of(schema, [0, 1]),
        level_pairs(schema, 2, 4, matrix),
        linear_score("score", range(5), numbers),
    ]
    schema = with_derived(schema, made)
    cells = widened(schema, matrix)
    wide = dict(table)
    for at in range(5, len(schema)):
        codes = cells[:, at]
        # Levels as texts in the order of their codes: the fit finds the same codes.
        is_level = schema.columns[at].kind == "nominal"
        wide[f"made {at}"] = [None if np.isnan(code) else f"{code:05.0f}" for code in codes] if is_level else codes
    how["nominal"] = [*how["nominal"], *(f"made {at}" for at in range(5, len(schema)) if schema.columns[at].levels)]
    forest = tw.ExtraTreesRegressor(12, random_state=0, **how).fit(wide, RNG.normal(size=N)).model_
    return replace(forest, schema=schema, unseen=unseen)


MODELS = {
    "tree": lambda: tw.DecisionTreeClassifier(**HOW).fit(TABLE, CLASS),
    "surrogate": lambda: tw.DecisionTreeRegressor(missing="surrogate", **HOW).fit(TABLE, NUMBER),
    "branch": lambda: tw.DecisionTreeClassifier(missing="branch", unseen="majority", **HOW).fit(TABLE, TWO),
    "id3": lambda: tw.ID3Classifier(nominal="all").fit({"rank": TABLE["rank"]}, CLASS),
    "chaid": lambda: tw.CHAIDClassifier(**HOW).fit(TABLE, CLASS),
    "two outputs": lambda: tw.DecisionTreeClassifier(**HOW).fit(TABLE, np.column_stack([CLASS, TWO.astype(str)])),
    "forest": lambda: tw.RandomForestClassifier(**FEW).fit(TABLE, CLASS),
    "extra-trees of two outputs": lambda: tw.ExtraTreesRegressor(**FEW).fit(TABLE, np.column_stack([NUMBER, -NUMBER])),
    "numbers far apart": lambda: tw.RandomForestRegressor(**FEW).fit(
        TABLE, np.where(NUMBER > 0, 2e9, 3e-3) * (1 + np.abs(NUMBER))
    ),
    "adaboost": lambda: tw.AdaBoostClassifier(n_estimators=6).fit({"b": TABLE["b"], "rank": TABLE["rank"]}, CLASS),
    "two classes": lambda: tw.GradientBoostingClassifier(**ROUNDS).fit(TABLE, TWO),
    "three classes": lambda: tw.GradientBoostingClassifier(**ROUNDS).fit(TABLE, CLASS),
    "poisson": lambda: tw.GradientBoostingRegressor(loss="poisson", **ROUNDS).fit(TABLE, np.abs(NUMBER)),
    "quantiles": lambda: tw.GradientBoostingRegressor(loss="quantile", quantile=[0.1, 0.9], **ROUNDS).fit(
        TABLE, NUMBER
    ),
    "members": lambda: tw.GradientBoostingRegressor(n_members=2, random_state=0, **HOW).fit(TABLE, NUMBER),
    "divided": lambda: tw.C45Classifier(nominal=["town"]).fit(TABLE, CLASS),
    "divided numbers of two outputs": lambda: tw.DecisionTreeRegressor(missing="fractional", **HOW).fit(
        TABLE, np.column_stack([NUMBER, -NUMBER])
    ),
    "divided bag": lambda: tw.BaggingClassifier(tw.C45Classifier(nominal=["town"]), 5, random_state=0).fit(
        TABLE, CLASS
    ),
    "divided votes": lambda: tw.AdaBoostClassifier(tw.C45Classifier(nominal=["town"], max_depth=2), n_estimators=5).fit(
        TABLE, CLASS
    ),
    "median": lambda: tw.AdaBoostRegressor(n_estimators=8, random_state=0).fit({"b": TABLE["b"]}, NUMBER),
    "median that weights reach by half": lambda: replace(model_of("median"), tree_weights=np.ones(8)),
    "median of no weights": lambda: replace(model_of("median"), tree_weights=np.zeros(8)),
    "divided median": lambda: tw.AdaBoostRegressor(
        tw.DecisionTreeRegressor(missing="fractional", max_depth=3, **HOW), n_estimators=7, random_state=0
    ).fit(TABLE, NUMBER),
    "isolation": lambda: tw.IsolationForest(n_estimators=12, max_samples=60, random_state=0, **HOW).fit(TABLE),
    "isolation of one row": lambda: tw.IsolationForest(n_estimators=2, max_samples=1).fit({"b": TABLE["b"]}),
    "threshold": lambda: tw.RandomForestClassifier(**FEW).fit(TABLE, TWO).model_.with_threshold(0.3, positive=True),
    "made columns": lambda: made_columns("missing"),
    "made columns, unseen apart": lambda: made_columns("majority"),
}
# What goes beyond sums over trees: only some formats can say it.
BEYOND = [kind for kind in MODELS if any(word in kind for word in ("divided", "median", "isolation"))]


@functools.cache
def model_of(kind):
    made = MODELS[kind]()
    return getattr(made, "model_", made)
