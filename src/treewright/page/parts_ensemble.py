"""What a page shows of many trees, as typed values. In: nothing. Out: ``EnsemblePart``. Callers: page, reporting."""

from __future__ import annotations

from dataclasses import dataclass

from treewright.page.parts_tree import TreePart


@dataclass(frozen=True)
class SeriesPart:
    """A line of a chart: a value for each x of the chart, None where it has none."""

    name: str
    y: tuple[float | None, ...]


@dataclass(frozen=True)
class MarkPart:
    """A place of a chart with words."""

    x: float
    label: str


@dataclass(frozen=True)
class CurvePart:
    """A chart over trees or rounds.

    Attributes
    ----------
    key : str
        What it is, for tests and links: ``"loss"``, ``"history"``, ``"error"``, ``"alone"``, ``"weights"``.
    title, xlabel, ylabel : str
    words : str
        What it says, in a sentence or two.
    x : tuple of int, ascending
    series : tuple of SeriesPart
    marks : tuple of MarkPart
    dots : bool
        Whether the values are a point each, not a course.
    """

    key: str
    title: str
    xlabel: str
    ylabel: str
    words: str
    x: tuple[int, ...]
    series: tuple[SeriesPart, ...]
    marks: tuple[MarkPart, ...] = ()
    dots: bool = False


@dataclass(frozen=True)
class SpreadPart:
    """How a number differs between the trees.

    Attributes
    ----------
    name : str
    least, median, most : float
    labels : tuple of str
        Of the cells of the histogram.
    counts : tuple of int
        How many trees are in each.
    edges : tuple of float or None
        Ends of the cells, one more than there are; None where each cell is one whole number.
    title, xlabel, words : str
    """

    name: str
    title: str
    words: str
    least: float
    median: float
    most: float
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    edges: tuple[float, ...] | None = None
    xlabel: str = ""


@dataclass(frozen=True)
class MemberPart:
    """One of the trees.

    Attributes
    ----------
    number : int
        ``model.tree(number)``; counted from 0.
    label : str
        As the list names it.
    words : str
        How it stands to the others; empty where that is not known.
    tree : TreePart
        Without rules; of a large tree the nodes with the most rows.
    """

    number: int
    label: str
    words: str
    tree: TreePart


@dataclass(frozen=True)
class SurrogateWords:
    """The one tree that stands for all; the tree itself is ``Summary.tree``.

    Attributes
    ----------
    title : str
        Of the tree.
    words : str
        How faithful it is.
    measure : {"agreement", "r2"}
    fidelity, low, high : float
        nan where rows do not tell.
    n_fit, n_judged, n_leaves : int
    command : str
        What makes this tree.
    warning : str
        Where one answer for all says no less than the tree: that it is not to be read as the model; else empty.
    """

    title: str
    words: str
    measure: str
    fidelity: float
    low: float
    high: float
    n_fit: int
    n_judged: int
    n_leaves: int
    command: str
    warning: str = ""


@dataclass(frozen=True)
class EnsemblePart:
    """The section of many trees.

    Attributes
    ----------
    kind : {"forest", "boosting", "adaboost"}
        Trees that are asked side by side (bagging too), or grown round by round.
    headline : str
        How many trees there are and how they answer together.
    n_trees, n_rounds : int
        Rounds: 0 where there are none.
    curves : tuple of CurvePart
    sizes : tuple of SpreadPart
    agreement : SpreadPart or None
    members : tuple of MemberPart
    surrogate : SurrogateWords or None
    notes : tuple of str
        What was left out or drawn at random, and why.
    first : int or None
        Which of ``members`` the page begins with; None for the tree that stands for all.
    """

    kind: str
    headline: str
    n_trees: int
    n_rounds: int
    curves: tuple[CurvePart, ...]
    sizes: tuple[SpreadPart, ...]
    agreement: SpreadPart | None
    members: tuple[MemberPart, ...]
    surrogate: SurrogateWords | None
    notes: tuple[str, ...]
    first: int | None = None
