"""Names that are imported when they are first used."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import treewright as tw


def test_looking_at_the_package_loads_nothing_heavy():
    code = (
        "import sys, treewright as tw; tw.model_selection; dir(tw.model_selection); dir(tw); "
        "print(sorted({'numpy', 'numba', 'sklearn', 'scipy', 'polars', 'matplotlib'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("package", [tw, tw.model_selection], ids=lambda package: package.__name__)
def test_every_name_leads_to_what_it_names(package):
    for name in package.__all__:
        value = getattr(package, name)
        # A module of the same name as a function in it would take its place once it is imported.
        assert name.startswith("__") or getattr(value, "__name__", "").rsplit(".", 1)[-1] == name


def test_importing_the_modules_first_changes_no_name():
    for home in sorted(set(tw.model_selection._HOMES.values())):
        import_module(home)

    assert all(callable(getattr(tw.model_selection, name)) for name in tw.model_selection.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'treewright\.model_selection' has no attribute 'comparee'"):
        _ = tw.model_selection.comparee
