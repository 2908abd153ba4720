"""A tree alone as a page, and the page in a frame. In: a model. Out: HTML. Callers: model, estimators, reporting.

What a notebook shows of a fitted tree: the same drawing as in a report, in a frame of its own, so that neither its
styles nor its scripts meet those of the notebook.
"""

from __future__ import annotations

from dataclasses import replace

from treewright.model.data import ModelData
from treewright.model.summary import summarize
from treewright.page.parts import ColumnWords, Summary
from treewright.page.parts_tree import TreePart
from treewright.page.render import render
from treewright.page.tree_part import tree_part
from treewright.tree.writing import escape_controls, shorten, written_level, written_name
from treewright.version import __version__

# A notebook holds the page of every cell: of a large tree only the nodes with the most rows.
MAX_NODES = 401
# Pixels: what stands above and below the drawing, one row of cards, and the least and the most of a frame.
REST, ROW, LEAST, MOST = 170, 152, 380, 760
# How many levels a drawing opens with, at most.
LEVELS = 5


def tree_page(model: ModelData, tree: int = 0, *, title: str | None = None) -> str:
    """Return a page that holds one tree: it zooms, folds, finds, and tells of each node.

    Parameters
    ----------
    model : ModelData
    tree : int
        Which of its trees.
    title : str, optional
        By default the name of the target.

    Returns
    -------
    str
        A whole HTML document that loads nothing.

    Raises
    ------
    ParameterError
        There is no such tree.
    """
    return render(tree_summary(model, tree, title=title), template="tree")


def tree_frame(model: ModelData, tree: int = 0, *, title: str | None = None) -> str:
    """Return `tree_page` in a frame that cannot reach the page around it; as tall as the tree wants, within bounds.

    Raises
    ------
    ParameterError
        There is no such tree.
    """
    summary = tree_summary(model, tree, title=title)
    height = LEAST if summary.tree is None else height_of(summary.tree)
    return framed(render(summary, template="tree"), summary.title, height)


def framed(page: str, title: str, height: int) -> str:
    """Return a page in a frame whose scripts run, and reach nothing outside."""
    return (
        f'<iframe sandbox="allow-scripts" style="width:100%;height:{height}px;border:0" '
        f"title='{in_quotes(title)}' srcdoc='{in_quotes(page)}'></iframe>"
    )


def in_quotes(text: str) -> str:
    """Return a text as it stands in an attribute between single quotes; the double ones of JSON need no escape there.

    Examples
    --------
    >>> print(in_quotes('<a title="x"> & y' + "'s"))
    &lt;a title="x"&gt; &amp; y&#39;s
    """
    for sign, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("'", "&#39;")):
        text = text.replace(sign, name)
    return text


def height_of(part: TreePart) -> int:
    """Return the pixels that a frame around the tree has from top to bottom."""
    levels = min(LEVELS, max(node.depth for node in part.nodes)) + 1
    return min(MOST, max(LEAST, REST + ROW * levels))


def tree_summary(model: ModelData, tree: int = 0, *, title: str | None = None) -> Summary:
    """Return what the page of a tree alone shows.

    Raises
    ------
    ParameterError
        There is no such tree.
    """
    summary = summarize(model, tree)
    target = ", ".join(output.name for output in summary.outputs if output.name)
    heading = escape_controls(title) if title is not None else target or f"{model.task.capitalize()} tree"
    part = without_ways(tree_part(model, tree, max_nodes=MAX_NODES))
    return Summary(
        title=shorten(heading, 200),
        subtitle=part.headline,
        task=model.task,
        target=target,
        facts=(),
        notes=(),
        columns=columns_in_words(model),
        text=part.headline,
        tree=part,
        version=__version__,
    )


def without_ways(part: TreePart) -> TreePart:
    """Return the tree without the branch of every level: no row is sent down here, and levels may be thousands."""
    nodes = tuple(
        node
        if node.test is None
        else replace(
            node,
            test=replace(
                node.test,
                branch_of=(),
                surrogates=tuple(replace(one, branch_of=()) for one in node.test.surrogates),
            ),
        )
        for node in part.nodes
    )
    return replace(part, nodes=nodes)


def columns_in_words(model: ModelData) -> tuple[ColumnWords, ...]:
    """Return every column with its levels."""
    return tuple(
        ColumnWords(
            shorten(written_name(column.name), 200), column.kind, tuple(written_level(level) for level in column.levels)
        )
        for column in model.schema.columns
    )
