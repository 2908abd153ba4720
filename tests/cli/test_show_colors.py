"""The tree on a terminal: colours and bars for people, plain text for pipes, no line wider than the window."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from terminals import plain, run_on_pty, run_on_screen

import treewright as tw
from treewright.show.style import class_color
from treewright.trees.writing import cell_width


@pytest.fixture(scope="module")
def model(fitted):
    return fitted[0] / "penguins.tw"


@pytest.fixture(scope="module")
def text(model):
    return tw.load(model).show() + "\n"


def rgb(color):
    """A colour as a terminal is told of it."""
    return ";".join(str(int(color[at : at + 2], 16)) for at in (1, 3, 5))


# ----------------------------------------------------------------------------------------------- where it is plain


def test_in_a_pipe_the_tree_is_the_text_of_the_library(command, process, model, text):
    assert command("show", model).stdout == text
    assert process("show", model, surroundings={"TERM": "xterm-256color", "COLUMNS": "40"}).stdout == text


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_who_wants_no_colours_gets_the_same_text_on_a_terminal(model, text, environ):
    assert run_on_screen("show", model, columns=60, **environ) == text
    assert run_on_screen("show", model, columns=60, NO_COLOR="") != text  # no-color.org: an empty word means nothing


def test_never_is_plain_on_a_terminal_as_well(model, text):
    assert run_on_screen("show", model, "--color", "never", columns=60) == text


def test_a_file_is_plain_text(model, text, tmp_path):
    said = run_on_screen("show", model, "--out", tmp_path / "t.txt", columns=60)

    assert (said, (tmp_path / "t.txt").read_text(encoding="utf-8")) == ("", text)


@pytest.mark.parametrize("words", [["--importances"], ["--format", "rules"], ["--format", "dot"]])
def test_other_views_are_the_same_on_a_terminal(command, model, words):
    assert run_on_screen("show", model, *words, columns=60) == command("show", model, *words).stdout


# ------------------------------------------------------------------------------------------------ where it is drawn


def test_on_a_terminal_classes_have_the_colours_of_the_pictures(model, surroundings):
    # In a process of its own: rich keeps the codes of a style that it has written once, whatever the terminal is then.
    drawn = run_on_pty("show", model, surroundings=surroundings, COLORTERM="truecolor")

    for place, name in enumerate(("Adelie", "Chinstrap", "Gentoo")):
        assert f"\x1b[38;2;{rgb(class_color(place))}m■ \x1b[0m\x1b[1m{name}\x1b[0m" in drawn
    assert f"\x1b[38;2;{rgb(class_color(0))};48;2;{rgb(class_color(1))}m" in drawn  # a cell where two classes meet


def test_terminals_of_256_and_of_16_colours_tell_the_classes_apart(model):
    for term, how in (("xterm-256color", "38;5;[0-9]+"), ("xterm", "3[0-9]")):
        drawn = run_on_screen("show", model, TERM=term)
        colors = {
            name: re.search(f"\x1b\\[({how})m■ \x1b\\[0m\x1b\\[1m{name}\x1b", drawn)[1]
            for name in ("Adelie", "Chinstrap", "Gentoo")
        }

        assert len(set(colors.values())) == 3, term


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_no_line_is_wider_than_the_window(model, columns):
    lines = plain(run_on_screen("show", model, columns=columns)).splitlines()

    assert max(map(cell_width, lines)) <= columns
    assert sum(line.endswith(("■ Adelie", "■ Chinstrap", "■ Gentoo")) for line in lines) == 7
    assert all(line == line.rstrip() for line in lines)


def test_a_real_terminal_says_how_wide_it_is(model, surroundings):
    drawn = run_on_pty("show", model, columns=50, surroundings=surroundings)

    assert "\x1b[38;5;" in drawn
    assert 40 < max(cell_width(line) for line in plain(drawn).splitlines()) <= 50


def test_a_window_that_is_no_wider_than_a_word_is_drawn_as_far_as_can_be(model):
    assert max(map(cell_width, plain(run_on_screen("show", model, columns=3)).splitlines())) <= 20


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
def test_where_the_terminal_lacks_the_signs_it_is_drawn_in_ascii(model, encoding):
    drawn = run_on_screen("show", model, encoding=encoding)

    assert plain(drawn).isascii()
    assert "?" not in drawn
    assert "|- flipper_length_mm" in plain(drawn)
    assert "# Adelie" in plain(drawn)


def test_color_always_paints_a_pipe_in_256_colours_and_changes_no_sign(command, model):
    painted = command("show", model, "--color", "always", "--width", 100).stdout

    assert "\x1b[38;5;" in painted
    assert plain(painted) == plain(run_on_screen("show", model, columns=100))


def test_color_always_is_stronger_than_no_color(model):
    assert "\x1b[38;5;" in run_on_screen("show", model, "--color", "always", NO_COLOR="1")


def test_a_painted_file_is_what_is_shown(command, model, tmp_path):
    words = ["--color", "always", "--width", "90"]
    command("show", model, *words, "--out", tmp_path / "t.txt")

    assert (tmp_path / "t.txt").read_text(encoding="utf-8") == command("show", model, *words).stdout


def test_a_width_in_a_pipe_draws_without_colours(command, model):
    drawn = command("show", model, "--width", 70).stdout

    assert "\x1b" not in drawn
    assert max(map(cell_width, drawn.splitlines())) <= 70
    assert "# Adelie 114   = Chinstrap 51   + Gentoo 93" in drawn


def test_what_is_hidden_is_told_with_the_option_that_shows_it(model):
    drawn = plain(run_on_screen("show", model, "--max-depth", 1))

    assert "hidden: give a larger --max-depth, or --max-nodes 0 for all" in drawn


def test_numbers_have_bars(command, penguins, tmp_path):
    command("fit", penguins, "--target", "body_mass_g", "--skip-missing-target", "--set", "max_depth=2",
            "--out", "m.tw", folder=tmp_path)  # fmt: skip
    lines = plain(run_on_screen("show", tmp_path / "m.tw")).splitlines()

    assert sum("█" in line for line in lines) >= 5
    assert any(line.startswith("bars: mean from ") for line in lines)


def test_one_of_many_trees_is_drawn_and_their_summary_is_text(command, penguins, tmp_path):
    command("fit", penguins, "--target", "species", "--algorithm", "forest", "--set", "n_estimators=3",
            "--out", "m.tw", folder=tmp_path)  # fmt: skip

    assert "\x1b[" in run_on_screen("show", tmp_path / "m.tw", "--tree", 1)
    assert run_on_screen("show", tmp_path / "m.tw") == command("show", tmp_path / "m.tw").stdout


def test_fit_draws_its_tree_on_a_terminal_and_breaks_sentences_at_blanks(penguins):
    words = ("fit", penguins, "--target", "species", "--set", "max_depth=2")
    lines = plain(run_on_screen(*words, columns=60)).splitlines()

    assert max(map(cell_width, lines)) <= 60
    assert any(line.endswith("■ Gentoo") for line in lines)
    assert "always predicting 'Adelie': 0.442" in lines


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--width", "39"], "--width 39: give 40 or more"),
        (["--width", "1000000"], "give 40 or more"),
        (["--width", "80", "--format", "svg"], "--width 80: only with --format text, not svg"),
        (["--color", "always", "--format", "rules"], "--color always: only with --format text, not rules"),
        (["--color", "always", "--importances"], "--color always: not with --importances"),
    ],
)
def test_colours_and_widths_of_what_is_not_drawn_are_refused(command, model, words, said):
    done = command("show", model, *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_help_does_not_load_what_paints(surroundings):
    script = (
        "import sys\nsys.argv = ['treewright', 'show', '--help']\nfrom treewright.cli.app import main\n"
        "try:\n    main()\nfinally:\n"
        "    print('HEAVY', sorted({'numpy', 'treewright.show.text'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=surroundings)

    assert "HEAVY []" in done.stdout
