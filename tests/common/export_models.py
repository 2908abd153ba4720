"""A model of every kind that export writes, over one table with hostile levels and missing cells."""

from __future__ import annotations

import numpy as np

import treewright as tw

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
MODELS = {
    "tree": lambda: tw.DecisionTreeClassifier(**HOW).fit(TABLE, CLASS),
    "surrogate": lambda: tw.DecisionTreeRegressor(missing="surrogate", **HOW).fit(TABLE, NUMBER),
    "branch": lambda: tw.DecisionTreeClassifier(missing="branch", unseen="majority", **HOW).fit(TABLE, TWO),
    "id3": lambda: tw.ID3Classifier(nominal="all").fit({"rank": TABLE["rank"]}, CLASS),
    "chaid": lambda: tw.CHAIDClassifier(**HOW).fit(TABLE, CLASS),
    "two outputs": lambda: tw.DecisionTreeClassifier(**HOW).fit(TABLE, np.column_stack([CLASS, TWO.astype(str)])),
    "forest": lambda: tw.RandomForestClassifier(**FEW).fit(TABLE, CLASS),
    "extra-trees of two outputs": lambda: tw.ExtraTreesRegressor(**FEW).fit(TABLE, np.column_stack([NUMBER, -NUMBER])),
    "adaboost": lambda: tw.AdaBoostClassifier(n_estimators=6).fit({"b": TABLE["b"], "rank": TABLE["rank"]}, CLASS),
    "two classes": lambda: tw.GradientBoostingClassifier(**ROUNDS).fit(TABLE, TWO),
    "three classes": lambda: tw.GradientBoostingClassifier(**ROUNDS).fit(TABLE, CLASS),
    "poisson": lambda: tw.GradientBoostingRegressor(loss="poisson", **ROUNDS).fit(TABLE, np.abs(NUMBER)),
    "quantiles": lambda: tw.GradientBoostingRegressor(loss="quantile", quantile=[0.1, 0.9], **ROUNDS).fit(
        TABLE, NUMBER
    ),
    "members": lambda: tw.GradientBoostingRegressor(random_state=0, **HOW).fit(TABLE, NUMBER),
    "threshold": lambda: tw.RandomForestClassifier(**FEW).fit(TABLE, TWO).model_.with_threshold(0.3, positive=True),
}
