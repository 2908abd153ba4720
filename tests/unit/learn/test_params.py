"""Claims about the one description of every parameter."""

from __future__ import annotations

import inspect
from fractions import Fraction
from numbers import Integral, Real

import numpy as np
import pytest
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions, make_constraint

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.learn import params as rules
from treewright.learn.forest import ExtraTreesParams, ForestParams
from treewright.learn.params import NUMBERS, parameters_of
from treewright.learn.registry import ALGORITHMS, algorithm_of, algorithm_of_estimator
from treewright.learn.single import C45Params, TreeParams

ESTIMATORS = [(each, task, name) for each in ALGORITHMS for task, name in each.estimators.items()]


@pytest.mark.parametrize(("algorithm", "task", "name"), ESTIMATORS, ids=[name for *_, name in ESTIMATORS])
def test_a_signature_has_the_parameters_and_defaults_of_the_description(algorithm, task, name):
    signature = inspect.signature(getattr(tw, name)).parameters
    stated = parameters_of(algorithm.params_class(), task)

    assert set(signature) == set(stated)
    for parameter, each in stated.items():
        default, said = signature[parameter].default, each.default_of(task)
        assert (type(default), default) == (type(said), said), parameter


@pytest.mark.parametrize(("algorithm", "task", "name"), ESTIMATORS, ids=[name for *_, name in ESTIMATORS])
def test_an_estimator_and_a_class_made_from_it_know_their_algorithm(algorithm, task, name):
    kind = getattr(tw, name)

    assert algorithm_of_estimator(kind()) is algorithm
    assert algorithm_of_estimator(type("Child", (kind,), {})()) is algorithm
    assert algorithm_of_estimator(kind) is None


@pytest.mark.parametrize(("algorithm", "task", "name"), ESTIMATORS, ids=[name for *_, name in ESTIMATORS])
def test_every_default_is_allowed_and_every_parameter_has_help(algorithm, task, name):
    algorithm.params_class()(task=task)

    for each in parameters_of(algorithm.params_class(), task).values():
        assert each.help, name
        assert not each.help.endswith(".")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (rules.whole(1), Interval(Integral, 1, None, closed="left")),
        (rules.whole(2, 255), Interval(Integral, 2, 255, closed="both")),
        (rules.real(0.0, 1.0, "right"), Interval(Real, 0.0, 1.0, closed="right")),
        (rules.real(0.0, None, "neither"), Interval(Real, 0.0, None, closed="neither")),
        (rules.real(None, None, "neither"), Interval(Real, None, None, closed="neither")),
        (rules.any_real(0.0, 0.5, "both"), Interval(Real, 0.0, 0.5, closed="both")),
        (rules.words("sqrt", "log2"), None),
        (rules.FLAG, "boolean"),
        (rules.VERBOSE, "verbose"),
        (rules.SEED, "random_state"),
        (rules.LISTED, "array-like"),
        (rules.MAPPING, dict),
        (rules.TEXT, str),
        (rules.THREADS, Integral),
        (rules.FUNCTION, callable),
        (rules.NOTHING, None),
        (rules.methods("fit", "predict"), HasMethods(["fit", "predict"])),
    ],
    ids=lambda each: str(each)[:40],
)
def test_rules_speak_and_decide_as_scikit_learn_does(ours, theirs):
    if ours.words.startswith("a str among"):
        assert ours.words == "a str among {'log2', 'sqrt'}"
        theirs = StrOptions({"sqrt", "log2"})
    else:
        theirs = make_constraint(theirs)
        assert ours.words == str(theirs)

    values = [None, "sqrt", "x", 0, 1, 2, -1, 255, 256, 0.0, 0.5, 1.0, 2.5, np.nan,
              np.inf, np.float32(0.5), np.int64(3),
              [], [1], {}, (), np.array([1.0]), np.random.RandomState(0), len, ForestParams,
              2**32]  # fmt: skip
    for value in values:
        assert ours.accepts(value) == theirs.is_satisfied_by(value), value


def test_true_is_no_number_of_trees_but_a_fraction_is_a_share_for_a_single_tree():
    with pytest.raises(ParameterError, match="n_estimators"):
        ForestParams(n_estimators=True)
    with pytest.raises(ParameterError, match="min_samples_leaf"):
        ForestParams(min_samples_leaf=Fraction(1, 4))

    assert TreeParams(min_samples_leaf=Fraction(1, 4)).min_samples_leaf == Fraction(1, 4)


def test_an_error_names_the_parameter_as_data():
    with pytest.raises(
        ParameterError, match=r"The 'confidence' parameter of C45Classifier must be a float in"
    ) as caught:
        C45Params(confidence=7, owner="C45Classifier")

    assert caught.value.parameter == "confidence"


def test_defaults_depend_on_the_task_and_a_parameter_of_the_other_task_is_refused():
    assert (TreeParams().criterion, TreeParams(task=NUMBERS).criterion) == ("gini", "squared_error")
    assert "class_weight" not in TreeParams(task=NUMBERS).values()
    with pytest.raises(ParameterError, match="class_weight is a parameter of classification"):
        TreeParams(task=NUMBERS, class_weight="balanced")


def test_extra_trees_differ_from_forests_in_their_defaults_alone():
    assert (ForestParams().bootstrap, ExtraTreesParams().bootstrap) == (True, False)
    assert set(parameters_of(ForestParams)) == set(parameters_of(ExtraTreesParams))


def test_facts_leave_out_what_no_model_depends_on():
    facts = ForestParams(n_jobs=2, verbose=1, oob_score=True, max_features=0.5).facts()

    assert not {"n_jobs", "verbose", "oob_score", "warm_start"} & set(facts)
    assert facts["max_features"] == 0.5
    assert list(facts) == sorted(facts)


def test_every_spelling_of_an_algorithm_is_of_one_algorithm():
    spellings = [name for each in ALGORITHMS for name in {each.word, each.name, *each.aliases}]

    assert len(spellings) == len(set(spellings))
    assert all(algorithm_of(each.name) is each for each in ALGORITHMS)
    in_facts = {each.name: each.params_class().algorithm_name for each in ALGORITHMS}
    # A tree of random cuts is CART by other defaults, and its model says so.
    assert in_facts == {name: name for name in in_facts} | {"extra_tree": "cart"}
