"""``prune``, ``fit --prune`` and ``compare`` on hostile words and files: an answer, or one line and an exit code."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from typer.testing import CliRunner

import treewright
from treewright.cli.app import app

PENGUINS = Path(__file__).parents[2] / "examples" / "penguins.csv"
SURROUNDINGS = {**os.environ, "PYTHONPATH": str(Path(treewright.__file__).parents[1])}
PRUNINGS = [
    "ccp-1se", "ccp-min", "reduced-error", "error-based", "pessimistic", "minimum-error", "significance", "mdl",
    "merge-equal-leaves",
]  # fmt: skip


def run(folder, *words):
    """The command within this process; what it does not expect is raised."""
    with contextlib.chdir(folder):
        done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return SimpleNamespace(code=done.exit_code, out=done.stdout, err=done.stderr)


def refused(done, code, told):
    """Asserts that nothing was said but why, in one line, and before the work that nothing will be saved."""
    assert (done.code, done.out) == (code, ""), done
    assert told in done.err
    before = ("compiling kernels", "is not saved")
    assert len([line for line in done.err.splitlines() if not any(words in line for words in before)]) == 1
    assert "Traceback" not in done.err


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Penguins in two halves, a model of the first half, and damaged or odd versions of both."""
    folder = tmp_path_factory.mktemp("choosing")
    table = pl.read_csv(PENGUINS).drop_nulls()
    table.write_csv(folder / "all.csv")
    table[::2].write_csv(folder / "grow.csv")
    table[1::2].write_csv(folder / "rest.csv")
    text = (folder / "grow.csv").read_text()
    odd = {
        "empty.csv": "",
        "header.csv": text.splitlines()[0] + "\n",
        "other.csv": "a,b\n1,2\n",
        "nul.csv": text.replace("Adelie", "\0", 1),
        "gaps.csv": text.replace("Adelie", "", 2),
        "no-target.csv": text.replace("Adelie", "").replace("Gentoo", "").replace("Chinstrap", ""),
        "dodo.csv": text.replace("Adelie", "Dodo", 1),
        "mars.csv": text.replace("Biscoe", "Mars"),
        "adelie.csv": "".join(line for line in text.splitlines(keepends=True) if "species" in line or "Adelie" in line),
        "text.csv": table[::2].with_columns(pl.lit("x").alias("bill_length_mm")).write_csv(),
        "lacks.csv": table[::2].drop("island").write_csv(),
        "reversed.csv": table[::2].select(reversed(table.columns)).with_columns(pl.lit(3).alias("more")).write_csv(),
    }
    for name, content in odd.items():
        (folder / name).write_text(content)
    for target, name in (("species", "m.tw"), ("body_mass_g", "numbers.tw")):
        done = run(folder, "fit", "grow.csv", "--target", target, "--test-size", 0, "--prune", "none", "--out", name)
        assert done.code == 0, done.err
    whole = (folder / "m.tw").read_bytes()
    (folder / "half.tw").write_bytes(whole[: len(whole) // 2])
    (folder / "flipped.tw").write_bytes(whole[:200] + bytes([whole[200] ^ 255]) + whole[201:])
    (folder / "nothing.tw").write_bytes(b"")
    return folder


@pytest.fixture
def files(folder):
    """Asserts that a test leaves no file behind."""
    before = sorted(path.name for path in folder.iterdir())
    yield
    assert sorted(path.name for path in folder.iterdir()) == before


# ------------------------------------------------------------------------------------------------------------- prune


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("model", "told"),
    [("half.tw", "damaged model file: the header alone"), ("flipped.tw", "damaged"), ("nothing.tw", "empty"),
     ("grow.csv", "not a Treewright model file"), ("nowhere.tw", "No such file"), (".", "folder")],
)  # fmt: skip
def test_a_file_that_is_no_model_is_refused(folder, model, told):
    refused(run(folder, "prune", model, "--method", "mdl", "--out", "new.tw", "--log", "new.csv"), 1, told)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("method", ["reduced-error", "error-based", "pessimistic"])
@pytest.mark.parametrize(
    ("data", "told"),
    [("empty.csv", "the file is empty"), ("header.csv", "there are no rows"), ("other.csv", "no column 'island'"),
     ("nul.csv", "NUL"), ("gaps.csv", "is missing in 2 of 167 rows"), ("no-target.csv", "is missing in 167 of 167"),
     ("text.csv", "'x' is not a number"), ("lacks.csv", "no column 'island'"), ("nowhere.csv", "no such file"),
     (".", "empty.csv: the file is empty")],
)  # fmt: skip
def test_rows_that_cannot_be_used_are_refused_whatever_the_method(folder, method, data, told):
    refused(run(folder, "prune", "m.tw", data, "--method", method, "--out", "new.tw", "--log", "new.csv"), 1, told)


@pytest.mark.parametrize("method", ["reduced-error", "error-based"])
def test_a_class_that_the_model_does_not_know_cannot_prune_but_only_be_wrong(folder, method):
    refused(run(folder, "prune", "m.tw", "dodo.csv", "--method", method), 1, "'Dodo'")

    scored = run(folder, "prune", "m.tw", "dodo.csv", "--method", "depth", "--set", "max_depth=20")
    assert "after: 0.994 (166 of 167 correct" in scored.out


def test_rows_of_one_class_or_of_other_numbers_are_no_rows_of_the_fit(folder):
    refused(run(folder, "prune", "m.tw", "adelie.csv", "--method", "error-based"), 1, "not the rows that the tree was")
    refused(run(folder, "prune", "m.tw", "adelie.csv", "--method", "reduced-error"), 1, "are all of class 'Adelie'")


@pytest.mark.parametrize("data", ["mars.csv", "reversed.csv"])
def test_unseen_levels_and_columns_in_another_order_are_taken(folder, data):
    assert run(folder, "prune", "m.tw", data, "--method", "reduced-error").code == 0


def test_rows_without_a_target_are_left_out_when_that_is_said(folder):
    done = run(folder, "prune", "m.tw", "gaps.csv", "--method", "reduced-error", "--skip-missing-target")

    assert done.code == 0
    assert "2 of 167 rows have no target" in done.err
    assert "of 165 correct" in done.out


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["rest.csv", "--method", "reduced-error", "--target", "island"], 1, "one of the model's features"),
        (["rest.csv", "--method", "reduced-error", "--target", "fish"], 1, "no column 'fish'"),
        (["rest.csv", "--method", "reduced-error", "--weight", "fish"], 1, "no column 'fish'"),
        (["rest.csv", "--method", "reduced-error", "--weight", "species"], 2, "--weight species"),
        (["rest.csv", "--method", "reduced-error", "--weight", "island"], 2, "--weight island"),
        (["--method", ""], 2, "no such method"),
        (["--method", "mdl", "--out", "nowhere/new.tw"], 1, "the folder nowhere does not exist"),
        (["--method", "mdl", "--log", "nowhere/new.csv"], 1, "the folder nowhere does not exist"),
        (["--method", "mdl", "--log", "all.csv"], 1, "already exists"),
        (["--method", "mdl", "--out", "new.tw", "--log", "./new.tw"], 2, "the same file"),
        (["--method", "mdl", "--out", "new.tw", "--log", "../{folder}/new.tw"], 2, "the same file"),
        *((["--method", "cost-complexity", "--set", f"alpha={value}"], 2, "the price of a leaf is a number >= 0")
          for value in ("", "nan", "x", "true", "None", "[1]", "1,2", "__import__('os')")),
        *((["--method", "depth", "--set", f"max_depth={value}"], 2, "give a whole number >= 0")
          for value in ("-1", "1.5", "inf")),
        (["--method", "depth", "--set", "=1"], 2, "write it as option=value"),
        (["--method", "depth", "--set", "max_depth"], 2, "write it as option=value"),
        (["--method", "depth", "--set", "\x1b[31m=1"], 2, "--set '\\x1b[31m': depth has no such option"),
    ],
)  # fmt: skip
def test_words_of_prune_that_make_no_sense_are_refused(folder, words, code, told):
    refused(run(folder, "prune", "m.tw", *(word.replace("{folder}", folder.name) for word in words)), code, told)


@pytest.mark.parametrize(
    "word",
    [["--target", "species"], ["--weight", "w"], ["--skip-missing-target"], ["--missing-tokens", "?"],
     ["--separator", ";"], ["--encoding", "latin-1"]],
)  # fmt: skip
def test_options_about_rows_are_refused_where_no_rows_are_given(folder, word):
    refused(run(folder, "prune", "m.tw", "--method", "mdl", *word), 2, f"{word[0]} is about rows")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("model", "code", "told"),
    [("numbers.tw", 2, "numbers.tw predicts numbers"), ("grow.csv", 1, "not a Treewright model file")],
)
def test_a_model_that_cannot_be_pruned_so_is_told_of_before_rows_are_asked_for(folder, model, code, told):
    refused(run(folder, "prune", model, "--method", "error-based", "--out", "new.tw"), code, told)


def test_rows_are_told_of_by_their_line(folder):
    lines = (folder / "gaps.csv").read_text().splitlines()
    first = next(number for number, line in enumerate(lines, 1) if line.startswith(","))

    fitted = run(folder, "fit", "gaps.csv", "--target", "species")
    pruned = run(folder, "prune", "m.tw", "gaps.csv", "--method", "reduced-error")

    refused(fitted, 1, f"(first: line {first})")
    refused(pruned, 1, f"(first: line {first})")


@pytest.mark.parametrize("method", ["error-based", "pessimistic"])
def test_a_method_that_counts_errors_is_refused_for_numbers_in_the_commands_words(folder, method):
    done = run(folder, "prune", "numbers.tw", "grow.csv", "--method", method)

    refused(done, 2, f"{method} counts misclassified rows")
    assert "cost-complexity" in done.err
    assert "_" not in done.err


def test_rows_that_weighed_in_the_fit_prune_with_their_weights(tmp_path):
    draw = random.Random(3)
    rows = [f"{row},{draw.random():.3f},{row % 4},{'ab'[draw.random() < row / 160]}" for row in range(160)]
    (tmp_path / "t.csv").write_text("\n".join(["x,z,w,y", *rows]) + "\n")
    fitted = run(tmp_path, "fit", "t.csv", "--target", "y", "--weight", "w", "--test-size", 0, "--out", "m.tw")
    assert fitted.code == 0, fitted.err
    refused(run(tmp_path, "prune", "m.tw", "t.csv", "--method", "error-based"), 1, "Pass the rows and weights")

    done = run(
        tmp_path, "prune", "m.tw", "t.csv", "--method", "error-based", "--weight", "w", "--out", "command.tw"
    )  # fmt: skip

    assert done.code == 0, done.err
    table = pl.read_csv(tmp_path / "t.csv")
    model = treewright.load(tmp_path / "m.tw").prune("error_based", table[["x", "z"]], table["y"], table["w"])
    model.save(tmp_path / "python.tw")
    assert model.trees[0].n_leaves < treewright.load(tmp_path / "m.tw").trees[0].n_leaves
    assert (tmp_path / "command.tw").read_bytes() == (tmp_path / "python.tw").read_bytes()
    bad = (tmp_path / "t.csv").read_text().replace(",3,", ",-1,")
    (tmp_path / "bad.csv").write_text(bad)
    refused(
        run(tmp_path, "prune", "m.tw", "bad.csv", "--method", "error-based", "--weight", "w"), 1,
        "weight column 'w' is missing, negative or infinite",
    )  # fmt: skip


def test_weights_stay_with_their_rows_where_others_are_left_out(tmp_path):
    rows = [f"{row},{1 + row % 3},{'' if row % 5 == 0 else 'ab'[row * 7 % 11 > 5]}" for row in range(60)]
    (tmp_path / "gaps.csv").write_text("\n".join(["x,w,y", *rows]) + "\n")
    (tmp_path / "full.csv").write_text("\n".join(["x,w,y", *(row for row in rows if not row.endswith(","))]) + "\n")
    words = ["--target", "y", "--weight", "w", "--test-size", 0]
    assert run(tmp_path, "fit", "full.csv", *words, "--out", "m.tw").code == 0

    done = run(
        tmp_path, "prune", "m.tw", "gaps.csv", "--method", "error-based", "--weight", "w", "--skip-missing-target"
    )

    assert done.code == 0, done.err  # they are the rows of the fit, weight by weight


FORMULAS = ["=cmd|'/C calc'!A0", "+1", "@sum", "-2", "\x1b[31mred", "日本"]


@pytest.fixture
def hostile(tmp_path):
    """A table whose names of columns, levels and classes a spreadsheet would run, or a terminal obey."""
    draw = random.Random(5)
    lines = ["=1+1,@city,\u202ereversed,y"]
    for _ in range(150):
        here, there = draw.choice(FORMULAS), draw.choice(FORMULAS)
        label = "=yes" if (FORMULAS.index(here) % 2) ^ (draw.random() < 0.2) else "@no"
        lines.append(f"{draw.random():.3f},{here},{there},{label}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_the_log_runs_in_no_spreadsheet_and_obeys_nothing(hostile):
    assert run(hostile, "fit", "t.csv", "--target", "y", "--test-size", 0, "--prune", "none", "--out", "m.tw").code == 0

    done = run(hostile, "prune", "m.tw", "t.csv", "--method", "leaves", "--set", "max_leaves=2", "--log", "log.csv")

    assert done.code == 0, done.err
    text = (hostile / "log.csv").read_text(encoding="utf-8")
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert any(cell.startswith(("'=1+1 ", "'@city ")) for cell in cells), cells
    assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for cell in cells)
    for said in (text, done.out, done.err):
        assert "\x1b" not in said
        assert "\u202e" not in said


def test_compare_of_such_a_table_is_safe_as_well(hostile):
    words = ["compare", "t.csv", "--target", "y", "--cv", 2, "--candidate", "cart,cart+mdl,chaid", "--out", "out.csv"]

    done = run(hostile, *words)

    assert done.code == 0, done.err
    rows = list(csv.reader(io.StringIO((hostile / "out.csv").read_text(encoding="utf-8"))))
    assert [row[0] for row in rows[1:]] == ["cart", "cart+mdl", "chaid"]
    assert "\x1b" not in done.out + done.err


def test_a_long_log_is_cut_on_the_screen_and_whole_in_the_file(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{row},{'ab'[row % 2]}\n" for row in range(400)))
    assert (
        run(tmp_path, "fit", "t.csv", "--target", "y", "--test-size", 0, "--prune", "none", "--out", "m.tw").code == 0
    )

    done = run(tmp_path, "prune", "m.tw", "--method", "mdl", "--log", "log.csv")

    assert "more; --log has them all" in done.out
    assert "to_dict" not in done.out
    cuts = list(csv.DictReader(io.StringIO((tmp_path / "log.csv").read_text())))
    assert f"{len(cuts)} nodes pruned" in done.out


# ------------------------------------------------------------------------------------------------------- fit --prune


@pytest.mark.parametrize("prune", PRUNINGS)
@pytest.mark.parametrize("algorithm", ["cart", "id3", "c45", "chaid"])
def test_every_algorithm_is_cut_back_by_every_pruning(tmp_path, algorithm, prune):
    draw = random.Random(2)
    rows = [(draw.choice("xyz"), draw.choice("pq"), draw.choice("mnop")) for _ in range(90)]
    lines = [",".join([*row, row[0] if draw.random() < 0.7 else draw.choice("xyz")]) for row in rows]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,y", *lines]) + "\n")

    done = run(tmp_path, "fit", "t.csv", "--target", "y", "--algorithm", algorithm, "--prune", prune)

    assert done.code == 0, done.err
    assert f"pruned by {prune}: " in done.out


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("prune", ["pessimistic", "error-based"])
def test_fit_refuses_for_numbers_what_counts_errors_in_the_commands_words(folder, prune):
    done = run(folder, "fit", "all.csv", "--target", "body_mass_g", "--prune", prune, "--out", "new.tw")

    refused(done, 2, f"{prune} counts misclassified rows")
    assert "ccp-1se" in done.err
    assert "cost_complexity" not in done.err


@pytest.mark.parametrize(("word", "algorithm"), [("ccp_alpha=0.1", "cart"), ("confidence=0.1", "c45")])
def test_two_prunings_at_once_are_refused(folder, word, algorithm):
    words = ["fit", "all.csv", "--target", "species", "--algorithm", algorithm, "--prune", "mdl", "--set", word]

    refused(run(folder, *words), 2, "leave one of them out")


@pytest.mark.parametrize("word", ["", "MDL", "ccp", "oak", "\x1b[31m"])
def test_fit_names_the_prunings_that_there_are(folder, word):
    done = run(folder, "fit", "all.csv", "--target", "species", "--prune", word)

    refused(done, 2, "no such pruner")
    assert "\x1b" not in done.err


SMALL = {
    "two": "1,a\n2,b\n",
    "three": "1,a\n2,b\n3,c\n",
    "one class": "".join(f"{row},a\n" for row in range(20)),
    "rare": "".join(f"{row},{'a' if row < 30 else 'b' if row < 50 else 'c'}\n" for row in range(51)),
    "equal numbers": "".join(f"{row},1.5\n" for row in range(20)),
}


def test_rows_that_the_command_drew_are_not_to_be_drawn_by_the_user(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n3,a\n4,b\n")

    done = run(tmp_path, "fit", "t.csv", "--target", "y", "--prune", "reduced-error", "--test-size", 0)

    refused(done, 1, "Give more rows, another --seed, or --prune-set prune_size=0.5")


@pytest.mark.parametrize("rows", ["two", "three", "one class", "rare", "equal numbers"])
@pytest.mark.parametrize("prune", ["ccp-1se", "mdl"])
def test_small_tables_and_rare_classes_give_a_tree(tmp_path, rows, prune):
    (tmp_path / "t.csv").write_text("x,y\n" + SMALL[rows])

    done = run(tmp_path, "fit", "t.csv", "--target", "y", "--prune", prune, "--test-size", 0)

    assert done.code == 0, done.err


@pytest.mark.parametrize("seed", range(4))
def test_a_class_of_one_row_is_never_only_pruned_with(tmp_path, seed):
    (tmp_path / "t.csv").write_text("x,y\n" + SMALL["rare"])
    words = ["fit", "t.csv", "--target", "y", "--prune", "reduced-error", "--test-size", 0, "--seed", seed]

    assert run(tmp_path, *words).code == 0


@pytest.mark.parametrize("prune", ["ccp-1se", "reduced-error"])
def test_too_few_rows_are_refused_without_advice_that_the_command_cannot_follow(tmp_path, prune):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n")

    done = run(tmp_path, "fit", "t.csv", "--target", "y", "--prune", prune, "--test-size", 0)

    refused(done, 1, "at least 2 rows are needed")
    assert "cv=" not in done.err


# ----------------------------------------------------------------------------------------------------------- compare


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--candidate", ""], 2, "--candidate ''"),
        (["--candidate", ","], 2, "--candidate ','"),
        (["--candidate", "cart+"], 2, "--candidate 'cart+'"),
        (["--candidate", "cart,cart"], 2, "given twice"),
        (["--candidate", "cart+mdl,cart + mdl"], 2, "given twice"),
        (["--candidate", "cart+mdl+mdl"], 2, "--candidate 'cart+mdl+mdl'"),
        (["--candidate", "\x1b[31mcart"], 2, "--candidate '\\x1b[31mcart'"),
        (["--candidate", "id3"], 1, "--algorithm c45"),
        (["--candidate", "cart,c45", "--set", "confidence=7"], 2, "'confidence' parameter of C45Classifier"),
        (["--candidate", "cart,c45", "--set", "max_depth=0"], 2, "'max_depth' parameter"),
        (["--candidate", "cart,c45", "--set", "max_depth"], 2, "write it as name=value"),
        (["--candidate", "cart", "--set", "confidence=0.1"], 2, "confidence"),
        (
            ["--candidate", "cart+mdl", "--set", "ccp_alpha=0.1"],
            2,
            "--set ccp_alpha prunes, and cart+mdl prunes in another way",
        ),
        (["--candidate", "cart", "--prune-set", "m=3"], 2, "no candidate's pruner has it"),
        (["--candidate", "cart+ccp-1se", "--prune-set", "rsk=error"], 2, "did you mean 'risk'?"),
        (["--candidate", "cart+leaves"], 2, "such as --prune-set max_leaves=8"),
        (["--prune-set", "m=3"], 2, "no candidate's pruner has it"),
        (["--prune-set", "m"], 2, "write it as option=value"),
        (["--candidate", "cart", "--set", "max_depth=2", "--set", "max_depth=3"], 2, "given twice"),
        (["--candidate", "cart", "--scoring", "r2"], 2, "Give --scoring accuracy or --scoring balanced_accuracy"),
        (["--candidate", "cart", "--scoring", "roc_auc"], 2, "Give --scoring roc_auc_ovr"),
        (["--candidate", "cart", "--scoring", "f1"], 2, "Give --scoring f1_macro or --scoring f1_weighted"),
        (["--candidate", "cart", "--scoring", "beauty"], 2, "scores are scikit-learn's, such as accuracy"),
        (["--candidate", "cart", "--scoring", ""], 2, "no such score"),
        (["--candidate", "cart", "--cv", "1000"], 1, "333 rows are too few for 1000 folds: give --cv 333 or less"),
        (["--candidate", "cart", "--cv", "-1"], 2, "give 2 folds"),
        (["--candidate", "cart", "--repeats", "0"], 2, "give 2 folds and 1 repeat"),
        (["--candidate", "cart", "--jobs", "0"], 2, "n_jobs=0"),
        (["--out", "nowhere/new.csv"], 1, "the folder nowhere does not exist"),
        (["--out", "rest.csv"], 1, "already exists"),
    ],
)
def test_words_of_compare_that_make_no_sense_are_refused(folder, words, code, told):
    refused(run(folder, "compare", "all.csv", "--target", "species", *words), code, told)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("candidate", "told"), [("cart,c45", "predicts classes"), ("cart+pessimistic", "counts misclassified rows")]
)
def test_candidates_that_cannot_predict_numbers_are_refused(folder, candidate, told):
    words = ["compare", "all.csv", "--target", "body_mass_g", "--task", "regression", "--cv", 2, "--out", "new.csv"]

    refused(run(folder, *words, "--candidate", candidate), 2, told)


@pytest.mark.parametrize(
    ("data", "told"),
    [("empty.csv", "the file is empty"), ("header.csv", "no rows"), ("other.csv", "no column 'species'"),
     ("gaps.csv", "is missing in 2 of 167 rows"), ("nowhere.csv", "no such file"),
     (".", "empty.csv: the file is empty")],
)  # fmt: skip
def test_tables_that_cannot_be_compared_on_are_refused(folder, data, told):
    refused(run(folder, "compare", data, "--target", "species"), 1, told)


def test_a_parameter_reaches_those_candidates_that_have_it(tmp_path):
    draw = random.Random(4)
    rows = [(draw.random(), draw.random()) for _ in range(300)]
    lines = [f"{x:.4f},{z:.4f},{'ab'[(x + z > 1) ^ (draw.random() < 0.2)]}" for x, z in rows]
    (tmp_path / "t.csv").write_text("\n".join(["x,z,y", *lines]) + "\n")
    words = ["compare", "t.csv", "--target", "y", "--cv", 2, "--candidate", "cart,c45"]

    plain, changed = run(tmp_path, *words), run(tmp_path, *words, "--set", "confidence=None")

    def line(done, name):
        return next(text for text in done.out.splitlines() if text.startswith(name)).split()[:4]

    assert line(plain, "cart") == line(changed, "cart")
    assert line(plain, "c45") != line(changed, "c45")


def test_a_candidate_that_cannot_be_fitted_is_a_row_with_its_reason(folder, tmp_path):
    words = ["compare", "all.csv", "--target", "species", "--cv", 2, "--candidate", "id3,cart", "--out"]

    done = run(folder, *words, tmp_path / "table.csv")

    assert done.code == 0, done.err
    assert "id3 refused: column 'bill_length_mm' (and 3 more) is numeric" in done.out
    assert "--algorithm c45" in done.out
    id3, cart = csv.DictReader(io.StringIO((tmp_path / "table.csv").read_text()))
    assert (id3["mean"], cart["failure"]) == ("nan", "")
    assert 0.9 < float(cart["mean"]) < 1


@pytest.mark.parametrize("repeats", [1, 2])
def test_classes_with_fewer_rows_than_folds_are_compared_on_folds_without_heed_of_classes(tmp_path, repeats):
    (tmp_path / "t.csv").write_text("x,y\n" + SMALL["rare"])
    words = ["--cv", 3, "--repeats", repeats, "--candidate", "cart,cart+reduced-error,cart+ccp-1se"]

    done = run(tmp_path, "compare", "t.csv", "--target", "y", *words)

    assert done.code == 0, done.err
    assert f"{3 * repeats} folds" + " (2 repeats)" * (repeats == 2) in done.out
    told = [line for line in done.err.splitlines() if line and "compiling kernels" not in line]
    assert told == ["treewright: a class has fewer than 3 rows: the folds are not stratified"]


@pytest.mark.parametrize(
    ("rows", "cv", "told"), [("1,a\n", 2, "1 row is too few"), (SMALL["two"], 2, "at least 2 rows")]
)
def test_too_few_rows_to_compare_on_are_refused(tmp_path, rows, cv, told):
    (tmp_path / "t.csv").write_text("x,y\n" + rows)

    refused(run(tmp_path, "compare", "t.csv", "--target", "y", "--cv", cv, "--candidate", "cart+ccp-1se"), 1, told)


def test_long_names_and_many_columns_keep_the_table_within_80_columns(tmp_path):
    names = [f"column{number}" * 15 for number in range(80)]
    rows = [[str(row * column % 7) for column in range(80)] + ["long" * 40 if row % 3 else "y"] for row in range(60)]
    (tmp_path / "t.csv").write_text("\n".join([",".join([*names, "y"]), *map(",".join, rows)]) + "\n")

    done = run(tmp_path, "compare", "t.csv", "--target", "y", "--cv", 2, "--repeats", 2)

    assert done.code == 0, done.err
    assert max(map(len, done.out.splitlines())) <= 80


# --------------------------------------------------------------------------------------------------------- processes


def process(folder, *words, **surroundings):
    """The command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "treewright", *map(str, words)], cwd=folder, capture_output=True, text=True,
        encoding="utf-8", timeout=200, check=False, env={**SURROUNDINGS, **surroundings},
    )  # fmt: skip


@pytest.mark.slow
def test_the_same_bytes_whatever_the_hash_seed_and_the_threads(folder, tmp_path):
    said = []
    for seed, jobs in (("0", 1), ("31337", 2)):
        words = ["compare", folder / "all.csv", "--target", "species", "--cv", 2, "--candidate", "cart,cart+ccp-1se"]
        made = process(tmp_path, *words, "--jobs", jobs, "--out", f"{jobs}.csv", PYTHONHASHSEED=seed)
        log = ["prune", folder / "m.tw", "--method", "leaves", "--set", "max_leaves=2", "--log", f"{jobs}.log"]
        cut = process(tmp_path, *log, "--out", f"{jobs}.tw", PYTHONHASHSEED=seed)
        assert (made.returncode, cut.returncode) == (0, 0), made.stderr + cut.stderr
        texts, kinds = [made.stdout, cut.stdout], ("csv", "log", "tw")
        for kind in kinds:  # the names of the files, and no number of the tree
            texts = [text.replace(f"{jobs}.{kind}", f"-.{kind}") for text in texts]
        said.append([*texts, *((tmp_path / f"{jobs}.{kind}").read_bytes() for kind in kinds)])

    assert said[0] == said[1]


# The libraries are there before the work begins: an interrupt within their import is theirs to answer.
READY_THEN_MAIN = """
import treewright, treewright.model_selection
treewright.DecisionTreeClassifier, treewright.C45Classifier, treewright.CHAIDClassifier
treewright.model_selection.compare, treewright.model_selection.PrunedTree
print("ready", flush=True)
from treewright.cli.app import main
main()
"""


def test_ctrl_c_during_compare_is_one_line_exit_code_130_and_no_files(tmp_path, copies):
    draw = random.Random(1)
    rows = [",".join([*(f"{draw.random():.5f}" for _ in range(12)), draw.choice("abc")]) for _ in range(20_000)]
    names = [f"c{column}" for column in range(12)]
    (tmp_path / "t.csv").write_text("\n".join([",".join([*names, "y"]), *rows]) + "\n")
    words = ["compare", "t.csv", "--target", "y", "--cv", "50", "--repeats", "5", "--jobs", "1", "--out", "out.csv"]
    started = subprocess.Popen(
        [sys.executable, "-c", READY_THEN_MAIN, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=SURROUNDINGS,
    )  # fmt: skip
    assert started.stdout.readline() == "ready\n"
    time.sleep(1.5)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=250)

    assert started.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "treewright: stopped by Ctrl-C; nothing was written"
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
