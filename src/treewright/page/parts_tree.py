"""A tree as a page shows it, as typed values. In: nothing. Out: ``TreePart``. Callers: page, reporting."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SurrogatePart:
    """A test that stands in where the node's own column is missing.

    Attributes
    ----------
    text : str
        What leads to branch 0, in words.
    kind, column, cuts, branch_of
        As in ``TestPart``; the branches are the node's, turned around already where the surrogate is flipped. A level
        that it does not answer has branch -1.
    flipped : bool
        For a cut: whether ``value <= cut`` leads to branch 1.
    """

    text: str
    kind: str
    column: int
    cuts: tuple[float, ...]
    branch_of: tuple[int, ...]
    flipped: bool


@dataclass(frozen=True)
class TestPart:
    """What a node asks, for a program that sends rows down.

    Attributes
    ----------
    kind : {"cuts", "levels", "present"}
        ``"cuts"``: branch ``b`` is the first with ``value <= cuts[b]``, else ``len(cuts)``; the value of an ordinal
        column is the position of its level. ``"levels"``: ``branch_of[code]``. ``"present"``: branch 0 if there is a
        value, else ``missing``.
    column : int
        Position of the column.
    cuts : tuple of float
        Ascending, exact.
    branch_of : tuple of int
        Per level of the column.
    missing : int
        The branch of a missing value, where no surrogate answers and nothing is divided.
    unseen : int
        The branch of a level that the fit never saw; -1 where the test asks for no levels.
    surrogates : tuple of SurrogatePart
        In the order in which they are asked.
    """

    kind: str
    column: int
    cuts: tuple[float, ...]
    branch_of: tuple[int, ...]
    missing: int
    unseen: int
    surrogates: tuple[SurrogatePart, ...] = ()


@dataclass(frozen=True)
class CandidatePart:
    """One line of a split's audit: the best test that a column offered.

    Attributes
    ----------
    question : str
    gain : float
        Decrease of impurity.
    score : float
        What the algorithm compares columns by.
    chosen : bool
        Whether the node asks this.
    """

    question: str
    gain: float
    score: float
    chosen: bool


@dataclass(frozen=True)
class NodePart:
    """One node.

    Attributes
    ----------
    id : int
        Its number in the tree: ``est.node(id)``.
    parent : int or None
    branch : int
        Which branch of the parent it is; 0 for the root.
    depth : int
    edge : str
        The answer that leads here, in words; empty for the root.
    question : str
        The test in words; empty for a leaf.
    said : str
        What it predicts, as a leaf, in words.
    code : int or None
        Position of the class that it predicts (first output); None for numbers.
    n_rows : int
        Rows of the fit.
    weight, impurity : float
    gain : float or None
        Decrease of impurity by its test: its impurity minus the weighted mean of its branches'; None for a leaf.
    values : tuple of tuple of float
        Per output: weighted class counts, or one number.
    rule : tuple of str
        What leads here, a condition per column; None where the tree is too deep to write one for every node.
    test : TestPart or None
    hidden : int
        How many nodes below it are not in this page.
    judged : tuple of float or None
        Of the judged rows that pass here the weight per true class (first output), or for numbers their histogram over
        ``TreePart.edges``; None where no rows judge.
    audit : tuple of CandidatePart
        Best first; empty where no rows were at hand or the node is small.
    """

    id: int
    parent: int | None
    branch: int
    depth: int
    edge: str
    question: str
    said: str
    code: int | None
    n_rows: int
    weight: float
    impurity: float
    gain: float | None
    values: tuple[tuple[float, ...], ...]
    rule: tuple[str, ...] | None
    test: TestPart | None
    hidden: int = 0
    judged: tuple[float, ...] | None = None
    audit: tuple[CandidatePart, ...] = ()


@dataclass(frozen=True)
class TreePart:
    """One tree.

    Attributes
    ----------
    title : str
        ``"The tree"`` or ``"Tree 3 of 100"``.
    headline : str
        What kind of tree, of what target, how large, in one line.
    outputs : tuple of tuple of str
        Class labels per output; an empty tuple for a number.
    output_names : tuple of str
    criterion : str
        Name of the impurity.
    centre : {"mean", "median", "adds"}
        What the numbers of nodes are.
    weighted : bool
        Whether weights differ from numbers of rows.
    missing : {"direction", "branch", "surrogate", "fractional", "error"}
        How missing values go.
    low, high : float or None
        The least and the greatest number of a node (first output); None for classes.
    edges : tuple of float or None
        Ends of the cells of ``NodePart.judged`` for numbers.
    n_nodes, n_leaves, depth : int
        Of the whole tree.
    nodes : tuple of NodePart
        Parents before children; of a large tree those with the most rows.
    missing_words : str
        How missing values go, as a sentence.
    audit_note : str
        Why nodes have no audit; empty where all have one, or none was asked for.
    """

    title: str
    headline: str
    outputs: tuple[tuple[str, ...], ...]
    output_names: tuple[str, ...]
    criterion: str
    centre: str
    weighted: bool
    missing: str
    low: float | None
    high: float | None
    edges: tuple[float, ...] | None
    n_nodes: int
    n_leaves: int
    depth: int
    nodes: tuple[NodePart, ...]
    missing_words: str = ""
    audit_note: str = ""
