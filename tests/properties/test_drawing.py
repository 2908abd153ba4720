"""Properties of trees drawn for a window, of whatever tree, names and width."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from random_models import draw

from treewright.cli.evaluate import class_lines, confusion_lines, sorted_labels
from treewright.data.schema import Schema
from treewright.evaluation.measures import LabelScore
from treewright.show.spans import Span, cut, fitted, folded, text_of, width_of
from treewright.show.text import draw_tree, show
from treewright.trees.writing import cell_width

SIGNS = st.text(max_size=40) | st.text("ab \u0301\u200d東👩\x1b\u202e\n", max_size=200)


@given(
    seed=st.integers(0, 10_000),
    task=st.sampled_from(["classification", "regression"]),
    names=st.lists(SIGNS, min_size=8, max_size=8),
    width=st.integers(20, 160),
    looks=st.tuples(st.booleans(), st.booleans(), st.sampled_from([None, 1, 7])),
)
def test_a_drawing_fits_and_shows_the_nodes_of_the_text(seed, task, names, width, looks):
    model = draw(seed, task, n_outputs=1 + seed % 2).model
    columns = tuple(
        replace(column, name=f"{at}{name}")
        for at, (column, name) in enumerate(zip(model.schema.columns, (*names, *names), strict=False))
    )
    model = replace(model, schema=Schema(columns))
    ascii_only, colors, max_nodes = looks

    lines = draw_tree(model, width=width, ascii=ascii_only, colors=colors, max_nodes=max_nodes)

    assert max(map(width_of, lines)) <= width
    assert not any(set(text_of(line)) & set("\n\r\x1b\u202e") for line in lines)
    assert _nodes(map(text_of, lines)) == _nodes(show(model, max_nodes=max_nodes).split("\n"))


def _nodes(lines):
    """The numbers in front of the lines of a tree: those behind the line of titles, until a blank one."""
    rows = list(lines)
    first = next(at for at, line in enumerate(rows) if line.lstrip().startswith("node "))
    tree = rows[first + 1 :]
    tree = tree[: tree.index("")] if "" in tree else tree
    words = [line.split()[0] for line in tree if line[:6].strip()]
    found = [word for word in words if word.isdigit()]
    assert found[0] == "0"
    return found


@given(text=SIGNS, width=st.integers(1, 60))
def test_texts_are_made_to_fit(text, width):
    assert cell_width(fitted(text, width)) <= width
    assert all(cell_width(line) <= max(width, 3) for line in folded(text.replace("\x00", ""), max(width, 3)))


@given(pieces=st.lists(SIGNS, max_size=6), width=st.integers(1, 60))
def test_lines_are_made_to_fit(pieces, width):
    line = [Span(piece) for piece in pieces]

    assert width_of(cut(line, width)) <= width
    if width_of(line) <= width and max(map(len, pieces), default=0) <= 4 * width:
        assert cut(line, width) == line


@given(
    labels=st.lists(SIGNS, min_size=1, max_size=20, unique=True),
    width=st.integers(40, 120),
    seed=st.integers(0, 1000),
)
def test_tables_of_classes_fit(labels, width, seed):
    rng = np.random.default_rng(seed)
    score = LabelScore({(true, guess): int(rng.integers(0, 10**6)) for true in labels for guess in labels})
    classes = sorted_labels(score)
    for lines in (
        confusion_lines(score, classes, width),
        class_lines(score, classes, width, intervals=bool(seed % 2)),
    ):
        texts = [text_of(line) for line in lines]
        assert max(map(cell_width, texts)) <= width
        assert all("\n" not in text and "\x1b" not in text for text in texts)
