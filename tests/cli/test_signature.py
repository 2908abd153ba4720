"""Commands from the dataclasses of their options."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from treewright.cli import options
from treewright.cli.app import app
from treewright.cli.options import Columns, FitRequest, PruneRequest, Reading
from treewright.cli.signature import given_options

REQUESTS = [held for name, held in vars(options).items() if name.endswith("Request") and is_dataclass(held)]


@pytest.mark.parametrize("request_type", [*REQUESTS, Columns, Reading])
def test_every_field_is_an_option_or_a_group_or_what_options_mean(request_type):
    meanings = {FitRequest: {"pruning", "decision"}, Columns: {"declared"}, Reading: {"options"}}
    plain = {each.name for each in fields(request_type) if not hasattr(each.type, "__metadata__")}
    groups = {each.name for each in fields(request_type) if each.type in (Columns, Reading)}

    assert plain - groups == meanings.get(request_type, set())


def test_every_request_has_its_command():
    commands = {each.callback.__annotations__.get("request") for each in app.registered_commands}

    assert {each.__name__ for each in REQUESTS} == commands - {None}


def test_the_options_of_a_group_come_in_its_place():
    fit = next(each.callback for each in app.registered_commands if each.callback.__name__ == "fit")
    names = [*inspect.signature(fit).parameters]

    at = names.index("cv") + 1
    assert names[at : at + 2] == ["nominal", "ordinal"]
    assert names[names.index("skip_footer") + 1] == "out"
    assert names[names.index("settings") + 1] == "short_max_depth"


def test_what_is_given_has_the_names_of_the_command():
    request = PruneRequest(model=Path("m.tw"), method="mdl", reading=Reading(separator=";", missing_tokens=("NA",)))

    assert given_options(request, "target", "skip_missing_target") == {"--target": None, "--skip-missing-target": None}
    assert {name for name, value in given_options(request.reading).items() if value} == {
        "--separator", "--missing-tokens",
    }  # fmt: skip
