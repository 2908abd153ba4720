"""All trees nearly as good as the best one (a Rashomon set). In: rows, an optimal tree. Out: ``NearOptimalTrees``.

Wanted               the tolerance, and which trees to list
near_optimal_trees   finds the least loss, counts the trees within the tolerance, builds the best of them
NearOptimalTrees     the trees, which columns they need, where they disagree; as text, JSON and a page
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Hashable, Iterator
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from numbers import Real
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from treewright.core.elementary import whole_number
from treewright.core.files import write_whole
from treewright.core.progress import report
from treewright.exceptions import ParameterError
from treewright.grow.by_node.instances import all_instances
from treewright.grow.by_node.plan import tree_of
from treewright.grow.optimal.grower import plan_of
from treewright.grow.optimal.near import MOST_KEPT, Families, NearOptimal, TooMuchError
from treewright.grow.optimal.pairs import INF
from treewright.grow.optimal.search import CTRL_C, Search, Stopped
from treewright.learn.optimal import OptimalTreeParams, Task, objective_of, task_of
from treewright.learn.params import finite
from treewright.learn.train import with_every_cell
from treewright.show.page.render import plain, render
from treewright.show.page.tree import framed
from treewright.show.spans import GAP, TextColumn, aligned
from treewright.trees.facts import node_test
from treewright.trees.wording import threshold_digits
from treewright.trees.writing import shorten, written_amount, written_name
from treewright.version import __version__

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset
    from treewright.grow.optimal.search import Branching
    from treewright.model import Model

FORMAT, VERSION = "treewright near-optimal trees", 1
PAGE_HEIGHT = 640
DISTINCT = ("columns", "tests")
_SHOWN = 20  # trees, and columns, in the text
_TESTS_WIDTH = 100


@dataclass(frozen=True)
class ColumnUse:
    """What a column is to the trees.

    Attributes
    ----------
    name : hashable
    n_trees : int
        How many of all trees within the tolerance test it.
    share : float, 0 to 1
        The same as a share of them.
    root_share : float, 0 to 1
        Share of them that test it first.
    lowest, highest : float, 0 to 1
        Range of its importance over the listed trees: its share of the impurity that splits removed.
    """

    name: Hashable
    n_trees: int
    share: float
    root_share: float
    lowest: float
    highest: float


@dataclass(frozen=True, eq=False)
class NearOptimalTrees:
    """All trees whose objective is within a tolerance of the least one: counted, and the best of them listed.

    A sequence of models, the best first: of equal objectives first the trees with fewer leaves.

    Attributes
    ----------
    n_trees : int
        How many trees are within the tolerance, exactly.
    tolerance : float
        Share of the least objective by which that of a tree may be larger.
    extra_loss : float
        What it may be larger in addition.
    least : float
        The least objective: loss per unit of weight, plus ``ccp_alpha`` for each leaf.
    objectives : tuple of float
        Of the listed trees, ascending.
    models : tuple of Model
        The listed trees.
    columns : tuple of ColumnUse
        In the order of the table. Which trees test a column is counted over all trees, its importance compared over
        those listed.
    distinct : {"columns", "tests"}
        Whether the list has the best tree of each arrangement of columns, or every tree.
    n_distinct : int or None
        How many trees, or arrangements, the whole list has; None for very many arrangements, which are not counted.
    n_alike : tuple of int
        For each listed tree, how many trees test the same columns at the same nodes; 1 with ``distinct="tests"``.
    searched : str
        Which tests were searched, if that is less than all; else empty.
    """

    n_trees: int
    tolerance: float
    extra_loss: float
    least: float
    objectives: tuple[float, ...]
    models: tuple[Model, ...]
    columns: tuple[ColumnUse, ...]
    distinct: str
    n_distinct: int | None
    n_alike: tuple[int, ...]
    searched: str = ""

    def __len__(self) -> int:
        return len(self.models)

    @overload
    def __getitem__(self, at: int) -> Model: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Model, ...]: ...
    def __getitem__(self, at: int | slice) -> Model | tuple[Model, ...]:
        return self.models[at]

    def __iter__(self) -> Iterator[Model]:
        return iter(self.models)

    @property
    def bound(self) -> float:
        """The largest objective that a tree may have."""
        return self.least * (1.0 + self.tolerance) + self.extra_loss

    @property
    def is_arranged(self) -> bool:
        """Whether the list has one tree for each arrangement of columns."""
        return self.distinct == "columns"

    @property
    def in_every_tree(self) -> tuple[Hashable, ...]:
        """Columns that every tree within the tolerance tests."""
        return tuple(column.name for column in self.columns if column.n_trees == self.n_trees)

    @property
    def in_no_tree(self) -> tuple[Hashable, ...]:
        """Columns that none of them tests."""
        return tuple(column.name for column in self.columns if column.n_trees == 0)

    def disagreement(self, X: Any) -> np.ndarray:
        """How much the listed trees disagree about each row.

        Parameters
        ----------
        X : table

        Returns
        -------
        float64[n]
            Classes: the share of the trees that do not predict the most frequent class. Numbers: the standard deviation
            of the predictions.

        Raises
        ------
        DataError
            The table was refused.
        """
        model = self.models[0]
        matrix = model._encoded(X, "NearOptimalTrees")
        if model.task == "regression":
            return np.array([each.numbers_of(matrix) for each in self.models]).reshape(len(self), -1).std(axis=0)
        codes = np.array([each.codes_of(matrix) for each in self.models]).reshape(len(self), -1)
        votes = [(codes == code).sum(axis=0) for code in range(model.n_classes[0])]
        shares: np.ndarray = (len(self) - np.max(votes, axis=0)) / len(self)
        return shares

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame, a row per listed tree."""
        return {
            "tree": list(range(1, len(self) + 1)),
            "objective": list(self.objectives),
            "n_leaves": [model.trees[0].n_leaves for model in self.models],
            "depth": [model.trees[0].max_depth for model in self.models],
            "n_alike": list(self.n_alike),
            "tests": [written_tests(model) for model in self.models],
        }

    def to_json(self) -> str:
        """What the page shows, without the pictures, as JSON."""
        trees = self.to_dict()
        found = {
            "format": FORMAT,
            "format_version": VERSION,
            "n_trees": self.n_trees,
            "tolerance": self.tolerance,
            "extra_loss": self.extra_loss,
            "least": self.least,
            "bound": self.bound,
            "distinct": self.distinct,
            "n_distinct": self.n_distinct,
            "searched": self.searched,
            "columns": [{**asdict(column), "name": written_name(column.name)} for column in self.columns],
            "trees": [dict(zip(trees, row, strict=True)) for row in zip(*trees.values(), strict=True)],
        }
        return json.dumps(plain(found), indent=1, allow_nan=False, ensure_ascii=False)

    def show(self) -> str:
        """The count, what each column is to the trees, and the best trees, as text."""
        lines = [self._headline, ""]
        order = sorted(range(len(self.columns)), key=lambda at: -self.columns[at].share)
        columns = [self.columns[at] for at in order[:_SHOWN]]
        lines += _table(
            TextColumn("column", [shorten(written_name(column.name), 40) for column in columns], "left"),
            TextColumn("in trees", [self._share_of(column) for column in columns], "right"),
            TextColumn("first", [_percent(column.root_share) for column in columns], "right"),
            TextColumn("importance", [_range(column) for column in columns], "left"),
        )
        if len(order) > _SHOWN:
            lines.append(f"... {len(order) - _SHOWN} more columns")
        found = self.to_dict()
        n = min(_SHOWN, len(self))
        lines += ["", *_table(
            TextColumn("tree", [str(each) for each in found["tree"][:n]], "right"),
            TextColumn("objective", [written_amount(each, digits=4) for each in self.objectives[:n]], "point"),
            TextColumn("leaves", [str(each) for each in found["n_leaves"][:n]], "right"),
            TextColumn("depth", [str(each) for each in found["depth"][:n]], "right"),
            *[TextColumn("alike", [f"{each:,}" for each in self.n_alike[:n]], "right")] * self.is_arranged,
            TextColumn("tests", [shorten(each, _TESTS_WIDTH) for each in found["tests"][:n]], "left"),
        )]  # fmt: skip
        if len(self) > n:
            lines.append(f"... {len(self) - n:,} more listed trees")
        alike = "; alike: trees with the same columns at the same nodes" * self.is_arranged
        lines += [
            "",
            f"in trees, first: of all {_counted(self.n_trees)}; importance: over the {len(self):,} listed{alike}",
        ]
        return "\n".join(line.rstrip() for line in lines)

    def _share_of(self, column: ColumnUse) -> str:
        """The share of all trees that test a column; "all" and "none" only if they do."""
        if column.n_trees in (0, self.n_trees):
            return "all" if column.n_trees else "none"
        return _percent(column.share)

    @property
    def _headline(self) -> str:
        """How many trees there are within which bound."""
        terms = [f"{100.0 * self.tolerance:g} %"] * (self.tolerance > 0.0 or not self.extra_loss)
        terms += [f"{self.extra_loss:g}"] * (self.extra_loss > 0.0)
        over = f" over {self.searched}" if self.searched else ""
        listed = "" if self.n_distinct == len(self) else f"; the best {len(self):,} are listed"
        if self.is_arranged and self.n_distinct is not None:
            listed = f"; {_counted(self.n_distinct, 'arrangement')} of columns{listed}"
        elif self.is_arranged:
            listed = f"; the best {_counted(len(self), 'arrangement')} of columns are listed"
        return (
            f"{_counted(self.n_trees)}{over} within {' plus '.join(terms)} of the least objective, "
            f"{written_amount(self.least, digits=4)}{listed}"
        )

    @cached_property
    def html(self) -> str:
        """A page with the columns, and a picture of each listed tree: one HTML document that loads nothing."""
        found = self.to_dict()
        trees = []
        for at, model in enumerate(self.models):
            picture = model.plot()
            trees.append({
                "number": at + 1,
                "objective": self.objectives[at],
                "n_leaves": found["n_leaves"][at],
                "n_alike": self.n_alike[at],
                "tests": found["tests"][at],
                "width": round(picture.width),
                "picture": base64.b64encode(picture.text.encode("utf-8")).decode("ascii"),
            })  # fmt: skip
        target = ", ".join(written_name(name) for name in self.models[0].target_names if name != "")
        return render(
            {
                "title": f"Nearly optimal trees{f' for {target}' if target else ''}",
                "headline": self._headline,
                "every": [written_name(name) for name in self.in_every_tree],
                "none": [written_name(name) for name in self.in_no_tree],
                "n_trees": self.n_trees,
                "n_listed": len(self),
                "is_arranged": self.is_arranged,
                "columns": [
                    {
                        **asdict(column),
                        "name": written_name(column.name),
                        "percent": self._share_of(column),
                        "root_percent": _percent(column.root_share),
                        "importance": _range(column),
                    }
                    for column in sorted(self.columns, key=lambda column: -column.share)
                ],
                "trees": trees,
                "version": __version__,
            },
            template="near_optimal",
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page (``.html``) or its numbers (``.json``); an old file stays whole if that fails.

        Raises
        ------
        ParameterError
            The name ends in neither.
        InputFileError
            The file cannot be written.
        """
        ending = check_ending_of_page(path)
        text = self.to_json() + "\n" if ending == ".json" else self.html
        write_whole(path, text.encode("utf-8", "backslashreplace"))

    def _repr_html_(self) -> str:
        """The page in a frame, which keeps its styles inside."""
        return framed(self.html, "Nearly optimal trees", PAGE_HEIGHT)

    def __str__(self) -> str:
        return self.show()

    def __repr__(self) -> str:
        return f"<NearOptimalTrees: {self._headline}>"


def check_ending_of_page(path: str | os.PathLike[str]) -> str:
    """The ending of a page or of its numbers; any other is refused."""
    ending = PurePath(os.fsdecode(path)).suffix.lower()
    if ending not in (".html", ".htm", ".json"):
        raise ParameterError(f"{os.fsdecode(path)!r}: name a page that ends in .html, or numbers that end in .json")
    return ending


def written_tests(model: Model) -> str:
    """The tests of a tree, a parent before its children; empty for a single leaf."""
    tree = model.trees[0]
    digits = threshold_digits(tree)
    inner = np.flatnonzero(~tree.is_leaf).tolist()
    tests = {node: node_test(model, tree, node) for node in inner}
    return "; ".join(f"{test.column} {test.edge(0, digits=int(digits[node]))}" for node, test in tests.items())


@dataclass(frozen=True)
class Wanted:
    """What is counted and listed: the arguments of ``OptimalTreeClassifier.near_optimal``, checked.

    Tolerances are the numbers as they are written, so that .7 of 10 errors are 7.
    """

    tolerance: Fraction
    extra_loss: Fraction
    distinct: str
    max_trees: int
    max_search: int | None

    @classmethod
    def of(cls, *, tolerance: Any, extra_loss: Any, distinct: Any, max_trees: Any, max_search: Any) -> Wanted:
        """Checked arguments."""
        if distinct not in DISTINCT:
            raise ParameterError(f"distinct={distinct!r}: choose from {', '.join(map(repr, DISTINCT))}")
        return cls(
            _decimal("tolerance", tolerance), _decimal("extra_loss", extra_loss), str(distinct),
            whole_number("max_trees", max_trees, 1),
            None if max_search is None else whole_number("max_search", max_search, 1),
        )  # fmt: skip


def near_optimal_trees(
    dataset: Dataset, params: OptimalTreeParams, model: Model, wanted: Wanted, n_threads: int
) -> NearOptimalTrees:
    """All trees within a tolerance of the least objective.

    ``model``: an optimal tree that was fitted with ``params``; the listed trees have its columns and classes.
    """
    params = params.in_numbers()
    if params.is_smallest:
        raise ParameterError('near_optimal counts the trees near the least loss: fit with objective="loss"')
    report(0.0, "searching the least loss")
    task = task_of(with_every_cell(dataset, params), params, n_threads)
    if task.limits.optimal_depth is not None:
        raise ParameterError(
            f"near_optimal counts trees of which every test is searched, but with optimal_depth={params.optimal_depth} "
            "those below are greedy: fit without it"
        )
    # A price of one unit only makes the search prefer few leaves; here it must not count.
    price = task.limits.price if task.limits.price > 1 else 0
    task = replace(task, limits=replace(task.limits, price=price, max_search=wanted.max_search, is_late=None))
    limits = task.limits
    search = Search(task.space, task.loss, limits, task.has_subsets)
    found = search.run(None, INF)
    if found.stopped == CTRL_C:
        raise KeyboardInterrupt
    if found.lower < found.objective:
        raise ParameterError(
            f"max_search={wanted.max_search}: the search for the least loss ended without a proof, so it is not known "
            "which trees are near it: give a larger max_search, fewer levels (max_depth), or fewer columns"
        )
    search.limits, search.width = limits, None
    families = Families(search)
    added = wanted.extra_loss / Fraction(task.unit) * (1 + Fraction(1, 2**40))  # the unit is rounded
    rounding = 2 * min(limits.max_leaves, len(dataset)) * families.rounding
    budget = found.objective + int(found.objective * wanted.tolerance + added) + rounding
    budget = min(budget, search.root.leaf + min(limits.max_leaves, len(dataset)) * limits.price)
    report(0.0, "counting the trees near it")
    try:
        near = NearOptimal(families, found.objective, budget)
        shares = [near.n_without(feature) for feature in range(len(model.schema))]
        n_distinct: int | None = near.n_trees
        if wanted.distinct == "columns":
            n_distinct, arranged = near.arrangements(wanted.max_trees)
            listed, alike = [each[:2] for each in arranged], tuple(each[2] for each in arranged)
        else:
            listed = list(near.best(wanted.max_trees))
            alike = (1,) * len(listed)
    except Stopped:
        why, more = f"more than max_search={wanted.max_search} subproblems", ", or a larger max_search"
        raise _too_many(wanted, why, more) from None
    except TooMuchError:
        raise _too_many(wanted, f"more than {MOST_KEPT:,} tests and objectives, about a gigabyte") from None
    objectives, models = _built(task, model, params, found.objective, listed)
    importances = np.array([each.feature_importances for each in models])
    at_root = near.n_by_root
    columns = tuple(
        ColumnUse(
            name, near.n_trees - without, (near.n_trees - without) / near.n_trees,
            at_root.get(feature, 0) / near.n_trees, *map(float, (lowest, highest)),
        )
        for feature, (name, without, lowest, highest) in enumerate(
            zip(model.schema.names, shares, importances.min(axis=0), importances.max(axis=0), strict=True)
        )
    )  # fmt: skip
    return NearOptimalTrees(
        near.n_trees, float(wanted.tolerance), float(wanted.extra_loss), objectives[0], objectives, models, columns,
        wanted.distinct, n_distinct, alike, str(model.facts["optimal"].get("searched", "")),
    )  # fmt: skip


def _too_many(wanted: Wanted, why: str, more: str = "") -> ParameterError:
    return ParameterError(
        f"tolerance={float(wanted.tolerance)}: to count the trees within it takes {why}: give a smaller tolerance, "
        f"fewer levels (max_depth), or a price of leaves (ccp_alpha){more}"
    )


def _built(
    task: Task, model: Model, params: OptimalTreeParams, least: int, listed: list[tuple[int, Branching | None]]
) -> tuple[tuple[float, ...], tuple[Model, ...]]:
    """The listed trees as models, with their objectives."""
    root, objectives, models = all_instances(task.problem), [], []
    for at, (value, branching) in enumerate(listed):
        tree = tree_of(task.problem, task.policy, root, plan_of(task.space, branching))
        alpha = finite(params.ccp_alpha)
        objective = objective_of(value, tree.n_leaves, task.limits.price, task.unit, alpha)
        objectives.append(objective)
        proof = {
            **model.facts["optimal"],
            "objective": objective,
            "lower_bound": min(objectives[0], objective),
            "is_proven": value <= least,
            "stopped": "",
            "rank": at + 1,
        }
        single: Any = (tree,)
        facts = {name: fact for name, fact in model.facts.items() if name != "pruning"}
        models.append(replace(model, trees=single, facts={**facts, "optimal": proof}))
    return tuple(objectives), tuple(models)


def _decimal(name: str, value: Any) -> Fraction:
    """A number as it is written."""
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not is_number or not 0.0 <= float(value) < float("inf"):
        raise ParameterError(f"{name}={value!r}: give a number, 0 or more, such as 0.05")
    return Fraction(repr(float(value)))


def _counted(n: int, what: str = "tree") -> str:
    return f"1 {what}" if n == 1 else f"{n:,} {what}s"


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"


def _range(column: ColumnUse) -> str:
    """The importance of a column, from the lowest to the highest."""
    low, high = f"{column.lowest:.3f}", f"{column.highest:.3f}"
    return low if low == high else f"{low} to {high}"


def _table(*columns: TextColumn) -> list[str]:
    return [GAP.join(cells) for cells in zip(*map(aligned, columns), strict=True)]
