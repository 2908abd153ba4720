"""Trees in ONNX files go the ways on which onnxruntime sends rows, and our own files come back with the same bits."""

from __future__ import annotations

import sys
from runpy import run_path

import numpy as np
import pytest
from export_models import BEYOND, CELLS, MODELS, model_of
from rotating import crossed, few

import treewright as tw
from treewright.exceptions import InputFileError, MissingLibraryError, ParameterError
from treewright.exchange.from_onnx import begins
from treewright.exchange.verify import vectors_of
from treewright.trees.codec import dumps

onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")  # cells go missing on purpose

helper, FLOAT, DOUBLE, INT64, STRING = onnx.helper, 1, 11, 7, 8
ML = "ai.onnx.ml"
COMPARED = ("LEQ", "LT", "GTE", "GT")
NOT_READ = ("surrogate", "made columns", "made columns, unseen apart")


# Files of other converters, made as they make them.


def file_of(nodes, inputs, outputs, version=3, tensors=(), **told):
    """A model; outputs are names, whose types onnxruntime finds."""
    made = helper.make_model(
        helper.make_graph(
            nodes, "graph", [helper.make_tensor_value_info(name, kind, ["N", width]) for name, kind, width in inputs],
            [onnx.ValueInfoProto(name=name) for name in outputs],
            [onnx.numpy_helper.from_array(*each) for each in tensors],
        ),
        opset_imports=[helper.make_opsetid("", 15), helper.make_opsetid(ML, version)],
        ir_version=10 if version == 5 else 8, producer_name="another",
    )  # fmt: skip
    helper.set_model_props(made, told)
    return made


def said_by_onnxruntime(made, cells):
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    if not isinstance(cells, dict):
        given = session.get_inputs()[0]
        cells = {given.name: cells.astype(np.float64 if "double" in given.type else np.float32)}
    return session.run(None, cells)


def shape_of(rng, n_inner):
    """A random tree: the children of each node, -1 of leaves."""
    left, right, leaves = [-1], [-1], [0]
    for _ in range(n_inner):
        node = leaves.pop(rng.integers(len(leaves)))
        left[node], right[node] = len(left), len(left) + 1
        leaves += [len(left), len(left) + 1]
        left += [-1, -1]
        right += [-1, -1]
    return np.array(left), np.array(right)


def nodes_of_version_3(rng, n_trees, n_columns, modes, cuts, n_inner=12):
    """What both operators of version 3 say of nodes, and where the leaves are."""
    said = {f"nodes_{name}": [] for name in (
        "treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids",
        "missing_value_tracks_true",
    )}  # fmt: skip
    leaves = []
    for tree in range(n_trees):
        left, right = shape_of(rng, n_inner)
        for node in range(len(left)):
            is_leaf = left[node] < 0
            if is_leaf:
                leaves.append((tree, node))
            column = int(rng.integers(n_columns))
            row = (tree, node, column, "LEAF" if is_leaf else f"BRANCH_{rng.choice(modes)}",
                   0.0 if is_leaf else float(rng.choice(cuts)), max(left[node], 0), max(right[node], 0),
                   int(rng.random() < 0.5))  # fmt: skip
            for name, value in zip(said, row, strict=True):
                said[name].append(value)
    return said, leaves


def regressor(said, leaves, numbers, targets, n_targets=1, *, is_double=False, **more):
    """A ``TreeEnsembleRegressor`` of X; each leaf has a number of each target."""
    own = {
        "target_treeids": [tree for tree, _ in leaves for _ in targets],
        "target_nodeids": [node for _, node in leaves for _ in targets],
        "target_ids": [target for _ in leaves for target in targets], "n_targets": n_targets,
    }  # fmt: skip
    if is_double:
        said = {name: values for name, values in said.items() if name != "nodes_values"} | {
            "nodes_values_as_tensor": onnx.numpy_helper.from_array(np.array(said["nodes_values"]))
        }
        own["target_weights_as_tensor"] = onnx.numpy_helper.from_array(np.array(numbers, np.float64))
    else:
        own["target_weights"] = numbers
    return helper.make_node("TreeEnsembleRegressor", ["X"], ["y"], domain=ML, **said, **own, **more)


def classifier(said, leaves, numbers, ids, labels, **more):
    """A ``TreeEnsembleClassifier`` of X: ``numbers`` has one for each leaf and class of ``ids``."""
    own = {"classlabels_strings" if isinstance(labels[0], str) else "classlabels_int64s": labels}
    return helper.make_node(
        "TreeEnsembleClassifier", ["X"], ["label", "shares"], domain=ML, **said, **own,
        class_treeids=[tree for tree, _ in leaves for _ in ids],
        class_nodeids=[node for _, node in leaves for _ in ids],
        class_ids=[each for _ in leaves for each in ids], class_weights=np.ravel(numbers).tolist(), **more,
    )  # fmt: skip


CUTS = np.float32([0.1, -2.5, 3e-40, 7.0, 1e20, 0.0, 1 / 3])


def edge_rows(rng, cuts, n_columns, n=300, kind=np.float32):
    """Rows on and beside cuts; of float32 also numbers between two of them."""
    cuts = np.asarray(cuts, kind)
    beside = [cuts, np.nextafter(cuts, kind(np.inf)), np.nextafter(cuts, kind(-np.inf))]
    cells = np.concatenate([*beside, [0.0, -0.0, np.inf, -np.inf, np.nan]]).astype(np.float64)
    if kind is np.float32:
        halves = cells[: len(cuts)] + (cells[len(cuts) : 2 * len(cuts)] - cells[: len(cuts)]) / 2
        cells = np.concatenate([cells, halves, np.nextafter(halves, np.inf), np.nextafter(halves, -np.inf)])
    return rng.choice(cells, (n, n_columns))


def numbers_said(model, rows):
    """Predictions of rows of numbers, infinite ones too, without the checks of tables."""
    from treewright.model import Model

    return Model.of(model).numbers_of(np.ascontiguousarray(rows, dtype=np.float64))


@pytest.mark.parametrize("is_double", [False, True])
@pytest.mark.parametrize("modes", [COMPARED, (*COMPARED, "EQ", "NEQ"), ("LEQ",)])
def test_all_comparisons_send_rows_where_onnxruntime_does(modes, is_double):
    rng = np.random.default_rng(len(modes) + is_double)
    cuts = rng.normal(size=9) if is_double else CUTS
    for n_targets in (1, 3):
        said, leaves = nodes_of_version_3(rng, 8, 3, modes, cuts)
        # Whole numbers: float32 adds them up without rounding.
        numbers = rng.integers(-999, 999, len(leaves) * n_targets).astype(float).tolist()
        node = regressor(said, leaves, numbers, range(n_targets), n_targets, is_double=is_double,
                         base_values=[float(at) for at in range(n_targets)])  # fmt: skip
        made = file_of([node], [("X", DOUBLE if is_double else FLOAT, 3)], ["y"])
        rows = edge_rows(rng, cuts, 3, kind=np.float64 if is_double else np.float32)
        with np.errstate(over="ignore"):
            expected = said_by_onnxruntime(made, rows)[0]
        assert np.array_equal(numbers_said(tw.read_model(made), rows), expected)


def test_means_of_trees_are_forests():
    rng = np.random.default_rng(1)
    said, leaves = nodes_of_version_3(rng, 4, 2, ("LEQ",), CUTS)
    numbers = rng.integers(-999, 999, len(leaves) * 2).astype(float).tolist()
    made = file_of(
        [regressor(said, leaves, numbers, (0, 1), 2, aggregate_function="AVERAGE")], [("X", FLOAT, 2)], ["y"]
    )
    model, rows = tw.read_model(made), edge_rows(rng, CUTS, 2)
    assert (model.combine, model.n_outputs) == ("mean", 2)
    assert np.array_equal(numbers_said(model, rows), said_by_onnxruntime(made, rows)[0])


def lists_of_version_5(rng, n_trees, members, kind, n_targets):
    """A ``TreeEnsemble`` of three columns; the last is asked for members of sets of whole numbers."""
    modes, columns, splits, tracks, ways, sets, leaf_targets, roots = [], [], [], [], [], [], [], []
    for tree in range(n_trees):
        left, right = shape_of(rng, 12)
        first, own = len(modes), {}
        roots.append(first)
        for node in range(len(left)):
            own[node] = len(leaf_targets) if left[node] < 0 else first + sum(left[:node] >= 0)
            if left[node] < 0:
                leaf_targets.append(tree % n_targets)
        for node in np.flatnonzero(left >= 0).tolist():
            column = int(rng.integers(3))
            modes.append(6 if column == 2 else int(rng.integers(4)))
            if column == 2:
                sets += [*rng.permutation(members)[: rng.integers(1, 5)].tolist(), np.nan]
            columns.append(column)
            splits.append(float(rng.choice(CUTS)))
            tracks.append(int(rng.random() < 0.5))
            ways.append([(own[each], int(left[each] < 0)) for each in (left[node], right[node])])
    ways = np.array(ways)
    tensor = lambda values: onnx.numpy_helper.from_array(np.array(values, kind))  # noqa: E731 - said once
    return {
        "nodes_modes": onnx.numpy_helper.from_array(np.array(modes, np.uint8)), "nodes_featureids": columns,
        "nodes_splits": tensor(splits), "nodes_missing_value_tracks_true": tracks, "tree_roots": roots,
        "nodes_truenodeids": ways[:, 0, 0].tolist(), "nodes_trueleafs": ways[:, 0, 1].tolist(),
        "nodes_falsenodeids": ways[:, 1, 0].tolist(), "nodes_falseleafs": ways[:, 1, 1].tolist(),
        "leaf_targetids": leaf_targets, "membership_values": tensor(sets), "n_targets": n_targets,
        "leaf_weights": tensor(rng.integers(-999, 999, len(leaf_targets))),
    }  # fmt: skip


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n_targets", [1, 2])
def test_sets_of_version_5_are_levels(kind, n_targets):
    rng = np.random.default_rng(n_targets)
    said = lists_of_version_5(rng, 10, np.arange(-3, 12), kind, n_targets)
    node = helper.make_node("TreeEnsemble", ["X"], ["y"], domain=ML, **said)
    made = file_of([node], [("X", FLOAT if kind is np.float32 else DOUBLE, 3)], ["y"], 5)
    model = tw.read_model(made)
    assert [column.kind for column in model.schema.columns] == ["numeric", "numeric", "nominal"]
    rows = edge_rows(rng, CUTS, 3, kind=kind)
    rows[~np.isfinite(rows)] = np.nan
    rows[:, 2] = rng.choice([*range(-5, 15), 99, np.nan], len(rows))
    expected = said_by_onnxruntime(made, rows)[0]
    assert np.array_equal(np.asarray(model.predict(rows)).reshape(expected.shape), expected)


def chain(values, mode="EQ"):
    """LightGBM's set of values as its converter writes it: tests of one value each that lead to one node.

    Below the shared node the first column is asked, and below the last test again for another value.
    """
    n = len(values)
    same, last, leaves = n, n + 1, [n + 2, n + 3, n + 4, n + 5]
    true, false = [same] * n, [*range(1, n), last]
    if mode == "NEQ":
        true, false = false, true
    rows = [
        *((at, 1, f"BRANCH_{mode}", float(value), true[at], false[at]) for at, value in enumerate(values)),
        (same, 0, "BRANCH_LEQ", 0.5, leaves[0], leaves[1]), (last, 1, "BRANCH_EQ", 77.0, leaves[2], leaves[3]),
        *((leaf, 0, "LEAF", 0.0, 0, 0) for leaf in leaves),
    ]  # fmt: skip
    names = ("nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
    said = {f"nodes_{name}": list(own) for name, own in zip(names, zip(*rows, strict=True), strict=True)}
    return {**said, "nodes_treeids": [0] * len(rows)}, [(0, leaf) for leaf in leaves]


def of_chain(mode, tracks):
    said, leaves = chain([3, 1, 4, 15, 9, 26], mode)
    said["nodes_missing_value_tracks_true"] = [tracks] * len(said["nodes_modes"])
    return file_of([regressor(said, leaves, [1.0, 2.0, 3.0, 4.0], (0,))], [("X", FLOAT, 2)], ["y"])


@pytest.mark.parametrize("tracks", [0, 1])
def test_a_chain_of_values_that_leads_to_one_node_is_a_set(tracks):
    made = of_chain("EQ", tracks)
    model = tw.read_model(made)
    assert model.trees[0].n_nodes == 7
    assert model.schema.columns[1].levels == (1, 3, 4, 9, 15, 26, 77)
    rows = np.array([[low, high] for low in (0.0, 1.0, np.nan) for high in [*range(30), 77, -1, np.nan]])
    assert np.array_equal(model.predict(rows), said_by_onnxruntime(made, rows)[0][:, 0])
    if not tracks:
        # onnxruntime does not load a chain of NEQ; a missing cell is unlike any number.
        assert np.array_equal(tw.read_model(of_chain("NEQ", 0)).predict(rows), model.predict(rows))


def test_values_of_a_column_that_is_also_compared_are_two_cuts():
    said, leaves = chain([3, 1, 4])
    said["nodes_featureids"] = [0] * len(said["nodes_modes"])
    made = file_of([regressor(said, leaves, [1.0, 2.0, 3.0, 4.0], (0,))], [("X", FLOAT, 1)], ["y"])
    model = tw.read_model(made)
    assert model.schema.columns[0].kind == "numeric"
    rows = edge_rows(np.random.default_rng(0), [1, 3, 4, 77, 0.5], 1)
    assert np.array_equal(numbers_said(model, rows), said_by_onnxruntime(made, rows)[0])


def classes_in_leaves(n_trees=4, n_classes=3, seed=0):
    """Nodes, leaves, and shares of classes in eighths, a part of the whole each."""
    rng = np.random.default_rng(seed)
    said, leaves = nodes_of_version_3(rng, n_trees, 2, ("LEQ",), CUTS)
    return said, leaves, rng.multinomial(8, np.ones(n_classes) / n_classes, len(leaves)) / 8.0 / n_trees


SHOWN = [helper.make_node("Cast", ["label"], ["l"], to=INT64), helper.make_node(
    "ZipMap", ["shares"], ["z"], domain=ML, classlabels_int64s=[5, 7, 9]
)]  # fmt: skip


@pytest.mark.parametrize("n_trees", [1, 4])
def test_shares_in_leaves_are_a_forest(n_trees):
    said, leaves, shares = classes_in_leaves(n_trees)
    for labels, behind, outputs in (([5, 7, 9], SHOWN, ["l", "z"]), (["a", "b", "c"], [], ["label", "shares"])):
        made = file_of([classifier(said, leaves, shares, range(3), labels), *behind], [("X", FLOAT, 2)], outputs)
        model, rows = tw.read_model(made), edge_rows(np.random.default_rng(0), CUTS, 2)
        rows[np.isinf(rows)] = np.nan
        found, held = said_by_onnxruntime(made, rows)
        held = np.array([[each[label] for label in labels] for each in held]) if behind else held
        assert model.combine == ("mean" if n_trees > 1 else "single")
        assert np.array_equal(model.predict_proba(rows), held)  # eighths add up without rounding
        assert model.predict(rows).tolist() == found.tolist()


def test_shares_of_the_second_class_alone_are_a_forest_of_two():
    said, leaves, shares = classes_in_leaves(n_classes=2)
    made = file_of([classifier(said, leaves, shares[:, 1], (0,), [0, 1])], [("X", FLOAT, 2)], ["label", "shares"])
    model, rows = tw.read_model(made), edge_rows(np.random.default_rng(0), CUTS, 2)
    rows[np.isinf(rows)] = np.nan
    found, held = said_by_onnxruntime(made, rows)
    assert np.array_equal(model.predict_proba(rows), held)
    assert model.predict(rows).tolist() == found.tolist()


@pytest.mark.parametrize(("n_classes", "transform", "ids"), [
    (2, "LOGISTIC", (0,)), (3, "SOFTMAX", range(3)), (2, "SOFTMAX", range(2)),
])  # fmt: skip
def test_scores_of_classes_are_boosted_trees(n_classes, transform, ids):
    rng = np.random.default_rng(n_classes)
    said, leaves = nodes_of_version_3(rng, 6, 2, COMPARED, CUTS)
    base = {"base_values": rng.normal(size=len(ids)).tolist()} if n_classes != len(ids) or n_classes > 2 else {}
    scores = rng.normal(size=(len(leaves), len(ids)))
    node = classifier(said, leaves, scores, ids, list(range(n_classes)), post_transform=transform, **base)
    made = file_of([node], [("X", FLOAT, 2)], ["label", "shares"])
    model, rows = tw.read_model(made), edge_rows(rng, CUTS, 2)
    rows[np.isinf(rows)] = np.nan
    found, held = said_by_onnxruntime(made, rows)
    # onnxruntime adds up in float32, and its logistic function is a float32.
    assert np.abs(model.predict_proba(rows) - held).max() < 3e-6
    if len(ids) != 2:  # the label of two classes is that of a score above 0 there, whatever the shares
        assert model.predict(rows).tolist() == found.tolist()


def some_regressor(**more):
    """A small ensemble of two columns."""
    rng = np.random.default_rng(2)
    said, leaves = nodes_of_version_3(rng, 3, 2, ("LEQ",), CUTS[:4], 3)
    return regressor(said, leaves, rng.integers(-9, 9, len(leaves)).astype(float).tolist(), (0,), **more)


def plain(nodes=(), outputs=("y",), inputs=(("X", FLOAT, 2),), before=(), tensors=(), **more):
    return file_of([*before, some_regressor(**more), *nodes], inputs, outputs, tensors=tensors)


C = np.float32
HARMLESS = {
    "identity": plain([helper.make_node("Identity", ["y"], ["z"])], ["z"]),
    "cast": plain([helper.make_node("Cast", ["y"], ["z"], to=DOUBLE)], ["z"]),
    "flat": plain([helper.make_node("Reshape", ["y", "s"], ["z"])], ["z"], tensors=[(np.array([-1]), "s")]),
    "added": plain([helper.make_node("Add", ["y", "b"], ["z"])], ["z"], tensors=[(C([2.5]), "b")]),
    "divided": plain([helper.make_node("Div", ["y", "b"], ["z"])], ["z"], tensors=[(C([4.0]), "b")]),
    "counts": plain([helper.make_node("Exp", ["y"], ["z"])], ["z"]),
    "counts of times": plain(
        [helper.make_node("Exp", ["y"], ["w"]), helper.make_node("Mul", ["w", "b"], ["z"])], ["z"],
        tensors=[(C([0.25]), "b")],
    ),
    "two ensembles": file_of(
        [some_regressor(), helper.make_node("Identity", ["y"], ["a"]), helper.make_node("Sum", ["a", "y"], ["z"])],
        [("X", FLOAT, 2)], ["z"],
    ),
    "doubles cast": plain(
        inputs=[("D", DOUBLE, 2)], before=[helper.make_node("Cast", ["D"], ["X"], to=FLOAT)]
    ),
    "of unknown width": plain(inputs=[("X", FLOAT, None)]),
}  # fmt: skip


@pytest.mark.parametrize("what", HARMLESS)
def test_harmless_operations_are_read(what):
    made, rng = HARMLESS[what], np.random.default_rng(0)
    rows = edge_rows(rng, CUTS[:4], 2)
    rows[np.isinf(rows)] = np.nan
    expected = said_by_onnxruntime(made, rows)[0].ravel()
    assert tw.read_model(made).predict(rows) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_inputs_of_one_column_each_have_names():
    before = [
        helper.make_node("Cast", ["n"], ["f"], to=FLOAT), helper.make_node("Concat", ["wind", "f"], ["X"], axis=1),
    ]  # fmt: skip
    made = plain(inputs=[("n", INT64, 1), ("wind", FLOAT, 1)], before=before)
    rng = np.random.default_rng(0)
    table = {"wind": rng.choice(CUTS, 40), "n": rng.integers(-3, 9, 40)}
    expected = said_by_onnxruntime(made, {name: cells[:, None] for name, cells in table.items()})[0][:, 0]
    model = tw.read_model(made)
    assert model.schema.names == ("n", "wind")
    assert np.array_equal(model.predict(table), expected)


def test_texts_that_are_encoded_are_levels():
    before = [
        helper.make_node("LabelEncoder", ["town"], ["c"], domain=ML, keys_strings=["Rome", "Oslo", "Bonn"],
                         values_int64s=[0, 1, 7], default_int64=-4),
        helper.make_node("Cast", ["c"], ["f"], to=FLOAT), helper.make_node("Concat", ["wind", "f"], ["X"], axis=1),
    ]  # fmt: skip
    made = plain(inputs=[("town", STRING, 1), ("wind", FLOAT, 1)], before=before)
    rng = np.random.default_rng(0)
    table = {"town": rng.choice(["Rome", "Oslo", "Bonn", "Paris"], 90), "wind": rng.choice(CUTS, 90)}
    given = {"town": table["town"].astype(object)[:, None], "wind": table["wind"][:, None]}
    expected = said_by_onnxruntime(made, given)[0][:, 0]
    assert len(set(expected)) > 3
    assert np.array_equal(tw.read_model(made).predict(table), expected)


def test_labels_that_are_looked_up_behind_are_those_of_the_shares():
    said, leaves, shares = classes_in_leaves()
    behind = [
        helper.make_node("ArgMax", ["shares"], ["at"], axis=1),
        helper.make_node("ArrayFeatureExtractor", ["labels", "at"], ["of"], domain=ML),
        helper.make_node("Reshape", ["of", "s"], ["l"]),
    ]
    tensors = [(np.array([5, 7, 9]), "labels"), (np.array([-1]), "s")]
    node = classifier(said, leaves, shares, range(3), [5, 7, 9])
    made = file_of([node, *behind], [("X", FLOAT, 2)], ["l", "shares"], tensors=tensors)
    assert tw.read_model(made).classes[0].tolist() == [5, 7, 9]
    tensors[0] = (np.array([9, 7, 5]), "labels")
    with pytest.raises(ParameterError, match="output 'l' is made by ArrayFeatureExtractor, ArgMax"):
        tw.read_model(file_of([node, *behind], [("X", FLOAT, 2)], ["l", "shares"], tensors=tensors))


# Our own files.


def tables_of(model):
    """The cells of training, and rows on and beside cuts, with levels that no fit saw."""
    yield {column.name: CELLS[column.name] for column in model.schema.given}
    rows = np.array([[float(cell) for cell in row] for row in vectors_of(model)["rows"]])
    table = {}
    for at, column in enumerate(model.schema.given):
        levels, cells = column.levels, rows[:, at]
        strange = "elsewhere" if all(isinstance(level, str) for level in levels) else None
        table[column.name] = [
            None if np.isnan(cell) else cell if not levels else [*levels, strange][int(cell)]
            for cell in cells.tolist()
        ]  # fmt: skip
    yield table


@pytest.mark.parametrize(
    ("name", "form"),
    crossed(few([name for name in MODELS if name not in (*BEYOND, *NOT_READ)], 6), ["onnx", "onnx-v3"]),
)
def test_our_own_files_come_back_with_the_same_bits(name, form, tmp_path):
    model = model_of(name)
    model.export(tmp_path / "m.onnx", format=form)
    again = tw.read_model(tmp_path / "m.onnx")
    kept = [(column.name, column.kind, column.levels, column.family) for column in again.schema.columns]
    asked = [(column.name, column.kind, column.levels, column.family) for column in model.schema.given]
    assert kept == asked
    for table in tables_of(model):
        assert np.array_equal(again.predict(table), model.predict(table))
        if model.classes:
            shares = (each.predict_proba(table) for each in (again, model))
            assert np.array_equal(*(np.hstack(own) if isinstance(own, list) else own for own in shares))
        assert [own.tolist() for own in again.classes] == [own.tolist() for own in model.classes]


@pytest.mark.parametrize("name", NOT_READ)
def test_what_trees_make_for_trees_is_refused(name, tmp_path):
    model_of(name).export(tmp_path / "m.onnx")
    with pytest.raises(
        InputFileError, match=r"trees take the outputs of other trees|takes the output of .*LabelEncoder"
    ):
        tw.read_model(tmp_path / "m.onnx")


@pytest.mark.parametrize("change", ["link", "threshold", "label"])
def test_our_own_files_that_others_edited_are_read_as_they_are_or_refused(change, tmp_path):
    model_of("threshold" if change == "threshold" else "two classes").export(tmp_path / "m.onnx")
    made = onnx.load(tmp_path / "m.onnx")
    if change == "link":
        next(node for node in made.graph.node if node.op_type == "Exp").op_type = "Tanh"
    elif change == "label":
        next(node for node in made.graph.node if node.op_type == "ArgMax").op_type = "ArgMin"
    else:
        for tensor in made.graph.initializer:
            if onnx.numpy_helper.to_array(tensor).tolist() == 0.3:
                tensor.CopyFrom(onnx.numpy_helper.from_array(np.array(0.6), tensor.name))
        assert tw.read_model(made).threshold.at == 0.6
        return
    with pytest.raises(ParameterError, match="Tanh" if change == "link" else "ArgMin"):
        tw.read_model(made)


def test_a_model_of_numbers_without_names_comes_back_without_names(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = tw.GradientBoostingRegressor(8, random_state=0).fit(X, X[:, 0] * X[:, 1]).model_
    model.export(tmp_path / "m.onnx")
    again = tw.read_model(tmp_path / "m.onnx")
    assert not again.schema.named
    assert np.array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("form", ["onnx", "onnx-v3"])
def test_levels_come_back_as_what_they_were(form, tmp_path):
    rng = np.random.default_rng(1)
    columns = {
        "of numbers": rng.integers(0, 5, 200).tolist(), "of halves": (rng.integers(0, 5, 200) / 2).tolist(),
        "of truths": (rng.random(200) < 0.5).tolist(), "of one": [1.0] * 200,
    }  # fmt: skip
    score = (
        np.array(columns["of numbers"]) % 2 + 3 * np.array(columns["of halves"]) % 2 + np.array(columns["of truths"])
    )
    model = tw.RandomForestRegressor(5, nominal=["of numbers", "of halves"], random_state=0).fit(columns, score).model_
    model.export(tmp_path / "m.onnx", format=form)
    again = tw.read_model(tmp_path / "m.onnx")
    assert [column.levels for column in again.schema.columns] == [column.levels for column in model.schema.columns]
    assert np.array_equal(again.predict(columns), model.predict(columns))
    cells = list(zip(*columns.values(), strict=True))
    model = tw.RandomForestClassifier(5, nominal=[0, 1], random_state=0).fit(cells, score > 2).model_
    model.export(tmp_path / "m.onnx", format=form)
    again = tw.read_model(tmp_path / "m.onnx")
    assert np.array_equal(again.predict_proba(cells), model.predict_proba(cells))


def test_a_file_whose_outputs_have_their_old_names_is_read(tmp_path):
    model = model_of("two classes")
    model.export(tmp_path / "m.onnx")
    held = onnx.load(tmp_path / "m.onnx")
    old = {"probabilities": "shares", "scores": "sums"}
    for each in held.graph.output:
        each.name = old.get(each.name, each.name)
    for node in held.graph.node:
        node.output[:] = [old.get(name, name) for name in node.output]
    assert [each.name for each in held.graph.output] == ["label", "shares", "sums"]
    assert tw.read_model(held).predict_proba(CELLS).tobytes() == model.predict_proba(CELLS).tobytes()


# What comes in does all that ours do.


def test_an_imported_model_is_shown_explained_reported_saved_exported_and_cut_back(tmp_path):
    rng = np.random.default_rng(0)
    said, leaves = nodes_of_version_3(rng, 6, 2, COMPARED, CUTS)
    scores = rng.normal(size=len(leaves)).tolist()
    node = classifier(said, leaves, scores, (0,), [0, 1], post_transform="LOGISTIC")
    (tmp_path / "m.onnx").write_bytes(file_of([node], [("X", FLOAT, 2)], ["label", "shares"]).SerializeToString())
    model = tw.read_model(tmp_path / "m.onnx")
    X = rng.choice(CUTS.astype(np.float64), (60, 2))
    answers, scores = model.predict(X), model.predict_scores(X)
    assert "6 trees" in model.show()
    assert "<svg" in model.tree(0).plot()._repr_svg_()
    why = model.explain(X)
    assert np.asarray(why.values).reshape(60, -1).sum(axis=1) + np.ravel(why.base) == pytest.approx(scores.ravel())
    model.save(tmp_path / "m.tw")
    assert dumps(tw.load(tmp_path / "m.tw")) == dumps(model)
    assert len(model.prune("rounds", n_rounds=2).trees) == 2
    assert model.predict_one(X[0].tolist()) == answers[0]
    assert "<html" in tw.report(model, X, answers).html
    model.export(tmp_path / "m.py")
    code = run_path(str(tmp_path / "m.py"))
    assert code["sums"](code["encode"](X[0].tolist())) == scores.ravel()[:1].tolist()
    model.export(tmp_path / "again.onnx")
    assert np.array_equal(tw.read_model(tmp_path / "again.onnx").predict_proba(X), model.predict_proba(X))


# What is refused.


def shared_diamonds(n):
    """Tests whose two ways meet in the next pair: 2**n leaves where each has a copy."""
    rows = [(at, at % 2, "BRANCH_LEQ", float(at), 2 * (at // 2) + 2, 2 * (at // 2) + 3) for at in range(2 * n)]
    rows += [(2 * n, 0, "LEAF", 0.0, 0, 0), (2 * n + 1, 0, "LEAF", 0.0, 0, 0)]
    names = ("nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
    said = {f"nodes_{name}": list(own) for name, own in zip(names, zip(*rows, strict=True), strict=True)}
    return regressor({**said, "nodes_treeids": [0] * len(rows)}, [(0, 2 * n), (0, 2 * n + 1)], [1.0, 2.0], (0,))


def comb(n, back=False):
    """A test of each of n values, each with a leaf of its own, or all with one and the last leading to the first."""
    names = ("nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
    rows = [(at, 0, "BRANCH_EQ", float(at), n if back else n + at, (at + 1) % n if back else at + 1) for at in range(n)]
    rows += [(n + at, 0, "LEAF", 0.0, 0, 0) for at in range(1 if back else n + 1)]
    rows[n - 1] = rows[n - 1] if back else (*rows[n - 1][:5], 2 * n)
    said = {f"nodes_{name}": list(own) for name, own in zip(names, zip(*rows, strict=True), strict=True)}
    leaves = [(0, row[0]) for row in rows[n:]]
    return regressor({**said, "nodes_treeids": [0] * len(rows)}, leaves, [1.0] * len(leaves), (0,))


def elsewhere():
    made = HARMLESS["added"].__deepcopy__({})
    made.graph.initializer[0].data_location = onnx.TensorProto.EXTERNAL
    made.graph.initializer[0].external_data.add(key="location", value="../secret")
    return made


def doubled(name, *more):
    """The small regressor with an attribute twice, or also as another one."""
    made = some_regressor()
    attribute = next(each for each in made.attribute if each.name == name)
    made.attribute.extend(more or [attribute])
    return made


def ring():
    made = some_regressor()
    next(each for each in made.attribute if each.name == "nodes_truenodeids").ints[0] = 0
    return made


def changed(name, values):
    made = some_regressor()
    own = next(each for each in made.attribute if each.name == name)
    own.CopyFrom(helper.make_attribute(name, values(onnx.helper.get_attribute_value(own))))
    return made


def of_node(node, outputs=("y",), width=2):
    return file_of([node], [("X", FLOAT, width)], outputs)


SAID, LEAVES, SHARES = classes_in_leaves()
TWO = (SAID, LEAVES, classes_in_leaves(n_classes=2)[2])
BOTH = ("label", "shares")
OF_THREE = classifier(SAID, LEAVES, SHARES, range(3), [0, 1, 2])
REFUSED = {
    "scaled": (plain(before=[helper.make_node("Scaler", ["Z"], ["X"], domain=ML, offset=[0.0], scale=[1.0])],
                     inputs=[("Z", FLOAT, 2)]), "takes the output of Scaler"),
    "tanh": (plain([helper.make_node("Tanh", ["y"], ["z"])], ["z"]), "made of the trees by Tanh"),
    "cut off": (plain([helper.make_node("Cast", ["y"], ["z"], to=INT64)], ["z"]), "not those of a known model"),
    "other names": (file_of([OF_THREE, *SHOWN], [("X", FLOAT, 2)], ["l", "z"]), "other classes"),
    "shares cut off": (file_of([OF_THREE, helper.make_node("Cast", ["shares"], ["z"], to=INT64)], [("X", FLOAT, 2)],
                               ["label", "z"]), "'z' is made by Cast"),
    "texts": (plain(inputs=[("Z", STRING, 2)], before=[helper.make_node("Cast", ["Z"], ["X"], to=FLOAT)]), "of texts"),
    "half": (plain([helper.make_node("Tanh", ["y"], ["z"])], ["y", "z"]), "made of the trees by Tanh"),
    "largest": (plain(aggregate_function="MAX"), "MAX of its trees"),
    "transformed": (plain(post_transform="LOGISTIC"), "post_transform=LOGISTIC"),
    "one against all": (of_node(classifier(SAID, LEAVES, SHARES, range(3), [0, 1, 2], post_transform="LOGISTIC"), BOTH),
                        "gives no probabilities"),
    "two scores": (of_node(classifier(*TWO, range(2), [0, 1], base_values=[0.1, 0.2]), BOTH), "base values"),
    "scores of the second": (of_node(classifier(*TWO[:2], TWO[2][:, 1], (1,), [0, 1]), BOTH), "gives no probabilities"),
    "negative": (of_node(classifier(SAID, LEAVES, SHARES - 0.2, range(3), [0, 1, 2]), BOTH), "below 0"),
    "unequal": (of_node(classifier(SAID, LEAVES, SHARES**2, range(3), [0, 1, 2]), BOTH), "have different sums"),
    "shared": (of_node(shared_diamonds(60)), "no branch leads to node 1"),
    "sets": (of_node(comb(30_000)), "too many nodes"),
    "ring of sets": (of_node(comb(30_000, back=True)), "too many nodes"),
    "elsewhere": (elsewhere(), "is in another file"),
    "ring": (of_node(ring()), "no branch leads to node 1"),
    "nowhere": (of_node(changed("nodes_falsenodeids", lambda ids: [99, *ids[1:]])), "leads to a missing node, 99"),
    "columns": (of_node(changed("nodes_featureids", lambda ids: [9] * len(ids))), "columns of tests"),
    "lengths": (of_node(changed("nodes_values", lambda values: values[1:])), "different lengths"),
    "nan": (of_node(changed("nodes_values", lambda values: [np.nan] * len(values))), "nan as its threshold"),
    "modes": (of_node(changed("nodes_modes", lambda modes: [b"BRANCH_XX"] * len(modes))), "BRANCH_XX"),
    "targets": (of_node(changed("n_targets", lambda _: 1 << 40)), "1099511627776 targets"),
    "no node": (file_of([helper.make_node("Identity", ["X"], ["y"])], [("X", FLOAT, 2)], ["y"]),
                "not those of a known model"),
    "wide": (plain(inputs=[("X", FLOAT, 1 << 40)]), "columns"),
    "an attribute twice": (of_node(doubled("nodes_values")), "'nodes_values' occurs twice"),
    "two forms": (
        of_node(doubled("nodes_values", helper.make_attribute(
            "nodes_values_as_tensor", onnx.numpy_helper.from_array(np.zeros(9))
        ))), "an operator has nodes_values and nodes_values_as_tensor"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_said_here_is_refused_by_its_reason(what, tmp_path):
    made, reason = REFUSED[what]
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    with pytest.raises(InputFileError, match=reason):
        tw.read_model(tmp_path / "m.onnx")


@pytest.mark.parametrize("what", few(["regressor", "classifier", "version 5", "ours"], 1))
def test_damaged_files_are_refused_and_nothing_else_happens(what, tmp_path):
    rng = np.random.default_rng(0)
    if what == "regressor":
        made = plain()
    elif what == "classifier":
        said, leaves = nodes_of_version_3(rng, 1, 2, COMPARED, CUTS, 3)
        made = of_node(classifier(said, leaves, [0.5, 0.5, 1.0, 0.0] * 2, (0, 1), [0, 1]), BOTH)
    elif what == "version 5":
        said = lists_of_version_5(rng, 1, np.arange(4), np.float32, 1)
        made = file_of([helper.make_node("TreeEnsemble", ["X"], ["y"], domain=ML, **said)], [("X", FLOAT, 3)], ["y"], 5)
    else:
        table = {"wind": [1.0, 2.0, 3.0, 4.0], "town": ["a", "b", "c", "a"]}
        tw.DecisionTreeClassifier().fit(table, ["x", "y", "x", "z"]).model_.export(tmp_path / "m.onnx")
        made = onnx.load(tmp_path / "m.onnx")
    whole = made.SerializeToString()
    refused, flipped = 0, rng.integers(1, 256, len(whole)).tolist()
    with (tmp_path / "b.onnx").open("wb") as file:  # one file: a new one each time waits for the disk
        for at in range(len(whole)):
            for data in (whole[:at] + bytes([whole[at] ^ flipped[at]]) + whole[at + 1 :], whole[:at]):
                file.seek(0)
                file.write(data)
                file.truncate()
                file.flush()
                try:
                    tw.read_model(tmp_path / "b.onnx")
                except InputFileError:
                    refused += 1
    assert refused > len(whole)


def test_files_are_known_by_their_first_bytes_or_their_ending(tmp_path):
    (tmp_path / "m.bin").write_bytes(plain().SerializeToString())
    assert tw.read_model(tmp_path / "m.bin").facts["imported"]["producer"] == "another"
    assert begins(b"", ".onnx")
    assert not begins(b'{"a": 1}', ".json")


def test_without_the_package_it_is_named(tmp_path, monkeypatch):
    (tmp_path / "m.onnx").write_bytes(plain().SerializeToString())
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingLibraryError, match=r"treewright\[onnx\]"):
        tw.read_model(tmp_path / "m.onnx")
