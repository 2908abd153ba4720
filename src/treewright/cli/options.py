"""The options of every command: each is stated once, as a field of the dataclass that its command is handed.

``signature.taking`` makes the commands from them, so the order of the fields is the order of ``--help``. Options that
several commands have are types, or groups with what their words mean. Nothing heavy is imported, so that ``--help``
starts at once.
"""

# No "from __future__ import annotations": the annotations are read, 200 of them at each start.

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treewright.cli.parsing import Declared, declare, one_separator, split_tokens
from treewright.cli.streams import input_path, output_path

if TYPE_CHECKING:
    from treewright.cli.pruning import Pruning
    from treewright.cli.threshold import ThresholdRequest
    from treewright.files import ReadOptions

# The same as in ``exchange.formats`` and ``exchange.engines``, which are not loaded at the start.
EXPORTS = "c, javascript, python, java, pmml, onnx, onnx-v3, duckdb, sqlite, postgresql, graphviz, json"
ENGINES = "gcc, node, python, java, pmml, onnxruntime, duckdb, sqlite, postgres"

# Option -> parameter that it sets, placeholder of its value, help.
ShortOptions = Mapping[str, tuple[str, str, str]]

OF_A_FIT: ShortOptions = {
    "--max-depth": ("max_depth", "N", "The largest depth of a tree."),
    "--max-leaves": ("max_leaf_nodes", "N", "The most leaves of a tree."),
    "--min-leaf": ("min_samples_leaf", "N", "The fewest rows of a leaf."),
    "--criterion": ("criterion", "NAME", "The impurity that splits reduce: gini, entropy, squared_error, ..."),
    "--class-weight": ("class_weight", "balanced|JSON", "The weight of the rows of each class."),
    "--trees": ("n_estimators", "N", "Trees, or rounds of boosting."),
    "--rate": ("learning_rate", "NUMBER", "Share of each round of boosting that is added."),
    "--max-features": ("max_features", "N|SHARE|sqrt", "Columns sampled for each split."),
    "--neighbors": ("n_neighbors", "N", "Neighbours of a prediction; knn."),
    "--alpha": ("ccp_alpha", "NUMBER", "The price of a leaf in cost-complexity pruning."),
}
OF_A_SEARCH: ShortOptions = {
    option: OF_A_FIT[option]
    for option in ("--max-depth", "--max-leaves", "--min-leaf", "--criterion", "--class-weight", "--alpha")
}
OF_A_PRUNING: ShortOptions = {
    "--max-depth": ("max_depth", "N", "The largest depth after pruning; --method depth."),
    "--max-leaves": ("max_leaves", "N", "The most leaves after pruning; --method leaves."),
    "--alpha": ("alpha", "NUMBER", "The price of a leaf; --method cost-complexity."),
}


class TaskName(StrEnum):
    """The task: classification, regression, or chosen by the target."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class ParameterForm(StrEnum):
    """How parameters are listed."""

    text = "text"
    markdown = "markdown"
    json = "json"


class UnseenName(StrEnum):
    """How a level that fit never saw is treated."""

    missing = "missing"
    error = "error"
    majority = "majority"
    other = "other"


class ContributionKind(StrEnum):
    """How unknown columns are treated."""

    path = "path"
    interventional = "interventional"
    steps = "steps"


class FormatName(StrEnum):
    """How a model is shown."""

    text = "text"
    svg = "svg"
    png = "png"
    pdf = "pdf"
    dot = "dot"
    json = "json"
    rules = "rules"
    rules_csv = "rules-csv"


class DistinctName(StrEnum):
    """Which trees of a set are listed."""

    columns = "columns"
    tests = "tests"


class ColorName(StrEnum):
    """When the output has colours."""

    auto = "auto"
    always = "always"
    never = "never"


# --- options of several commands


def _reads(option: str, metavar: str, text: str) -> Any:
    return typer.Option(option, parser=input_path, metavar=metavar, help=text)


def _writes(option: str, metavar: str, text: str, **more: Any) -> Any:
    return typer.Option(option, parser=output_path, metavar=metavar, help=text, **more)


Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV (plain or gzip) or Parquet, or a folder or pattern of these; - is standard input.",
        show_default=False,
        parser=input_path,
    ),
]
ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A model file that fit wrote; - is standard input.",
        show_default=False,
        parser=input_path,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Results as one JSON document, for programs.", rich_help_panel="Output")
]
Cost = Annotated[
    str | None,
    typer.Option(
        "--cost",
        metavar="fp=1,fn=5",
        help="The cost of predicting one of two classes wrongly (fp), and of missing it (fn).",
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="CLASS",
        help="The class that costs, thresholds, constraints and curves are about; by default the second.",
    ),
]
AnyCost = Annotated[
    str | None,
    typer.Option(
        "--cost",
        metavar="fp=1,fn=5",
        help="The cost of predicting one of two classes wrongly (fp), and of missing it (fn); or JSON, the true class "
        'first: {"good": {"bad": 1}, "bad": {"good": 5}}.',
    ),
]
PositiveOfMeasures = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="CLASS",
        help="The class that costs, threshold, F1, precision and recall are about; by default the second.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace output files that exist.")]
TaskChoice = Annotated[
    TaskName,
    typer.Option(
        "--task",
        help="auto: text, booleans and up to 20 different whole numbers (1 or 1.0) are classes, others are numbers.",
    ),
]
Settings = Annotated[
    tuple[str, ...],
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter, such as max_depth=4; may be repeated. `treewright parameters` lists them.",
    ),
]
PruneSettings = Annotated[
    tuple[str, ...],
    typer.Option(
        "--prune-set", metavar="NAME=VALUE", help="An option of the pruner, such as max_leaves=8; may be repeated."
    ),
]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=2**32 - 1, help="For the held-out rows, and for everything else that is random."),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", metavar="N", help="Threads; every processor by default. The tree is the same for any number."
    ),
]
Weight = Annotated[
    str | None, typer.Option("--weight", metavar="COL", help="A column of row weights.", rich_help_panel="Columns")
]
SkipMissingTarget = Annotated[
    bool, typer.Option("--skip-missing-target", help="Leave out rows without a target.", rich_help_panel="Columns")
]
Target = Annotated[str, typer.Option("--target", metavar="COL", help="The column to predict.", show_default=False)]
Truth = Annotated[
    str | None, typer.Option("--target", metavar="COL", help="The target column; by default the model's own.")
]
OutText = Annotated[Path | None, _writes("--out", "FILE", "Write to this file, not to the screen.")]
Guard = Annotated[
    bool, typer.Option("--guard/--no-guard", help="Put an apostrophe before texts that a spreadsheet would run.")
]
Color = Annotated[
    ColorName,
    typer.Option(
        "--color",
        help="auto: colours and bars on a terminal, plain text in a pipe or file.",
        rich_help_panel="Screen",
    ),
]
Width = Annotated[
    int | None,
    typer.Option(
        "--width",
        metavar="N",
        help="Characters of a line; by default the width of the window.",
        rich_help_panel="Screen",
    ),
]


def _of_columns(option: str, metavar: str, text: str) -> Any:
    return typer.Option(option, metavar=metavar, help=text, rich_help_panel="Columns")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The kinds of the columns, and which are used; ``declared`` is what their words mean."""

    nominal: Annotated[
        tuple[str, ...],
        _of_columns(
            "--nominal", "COL[=LEVEL,..]", "A nominal column, with its levels if you list them; all: every column."
        ),
    ] = ()
    ordinal: Annotated[
        tuple[str, ...], _of_columns("--ordinal", "COL=LOW,..,HIGH", "An ordinal column, lowest level first.")
    ] = ()
    numeric: Annotated[tuple[str, ...], _of_columns("--numeric", "COL", "A numeric column.")] = ()
    calendar: Annotated[
        tuple[str, ...],
        _of_columns(
            "--calendar",
            "[COL=]PART,..",
            "Parts of dates as columns: year, month, day, weekday, hour, 'days since 2020-01-01'.",
        ),
    ] = ()
    types: Annotated[tuple[str, ...], _of_columns("--types", "COL=KIND", "KIND: numeric, nominal or boolean.")] = ()
    drop: Annotated[tuple[str, ...], _of_columns("--drop", "COL", "A column to leave out.")] = ()
    weight: Weight = None
    skip_missing_target: SkipMissingTarget = False
    unseen: Annotated[
        UnseenName | None,
        typer.Option(
            "--unseen",
            help="How an unseen level is treated at predict; by default missing, for knn other: unequal to every "
            "level.",
            rich_help_panel="Columns",
        ),
    ] = None
    declared: Declared = field(init=False)

    def __post_init__(self) -> None:
        declared = declare(self.nominal, self.ordinal, self.numeric, self.types, self.calendar)
        object.__setattr__(self, "declared", declared)

    @property
    def given_unseen(self) -> dict[str, Any]:
        """The estimators' parameter ``unseen``, if it is given."""
        return {} if self.unseen is None else {"unseen": self.unseen.value}


def _of_reading(option: str, metavar: str, text: str, **more: Any) -> Any:
    return typer.Option(option, metavar=metavar, help=text, rich_help_panel="Reading", **more)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How text files are read, by the fields of ``ReadOptions``, which ``options`` are."""

    missing_tokens: Annotated[
        tuple[str, ...],
        _of_reading("--missing-tokens", "NA,n/a", "Cells that mean missing, in addition to empty cells."),
    ] = ()
    separator: Annotated[str | None, _of_reading("--separator", "CHAR", "Between cells; by default detected.")] = None
    encoding: Annotated[
        str | None, _of_reading("--encoding", "NAME", "By default the file's byte order mark, or utf-8.")
    ] = None
    decimal: Annotated[
        str | None,
        _of_reading("--decimal", ",", "The decimal mark; by default a point, and between semicolons by the numbers."),
    ] = None
    thousands: Annotated[
        str | None,
        _of_reading("--thousands", "CHAR|space", "The mark between thousands; without it, such numbers are refused."),
    ] = None
    date_format: Annotated[
        str | None, _of_reading("--date-format", "%d.%m.%Y", "How dates are written; by default as 2021-12-31.")
    ] = None
    skip_rows: Annotated[
        int | None, _of_reading("--skip-rows", "N", "Lines before the header to leave out.", min=0)
    ] = None
    skip_footer: Annotated[
        int | None,
        _of_reading("--skip-footer", "N", "Lines at the end to leave out, as totals; blank lines do not count.", min=0),
    ] = None
    options: "ReadOptions" = field(init=False)

    def __post_init__(self) -> None:
        from treewright.files import ReadOptions

        given = {name: word for name, word in vars(self).items() if word is not None}
        given["missing_tokens"] = split_tokens(self.missing_tokens)
        if self.separator is not None:
            given["separator"] = one_separator(self.separator)
        object.__setattr__(self, "options", ReadOptions(**given))


# --- the commands


@dataclass(frozen=True, kw_only=True)
class FitRequest:
    """``treewright fit``; ``pruning`` and ``decision`` are what the words about pruning and the threshold mean."""

    data: Data
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="COL", help="The column to predict; needed by all but isolation."),
    ] = None
    algorithm: Annotated[
        str,
        typer.Option(
            "--algorithm",
            metavar="NAME",
            help="A tree: cart, id3, c45 or chaid; many: boosting, forest, extra-trees, bagging or adaboost; nearest "
            "neighbours: knn; outliers: isolation.",
        ),
    ] = "cart"
    task: TaskChoice = TaskName.auto
    settings: Settings = ()
    seed: Seed = 0
    jobs: Jobs = None
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="Learn from Parquet files in blocks, within this memory (4GB); no row is held out.",
        ),
    ] = None
    test_size: Annotated[
        float, typer.Option("--test-size", help="Share of rows held out for the score; 0 fits on all rows.")
    ] = 0.25
    cv: Annotated[
        int | None,
        typer.Option("--cv", metavar="FOLDS", help="Score by cross-validation; the tree is fitted on all rows."),
    ] = None
    columns: Columns = field(default_factory=Columns)
    reading: Reading = field(default_factory=Reading)
    out: Annotated[Path | None, _writes("--out", "FILE", "Save the model.", rich_help_panel="Output")] = None
    svg: Annotated[
        Path | None,
        _writes("--svg", "FILE", "Draw the tree; as PNG or PDF if FILE ends so.", rich_help_panel="Output"),
    ] = None
    report: Annotated[
        Path | None,
        _writes(
            "--report",
            "FILE.html",
            "Write a report page: evaluated on the held-out rows, or on all rows if none are held out.",
            rich_help_panel="Output",
        ),
    ] = None
    force: Force = False
    prune: Annotated[
        str | None,
        typer.Option(
            "--prune",
            metavar="HOW",
            help="Prune the tree: ccp-1se, ccp-min, leaves, reduced-error, error-based, mdl, ..., or none. "
            "By default ccp-min, for one cart tree whose size no other option limits.",
        ),
    ] = None
    prune_settings: PruneSettings = ()
    cost: Cost = None
    threshold: Annotated[
        str | None,
        typer.Option(
            "--threshold",
            metavar="AT",
            help="Predict one of two classes if its probability is at least this; or precision=0.9, recall=0.9: chosen "
            "by cross-validation.",
        ),
    ] = None
    positive: Positive = None
    trace: Annotated[
        bool, typer.Option("--trace", help="List the test and the gain of every node.", rich_help_panel="Output")
    ] = False
    json: Json = False
    pruning: "Pruning | None" = None
    decision: "ThresholdRequest | None" = None


@dataclass(frozen=True, kw_only=True)
class PredictRequest:
    """``treewright predict``."""

    model: ModelFile
    data: Data
    out: Annotated[
        Path | None,
        _writes(
            "--out",
            "FILE",
            "Write the CSV here, not to the screen; Parquet if FILE ends so. For a folder of files: a folder.",
        ),
    ] = None
    proba: Annotated[bool, typer.Option("--proba", help="Add a column of probabilities per class.")] = False
    interval: Annotated[
        str | None,
        typer.Option(
            "--interval", metavar="SHARE", help="Add the ends of an interval that contains, say, 0.9 of rows."
        ),
    ] = None
    quantiles: Annotated[
        tuple[str, ...],
        typer.Option("--quantiles", metavar="0.1,0.5,..", help="Add columns of quantiles; regression forests."),
    ] = ()
    keep: Annotated[
        tuple[str, ...],
        typer.Option("--keep", metavar="COL", help="Copy this column of DATA before the predictions; repeatable."),
    ] = ()
    guard: Guard = True
    reading: Reading = field(default_factory=Reading)
    force: Force = False


@dataclass(frozen=True, kw_only=True)
class ExplainRequest:
    """``treewright explain``."""

    model: ModelFile
    data: Data
    kind: Annotated[
        ContributionKind, typer.Option("--kind", help="How unknown columns are treated; see the guide.")
    ] = ContributionKind.path
    order: Annotated[
        int, typer.Option("--order", min=1, max=2, help="2 adds the interactions of pairs of columns.")
    ] = 1
    background: Annotated[
        Path | None, _reads("--background", "FILE", "Background rows; for --kind interventional.")
    ] = None
    row: Annotated[
        int | None, typer.Option("--row", min=0, metavar="N", help="Explain this row alone, counted from 0.")
    ] = None
    out: Annotated[
        Path | None, _writes("--out", "FILE", "Write a line for each row here, CSV or Parquet; or a page, .html.")
    ] = None
    guard: Guard = True
    reading: Reading = field(default_factory=Reading)
    force: Force = False


@dataclass(frozen=True, kw_only=True)
class ExportRequest:
    """``treewright export``."""

    model: ModelFile
    out: Annotated[Path, _writes("--out", "FILE", "The file; its ending determines the format.")]
    format: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help=f"The format, for any ending: {EXPORTS}.")
    ] = None
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The name of the functions, as NAME_predict in C.")
    ] = None
    vectors: Annotated[Path | None, _writes("--vectors", "FILE", "Write test vectors there, for verify.")] = None
    force: Force = False


@dataclass(frozen=True, kw_only=True)
class VerifyRequest:
    """``treewright verify``."""

    source: Annotated[Path, typer.Argument(parser=input_path, metavar="FILE", help="A file that export wrote.")]
    vectors: Annotated[Path, _reads("--vectors", "FILE", "Its test vectors.")]
    engine: Annotated[
        str | None, typer.Option("--with", metavar="PROGRAM", help=f"The program that runs it: {ENGINES}.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class ImportRequest:
    """``treewright import``."""

    source: Annotated[
        Path, typer.Argument(parser=input_path, metavar="FILE", help="A model file that another library wrote.")
    ]
    out: Annotated[Path, _writes("--out", "MODEL", "The model file to write.")]
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="COL", help="The name of the target, which these files do not contain."),
    ] = None
    classes: Annotated[
        str | None,
        typer.Option("--classes", metavar="A,B,..", help="The names of the classes 0, 1, ... of the file."),
    ] = None
    columns: Annotated[
        str | None, typer.Option("--columns", metavar="A,B,..", help="The names of the columns, if the model has none.")
    ] = None
    unseen: Annotated[
        str | None,
        typer.Option("--unseen", metavar="WAY", help="How unseen levels are treated: missing, error, majority."),
    ] = None
    force: Force = False


@dataclass(frozen=True, kw_only=True)
class EvaluateRequest:
    """``treewright evaluate``."""

    model: ModelFile
    data: Data
    target: Truth = None
    importances: Annotated[
        bool,
        typer.Option("--importances", help="Also print how much worse the trees predict when a column is shuffled."),
    ] = False
    intervals: Annotated[
        bool, typer.Option("--intervals", help="95 % intervals next to precision and recall, also in a pipe.")
    ] = False
    cost: Cost = None
    positive: Positive = None
    skip_missing_target: SkipMissingTarget = False
    reading: Reading = field(default_factory=Reading)
    json: Json = False
    color: Color = ColorName.auto
    width: Width = None


@dataclass(frozen=True, kw_only=True)
class ShowRequest:
    """``treewright show``."""

    model: ModelFile
    form: Annotated[
        FormatName | None,
        typer.Option(
            "--format",
            metavar="FORM",
            help="text, svg, png, pdf, dot, json, rules or rules-csv; by default the ending of --out, else text.",
        ),
    ] = None
    tree: Annotated[
        int | None, typer.Option("--tree", metavar="N", help="Which of many trees, from 0; without it, a summary.")
    ] = None
    max_depth: Annotated[
        int | None, typer.Option("--max-depth", metavar="N", help="The depth to show; text and pictures.")
    ] = None
    max_nodes: Annotated[
        int | None, typer.Option("--max-nodes", metavar="N", help="The most nodes to show, 0 for all; text.")
    ] = None
    surrogates: Annotated[
        bool, typer.Option("--surrogates", help="List the surrogate tests below each node; text.")
    ] = False
    importances: Annotated[
        bool, typer.Option("--importances", help="How much each column lowered the impurity, instead of the trees.")
    ] = False
    out: OutText = None
    force: Force = False
    color: Color = ColorName.auto
    width: Width = None


@dataclass(frozen=True, kw_only=True)
class AuditRequest:
    """``treewright audit``."""

    model: ModelFile
    data: Data
    node: Annotated[
        int, typer.Option("--node", metavar="N", help="The node, by its number in show; 0 is the root.")
    ] = 0
    every: Annotated[str | None, typer.Option("--every", metavar="COL", help="List every cut of this column.")] = None
    target: Truth = None
    skip_missing_target: SkipMissingTarget = False
    reading: Reading = field(default_factory=Reading)
    out: OutText = None
    force: Force = False


@dataclass(frozen=True, kw_only=True)
class FollowRequest:
    """``treewright follow``."""

    model: ModelFile
    data: Data
    row: Annotated[int, typer.Option("--row", metavar="N", help="Which row of DATA, from 0.", show_default=False)]
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="CLASS",
            help="The class to predict instead, by default any other; in regression '>=5' or '<=5'.",
        ),
    ] = None
    tree: Annotated[int | None, typer.Option("--tree", metavar="N", help="Which of many trees, from 0.")] = None
    reading: Reading = field(default_factory=Reading)
    out: OutText = None
    force: Force = False
    color: Color = ColorName.auto
    width: Width = None


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """``treewright report``."""

    model: ModelFile
    data: Data
    out: Annotated[
        Path, _writes("--out", "FILE.html", "The page; FILE.json: its summary as numbers.", show_default=False)
    ]
    target: Truth = None
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="The heading of the page.")] = None
    cv: Annotated[
        str,
        typer.Option(
            "--cv",
            metavar="FOLDS",
            help="What evaluates the pruned trees: 2 folds or more, or none: the rows of DATA. auto: ten folds if DATA "
            "holds the training rows, else none.",
        ),
    ] = "auto"
    curves: Annotated[
        tuple[str, ...],
        typer.Option("--curves", metavar="learning,depth", help="Curves that need many fits; none by default."),
    ] = ()
    examples: Annotated[
        int,
        typer.Option("--examples", metavar="N", help="Rows of DATA to follow through the tree; 0: the page has none."),
    ] = 50
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**32 - 1, help="For folds, and for everything else that is random.")
    ] = 0
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", metavar="N", help="Threads; every processor by default. The page is the same for any number."
        ),
    ] = None
    weight: Weight = None
    skip_missing_target: SkipMissingTarget = False
    reading: Reading = field(default_factory=Reading)
    force: Force = False


@dataclass(frozen=True, kw_only=True)
class PruneRequest:
    """``treewright prune``."""

    model: ModelFile
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="Rows with their target: the training rows for error-based, other rows for reduced-error, "
            "any rows to see the score.",
            show_default=False,
            parser=input_path,
        ),
    ] = None
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            help="cost-complexity, depth, leaves, reduced-error, error-based, pessimistic, minimum-error, "
            "significance, description-length (or mdl), merge-equal-leaves; for gradient boosting: rounds.",
            show_default=False,
        ),
    ]
    settings: Annotated[
        tuple[str, ...],
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="An option of the method, such as alpha=0.01, max_leaves=8 or n_rounds=50.",
        ),
    ] = ()
    target: Truth = None
    weight: Weight = None
    skip_missing_target: SkipMissingTarget = False
    reading: Reading = field(default_factory=Reading)
    out: Annotated[Path | None, _writes("--out", "FILE", "Save the pruned model.", rich_help_panel="Output")] = None
    log: Annotated[
        Path | None,
        _writes("--log", "FILE", "Write every pruned node with its numbers as CSV.", rich_help_panel="Output"),
    ] = None
    force: Force = False


@dataclass(frozen=True, kw_only=True)
class CompareRequest:
    """``treewright compare``."""

    data: Data
    target: Target
    candidate: Annotated[
        tuple[str, ...],
        typer.Option(
            "--candidate",
            "--algorithm",
            metavar="ALGORITHM[+PRUNING]",
            help="Such as cart, cart+ccp-1se or forest; may be repeated. By default a list that suits the target.",
        ),
    ] = ()
    task: TaskChoice = TaskName.auto
    settings: Settings = ()
    prune_settings: PruneSettings = ()
    cv: Annotated[int, typer.Option("--cv", metavar="FOLDS", help="Folds of the cross-validation.")] = 10
    repeats: Annotated[int, typer.Option("--repeats", metavar="N", help="Repetitions, each on other folds.")] = 1
    scoring: Annotated[
        str | None,
        typer.Option(
            "--scoring",
            "--measure",
            metavar="NAME,...",
            help="Scores of scikit-learn, such as roc_auc,log_loss, or cost; the first decides. By default what "
            "chooses the models: cost, else the weights of classes, else accuracy or R2; for unequal classes also "
            "balanced accuracy, ROC AUC and log loss.",
        ),
    ] = None
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", metavar="CANDIDATE", help="The others are compared with it; by default the best."),
    ] = None
    cost: AnyCost = None
    threshold: Annotated[
        str | None,
        typer.Option("--threshold", metavar="AT", help="As for fit: each candidate predicts by such a threshold."),
    ] = None
    positive: PositiveOfMeasures = None
    seed: Seed = 0
    jobs: Jobs = None
    columns: Columns = field(default_factory=Columns)
    reading: Reading = field(default_factory=Reading)
    out: Annotated[Path | None, _writes("--out", "FILE", "Write the table as CSV.", rich_help_panel="Output")] = None
    force: Force = False
    json: Json = False


@dataclass(frozen=True, kw_only=True)
class NearOptimalRequest:
    """``treewright near-optimal``."""

    data: Data
    target: Target
    tolerance: Annotated[
        float, typer.Option("--tolerance", metavar="SHARE", help="How much larger than the least loss a tree's may be.")
    ] = 0.05
    extra_loss: Annotated[
        float,
        typer.Option("--extra-loss", metavar="LOSS", help="What it may be larger in addition, as mean loss of a row."),
    ] = 0.0
    distinct: Annotated[
        DistinctName,
        typer.Option("--distinct", help="List the best tree of each arrangement of columns, or every tree."),
    ] = DistinctName.columns
    max_trees: Annotated[
        int, typer.Option("--max-trees", metavar="N", help="The most trees to list; all are counted.")
    ] = 100
    max_search: Annotated[
        int, typer.Option("--max-search", metavar="N", min=0, help="The most subproblems to solve; 0 for no limit.")
    ] = 100_000
    task: TaskChoice = TaskName.auto
    settings: Settings = ()
    jobs: Jobs = None
    columns: Columns = field(default_factory=Columns)
    reading: Reading = field(default_factory=Reading)
    out: Annotated[
        Path | None,
        _writes("--out", "FILE.html", "Write a page with the trees; FILE.json: its numbers.", rich_help_panel="Output"),
    ] = None
    models: Annotated[
        Path | None,
        _writes(
            "--models", "FOLDER", "Write each listed tree there, as a model file for the other commands.",
            rich_help_panel="Output",
        ),
    ] = None  # fmt: skip
    force: Force = False
    json: Json = False


@dataclass(frozen=True, kw_only=True)
class WorkbenchRequest:
    """``treewright workbench``."""

    data: Data
    target: Target
    session: Annotated[
        Path | None,
        _writes(
            "--session",
            "FILE.json",
            "Saves the session after every command, and continues it; by default DATA.session.json here.",
        ),
    ] = None
    model: Annotated[
        Path | None, _reads("--model", "MODEL", "Begin with this tree; for many trees, a surrogate tree.")
    ] = None
    task: TaskChoice = TaskName.auto
    settings: Settings = ()
    held_out: Annotated[
        float | None, typer.Option("--held-out", help="Share of rows held out; 0.25 by default, 0: none.")
    ] = None
    sealed: Annotated[
        float | None, typer.Option("--sealed", help="Share of rows for one final evaluation; none by default.")
    ] = None
    seed: Seed = 0
    who: Annotated[
        str | None, typer.Option("--who", metavar="NAME", help="The name of the person who decides, for the log.")
    ] = None
    fitting: Annotated[
        bool, typer.Option("--fitting", help="If the rows have changed: replay the commands that still apply.")
    ] = False
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            metavar="NAME",
            help="What judges the tree, such as balanced_accuracy, roc_auc, log_loss, f1 or cost; the page can change "
            "it. By default what chooses the tree: cost, else the weights of classes, else accuracy or R2.",
        ),
    ] = None
    cost: AnyCost = None
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", metavar="AT", help="Predict one of two classes from this probability on."),
    ] = None
    positive: PositiveOfMeasures = None
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 chooses a free port.")] = 0
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser, or print its address only.")
    ] = True
    columns: Columns = field(default_factory=Columns)
    reading: Reading = field(default_factory=Reading)


@dataclass(frozen=True, kw_only=True)
class ParametersRequest:
    """``treewright parameters``."""

    algorithm: Annotated[
        str | None,
        typer.Argument(metavar="[ALGORITHM]", help="As for fit --algorithm; by default all of them."),
    ] = None
    form: Annotated[ParameterForm, typer.Option("--format", help="As text, Markdown or JSON.")] = ParameterForm.text
