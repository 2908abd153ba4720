"""``treewright parameters`` says what the dataclasses of ``learn`` state, and the reference page is what it prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import treewright as tw
from treewright.learn.registry import ALGORITHMS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "parameters.md"


def test_the_reference_page_is_what_the_command_prints(command):
    printed = command("parameters", "--format", "markdown").stdout
    assert PAGE.read_text(encoding="utf-8") == printed, (
        "write it anew: treewright parameters --format markdown > docs/reference/parameters.md"
    )


def test_every_parameter_of_every_estimator_is_listed_with_its_default(command):
    listed = json.loads(command("parameters", "--format", "json").stdout)

    assert list(listed) == [each.word for each in ALGORITHMS]
    for tasks in listed.values():
        for each in tasks:
            known = getattr(tw, each["estimator"])().get_params(deep=False)
            assert {line["name"] for line in each["parameters"]} == set(known)
            for line in each["parameters"]:
                assert line["help"]
                assert line["values"]
                if isinstance(known[line["name"]], bool | int | float | str | None):
                    assert line["default"] == known[line["name"]]


def test_text_names_the_estimators_and_what_a_value_may_be(command):
    printed = command("parameters", "c45").stdout

    assert printed.startswith("C4.5 (--algorithm c45): C45Classifier\n")
    assert "confidence=0.25\n    confidence level of the error's upper limit in pruning" in printed
    assert "number above 0.0 to 0.5, None" in printed


def test_another_spelling_is_understood_and_a_stranger_refused(command):
    assert command("parameters", "j48").stdout == command("parameters", "c45").stdout

    refused = command("parameters", "svm")
    assert refused.returncode == 2
    assert "svm: use one of cart, id3, c45" in refused.stderr


@pytest.mark.parametrize("word", ["cart", "boosting", "bagging"])
def test_what_is_listed_can_be_set(command, penguins, word):
    """A name that ``--set`` refuses must be one that has an option of its own, or that only Python can use."""
    names = [
        line["name"]
        for line in json.loads(command("parameters", word, "--format", "json").stdout)[word][0]["parameters"]
    ]

    refused = command("fit", penguins, "--target", "species", "--algorithm", word, "--set", "no_such_name=1").stderr
    offered = refused.rpartition("choose one of ")[2].strip().split(", ")
    own = {"nominal", "ordinal", "numeric", "calendar", "unseen", "n_jobs", "random_state", "positive"}
    assert set(names) - set(offered) <= own | {"callbacks", "scoring", "warm_start", "verbose"}
