"""Claims about what estimators say of themselves: each fact is written once, and is shown wherever a reader looks."""

from __future__ import annotations

import inspect
import pydoc
import re
from pathlib import Path

import pytest
from sklearn.base import clone

import treewright as tw
from treewright.estimators import signatures
from treewright.estimators.documentation import as_model, sections_of
from treewright.model import Model

NAMES = sorted(signatures.ESTIMATORS)


def entries(name, section):
    text = sections_of(getattr(tw, name).__doc__)[section]
    return {each: head for head in re.findall(r"^\S.*", text, re.M) for each in head.split(" : ")[0].split(", ")}


def test_editors_read_the_signatures_and_texts_that_python_shows():
    written = Path(signatures.__file__).with_suffix(".pyi").read_text("utf-8")

    assert written == signatures.stub(), "python -m treewright.estimators.signatures > signatures.pyi, next to it"


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_is_documented_once_in_the_order_of_the_signature(name):
    assert list(entries(name, "Parameters")) == list(inspect.signature(getattr(tw, name)).parameters)


@pytest.mark.parametrize("name", NAMES)
def test_a_parameter_is_documented_with_its_default(name):
    heads = entries(name, "Parameters")

    for each in inspect.signature(getattr(tw, name)).parameters.values():
        shown = ", optional" if each.default is None else f", default {each.default}".replace("'", '"')
        assert heads[each.name].replace('default "', "default ").rstrip('"').endswith(shown)


@pytest.mark.parametrize("name", NAMES)
def test_common_attributes_come_before_those_of_the_family_and_are_documented_once(name):
    documented = list(entries(name, "Attributes"))

    assert {"model_", "n_features_in_", "feature_names_in_"} < set(documented)
    assert len(documented) == len(set(documented))
    assert documented.index("feature_names_in_") <= 2


@pytest.mark.parametrize("name", NAMES)
def test_help_and_a_page_of_sphinx_show_what_the_class_says(name):
    kind = getattr(tw, name)

    assert pydoc.getdoc(kind) == inspect.getdoc(kind) == kind.__doc__


def test_an_attribute_is_described_by_the_class_that_knows_most_about_it():
    assert "NeighborsModel" in entries("KNeighborsRegressor", "Attributes")["model_"]
    assert "Several quantiles" in sections_of(tw.GradientBoostingRegressor.__doc__)["Attributes"]


def test_values_and_default_of_a_parameter_are_those_of_its_task():
    classes, numbers = entries("DecisionTreeClassifier", "Parameters"), entries("DecisionTreeRegressor", "Parameters")

    assert classes["criterion"].endswith('"gain_ratio"} or callable, default "gini"')
    assert numbers["criterion"].endswith('"poisson"} or callable, default "squared_error"')
    assert classes["min_samples_split"] == "min_samples_split : int >= 2 or float in (0, 1], default 2"


def test_a_text_that_begins_small_continues_the_sentence_of_the_help():
    text = inspect.getdoc(tw.DecisionTreeClassifier)

    assert "How a nominal column is split: into any two sets of levels" in " ".join(text.split())


@pytest.mark.parametrize("verb", ["predict", "explain", "export", "apply", "partial_dependence", "rules"])
def test_a_verb_has_the_sections_of_the_models_verb_without_what_the_estimator_sets(verb):
    ours, of_model = (sections_of(getattr(kind, verb).__doc__) for kind in (tw.DecisionTreeClassifier, Model))

    assert {title: body for title, body in ours.items() if title not in {"", "Parameters"}} == {
        title: body for title, body in of_model.items() if title not in {"", "Parameters"}
    }
    assert "owner :" not in ours.get("Parameters", "")


def test_what_follows_the_summary_of_the_models_verb_is_kept():
    class Verbs:
        def predict_quantile(self, X, quantiles=0.5):
            """Own summary."""

    lead = sections_of(as_model(Verbs.predict_quantile).__doc__)[""]
    assert lead.startswith("Own summary.\n\nIn each tree the training rows")


@pytest.mark.parametrize("name", ["BaggingClassifier", "RandomForestRegressor", "KNeighborsClassifier"])
def test_a_parameter_by_position_and_by_name_is_refused(name):
    kind = getattr(tw, name)
    first = next(iter(inspect.signature(kind).parameters))

    with pytest.raises(TypeError, match=rf"^{name}.__init__\(\) got multiple values for argument '{first}'$"):
        kind(3, **{first: 3})
    assert clone(kind(3)).get_params()[first] == 3


def test_a_class_of_a_user_keeps_its_own_signature_and_text():
    class Small(tw.DecisionTreeClassifier):
        """Small."""

        def __init__(self, max_depth=2):
            super().__init__(max_depth=max_depth)

    assert Small.__doc__ == "Small."
    assert clone(Small(4)).get_params() == {"max_depth": 4}
    assert Small(4).min_samples_leaf == 1


def test_a_section_of_a_verb_takes_the_place_of_the_models_and_its_parameters_are_added():
    class Verbs:
        def predict(self, X, **metadata):
            """Own summary.

            Parameters
            ----------
            **metadata
                Routed.

            Returns
            -------
            Own.
            """

    sections = sections_of(as_model(Verbs.predict).__doc__)
    assert re.findall(r"^\S.*", sections["Parameters"], re.M) == ["X : table of n rows", "**metadata"]
    assert sections["Returns"] == "Own."
    assert "UnseenLevelError" in sections["Raises"]
