"""Claims about what a figure takes a model for: it is asked, and its predictions decide only where it says nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.show.figures.plane import task_of

X = np.random.default_rng(0).random((30, 2)) * 5


class Predicts:
    """Whole numbers, and nothing that says what they are."""

    def predict(self, X):
        return np.asarray(X)[:, 0].astype(np.int64)


class WholeNumbers(Predicts, RegressorMixin, BaseEstimator):
    """A regressor of scikit-learn that predicts whole numbers."""

    def fit(self, X, y=None):
        self.is_fitted_ = True
        return self

    def __sklearn_is_fitted__(self):
        return True


class Older(Predicts):
    """Says what it is as scikit-learn did before it had tags."""

    _estimator_type = "regressor"


class FloatLabels(ClassifierMixin, BaseEstimator):
    """A classifier whose labels are floats and that has no ``classes_``."""

    def predict(self, X):
        return np.floor(np.asarray(X)[:, 0] / 2)


class OnlyMixin(Predicts, ClassifierMixin):
    """Its tags cannot be asked: the base class is missing."""


class Tagged(Predicts):
    """Anything may have tags."""

    def __init__(self, kind):
        self.kind = kind

    def __sklearn_tags__(self):
        return type("Tags", (), {"estimator_type": self.kind})()


def is_surface(est):
    """Whether it is drawn as numbers with a colour bar, not as classes with a legend."""
    figure = tw.plot.decision_regions(est, X, resolution=6)
    assert (len(figure.axes) == 2) == (figure.axes[0].get_legend() is None)
    return len(figure.axes) == 2


@pytest.mark.parametrize(
    "est",
    [WholeNumbers(), Older(), Tagged("regressor"), make_pipeline(StandardScaler(), WholeNumbers()).fit(X, X[:, 0])],
    ids=["mixin", "older", "tags", "pipeline"],
)
def test_a_regressor_that_predicts_whole_numbers_is_drawn_as_numbers(est):
    assert is_surface(est)


def test_the_surface_of_a_regressor_of_whole_numbers_is_what_it_predicts():
    drawn = tw.plot.decision_regions(WholeNumbers(), X, X[:, 0], resolution=6).axes[0].images[0].get_array()

    low, high = X[:, 0].min(), X[:, 0].max()
    room = 0.04 * (high - low)
    places = low - room + (np.arange(6) + 0.5) * (high - low + 2 * room) / 6
    assert np.array_equal(drawn[0], places.astype(int))


@pytest.mark.parametrize("est", [FloatLabels(), Tagged("classifier")], ids=["floats", "tags"])
def test_a_classifier_is_drawn_as_classes_whatever_type_its_labels_have(est):
    assert not is_surface(est)


@pytest.mark.parametrize(
    "est",
    [Predicts(), OnlyMixin(), Tagged(None), Tagged(["odd"]), KMeans(3, n_init=1, random_state=0).fit(X)],
    ids=["nothing", "mixin alone", "no type", "odd type", "clusters"],
)
def test_of_what_says_nothing_whole_numbers_are_classes(est):
    assert not is_surface(est)


def test_models_of_this_library_say_what_they_are():
    tree = tw.DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0] ** 2)
    classes = tw.DecisionTreeClassifier(max_depth=2).fit(X, X[:, 0] > 2)

    assert [task_of(one) for one in (tree, tree.model_)] == ["regression"] * 2
    assert [task_of(one) for one in (classes, classes.model_)] == ["classification"] * 2
    assert task_of(object()) is None


def test_a_regressor_that_predicts_text_is_refused():
    class Text(WholeNumbers):
        def predict(self, X):
            return np.full(len(X), "much")

    with pytest.raises(ParameterError, match="a Text is tagged as a regressor, but predict returned no numbers"):
        is_surface(Text())
