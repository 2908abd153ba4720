"""``treewright evaluate``: tables fit the page or the window, whatever classes are called."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from terminals import plain, run_on_screen

import treewright as tw
from treewright.cli.evaluate import class_lines, confusion_lines, sorted_labels
from treewright.core.confidence import wilson_interval
from treewright.evaluation.measures import LabelScore
from treewright.show.spans import text_of
from treewright.trees.writing import cell_width

HOSTILE = [
    "x" * 10_000, "two\nlines", "\x1b[31mred", "\u202eright to left", "e" + "\u0301" * 10_000, "東京" * 40,
    "", "\x00", "a, b", "👩\u200d🔬" * 20, "العربية" * 10, " blanks ",
]  # fmt: skip


def names_of(n, kind):
    if kind == "long":
        return [f"a class with quite a long name, number {number}" for number in range(n)]
    return HOSTILE[:n] if kind == "hostile" else [f"c{number}" for number in range(n)]


def score_of(names, largest=120_000):
    """A score with every pair of classes."""
    rng = np.random.default_rng(len(names))
    counts = {(true, guess): int(rng.integers(0, largest)) for true in names for guess in names}
    return LabelScore(counts)


def written(lines):
    return [text_of(line).rstrip() for line in lines]


def matrix_of(lines, n):
    """The counts of a matrix, read off its lines, and the numbers of the heads."""
    counts, heads = [[] for _ in range(n)], []
    blocks = [block.splitlines() for block in "\n".join(lines).split("\n\n")]
    for block in blocks:
        heads += re.sub(r"^true \\ predicted", "", block[0]).split()
        width = len(re.sub(r"^true \\ predicted", "", block[0]).split())
        for place, line in enumerate(block[1:]):
            counts[place] += [int(cell) for cell in line.split()[-width:]]
    return counts, heads


@pytest.mark.parametrize("kind", ["short", "long", "hostile"])
@pytest.mark.parametrize("n", [3, 12, 20])
@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_longer_than_the_page(n, kind, width):
    names = names_of(n, kind)
    score, labels = score_of(names), sorted_labels(score_of(names))

    tables = [confusion_lines(score, labels, width), class_lines(score, labels, width)]
    tables.append(class_lines(score, labels, width, intervals=True))
    for lines in map(written, tables):
        assert max(map(cell_width, lines)) <= width
        assert max(map(len, lines)) <= 4 * width  # accents take no cells, but memory
        assert not set("".join(lines)) & set("\x00\x1b\u202e\n\r")


@pytest.mark.parametrize("n", [3, 12, 20])
@pytest.mark.parametrize("kind", ["short", "long"])
def test_every_count_stands_where_its_classes_say(n, kind):
    names = names_of(n, kind)
    score = score_of(names)
    labels = sorted_labels(score)

    counts, heads = matrix_of(written(confusion_lines(score, labels, 80)), n)

    assert counts == [[score.counts[true, guess] for guess in labels] for true in labels]
    if kind == "long" or n > 3:
        assert heads == [str(number + 1) for number in range(n)]


def test_numbers_of_heads_are_told_beside_the_names():
    names = names_of(12, "long")
    lines = written(confusion_lines(score_of(names), sorted(names), 80))

    assert lines[1].startswith(" 1 a class wit..., number 0 ")
    assert lines[11].startswith("11 a class wit..., number 8 ")


def test_names_are_shortened_where_that_saves_a_block():
    names = names_of(12, "long")
    lines = written(confusion_lines(score_of(names, largest=1000), names, 80))

    assert len(lines) == 13
    assert len(lines[0]) == 80
    assert lines[12].startswith("12 a class...mber 11  ")


def test_names_that_differ_only_behind_the_cut_stay_apart():
    names = ["n" * 50 + ending + "n" * 50 for ending in "abc"]
    lines = written(class_lines(score_of(names), names, 80))

    assert len({line.split()[0] for line in lines[1:]}) == 3


def test_a_small_table_is_what_it_always_was():
    score = LabelScore({("a", "a"): 5, ("a", "b"): 1, ("b", "b"): 4})

    assert written(class_lines(score, ["a", "b"], 80)) == [
        "class  rows  precision  recall",
        "a         6      1.000   0.833",
        "b         4      0.800   1.000",
    ]
    assert written(confusion_lines(score, ["a", "b"], 80)) == [
        "true \\ predicted  a  b",
        "a                 5  1",
        "b                 0  4",
    ]


def test_intervals_are_wilsons_of_the_rows_they_stand_for():
    score = LabelScore({("a", "a"): 5, ("a", "b"): 1, ("b", "b"): 4})
    lines = written(class_lines(score, ["a", "b", "c"], 80, intervals=True))

    precision, recall = ("{:.3f}-{:.3f}".format(*wilson_interval(*counts)) for counts in ((4, 5), (4, 4)))
    assert lines[0].split() == ["class", "rows", "precision", "95", "%", "interval", "recall", "95", "%", "interval"]
    assert lines[2].split() == ["b", "4", "0.800", precision, "1.000", recall]
    assert lines[3].split() == ["c", "0", "-", "-", "-", "-"]


# ------------------------------------------------------------------------------------------------------ the command


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A model of hostile classes, and the rows it was fitted on."""
    folder = tmp_path_factory.mktemp("hostile")
    labels = [label for label in HOSTILE if label.strip()] * 4
    numbers = list(range(len(labels) // 4)) * 4
    tw.DecisionTreeClassifier().fit({"x": numbers}, labels).save(folder / "m.tw")
    pl.DataFrame({"x": numbers, "y": labels}).write_parquet(folder / "t.parquet")
    return folder


def test_hostile_classes_stay_in_their_lines(command, hostile):
    done = command("evaluate", "m.tw", "t.parquet", "--target", "y", folder=hostile)
    shown = run_on_screen("evaluate", hostile / "m.tw", hostile / "t.parquet", "--target", "y")

    assert done.returncode == 0, done.stderr
    assert max(map(cell_width, done.stdout.splitlines())) <= 80
    assert max(map(cell_width, plain(shown).splitlines())) <= 80
    assert not set(done.stdout) & set("\x00\x1b\u202e\r")
    assert len(done.stdout.splitlines()) == 1 + 1 + 12 + 1 + 12  # the score, eleven classes, and their matrix


def test_on_a_terminal_right_answers_are_to_be_seen_and_intervals_stand_beside(fitted, penguins):
    model = fitted[0] / "penguins.tw"
    shown = run_on_screen("evaluate", model, penguins)

    assert re.search("\x1b\\[1;38;5;[0-9]+m *152\x1b", shown)  # on the diagonal: bold and in a colour
    assert "95 % interval" in plain(shown).splitlines()[2]
    narrow = plain(run_on_screen("evaluate", model, penguins, columns=42))
    assert max(map(cell_width, narrow.splitlines())) <= 42


def test_in_a_pipe_intervals_are_asked_for(command, fitted, penguins):
    model = fitted[0] / "penguins.tw"
    bare, asked = (command("evaluate", model, penguins, *words).stdout for words in ((), ("--intervals",)))

    assert "interval" not in bare.splitlines()[2]
    assert asked.splitlines()[2].count("95 % interval") == 2
    assert [line.split()[0] for line in bare.splitlines()[2:6]] == [line.split()[0] for line in asked.splitlines()[2:6]]


def test_intervals_of_classes_are_refused_for_numbers(command, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "1,1.5\n2,3.5\n" * 5)
    command("fit", "t.csv", "--target", "y", "--test-size", "0", "--out", "m.tw", folder=tmp_path)

    done = command("evaluate", "m.tw", "t.csv", "--intervals", folder=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert "--intervals is for classification" in done.stderr
