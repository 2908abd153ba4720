"""Hostile questions to ID3, C4.5, CHAID and CART's further options: audits, rules, files, threads, the command."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from classic_cases import INF, KINDS, LABELS, NAN, WORDS, fit, gini, noisy, quietly
from rotating import few
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from typer.testing import CliRunner

import treewright as tw
from treewright.cli.app import app
from treewright.exceptions import DataError, DataWarning, ModelFileError, ParameterError
from treewright.trees.codec import dumps, loads

SHOWN = (
    "ID3", "C4.5", "CHAID", "surrogates", "fractional", "own function", "CHAID of numbers", "numbers by branches",
)  # fmt: skip
CLASSIFIERS = [name for name in SHOWN if "numbers" not in name]
each_kind = pytest.mark.parametrize("kind", SHOWN)

# Audits and rules.

NO_NODE = [-1, 10**6, 2**70, True, np.True_, 1.5, 0.0, "0", None, [0], np.array(0), np.int64(-1), NAN]


@each_kind
def test_a_node_that_is_not_there_is_refused(kind):
    estimator = fit(kind, *noisy())
    table, y = noisy()

    for node in NO_NODE:
        for asked in (
            lambda node=node: estimator.audit(node),
            lambda node=node: estimator.audit(node, table, y),
            lambda node=node: estimator.model_.node(node),
        ):
            with pytest.raises(ParameterError, match="node"):
                asked()


@each_kind
def test_options_of_audits_out_of_range_are_refused(kind):
    estimator = fit(kind)
    wrong = {
        "every": [-1, 99, True, 1.5, "z", b"c", (1,), ["c"], {}, NAN],
        "digits": [0, 13, -1, 1.5, True, "x", None, NAN],
        "log_base": [3, "E", "", None, NAN, [2]],
    }

    for name, values in wrong.items():
        for value in values:
            with pytest.raises(ParameterError, match=name):
                estimator.audit(**{name: value})


@each_kind
def test_options_of_rules_out_of_range_are_refused(kind):
    estimator = fit(kind)
    wrong = {"order": ["x", None, 1, ""], "level": [0, 1, -1, 2, NAN, INF], "max_levels": [0, -1]}

    for name, values in wrong.items():
        for value in values:
            with pytest.raises(ParameterError, match=name):
                estimator.rules(**{name: value})
            with pytest.raises(ParameterError, match=name):
                estimator.model_.rules(**{name: value})


@each_kind
def test_nodes_can_be_audited_on_the_rows_of_the_fit_and_on_others(kind):
    table, y = noisy()
    estimator = fit(kind, table, y)
    others, truth = noisy(40, seed=9)
    others["q"][0] = "zebra"

    for node in range(min(12, estimator.tree_.n_nodes)):
        audit = estimator.audit(node)
        elsewhere = quietly(estimator.audit, node, others, truth)
        assert str(audit).startswith(f"Node {node}")
        assert elsewhere.n_samples <= 40
        assert estimator.model_.node(node).position == node
        for text in (str(elsewhere), audit._repr_html_(), elsewhere._repr_html_()):
            assert "Traceback" not in text
        audit.to_dict()


@each_kind
def test_rows_that_do_not_fit_the_model_are_no_rows_to_audit(kind):
    estimator = fit(kind)
    cases = {
        "lengths": (WORDS, LABELS[:5]),
        "no rows": ({"c": [], "d": []}, []),
        "missing truth": (WORDS, [NAN] * 12),
        "another column": ({"q": WORDS["c"]}, LABELS),
        "a column too few": ({"c": WORDS["c"]}, LABELS),
        "numbers for words": ({"c": list(range(12)), "d": WORDS["d"]}, LABELS),
        "text for truth": (WORDS, list("abcabcabcabc")),
        "truth but no table": (None, LABELS),
        "table but no truth": (WORDS, None),
    }
    if kind in CLASSIFIERS:
        cases |= {"label never seen": (WORDS, [7] * 12), "two targets": (WORDS, np.array([LABELS, LABELS]).T)}

    for table, y in cases.values():
        with pytest.raises((DataError, ParameterError)):
            estimator.audit(0, table, y)
    for weights in ([0] * 12, [-1] * 12, [NAN] * 12, [1, 2], "x"):
        with pytest.raises(DataError, match="weight"):
            estimator.audit(0, WORDS, LABELS, weights)


@each_kind
def test_an_audit_of_nothing_but_missing_cells_says_so(kind):
    estimator = fit(kind)

    text = str(quietly(estimator.audit, 0, {"c": [None] * 12, "d": [None] * 12}, LABELS))

    assert "every cell is missing in this node" in text


@each_kind
@pytest.mark.parametrize("verb", ["audit", "rules", "show", "plot"])
def test_an_estimator_without_a_fit_says_so(kind, verb):
    with pytest.raises(NotFittedError):
        getattr(KINDS[kind](), verb)()


HOSTILE = [
    "<script>alert(1)</script>",
    '"><svg/onload=alert(1)>',
    "a\x1b[31mb",
    "\x00",
    "\u202e🙂",
    "{{7*7}}",
    "l\nf",
    "",
]


@each_kind
def test_names_levels_and_labels_are_text_wherever_they_are_shown(kind):
    rows = len(HOSTILE) * 6
    cells = [HOSTILE[row % len(HOSTILE)] for row in range(rows)]
    labels = [row % len(HOSTILE) < 3 for row in range(rows)]
    y = np.array(HOSTILE[:2], object)[np.array(labels, int)] if kind in CLASSIFIERS else np.array(labels, float)
    table = dict.fromkeys(HOSTILE, cells)

    estimator = fit(kind, table, y)

    pages = [estimator.audit()._repr_html_(), estimator.rules()._repr_html_(), estimator.plot().text]
    texts = [str(estimator.audit()), str(estimator.rules()), estimator.show()]
    for page in pages:
        assert "<script>alert" not in page
        assert "<svg/onload" not in page
    for text in [*pages, *texts]:
        assert not {"\x1b", "\x00", "\u202e"} & set(text)


# Sizes.


@pytest.mark.parametrize("kind", ["ID3", "C4.5", "CHAID", "CHAID of numbers", "fractional", "numbers by branches"])
def test_three_thousand_levels_are_learned_and_shown(kind):
    codes = np.arange(3_000).repeat(2)
    table = {"c": [f"level {code:04d}" for code in codes], "d": ["u", "v"] * 3_000}

    estimator = fit(kind, table, codes % 2, max_depth=2)
    str(estimator.audit())
    str(estimator.rules())
    estimator.show()


@pytest.mark.parametrize("kind", ["ID3", "C4.5", "CHAID", "surrogates", "numbers by branches"])
def test_five_hundred_columns_are_learned_and_audited(kind):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (200, 500)).astype(float), rng.integers(0, 2, 200)

    estimator = fit(kind, X, y, max_depth=4)
    assert str(estimator.audit()).count("x") >= 10


def test_a_chain_two_thousand_deep_has_rules():
    X = np.arange(2_001.0)[:, None]

    estimator = fit("fractional", X, np.arange(2_001) % 2)
    deepest = estimator.tree_.n_nodes - 1
    texts = [str(estimator.rules()), str(estimator.audit(deepest)), str(estimator.model_.node(deepest))]

    assert estimator.tree_.max_depth == 2_000
    assert all(texts)


# Files, pickles, threads, forks, interrupts.


@pytest.mark.parametrize("kind", ["ID3", "C4.5", "surrogates", "CHAID of numbers"])
def test_a_file_with_one_bit_flipped_is_refused(kind):
    bytes_ = dumps(fit(kind, *noisy(60), alpha=0.5).model_ if "CHAID" in kind else fit(kind, *noisy(60)).model_)
    rng = np.random.default_rng(1)

    for place in rng.choice(len(bytes_) * 8, 120, replace=False).tolist():
        damaged = bytearray(bytes_)
        damaged[place // 8] ^= 1 << place % 8
        with pytest.raises(ModelFileError):
            loads(bytes(damaged))


@each_kind
def test_pickles_and_clones_predict_the_same_and_hold_no_rows(kind):
    table, y = noisy()
    estimator = fit(kind, table, y)
    expected = quietly(estimator.predict, table)

    back = pickle.loads(pickle.dumps(estimator))

    np.testing.assert_array_equal(quietly(back.predict, table), expected)
    assert dumps(back.model_) == dumps(estimator.model_)
    with pytest.raises(ParameterError, match=r"pass them, audit\(node, X, y, sample_weight\)"):
        back.audit()
    assert str(back.audit(0, table, y)) == str(estimator.audit())
    assert dumps(quietly(clone(estimator).fit, table, y).model_) == dumps(estimator.model_)


def test_a_model_of_a_function_without_a_name_is_saved_and_predicts():
    estimator = tw.DecisionTreeClassifier(criterion=lambda tables: 2.0 * gini(tables)).fit(WORDS, LABELS)

    model = loads(dumps(estimator.model_))

    assert tw.Model.of(model).predict(WORDS).tolist() == estimator.predict(WORDS).tolist()
    with pytest.raises(ParameterError, match="function"):
        tw.Model.of(model).audit(WORDS, LABELS)


def test_threads_that_fit_and_audit_at_once_get_what_one_would():
    table, y = noisy(100)
    alone = {kind: (dumps(fit(kind, table, y).model_), str(fit(kind, table, y).audit())) for kind in SHOWN}

    def again(kind):
        estimator = KINDS[kind]().fit(table, y)
        return dumps(estimator.model_), str(estimator.audit())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(again, list(SHOWN) * 2))

    assert found == [alone[kind] for kind in list(SHOWN) * 2]
    assert threading.active_count() < 50


SURROUNDINGS = """
    import os, signal, sys, threading, time, warnings
    import numpy as np
    import treewright as tw

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    n = 120_000
    X = rng.normal(size=(n, 8))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    words = {"c": rng.choice(list("abcde"), 400).tolist(), "x": rng.normal(size=400).tolist()}
    small = tw.C45Classifier().fit(words, y[:400])
    before = dict(small.__dict__)
    for late in (0.1, 0.4):
        timer = threading.Timer(late, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
        timer.start()
        started = time.process_time()
        try:
            small.fit(X, y)
            raise SystemExit("too quick to be interrupted")
        except KeyboardInterrupt:
            assert time.process_time() - started < late + 2
        timer.join()
        assert dict(small.__dict__) == before, "the estimator changed"
    fresh = tw.C45Classifier().fit(words, y[:400]).predict(words).tolist()
    assert fresh == small.predict(words).tolist()
    child = os.fork()
    if child == 0:
        same = tw.C45Classifier().fit(words, y[:400]).predict(words).tolist() == fresh
        str(small.audit())
        os._exit(0 if same else 7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    print("sane")
"""


def test_an_interrupt_or_a_fork_leaves_the_process_sane_and_the_estimator_as_it_was(copies):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(SURROUNDINGS)]

    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)

    assert (done.returncode, done.stdout.strip()) == (0, "sane"), done.stderr[-2000:]


# The command.

GOOD = "c,x,y\n" + "".join(f"{'abc'[row % 3]},{row},{'pq'[row // 6 % 2]}\n" for row in range(24))
FILES = {
    "good": GOOD.encode(),
    "empty": b"",
    "header": b"c,x,y\n",
    "ragged": b"c,x,y\na,1\nb,2,3,4\n",
    "nul": b"c,x,y\na,1,p\0\n",
    "bytes": bytes(range(256)) * 4,
    "target alone": b"y\np\nq\n",
    "twice a name": b"x,x,y\n1,2,p\n3,4,q\n",
    "open quote": b'c,x,y\n"a,1,p\nb,2,q\n',
    "no truth": b"c,x,y\na,1,\nb,2,\nc,3,\n",
    "Latin": "c,x,y\né,1,p\na,2,q\n".encode("latin-1"),
    "void": b"c,y\n,p\n,q\n,p\n",
    "one class": b"c,x,y\na,1,p\nb,2,p\nc,3,p\n",
    "escape": GOOD.replace("c,x", "\x1b[31mred,<b>x</b>").encode(),
}


def said_by(*words):
    """Exit code, and standard output and error, of the command; whatever it did not expect is raised."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in (0, 1, 2)
    assert "\x1b" not in done.stdout + done.stderr
    if done.exit_code == 1:
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("algorithm", few(["cart", "id3", "c45", "chaid"], 1))
def test_the_command_answers_or_refuses_a_broken_file_in_one_line(algorithm, tmp_path):
    model = tmp_path / "model.tw"
    more = ["--nominal", "x"] if algorithm == "id3" else []
    for name, content in FILES.items():
        (tmp_path / f"{name}.csv").write_bytes(content)
    good = tmp_path / "good.csv"
    fitted = ["--target", "y", "--algorithm", algorithm, "--trace", *more]

    assert said_by("fit", good, *fitted, "--out", model)[0] == 0
    for name in FILES:
        said_by("fit", tmp_path / f"{name}.csv", *fitted, "--out", tmp_path / "other.tw", "--force")
        code, _, refusal = said_by("audit", model, tmp_path / f"{name}.csv")
        assert code == (0 if name in ("good", "one class") else 1), (name, refusal)


@pytest.mark.parametrize(
    "words",
    [
        ["--algorithm", "zzz"],
        ["--algorithm", ""],
        ["--algorithm", "ID3"],
        ["--algorithm", "c45", "--set", "confidence=9"],
        ["--algorithm", "c45", "--set", "confidence=nan"],
        ["--algorithm", "c45", "--set", "criterion=gini"],
        ["--algorithm", "chaid", "--set", "alpha=0"],
        ["--algorithm", "id3", "--set", "missing=surrogate"],
        ["--set", "criterion=print"],
    ],
)
def test_the_command_refuses_words_that_mean_nothing_as_usage(words, tmp_path):
    (tmp_path / "good.csv").write_text(GOOD)

    code, _, refusal = said_by("fit", tmp_path / "good.csv", "--target", "y", *words)

    assert code == 2
    assert len(refusal.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--node", "-1"], 2),
        (["--node", "99"], 2),
        (["--node", 2**70], 2),
        (["--node", "x"], 2),
        (["--every", "zz"], 2),
        (["--every", ""], 2),
        (["--target", "zz"], 1),
        (["--target", "c"], 1),
        (["DATA", "no such file.csv"], 1),
        (["--out", "/no such folder/x"], 1),
    ],
)
def test_the_command_refuses_audits_of_what_is_not_there(words, expected, tmp_path):
    (tmp_path / "good.csv").write_text(GOOD)
    fitted = said_by("fit", tmp_path / "good.csv", "--target", "y", "--algorithm", "c45", "--out", tmp_path / "m.tw")

    data, more = (words[1], []) if words[0] == "DATA" else (tmp_path / "good.csv", words)
    code, _, _ = said_by("audit", tmp_path / "m.tw", data, *more)

    assert (fitted[0], code) == (0, expected)
