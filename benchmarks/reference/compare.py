"""Our trees beside the figures of Weka, rpart and the package CHAID, set by set, as a table.

    python benchmarks/reference/compare.py [--data FOLDER] [--only letter,adult]

Without a folder the sets that the tests hold are compared; with one (laid out as benchmarks/README.md says) mushroom,
letter and adult as well. Exits with 1 where something differs that docs/numbers/agreement.md does not explain.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "reference"))

import numpy as np
from reference_chaid import MISSING, ours_of, theirs_of
from reference_rpart import beside_rpart, difference_of_surrogates
from reference_sets import figures, find
from reference_trees import (
    first_difference,
    fit_like_id3,
    fit_like_j48,
    id3_data,
    shape_of,
    ten_fold_accuracies,
    whole_runs,
)

# Ties: columns that gain exactly the same, or sides that are equally heavy (docs/numbers/agreement.md).
EXPLAINED = {
    ("Id3", "restaurant", ""): "root / patrons Full: attribute 'hungry' | 'type'",
    ("rpart", "car_evaluation", "cp=0"): "node 36: ours asks doors, rpart lug_boot",
    ("rpart", "gaps", "cp=0.01 information"): "node 98: 24 rows | 7",
}
LEAST_FOLDED = 100  # rows: smaller tables have classes of fewer rows than folds
ONE_CLASS = "the package stopped at two groups of one and the same class"
TOO_SMALL = "equal once branches need as many rows as the package was told"
LAST_STEP = "the package took the last two groups, ours a step with a smaller p-value"
REFUSED = "the package refuses two groups that do not differ"


class Line(NamedTuple):
    """One line of the table: what was compared, nodes and leaves on both sides, the first difference if any."""

    program: str
    data: str
    options: str
    ours: str
    theirs: str
    difference: str | None

    @property
    def verdict(self) -> str:
        if self.difference is None:
            return "equal" if self.ours == self.theirs or "fold" not in self.options else "near"
        explained = self.difference in (
            EXPLAINED.get((self.program, self.data, self.options)), ONE_CLASS, TOO_SMALL, LAST_STEP, REFUSED
        )  # fmt: skip
        return f"{'explained' if explained else 'DIFFERS'}: {self.difference}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with larger sets")
    parser.add_argument("--only", default="", help="data sets, separated by commas")
    given = parser.parse_args()
    only = set(filter(None, given.only.split(",")))
    differs = False
    for lines_of in (id3_lines, j48_lines, rpart_lines, chaid_lines):
        for line in lines_of(given.data, only):
            differs |= line.verdict.startswith("DIFFERS")
            shown = f"{line.program:<6} {line.data:<16} {line.options:<46} {line.ours:>11} {line.theirs:>11}"
            print(f"{shown}  {line.verdict}", flush=True)
    return int(differs)


def asked(runs, folder, only):
    """The runs whose data are there; the others are named."""
    for run in runs:
        if only and run["data"] not in only:
            continue
        if find(run["data"], folder) is None:
            print(f"{run['data']}: not there, skipped")
            continue
        yield run


def id3_lines(folder, only):
    for run in asked(figures("weka_id3.json"), folder, only):
        model = fit_like_id3(id3_data(run, folder))
        size = f"{model.trees[0].n_nodes}/{model.trees[0].n_leaves}"
        yield Line("Id3", run["data"], "", size, "", first_difference(shape_of(model), run["tree"]))


def j48_lines(folder, only):
    for run in asked(whole_runs("weka_j48.json"), folder, only):
        data = find(run["data"], folder)
        model = fit_like_j48(data, run["options"])
        ours = f"{model.trees[0].n_nodes}/{model.trees[0].n_leaves}"
        theirs = f"{run['size']}/{run['leaves']}"
        wrong = int((model.predict(data.X) != data.y).sum())
        difference = None
        if ours != theirs or wrong != run["training_errors"]:
            difference = f"{wrong} training errors | {run['training_errors']}"
        if "tree" in run:
            difference = first_difference(shape_of(model), run["tree"]) or difference
        yield Line("J48", run["data"], run["options"], ours, theirs, difference)
        if "ten_fold" in run and run["rows"] >= LEAST_FOLDED:
            ours, theirs, tolerance = ten_fold_accuracies(data, run)
            near = None if abs(ours - theirs) <= tolerance else f"more than two standard errors: {tolerance:.4f}"
            yield Line("J48", run["data"], f"{run['options']}, ten folds", f"{ours:.4f}", f"{theirs:.4f}", near)


def rpart_lines(folder, only):
    for file in ("rpart.json", "rpart_blanked.json"):
        for run in asked(figures(file), folder, only):
            if run["control"]["usesurrogate"] != 2 or "surrogatestyle" in run["control"]:
                continue
            beside, _, _ = beside_rpart(run, folder)
            options = f"cp={run['control']['cp']} {run.get('split', '')}".strip()
            sizes = str(len(beside.pairs)), str(len(run["nodes"]))
            yield Line("rpart", run["data"], options, *sizes, rpart_difference(beside))


def rpart_difference(beside):
    """The first difference in tests, weights or surrogates of the nodes that both trees have; None if there is none."""
    if beside.differences:
        return "node {}: {}".format(*beside.differences[0])
    weight = beside.model.trees[0].weight
    for pair in beside.pairs:
        if not np.isclose(weight[pair.node], pair.theirs["wt"]):
            return f"node {pair.theirs['node']}: {weight[pair.node]:g} rows | {pair.theirs['wt']:g}"
        if "primary" in pair.theirs and (found := difference_of_surrogates(beside, pair)):
            return found
    return None


def chaid_lines(folder, only):
    for run in asked(figures("chaid.json"), folder, only):
        if run["target"] != "categorical":
            continue  # the package compares spreads, ours means
        for column, split in run["root"].items():
            if len(find(run["data"], folder).levels.get(column, "ab")) < 2:
                continue  # nothing to divide
            ours = ours_of(run, column, folder, exhaustive=bool(run["options"].get("is_exhaustive")))
            theirs = len(split.get("groups", ()))
            options = f"{run['kind']} {column}"
            yield Line(
                "CHAID",
                run["data"],
                options,
                str(len(ours.groups)),
                str(theirs),
                chaid_difference(run, column, ours, folder),
            )


def chaid_difference(run, column, ours, folder):
    """Whether a column's groups, statistic and p-value are the package's, and if not, why."""
    split = run["root"][column]
    if "reason" in split:
        return REFUSED if ours.p_value > run["options"]["alpha_merge"] else split["reason"]
    theirs = theirs_of(split)
    if same_grouping(ours, theirs):
        return None
    if run["options"].get("is_exhaustive") and len(theirs.groups) == 2 and ours.p_value < theirs.p_value:
        return LAST_STEP
    if same_grouping(ours_of(run, column, folder, min_samples_leaf=run["options"]["min_child_node_size"]), theirs):
        return TOO_SMALL
    return ONE_CLASS if has_groups_of_one_class(run, column, theirs, folder) else "other groups"


def same_grouping(one, other):
    numbers = np.allclose(one[1:], other[1:], rtol=1e-9, atol=1e-300)
    return one.groups == other.groups and numbers


def has_groups_of_one_class(run, column, theirs, folder):
    """Whether two of the package's groups hold nothing but rows of one class, the same in both."""
    data = find(run["data"], folder)
    cells = np.array([MISSING if cell is None else cell for cell in data.X[column]])
    classes = [set(data.y[np.isin(cells, list(group))]) for group in theirs.groups]
    alone = [next(iter(found)) for found in classes if len(found) == 1]
    return len(alone) > len(set(alone))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
