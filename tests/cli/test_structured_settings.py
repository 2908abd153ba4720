"""Parameters that are lists or dicts, and parameters that mean nothing on the command line."""

from __future__ import annotations

import pytest

import treewright as tw

FEW = ("--set", "n_estimators=5", "--test-size", "0")


def fit(command, penguins, folder, target, *words):
    return command("fit", penguins, "--target", target, *words, "--out", "m.tw", "--force", folder=folder)


@pytest.fixture(scope="module")
def flags(tmp_path_factory):
    """A table whose targets are a text, a whole number and a truth value."""
    path = tmp_path_factory.mktemp("flags") / "flags.csv"
    rows = [
        f"{at},{at % 7},{'yes' if at % 3 else 'no'},{int(at % 3 > 0)},{str(at % 3 > 0).lower()}" for at in range(60)
    ]
    path.write_text("\n".join(["a,b,word,number,truth", *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    ("target", "stated", "meant"),
    [
        ("word", '{"yes": 3, "no": 0.5}', {"yes": 3, "no": 0.5}),
        ("number", '{"1": 3}', {1: 3}),
        ("truth", '{"true": 3}', {True: 3}),
    ],
)
@pytest.mark.parametrize("algorithm", ["cart", "forest"])
def test_class_weights_name_labels_as_the_target_holds_them(command, flags, tmp_path, algorithm, target, stated, meant):
    few = FEW if algorithm == "forest" else FEW[2:]
    others = [word for name in {"word", "number", "truth"} - {target} for word in ("--drop", name)]
    words = ["--algorithm", algorithm, *few, "--set", f"class_weight={stated}", *others]
    done = fit(command, flags, tmp_path, target, *words)
    model = tw.load(tmp_path / "m.tw")

    assert done.returncode == 0, done.stderr
    (factors,) = model.facts["class_factors"]
    assert list(factors) == [meant.get(label, 1) for label in model.classes[0].tolist()]


def test_class_weights_reach_the_trees_that_are_bagged(command, flags, tmp_path):
    words = [*FEW, "--set", 'estimator__class_weight={"yes": 4}', "--drop", "number", "--drop", "truth"]
    done = fit(command, flags, tmp_path, "word", "--algorithm", "bagging", *words)

    assert done.returncode == 0, done.stderr
    assert "class_weight" in str(tw.load(tmp_path / "m.tw").facts["member"]["parameters"])


def test_a_monotone_column_is_named_and_obeyed(command, penguins, tmp_path):
    words = ["--set", 'monotonic_cst={"flipper_length_mm": -1}', "--skip-missing-target", "--test-size", "0"]
    done = fit(command, penguins, tmp_path, "body_mass_g", "--drop", "species", *words)
    model = tw.load(tmp_path / "m.tw")
    row = {"island": "Dream", "bill_length_mm": 45.0, "bill_depth_mm": 18.0, "sex": "male"}
    said = [model.predict_one({**row, "flipper_length_mm": float(length)}) for length in range(170, 235, 5)]

    assert done.returncode == 0, done.stderr
    assert said == sorted(said, reverse=True)


def test_groups_of_columns_are_lists_of_lists(command, penguins, tmp_path):
    groups = 'interaction_cst=[["bill_length_mm", "bill_depth_mm"], ["island"]]'
    words = ["--algorithm", "forest", *FEW, "--set", groups]
    done = fit(command, penguins, tmp_path, "species", *words)
    model = tw.load(tmp_path / "m.tw")
    allowed = [{"bill_length_mm", "bill_depth_mm"}, {"island"}, {"flipper_length_mm", "body_mass_g", "sex"}]

    assert done.returncode == 0, done.stderr
    for tree in range(5):
        for rule in model.tree(tree).rules():
            asked = {name for name in set().union(*allowed) if name in rule.text}
            assert any(asked <= group for group in allowed)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("class_weight={yes: 3}", "is not a dict: Expecting property name"),
        ('class_weight={"Adelie": 3, "Adelie": 4}', "'Adelie' is named twice"),
        ('class_weight={"Adelie": NaN}', "class_weight"),
        ('class_weight=[["Adelie", 3]]', "is not a dict; give balanced, balanced_subsample, or a dict as JSON"),
        ("class_weight=3", "is not a dict; give balanced"),
        ("class_weight=blanced", "is not a dict; give balanced"),
        ('class_weight={"Adlie": 3}', "the target has no class 'Adlie'; its classes are Adelie, Chinstrap, Gentoo"),
        ("monotonic_cst=1,0,0,0,0,0", """such as --set 'monotonic_cst={"age": 1, "price": -1}'"""),
        ("monotonic_cst=[1, 0, 0, 0, 0]", "monotonic_cst"),
        ('interaction_cst={"sex": 1}', "is not a list; give pairwise, no_interactions, or a list as JSON"),
        ("interaction_cst=" + "[" * 100_000, "is not a list"),
        ('interaction_cst=[["sex", "nothing"]]', "nothing"),
    ],
)
def test_what_is_no_list_or_dict_is_refused_in_one_line(command, penguins, setting, message):
    done = command("fit", penguins, "--target", "species", "--algorithm", "forest", *FEW, "--set", setting)

    assert done.returncode == 2
    assert message in done.stderr or "too many nested brackets" in done.stderr
    # Before the fit, which refuses some of them, the command says that nothing will be saved.
    assert len([line for line in done.stderr.splitlines() if "is not saved" not in line]) == 1


@pytest.mark.parametrize("setting", ["warm_start=true", "verbose=1", "verbose=0"])
@pytest.mark.parametrize("algorithm", ["forest", "bagging", "isolation"])
def test_parameters_that_do_nothing_here_are_refused(command, penguins, algorithm, setting):
    target = () if algorithm == "isolation" else ("--target", "species")
    done = command("fit", penguins, *target, "--algorithm", algorithm, "--set", setting)

    assert done.returncode == 2
    assert f"--set {setting!r} does nothing on the command line" in done.stderr


@pytest.mark.parametrize(
    ("target", "setting", "message"),
    [
        ("body_mass_g", "class_weight=balanced", "is for targets of classes, and body_mass_g holds numbers"),
        ("species", "quantiles=true", "is for targets of numbers, and species holds classes"),
    ],
)
@pytest.mark.parametrize("task", [(), ("--task",)])
def test_a_parameter_of_the_other_sort_of_target_says_so(command, penguins, target, setting, message, task):
    words = [*task, "regression" if target == "body_mass_g" else "classification"] if task else []
    few = [*FEW, "--skip-missing-target", *words]
    done = command("fit", penguins, "--target", target, "--algorithm", "forest", *few, "--set", setting)

    assert done.returncode == 2
    assert message in done.stderr


def test_bagged_trees_on_drawn_columns_are_refused_before_the_fit(command, penguins, tmp_path):
    words = ["--algorithm", "bagging", *FEW, "--set"]
    drawn = fit(command, penguins, tmp_path, "species", *words, "max_features=0.5")
    whole = fit(command, penguins, tmp_path, "species", *words, "max_features=6")

    assert (drawn.returncode, drawn.stdout) == (2, "")
    assert "--set estimator__max_features=0.5" in drawn.stderr
    assert "pickle" not in drawn.stderr
    assert whole.returncode == 0, whole.stderr
