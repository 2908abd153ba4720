"""Claims about audits as text: what is printed adds up, stays short, and obeys nobody."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from treewright.explain.arithmetic import Paper, decimals_for

NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
RESULT = re.compile(r"^(-?[\d.]+)(?: (?:bits|nats))?(?:  \(the rounded numbers give (-?[\d.]+)\))?(?::.*)?$")


class Sum:
    """Reads what is computed: numbers, + - x /, squares, log2 and ln, brackets."""

    def __init__(self, text):
        self.text, self.at = text.replace(" ", ""), 0

    def take(self, sign):
        if self.text.startswith(sign, self.at):
            self.at += len(sign)
            return True
        return False

    def total(self):
        value = -self.product() if self.take("-") else self.product()
        while self.at < len(self.text):
            if self.take("+"):
                value += self.product()
            elif self.take("-"):
                value -= self.product()
            else:
                break
        return value

    def product(self):
        value = self.power()
        while True:
            if self.take("x"):
                value *= self.power()
            elif self.take("/"):
                value /= self.power()
            elif self.take("log2"):  # "(2/3) log2(2/3)" is a product
                value *= math.log2(self.power())
            elif self.take("ln"):
                value *= math.log(self.power())
            else:
                return value

    def power(self):
        if self.take("log2"):
            value = math.log2(self.power())
        elif self.take("ln"):
            value = math.log(self.power())
        elif self.take("("):
            value = self.total()
            assert self.take(")")
        else:
            found = NUMBER.match(self.text, self.at)
            assert found, self.text[self.at :]
            self.at = found.end()
            value = float(found[0])
        return value**2 if self.take("^2") else value


def value_of(text):
    """What a computation gives."""
    reader = Sum(text)
    value = reader.total()
    assert reader.at == len(reader.text), reader.text[reader.at :]
    return value


def equations(text):
    """(label, computation, result, what the rounded numbers give) of every line that computes something."""
    found = []
    for line in text.splitlines():
        parts = line.split(" = ")
        if len(parts) > 2:
            shown = RESULT.match(parts[-1])
            assert shown, line
            found.append((" = ".join(parts[:-2]).strip(), parts[-2], shown[1], shown[2]))
    return found


def check_arithmetic(text):
    """Every printed sum gives the printed result, or the one that the line says."""
    lines = equations(text)
    for _, computation, result, rounded in lines:
        decimals = len(([*result.split("."), ""])[1])
        unit = 10.0**-decimals
        expected = float(rounded if rounded is not None else result)
        assert value_of(computation) == pytest.approx(expected, abs=0.5001 * unit), (computation, result, rounded)
        if rounded is not None:
            # Each of up to nine rounded numbers may be off by half a unit.
            assert abs(float(result) - float(rounded)) < 10 * unit + 0.1 * abs(float(result))
    return lines


def test_the_reader_of_sums_can_read_and_can_fail():
    assert value_of("-(2/3) log2(2/3) - (1/3) log2(1/3)") == pytest.approx(0.9183, abs=1e-4)
    assert value_of("1 - (2/5)^2 - (3/5)^2") == pytest.approx(0.48)
    assert value_of("12/14 x (0.946 - 0.7) - 0.1") == pytest.approx(12 / 14 * 0.246 - 0.1)
    with pytest.raises(AssertionError):
        check_arithmetic("gain = 0.940 - 0.694 = 0.247")


def test_the_tennis_table_is_worked_out_as_in_the_book(plant, tennis):
    audit = plant(*tennis, algorithm="gain_ratio", criterion="entropy", nominal_splits="multiway").audit()
    text = str(audit)

    assert text.splitlines()[:3] == [
        "Node 0, the root: 14 rows",
        "no 5, yes 9",
        "entropy = -(5/14) log2(5/14) - (9/14) log2(9/14) = 0.940 bits",
    ]
    assert "entropies in bits (log base 2)" in text
    assert "  entropy after = 4/14 x 0.000 + 5/14 x 0.971 + 5/14 x 0.971 = 0.694 bits" in text
    assert "  gain = 0.940 - 0.694 = 0.247  (the rounded numbers give 0.246)" in text
    assert "  gain ratio = 0.247 / 1.577 = 0.156  (the rounded numbers give 0.157)" in text
    assert [label for label, *_ in check_arithmetic(text)] == [
        "entropy",
        "entropy(= rain)",
        "entropy(= sunny)",
        "entropy after",
        "gain",
        "split information",
        "gain ratio",
        "average gain",
        "Runner-up: humidity: high | normal; ahead by gain ratio: lead",
    ]


def test_nats_are_said(plant, tennis):
    text = str(plant(*tennis, criterion="entropy", nominal_splits="multiway").audit(log_base="e"))

    assert "entropies in nats (log base e)" in text
    assert "entropy = -(5/14) ln(5/14) - (9/14) ln(9/14) = 0.652 nats" in text
    assert "bits" not in text
    check_arithmetic(text)


def test_c45_prints_price_and_share_of_known_weight(plant):
    x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, None, None]
    y = ["a", "a", "a", "a", "b", "b", "b", "b", "a", "b"]
    audit = plant({"x": x}, y, algorithm="c45", criterion="entropy", missing="fractional", min_rows=2).audit()
    lines = {label: computation for label, computation, *_ in check_arithmetic(str(audit))}

    assert lines["price of the choice among 5 cuts"] == "log2(5)/10"
    assert lines["gain"] == "8/10 x (1.000 - 0.000) - 0.232"
    assert lines["split information"] == "-(4/10) log2(4/10) - (4/10) log2(4/10) - (2/10) log2(2/10)"
    says = "they take every branch, in proportion to the branch weights"
    assert f"missing in 2 rows (weight 2), which no branch counts: {says}" in str(audit)


def test_a_small_variance_is_written_out(plant):
    text = str(plant({"x": [1.0, 2.0, 3.0]}, [-1.0, -2.0, -6.0], criterion="squared_error").audit())

    assert "variance = ((-1 + 3)^2 + (-2 + 3)^2 + (-6 + 3)^2)/3 = 4.67" in text


def test_misclassification_is_one_minus_the_largest_share(plant):
    text = str(plant({"x": [1.0, 2.0, 3.0, 4.0, 5.0]}, list("aabab"), criterion="misclassification").audit())

    assert "misclassification = 1 - 3/5 = 0.400" in text
    check_arithmetic(text)


# The fixture is a plain function: nothing is left of one example for the next.
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 25),
    algorithm=st.sampled_from(["cart", "gain_ratio", "c45", "chaid"]),
    criterion=st.sampled_from(["gini", "entropy", "misclassification"]),
    missing=st.sampled_from(["direction", "branch", "fractional", "surrogate"]),
    splits=st.sampled_from(["subset", "multiway", "one_vs_rest"]),
    weighted=st.booleans(),
    base=st.sampled_from([2, "e"]),
    digits=st.integers(1, 6),
)
def test_printed_numbers_add_up(plant, seed, n, algorithm, criterion, missing, splits, weighted, base, digits):
    rng = np.random.default_rng(seed)
    table = {
        "x": np.where(rng.random(n) < 0.2, math.nan, rng.integers(0, 6, n)).tolist(),
        "c": [None if code == 4 else "pqrs"[code] for code in rng.integers(0, 5, n)],
    }
    y = ["abc"[code] for code in rng.integers(0, 3, n)]
    if algorithm in ("c45", "gain_ratio"):
        criterion = "entropy"
    if algorithm == "chaid":
        criterion, missing = "chi_squared", "branch"
    if algorithm == "c45":
        splits = "multiway"
    grove = plant(
        table,
        y,
        algorithm=algorithm,
        criterion=criterion,
        missing=missing,
        nominal_splits=splits,
        weights=rng.integers(1, 9, n) / 4 if weighted else None,
    )
    texts = [str(grove.audit(log_base=base, digits=digits))]
    if algorithm != "chaid":
        texts += [str(grove.audit(every=name, log_base=base, digits=digits)) for name in table]
    for text in texts:
        check_arithmetic(text)


def test_many_levels_print_in_few_lines(plant):
    levels = [f"level {k}" for k in range(1000)] * 2
    y = ["a", "b"] * 1000
    for splits in ("subset", "multiway"):
        audit = plant({"x": levels, "z": list(range(2000))[::-1]}, y, nominal_splits=splits).audit()
        text = str(audit)

        assert len(text.splitlines()) < 40
        assert max(map(len, text.splitlines())) < 200
    assert "over 1000 branches" in text
    assert len(audit.to_dict()["labels"][1]) == 1000 or len(audit.to_dict()["labels"][0]) == 1000


def test_many_columns_print_in_few_lines(plant):
    rng = np.random.default_rng(0)
    table = {f"column {k}": rng.integers(0, 5, 30).astype(float).tolist() for k in range(200)}
    table |= {f"same {k}": [1.0] * 30 for k in range(50)}
    audit = plant(table, rng.choice(["a", "b"], 30).tolist()).audit()

    assert len(audit) == 200
    assert len(str(audit).splitlines()) < 45
    assert "... 180 that rank lower: to_dict() has them all" in str(audit)
    assert "same 7, ... 42 more: only one value in this node" in str(audit)


def test_many_classes_are_not_spelled_out(plant):
    text = str(plant({"x": list(range(60))}, [f"class {k % 30}" for k in range(60)], criterion="entropy").audit())

    assert "... 22 more classes" in text
    assert "entropy = 4.907 bits" in text


def test_long_lists_of_cuts_keep_the_best_and_their_order(plant):
    x = np.arange(100.0)
    audit = plant({"x": x.tolist()}, ["a" if k < 40 or k > 90 else "b" for k in range(100)]).audit(every="x")
    shown = [float(cut) for cut in re.findall(r"x <= ([\d.]+)  ", str(audit))]

    assert len(audit) == 99
    assert len(shown) == 20
    assert shown == sorted(shown)
    assert 39.5 in shown


class Collector(HTMLParser):
    """The tags of a page."""

    def __init__(self):
        super().__init__()
        self.tags = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)


def test_pages_escape_names_levels_and_labels(plant):
    bad = "<script>alert(1)</script>"
    grove = plant({bad: [bad, "b", "c"]}, [bad, "y", "y"])
    page = grove.audit()._repr_html_()
    reader = Collector()
    reader.feed(page)

    assert reader.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td", "br"}
    assert "&lt;script&gt;" in page


def test_control_characters_are_written_not_obeyed(plant):
    text = str(plant({"x\x1b[31m": ["p\n", "q", "q"]}, ["a\x07", "b", "b"]).audit())

    assert "\x1b" not in text
    assert "\x07" not in text
    assert "x\\x1b[31m" in text


def test_a_test_that_is_not_the_best_is_told(plant):
    grove = plant({"x": [1.0, 2.0, 3.0, 4.0], "z": [1.0, 2.0, 1.0, 2.0]}, ["a", "a", "b", "b"])
    # Rows on which z is better than the tree's own question about x.
    audit = grove.audit(rows=[0, 1])

    assert audit.winner.column == "x"
    assert "The tree tests 'x <= 2.5' here, which is not the best test of these rows: it was fitted on others." in str(
        audit
    )
    assert "The tree tests" not in str(grove.audit())


def test_a_split_that_gains_nothing_is_told(plant):
    audit = plant({"x": [1.0, 1.0, 2.0, 2.0], "z": [1.0, 2.0, 1.0, 2.0]}, ["a", "b", "b", "a"]).audit()

    assert audit.winner.gain == 0.0
    assert "The gain is 0: the split does not reduce the impurity." in str(audit)


def test_an_inexact_search_is_told(plant):
    rng = np.random.default_rng(3)
    levels = [f"l{k % 12:02d}" for k in range(60)]
    audit = plant({"x": levels}, [("a", "b", "c")[code] for code in rng.integers(0, 3, 60)]).audit()

    assert "Not every split of its levels was tried" in str(audit)


@pytest.mark.parametrize(("value", "text"), [(0.0, "0.000"), (-0.0001, "0.000"), (1.5, "1.500"), (math.nan, "-")])
def test_numbers_have_all_their_decimals(value, text):
    assert Paper(3).number(value) == text


@pytest.mark.parametrize("size", [0.0, math.inf, 1e300, 1e-300, 5e-324])
def test_decimals_stay_within_reason(size):
    assert 1 <= decimals_for(3, size) <= 15


@pytest.mark.parametrize("scale", [1e-150, 1e-12, 1e-3, 1.0, 1e6, 1e148])
def test_numbers_of_any_size_print(plant, scale):
    y = (np.array([1.0, 2.0, 4.0, 8.0, 9.0, 13.0, 2.0, 1.0, 5.0]) * scale).tolist()
    audit = plant({"x": list(range(9))}, y, criterion="squared_error").audit()

    assert audit.winner is not None
    assert "nan" not in str(audit)
    assert max(map(len, str(audit).splitlines())) < 200
    assert "variance = 0." not in str(audit) or 1e-8 < scale**2 < 1e8


@pytest.mark.parametrize("weight", [1e-150, 1e149])
def test_weights_of_any_size_print(plant, weight):
    audit = plant({"x": [1.0, 2.0, 3.0]}, ["a", "b", "b"], weights=[weight] * 3).audit()

    assert audit.winner.gain == pytest.approx(4 / 9)
    assert 0.0 <= audit.winner.p_value <= 1.0
    assert "gini = 1 - (1" in str(audit)


def test_a_column_of_very_many_levels_is_said_not_to_count_in_the_average(plant):
    table = {"id": ["i", "j", "k", "l", "i", "j", "k", "l"], "c": ["p", "p", "p", "p", "q", "q", "q", "q"]}
    grove = plant(table, list("aaabbbba"), algorithm="c45", criterion="entropy", missing="fractional")
    audit = grove.audit()

    # c leaves 3/1 and 1/3: 1 - 0.811. Four levels are half as many as the rows.
    assert (audit.average_of, audit.uncounted) == ((pytest.approx(0.189, abs=1e-3),), ("id",))
    assert (
        "average gain = (0.189)/1 = 0.189: columns below it are left out\n  id has very many levels and does not"
        in (str(audit))
    )
    assert "very many levels" not in str(plant(table, list("aaabbbba"), algorithm="gain_ratio").audit())


def test_columns_that_gain_nothing_are_not_said_to_be_below_the_average(plant):
    table = {"x": ["p", "p", "q", "q"] * 4, "z": ["s", "t", "s", "t"] * 4}
    audit = plant(table, ["a", "b", "b", "a"] * 4, algorithm="c45", criterion="entropy", missing="fractional").audit()
    text = str(audit)

    assert audit.gainless == ("x", "z")
    assert "average gain = (0.000 + 0.000)/2 = 0.000: no column has a positive gain" in text
    assert "The node is a leaf: no column has a positive gain." in text
    assert "No column has a positive gain: none is chosen." in text
    assert "The gain would be 0: the split would not reduce the impurity." in text
    assert "below" not in text


def test_columns_below_the_average_are_marked(plant, tennis):
    text = str(plant(*tennis, algorithm="gain_ratio", criterion="entropy", nominal_splits="multiway").audit())
    marks = [line[:3] for line in text.splitlines() if re.match(r"[* ] . +(outlook|humidity|wind|temperature): ", line)]

    assert "* is chosen; -: left out;" in text
    assert marks == ["* 1", "  2", "  -", "  -"]
    assert "2 columns below the average gain, left out." in text


def test_chi_squared_is_written_out_from_expected_counts(plant):
    table = {"x": ["p"] * 20 + ["q"] * 20}
    text = str(plant(table, ["a"] * 15 + ["b"] * 20 + ["a"] * 5, algorithm="chaid").audit())

    # 15/5 and 5/15 where 10/10 are expected: four times 25/10.
    assert "expected is weight of branch x weight of class / 40" in text
    assert "expected(= p): 10, 10" in text
    assert "chi-squared(= p) = (15 - 10)^2/10 + (5 - 10)^2/10 = 5.000" in text
    assert "chi-squared = 5.000 + 5.000 = 10.000" in text
    assert "chi-squared 10 with 1 degree of freedom: p 0.00157" in text
    assert "adjusted: p x 1 way to merge, at most 1: 0.00157" in text
    assert "p of the chi-squared test of branches and classes" in text
    check_arithmetic(text)


def test_large_tables_of_chaid_are_told_by_their_sum(plant):
    table = {"x": [level for level in "pqrst" for _ in range(40)]}
    text = str(plant(table, [label for label in "abcde" for _ in range(40)], algorithm="chaid").audit())

    assert "chi-squared is the sum of (observed - expected)^2 / expected over 5 branches x 5 classes" in text
    assert "chi-squared 800 with 16 degrees of freedom" in text  # 200 rows x (5 - 1): branch tells class
    assert "expected(" not in text


def test_f_tests_of_chaid_are_named(plant):
    y = [1.0, 2.0, 3.0, 7.0, 8.0, 9.0]
    text = str(plant({"x": ["p"] * 3 + ["q"] * 3}, y, algorithm="chaid", criterion="squared_error").audit())

    # Means 2 and 8 about 5: 54 between; 4 within, of 4 degrees.
    assert "F 54 with 1 and 4 degrees of freedom" in text
    assert "p of the F test of the branches' means" in text
