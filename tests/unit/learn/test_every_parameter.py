"""No parameter is ignored in silence: set it, and the fit is another one, or something is said. Generated.

Estimators, parameters and values come from ``learn.registry`` and ``learn.params``; what a parameter needs beside it
comes from its needs there. A new parameter is tested as soon as it is stated. A run sets each parameter of some
estimator; with ``TREEWRIGHT_SEEDS=all`` of every estimator that has it.
"""

from __future__ import annotations

from typing import Any

import pytest
from parameter_effects import SUBJECTS, Outcome, Subject, values_of
from rotating import covering

# Parameters that change no fit, and why.
WITHOUT_EFFECT = {
    "n_jobs": "threads change the time alone",
    "verbose": "shows a bar, at most",
    "warm_start": "is about a further fit",
    "algorithm": "every search finds the same rows",
}
# Under what a parameter is looked at, where no need says so. A seed is set by habit: without draws nothing is said.
BESIDE: dict[tuple[str, str], dict[str, Any]] = {
    ("cart", "random_state"): {"splitter": "random"},
    # Of random cuts these are refused.
    ("extra-tree", "max_p_value"): {"splitter": "best"},
    ("extra-tree", "nominal_splits"): {"splitter": "best"},
    ("extra-tree", "max_surrogates"): {"splitter": "best", "missing": "surrogate"},
    ("extra-tree", "grow_trace"): {"splitter": "best"},
    ("adaboost", "random_state"): {"bootstrap": True},
    ("boosting", "level_smoothing"): {"n_estimators": 20},
    ("boosting", "n_iter_no_change"): {"early_stopping": True, "n_estimators": 20},
    ("chaid", "unseen"): {"alpha": 0.9},
    ("optimal", "time_limit"): {"max_depth": 5},
    ("knn", "metric_params"): {"metric": "manhattan"},
    ("knn", "p"): {"metric": "minkowski"},
    ("knn", "scale"): {"metric": "euclidean"},
    ("knn", "unseen"): {"metric": "gower"},
}
# Words that come to the same as the default here, and why.
ALIKE = {
    ("cart", "splitter", "hist"): "no column has more values than bins",
    ("extra-tree", "max_features", "log2"): "two of six columns, as the square root",
    ("extra-tree", "max_features", None): "all columns, as 1.0",
    ("forest", "max_features", "log2"): "two of six columns, as the square root",
    ("forest", "max_features", None): "all columns, as 1.0",
    ("extra-trees", "max_features", "log2"): "two of six columns, as the square root",
    ("extra-trees", "max_features", None): "all columns, as 1.0",
    ("bagging", "max_samples", None): "as many rows as there are, as 1.0",
    ("chaid", "max_depth", None): "no tree is deeper than 3",
    ("optimal", "max_search", None): "the proof takes fewer subproblems than the default",
    ("knn", "weights", None): "another word for uniform, as in scikit-learn",
    ("boosting", "max_leaf_nodes", None): "no tree has 31 leaves",
    ("boosting", "loss", "expectile"): "the expectile of one half is the mean",
    ("boosting", "growth", "leaf"): "of a number of rounds auto is leaf",
    ("boosting", "early_stopping", False): "of a number of rounds auto is False",
    ("boosting", "derived_columns", "none"): "of a number of rounds auto is none",
}
# Parameters of which some value must be refused, not used.
REFUSING = {
    ("id3", "numeric"), ("id3", "calendar"), ("c45", "missing"), ("chaid", "missing"),
    ("forest", "missing"), ("extra-trees", "missing"),
}  # fmt: skip


class Fits:
    """Outcomes of one estimator; those without the parameter in question are kept."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self._kept: dict[tuple[int, str], Outcome] = {}

    def _without(self, number: int, beside: dict[str, Any]) -> Outcome:
        key = number, repr(beside)
        if key not in self._kept:
            self._kept[key] = self.subject.outcome(self.subject.examples[number], beside)
        return self._kept[key]

    def both(self, number: int, beside: dict[str, Any], name: str, value: Any) -> tuple[Outcome, Outcome]:
        """On one of the tables, without a value and with it."""
        example = self.subject.examples[number]
        return self._without(number, beside), self.subject.outcome(example, {**beside, name: value})

    def is_possible(self, settings: dict[str, Any]) -> bool:
        """Whether some table is not refused."""
        return any(self._without(at, settings).left is not None for at in range(len(self.subject.examples)))

    def is_noticed(self, beside: dict[str, Any], name: str, value: Any) -> bool:
        """Whether on some table the fit is another one, or something else is said."""
        return any(
            without != given
            for without, given in (self.both(at, beside, name, value) for at in range(len(self.subject.examples)))
        )

    def is_used(self, beside: dict[str, Any], name: str, value: Any) -> bool:
        """Whether on some table another fit comes of it."""
        return any(
            without.left != given.left and given.left is not None
            for without, given in (self.both(at, beside, name, value) for at in range(len(self.subject.examples)))
        )


@pytest.fixture(scope="module")
def fits_of():
    return {subject.name: Fits(subject) for subject in SUBJECTS}


def under_which_it_is_used(subject: Subject, name: str) -> dict[str, Any]:
    """Settings that a parameter needs."""
    needed = dict(need.conditions[0] for need in subject.parameters[name].needs)
    settings = {each: allowed[0] for each, allowed in needed.items() if allowed and each in subject.parameters}
    return settings | BESIDE.get((subject.algorithm.word, name), {})


CASES = [(subject, name) for subject in SUBJECTS for name in subject.parameters if name not in WITHOUT_EFFECT]
WITH_NEEDS = [
    pytest.param(subject, name, need, id=f"{subject.name}-{name}")
    for subject in SUBJECTS
    for name, each in subject.parameters.items()
    for need in each.needs
    if need.conditions[0][0] in subject.parameters
]


@pytest.mark.parametrize(
    ("subject", "name"),
    covering(CASES, lambda case: (case[0].name, case[1])),
    ids=lambda each: getattr(each, "name", each),
)
def test_a_parameter_changes_what_is_learned(subject, name, fits_of):
    fits, word, beside = fits_of[subject.name], subject.algorithm.word, under_which_it_is_used(subject, name)
    values = values_of(subject, name)

    used = [fits.is_used(beside, name, value) for value in values]
    noticed = [is_used or fits.is_noticed(beside, name, value) for value, is_used in zip(values, used, strict=True)]

    assert any(noticed if (word, name) in REFUSING else used), f"{name} of {values} changes nothing"
    for value, is_noticed in zip(values, noticed, strict=True):
        if isinstance(value, str | bool) or value is None:
            assert is_noticed or (word, name, value) in ALIKE, f"{name}={value!r} changes nothing"


@pytest.mark.parametrize(("subject", "name", "need"), WITH_NEEDS)
def test_a_parameter_without_what_it_needs_is_refused_or_warned_of_by_name(subject, name, need, fits_of):
    other, _ = need.conditions[0]
    without = next(
        value for value in [subject.parameters[other].default_of(subject.task), *values_of(subject, other)]
        if not need.holds({other: value})
    )  # fmt: skip

    for value in values_of(subject, name):
        told = fits_of[subject.name].both(1, {other: without}, name, value)[1].said

        assert any(text.startswith((f"{name}=", f"ParameterError: {name}", f"{name} is not used")) for text in told), (
            told
        )
        assert any(need.words in text for text in told)


# What columns are is asked of the table; a seed matters where something is drawn; the callback here ends the growth.
NOT_SWITCHED = ("nominal", "ordinal", "numeric", "unseen", "random_state", "callbacks")
# A parameter that a setting leaves nothing to decide on these tables, though it is looked at; and why.
NOTHING_TO_DECIDE = {
    ("weights", "metric", "'jaccard'"): "next to all numbers are other than 0: every distance is 0",
    ("test", "missing", "'error'"): "both statistics choose the same few splits",
    ("subtree_raising", "max_p_value", "0.9"): "no subtree is worth raising",
    ("n_iter_no_change", "validation_fraction", "None"): "on the rows of the fit every round is better",
}


def switches_of(subject: Subject) -> list[tuple[str, Any]]:
    """Words and switches, and a value of whatever is off by default."""
    found: list[tuple[str, Any]] = []
    for name, each in subject.parameters.items():
        if name in (*WITHOUT_EFFECT, *NOT_SWITCHED):
            continue
        values = values_of(subject, name)
        found += [(name, value) for value in values if isinstance(value, str | bool) or value is None]
        if each.default_of(subject.task) is None and not isinstance(values[-1], str):
            found.append((name, values[-1]))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_no_setting_puts_a_parameter_out_of_use_without_a_word(subject, fits_of):
    fits, silent = fits_of[subject.name], []
    names = [name for name in subject.parameters if name not in (*WITHOUT_EFFECT, *NOT_SWITCHED)]
    for switch, setting in switches_of(subject):
        for name in names:
            beside = {**under_which_it_is_used(subject, name), switch: setting}
            is_alike = name == switch or (name, switch, repr(setting)) in NOTHING_TO_DECIDE
            if is_alike or not fits.is_possible({switch: setting}) or not fits.is_possible(beside):
                continue
            if not any(fits.is_noticed(beside, name, value) for value in values_of(subject, name)):
                silent.append(f"{name} beside {switch}={setting!r}")

    assert silent == []
