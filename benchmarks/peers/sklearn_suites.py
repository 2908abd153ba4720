"""scikit-learn's own tests, run with Treewright's classes in the place of scikit-learn's.

The test files are those of the installed scikit-learn; nothing of them is kept here. Every public name that Treewright
has too is exchanged in scikit-learn's packages after scikit-learn has been imported: test modules then import
ours, and scikit-learn's own code keeps its classes. Each test is run as it stands and counted as

- passed,
- different: it fails, and ``differences.toml`` says which difference is the reason
  (docs/reference/sklearn-differences.md says the same in words),
- failed: it fails, and nothing says why. Nothing may stand here at the end.

``python benchmarks/peers/sklearn_suites.py`` runs all suites, ``--quick`` those that take less than a minute, and
``--suites tree/tests/test_tree.py inspection`` some. ``--page`` prints the page of the docs. The exit code is 1 where a
test failed, or where one that is listed as different passes.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import sys
import tempfile
import textwrap
import tomllib
import warnings
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import sklearn

import treewright

HERE = Path(__file__).parent
THEIRS = Path(sklearn.__file__).parent

# Where tests look names up. A name is exchanged where the package and Treewright both have it.
PACKAGES = ("tree", "ensemble", "neighbors")

SUITES = (
    "tree/tests/test_tree.py",
    "tree/tests/test_monotonic_tree.py",
    "ensemble/tests/test_forest.py",
    "ensemble/tests/test_bagging.py",
    "ensemble/tests/test_weight_boosting.py",
    "ensemble/tests/test_gradient_boosting.py",
    "ensemble/tests/test_iforest.py",
    "ensemble/tests/test_common.py",
    "ensemble/tests/test_stacking.py",
    "ensemble/tests/test_voting.py",
    "neighbors/tests/test_neighbors.py",
    "neighbors/tests/test_neighbors_pipeline.py",
    "inspection",
    "model_selection",
    "feature_selection",
    "tests/test_calibration.py",
    "tests/test_multioutput.py",
    "tests/test_multiclass.py",
    "tests/test_pipeline.py",
)
PAGE = """\
# Differences from scikit-learn

Check here whether code or tests written for scikit-learn give other results with Treewright. scikit-learn's own tests
(trees, ensembles, neighbours, inspection, calibration, model selection, feature selection, several outputs, pipelines)
run with Treewright's classes in place of its own: `python benchmarks/peers/sklearn_suites.py`, last with scikit-learn
{version}. Tests that fail do so for one of these reasons; `benchmarks/peers/differences.toml` names the tests of each.
"""
QUICK = ("tree/tests/test_tree.py", "ensemble/tests/test_weight_boosting.py", "ensemble/tests/test_iforest.py")


def exchange_classes() -> list[str]:
    """Put ours into scikit-learn's packages; returns the names.

    All of scikit-learn is imported before, so that its own modules keep what they have.
    """
    for path in sorted(THEIRS.rglob("*.py")):
        parts = path.relative_to(THEIRS).with_suffix("").parts
        if not {"tests", "conftest", "externals", "__main__", "setup"} & set(parts) and parts[0][0] != "_":
            name = ".".join(("sklearn", *(part for part in parts if part != "__init__")))
            with contextlib.suppress(ImportError), warnings.catch_warnings():  # an optional package is lacking
                warnings.simplefilter("ignore")
                importlib.import_module(name)
    exchanged = []
    for name in PACKAGES:
        package = importlib.import_module(f"sklearn.{name}")
        for public in package.__all__:
            if public in treewright.__all__:
                setattr(package, public, getattr(treewright, public))
                exchanged.append(public)
    return exchanged


class Outcomes:
    """A plugin of pytest that keeps what became of each test."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}
        self.why: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep the outcome: a test whose setup or teardown fails has failed."""
        test = name_of(report.nodeid)
        if report.outcome == "failed":
            self.of[test] = "failed"
            self.why.setdefault(test, last_line(report))
        elif report.outcome == "skipped" or report.when == "call":
            self.of.setdefault(test, report.outcome)

    def pytest_collectreport(self, report: Any) -> None:
        """A module that cannot be imported is a failure."""
        if report.outcome == "failed":
            test = name_of(report.nodeid)
            self.of[test], self.why[test] = "failed", last_line(report)


def name_of(nodeid: str) -> str:
    """A test's name from the folder of scikit-learn on."""
    return nodeid.rpartition("sklearn/")[2] if "sklearn/" in nodeid.partition("::")[0] else nodeid


def last_line(report: Any) -> str:
    """The error in one line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr)
    return " ".join(text.split())[:200]


def run(suites: list[str]) -> Outcomes:
    """Run test files of scikit-learn, each as it stands."""
    outcomes = Outcomes()
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "pytest.ini"  # neither ours nor theirs
        settings.write_text("[pytest]\nfilterwarnings = ignore\n", encoding="utf-8")
        options = ["-q", "--no-header", "--tb=line", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist"]
        quiet = ["--show-capture=no", "-r", "N", "--rootdir", str(THEIRS.parent), "-c", str(settings)]
        pytest.main([*options, *quiet, *(str(THEIRS / suite) for suite in suites)], plugins=[outcomes])
    return outcomes


def differences() -> list[dict[str, Any]]:
    """The reasons, each with the tests that fail for it (patterns of the shell)."""
    found: list[dict[str, Any]] = tomllib.loads((HERE / "differences.toml").read_text(encoding="utf-8"))["difference"]
    return found


def pattern_holds(pattern: str, test: str) -> bool:
    """Whether a listed name means a test: the name itself, all cases of it, or a pattern."""
    return (
        test == pattern
        or test.startswith(pattern + "[")
        or fnmatchcase(test.replace("[", "("), pattern.replace("[", "("))
    )


def judged(outcomes: Outcomes) -> tuple[Counter[str], dict[str, str], list[str]]:
    """How many tests passed, are different, failed and were skipped; the failed with their errors; idle patterns."""
    listed = [pattern for each in differences() for pattern in each["tests"]]
    used, counts, failed = set(), Counter(), {}
    for test, outcome in outcomes.of.items():
        if outcome == "failed":
            reasons = [pattern for pattern in listed if pattern_holds(pattern, test)]
            used.update(reasons)
            if not reasons:
                failed[test] = outcomes.why[test]
            outcome = "different" if reasons else "failed"
        counts[outcome] += 1
    modules = {test.partition("::")[0] for test in outcomes.of}
    idle = [pattern for pattern in listed if pattern.partition("::")[0] in modules and pattern not in used]
    return counts, failed, idle


def page() -> str:
    """The page of the documentation: what is different, by the names in the data file."""
    lines = [PAGE.format(version=".".join(sklearn.__version__.split(".")[:2])).rstrip(), ""]
    for each in differences():
        lines += textwrap.wrap(each["reason"], 138, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def main(words: list[str] | None = None) -> int:
    """Run, print, and say by the exit code whether all differences are known."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--suites", nargs="+", help="test files or folders below sklearn/")
    parser.add_argument("--quick", action="store_true", help="only the quick suites")
    parser.add_argument("--out", help="write outcomes as JSON")
    parser.add_argument("--page", action="store_true", help="print the page of the documentation")
    given = parser.parse_args(words)
    if given.page:
        print(page(), end="")
        return 0
    suites = given.suites or list(QUICK if given.quick else SUITES)
    names = exchange_classes()
    outcomes = run(suites)
    counts, failed, idle = judged(outcomes)
    print(f"\nscikit-learn {sklearn.__version__}, exchanged: {', '.join(names)}")
    print(", ".join(f"{counts[kind]} {kind}" for kind in ("passed", "different", "failed", "skipped")))
    for test, why in failed.items():
        print(f"failed: {test}: {why}")
    for pattern in idle:
        print(f"listed as different, and does not fail: {pattern}")
    if given.out:
        Path(given.out).write_text(json.dumps({"of": outcomes.of, "why": outcomes.why}, indent=1), encoding="utf-8")
    return 1 if failed or idle else 0


if __name__ == "__main__":
    sys.exit(main())
