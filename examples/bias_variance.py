"""Bias and variance along a parameter: ridge and lasso over their penalty, trees over their depth.

The data are those of Bishop (2006), section 3.2: a sine with normal errors, 100 training sets of 25 points, and a
regression on 24 Gaussian bumps. Because the sine is known, bias, variance and noise can be told apart.

    python examples/bias_variance.py            # three tables
    python examples/bias_variance.py figures    # and three figures, in the folder of that name (needs matplotlib)
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.linear_model import Lasso, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import treewright as tw
from treewright.model_selection import bias_variance_curve

NOISE = 0.3
N_POINTS, N_SETS = 25, 100
CENTRES = np.linspace(0, 1, 24)
WIDTH = 0.1


def truth(x):
    """The function that the points scatter around: E[y | x]."""
    return np.sin(2 * np.pi * x)


def draw(rng):
    """One training set."""
    x = rng.uniform(size=N_POINTS)
    return x.reshape(-1, 1), truth(x) + rng.normal(scale=NOISE, size=N_POINTS)


def bumps(X):
    """24 Gaussian basis functions of the only column."""
    return np.exp(-(((X - CENTRES) / WIDTH) ** 2) / 2)


def on_bumps(regression):
    """A regression on the basis functions."""
    return make_pipeline(FunctionTransformer(bumps), regression)


def ridge(penalty):
    """Squares of the coefficients cost: half the squared errors plus half the penalty times their sum."""
    return on_bumps(Ridge(alpha=penalty))


def lasso(penalty):
    """Sizes of the coefficients cost; scikit-learn divides the squared errors by the number of points."""
    return on_bumps(Lasso(alpha=penalty / N_POINTS, max_iter=100_000, tol=1e-3))


def tree(depth):
    """The penalty of a tree is that it may not grow."""
    return tw.DecisionTreeRegressor(max_depth=depth)


CURVES = {
    "ridge": (ridge, np.logspace(-3, 1, 5), "lambda"),
    "lasso": (lasso, np.logspace(-1.5, 0.5, 5), "lambda"),
    "tree": (tree, [1, 2, 3, 4, 8], "max_depth"),
}


def rows_to_predict(n=500):
    """Rows to predict, with the true values behind them."""
    rng = np.random.default_rng(2006)
    x = rng.uniform(size=n)
    return x.reshape(-1, 1), truth(x) + rng.normal(scale=NOISE, size=n), truth(x)


def curve(which):
    """The curve of "ridge", "lasso" or "tree"."""
    make, values, name = CURVES[which]
    X, y, h = rows_to_predict()
    return bias_variance_curve(make, values, None, None, X, y, true_values=h, draw=draw, n_rounds=N_SETS, name=name)


def main(folder=None):
    """Print the tables; with a folder, save the figures there."""
    for which in CURVES:
        found = curve(which)
        print(f"{which}\n{found}\n")
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
            found.plot().savefig(Path(folder) / f"bias-variance-{which}.svg")


if __name__ == "__main__":
    main(*sys.argv[1:2])
