"""The content of a page as typed values: ``Summary`` and the parts of its sections.

A summary is numbers, texts and tuples. ``plain.plain`` makes JSON of it with the names of the fields; the scripts of
the page read exactly these names. Texts from the data are plain text (``trees.writing``), not HTML: the writer of HTML
escapes them. Shares are from 0 to 1. A number that has no meaning (the recall of a class without rows) is None.
"""

from __future__ import annotations

from dataclasses import dataclass

from treewright.trees.edit import LogLine

# -------- The tree


@dataclass(frozen=True)
class SurrogatePart:
    """A test that is used if the node's own column is missing."""

    text: str  # the condition of branch 0, in words
    # kind, column, cuts, branch_of: as in ``TestPart``; branches of levels are the node's, already flipped if the
    # surrogate is flipped; a level without a branch has -1
    kind: str
    column: int
    cuts: tuple[float, ...]
    branch_of: tuple[int, ...]
    flipped: bool  # for a cut: whether ``value <= cut`` leads to branch 1


@dataclass(frozen=True)
class TestPart:
    """The test of a node, for a program that sends rows down."""

    # "cuts": branch b is the first with value <= cuts[b], else len(cuts); the value of an ordinal column is the
    # position of its level. "levels": branch_of[code]. "present": branch 0 if there is a value, else ``missing``.
    kind: str
    column: int  # position of the column
    cuts: tuple[float, ...]  # ascending, exact
    branch_of: tuple[int, ...]  # per level of the column
    missing: int  # the branch of a missing value, if no surrogate has a value and rows are not divided
    unseen: int  # the branch of an unseen level; -1 if the test is not of levels
    surrogates: tuple[SurrogatePart, ...] = ()  # in the order in which they are tried


@dataclass(frozen=True)
class CandidatePart:
    """One line of a split's audit: the best test of a column."""

    question: str
    gain: float  # decrease of impurity
    score: float  # what the algorithm compares columns by
    chosen: bool  # whether the node has this test


@dataclass(frozen=True)
class ByHandPart:
    """What was set at a node in the workbench."""

    name: str
    locked: bool
    decided: bool  # whether the prediction of the leaf was set by hand


@dataclass(frozen=True)
class NodePart:
    """One node."""

    id: int  # its number in the tree: ``est.node(id)``
    parent: int | None
    branch: int  # which branch of the parent it is; 0 for the root
    depth: int
    edge: str  # the condition on the edge to it, in words; empty for the root
    question: str  # the test in words; empty for a leaf
    said: str  # what it predicts, as a leaf, in words
    code: int | None  # position of the class that it predicts (first output); None for numbers
    n_rows: int  # training rows
    weight: float
    impurity: float
    # decrease of impurity by its test: its impurity minus the weighted mean of its branches'; None for a leaf
    gain: float | None
    values: tuple[tuple[float, ...], ...]  # per output: weighted class counts, or one number
    # the conditions on its path, one per column; None if the tree is too deep to write them for every node
    rule: tuple[str, ...] | None
    test: TestPart | None
    hidden: int = 0  # number of nodes below it that are not in this page
    # of the test rows in the node the weight per true class (first output), or for regression their histogram over
    # ``TreePart.edges``; None without test rows
    judged: tuple[float, ...] | None = None
    audit: tuple[CandidatePart, ...] = ()  # best first; empty if no rows are available or the node is small
    by_hand: ByHandPart | None = None
    why: str = ""  # why it predicts this class; empty for numbers, and for one of many trees


@dataclass(frozen=True)
class SplitColumnPart:
    """The distribution of the tested column in a node's rows."""

    node: int
    # start, width: of bars of a numeric or ordinal column, each without its lower end; None with ``levels``
    start: float | None
    width: float | None
    levels: tuple[int, ...]  # a code per bar, branch by branch; -1 for all other levels of a branch together
    cuts: tuple[float, ...]  # places of the cuts, in bars from the left
    ends: tuple[float, float] | None  # the lowest and the highest number; those far off are in the first and last bar
    # per class of ``TreePart.asked_codes`` the weight in each bar; empty for regression
    parts: tuple[tuple[float, ...], ...]
    # for regression: a digit from 0 to 9 for each of ten cells of the target, from the lowest up, bar by bar
    grid: str
    # low, high: ends of the target in ``grid``
    low: float | None
    high: float | None
    missing: float  # weight of the rows without a value


@dataclass(frozen=True)
class TreePart:
    """One tree."""

    title: str  # ``"The tree"`` or ``"Tree 3 of 100"``
    headline: str  # the kind of tree, its target and its size, in one line
    outputs: tuple[tuple[str, ...], ...]  # class labels per output; an empty tuple for a number
    output_names: tuple[str, ...]
    criterion: str  # name of the impurity
    centre: str  # "mean", "median", "adds": what the numbers of nodes are
    weighted: bool  # whether weights differ from numbers of rows
    missing: str  # "direction", "branch", "surrogate", "fractional", "error": the treatment of missing values
    # low, high: the lowest and the highest number of a node (first output); None for classification
    low: float | None
    high: float | None
    edges: tuple[float, ...] | None  # ends of the cells of ``NodePart.judged`` for regression
    # n_nodes, n_leaves, depth: of the whole tree
    n_nodes: int
    n_leaves: int
    depth: int
    nodes: tuple[NodePart, ...]  # parents before children; of a large tree those with the most rows
    missing_words: str = ""  # the treatment of missing values, as a sentence
    audit_note: str = ""  # why nodes have no audit; empty if all have one, or none was asked for
    asked: tuple[SplitColumnPart, ...] = ()  # of the nodes with the most rows; empty if no rows are available
    asked_codes: tuple[int | None, ...] = ()  # the classes that ``asked`` distinguishes; None for all others together
    asked_rows: str = ""  # which rows ``asked`` counts
    # position of a class and the least probability at which it is predicted; None if the more probable class is
    threshold: tuple[int, float] | None = None


@dataclass(frozen=True)
class ProofPart:
    """What the search of an optimal tree proved, and what the greedy tree loses."""

    words: str  # what is proved, as a sentence
    lost: str  # what the greedy tree loses, as a sentence; empty if the model does not state its loss
    price: float  # of a leaf, as loss of a row; the following numbers hold it
    # objective, n_leaves: of this tree; greedy_objective, greedy_leaves: of the best greedy one within the same limits
    objective: float
    n_leaves: int
    greedy_objective: float | None
    greedy_leaves: int | None
    lower_bound: float  # no searched tree has a smaller objective
    gap: float  # share of the objective by which it may be above the least one
    n_solved: int | None  # subproblems


# -------- Rows to follow through the tree


@dataclass(frozen=True)
class ExampleRow:
    """A test row."""

    number: int  # its position in the table, from 0: ``X[number]``
    # encoded; nan if a cell is missing, the number of levels for an unseen level
    cells: tuple[float, ...]
    # truth, said: the target, and what the model predicts, in words
    truth: str
    said: str
    right: bool | None  # whether they are equal; None for regression
    shares: tuple[tuple[float, ...], ...]  # per output the predicted class probabilities, or the predicted number
    name: str = ""  # its name in the index of the table; empty if that counts from 0
    why: str = ""  # why the model predicts this class; empty for numbers


@dataclass(frozen=True)
class SupportPart:
    """Intervals and levels of a node's training rows."""

    # per output the confidence interval of the predicted share, or of the mean; None if there is none
    intervals: tuple[tuple[float, float] | None, ...]
    # of nominal columns tested on the path: the column, and the code of a level that was in the node above
    levels: tuple[tuple[int, int], ...]
    # of the levels that the node's own test distinguishes: the codes of those that no training row of the node has
    absent: tuple[int, ...] = ()


@dataclass(frozen=True)
class ExamplesPart:
    """The data to follow a row, and to find what would have to change."""

    rows: tuple[ExampleRow, ...]  # empty if no rows of the table were asked for
    supports: tuple[SupportPart, ...]  # per node of ``TreePart.nodes``, in their order
    level: float  # of the intervals
    interval: str  # the kind of interval: ``"Wilson"``, ``"Student's t"``; empty if there are none
    scales: tuple[float, ...]  # per column the difference that counts as a change of 1
    unseen: str  # "missing", "error", "majority": how an unseen level is treated


# -------- Pruning


Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class PrunerPart:
    """The tree as pruned by one method."""

    method: str  # ``"none"`` for the tree as it is, else a method of ``prune``
    name: str  # in words
    why_not: str = ""  # why it is not defined for this tree; empty if it is, and only then the rest is filled in
    note: str = ""  # a note on its numbers
    n_leaves: int = 0
    depth: int = 0
    # train_error, error, standard_error: as in ``PruningPart``
    train_error: float | None = None
    error: float | None = None
    standard_error: float | None = None
    # the topmost nodes of the page's tree that become leaves; empty if it has a tree of its own
    leaves: tuple[int, ...] = ()
    tree: TreePart | None = None  # its tree, if it is not the page's tree with some nodes made leaves
    # weight of the test rows by true class and predicted class, if it cannot be added up from nodes
    confusion: Matrix | None = None
    # python, command: the lines that make this tree
    python: str = ""
    command: str = ""
    command_note: str = ""  # a note on running them


@dataclass(frozen=True)
class PruningPart:
    """The subtrees of the cost-complexity path, from the largest to the root alone, and the trees of other pruners."""

    n_steps: int  # of the whole path
    steps: tuple[int, ...]  # ascending: the steps that the page holds; the following tuples have an entry for each
    alphas: tuple[float, ...]  # the price of a leaf from which on each subtree has the least cost
    n_leaves: tuple[int, ...]
    depth: tuple[int, ...]
    train_error: tuple[float, ...]  # mean loss over the training rows; nan if not known
    # error, standard_error: mean loss over the evaluation rows; None if there are none
    error: tuple[float, ...] | None
    standard_error: tuple[float, ...] | None
    loss: str  # "misclassification", "cost", "squared_error", "absolute_error"
    loss_name: str  # in words
    judged_by: str  # "folds", "validation", "nothing"
    n_folds: int  # 0 without folds
    n_judged: int  # rows that evaluate the path
    # minimum, one_se: positions in ``steps`` of the tree of least error, and of the smallest within one standard error
    # of it
    minimum: int | None
    one_se: int | None
    # per inner node of the page's tree, by its number: the step from which on it is not an inner node
    collapse_step: dict[str, int]
    confusion: tuple[Matrix, ...] | None  # as in ``PrunerPart``; None if it is the sum of the leaves' ``judged``
    has_confusion: bool  # whether there is a confusion matrix for each step, here or from the leaves
    # python, command: the lines that make the tree of a step; ``{alpha}`` stands for its price
    python: str
    command: str
    pruners: tuple[PrunerPart, ...]  # the first is the tree as it is
    rows_name: str  # the name of the test rows: ``"the training rows"`` or ``"the test rows"``
    notes: tuple[str, ...]  # notes on the numbers


# -------- Quality


@dataclass(frozen=True)
class MeasurePart:
    """One number about all rows."""

    name: str
    value: float | None
    # low, high: 95 % interval, if there is one
    low: float | None
    high: float | None
    beside: float | None  # the number that it is compared with: ``QualityPart.beside``
    says: str  # its definition in a sentence
    digits: str = "amount"  # "share", "amount": how it is written: three decimals, or four significant digits


@dataclass(frozen=True)
class ClassPart:
    """One class against all others."""

    name: str
    position: int  # among all classes: its colour
    # n_rows, n_said: test rows of the class, and rows that were predicted so
    n_rows: int
    n_said: int
    # weight, weight_said: the same by weight
    weight: float
    weight_said: float
    # precision, recall: of the rows predicted as the class, the share that is of it; of the rows of the class, the
    # share predicted as it; both with 95 % intervals (Wilson 1927, with the effective number of rows)
    precision: float | None
    precision_low: float | None
    precision_high: float | None
    recall: float | None
    recall_low: float | None
    recall_high: float | None
    f1: float | None  # harmonic mean of both
    area: float | None  # under the ROC curve of the class against the rest
    average_precision: float | None


@dataclass(frozen=True)
class ConfusionPart:
    """True against predicted classes."""

    labels: tuple[str, ...]
    counts: tuple[tuple[float, ...], ...]  # weight of the test rows: ``counts[true][predicted]``


@dataclass(frozen=True)
class MixUpPart:
    """A true class that is predicted as another: ``share`` of the weight of the true class."""

    truth: str
    said: str
    weight: float
    share: float


@dataclass(frozen=True)
class RankPart:
    """How well the probabilities of a class rank its rows before the others."""

    name: str
    position: int
    share: float  # of the class among the test rows: the precision of guessing
    # false_rate, true_rate: ROC curve: shares of the other rows and of the class above a threshold, ascending
    false_rate: tuple[float, ...]
    true_rate: tuple[float, ...]
    area: float
    # recall, precision: by ascending recall; between two points the precision is that of the point to the right
    recall: tuple[float, ...]
    precision: tuple[float, ...]
    average_precision: float  # mean of the precisions, each for the recall that it adds
    # the decision threshold of the class, and the false and the true positive rate of the predictions that it makes
    decides: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class CalibrationPart:
    """Whether a class is as frequent as its predicted probability."""

    name: str
    position: int
    edges: tuple[float, ...]  # ends of the bins of the predicted probability; one on an edge belongs to the bin below
    # n_rows, weight: rows and weight in each bin
    n_rows: tuple[int, ...]
    weight: tuple[float, ...]
    # predicted, happened: mean predicted probability, and the share of the rows that are of the class; None in an empty
    # bin
    predicted: tuple[float | None, ...]
    happened: tuple[float | None, ...]
    # low, high: 95 % interval of ``happened``
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    # expected calibration error: mean distance of the two, each bin by its weight (Naeini, Cooper and Hauskrecht 2015,
    # AAAI 29)
    error: float


@dataclass(frozen=True)
class ResidualsPart:
    """True and predicted numbers."""

    # truth, predicted, residual: of sampled rows; a residual is the true number minus the predicted one
    truth: tuple[float, ...]
    predicted: tuple[float, ...]
    residual: tuple[float, ...]
    n_rows: int  # number of rows that they were sampled from
    edges: tuple[float, ...]
    weight: tuple[float, ...]  # weight of all test rows by their residual


@dataclass(frozen=True)
class ErrorCurvePart:
    """Errors of copies that were fitted on parts of the test rows."""

    name: str  # "learning", "depth"
    # over, loss: what is varied and what is measured, in words
    over: str
    loss: str
    x: tuple[float, ...]
    # train, train_se, test, test_se: means over the folds with their standard errors
    train: tuple[float, ...]
    train_se: tuple[float, ...]
    test: tuple[float, ...]
    test_se: tuple[float, ...]
    n_folds: int
    n_rows: int
    note: str = ""  # what the copies lack; empty if nothing


@dataclass(frozen=True)
class QualityPart:
    """The quality of the predictions of one output."""

    output: str  # its name; empty if there is one and it has none
    kind: str  # "classes", "numbers", "quantiles", "none"
    n_rows: int  # test rows
    worth: float  # effective number of rows (Kish 1965)
    weighted: bool  # whether weights differ
    lead: str  # the quality in a sentence
    # title of the column next to the measures: "without the model", or "should be"; empty if nothing is compared
    beside: str = ""
    without: str = ""  # the constant prediction, in words; empty if none is compared
    measures: tuple[MeasurePart, ...] = ()
    n_classes: int = 0  # all classes that the model knows; ``classes`` holds those with the most weight
    classes: tuple[ClassPart, ...] = ()
    confusion: ConfusionPart | None = None  # None if there are too many classes to show
    mix_ups: tuple[MixUpPart, ...] = ()  # the largest ones first
    ranks: tuple[RankPart, ...] = ()  # of two classes the second alone: the other is its mirror
    calibration: tuple[CalibrationPart, ...] = ()  # the same
    residuals: ResidualsPart | None = None
    curves: tuple[ErrorCurvePart, ...] = ()  # of all outputs together, with the first
    left_out: tuple[str, ...] = ()  # what is left out, and why


# -------- Columns


@dataclass(frozen=True)
class SpreadPart:
    """The distribution of a column, by class or with the mean of the target."""

    # ends of the cells of a numeric column; None if there is a bar for each of ``labels``
    edges: tuple[float, ...] | None
    # levels, the most frequent first (ordinal ones in their order), then the other levels and missing cells. For a
    # numeric column with few different numbers these; empty with ``edges``.
    labels: tuple[str, ...]
    # names, codes: the classes, and their positions; None stands for all others together. One name for regression.
    names: tuple[str, ...]
    codes: tuple[int | None, ...]
    # per class the weight of its rows in each cell; for regression one tuple for all rows
    parts: tuple[tuple[float, ...], ...]
    # means, errors: for regression: the mean target in each cell and its standard error; None (in the tuple) for a cell
    # with too few rows
    means: tuple[float | None, ...] | None = None
    errors: tuple[float | None, ...] | None = None
    # number of rows beyond ``edges``, if these leave out a few numbers far from the rest; they are counted in the first
    # and the last cell
    n_beyond: int = 0


@dataclass(frozen=True)
class DependenceLine:
    """The mean prediction along a column: of one class, or the number."""

    name: str  # the class, or the target
    code: int | None  # position of the class
    means: tuple[float, ...]  # one for each value of the column
    rows: tuple[tuple[float, ...], ...]  # the same of single rows, to four digits; may be empty


@dataclass(frozen=True)
class DependencePart:
    """Partial dependence on a column."""

    values: tuple[float, ...]  # that a numeric column is set to; empty for levels
    labels: tuple[str, ...]  # the levels that it is set to; empty for numbers
    deciles: tuple[float, ...]  # of the rows' own values
    lines: tuple[DependenceLine, ...]
    n_rows: int  # number of rows that the means are over


@dataclass(frozen=True)
class ColumnPart:
    """A column of the test rows."""

    position: int  # in ``Summary.columns``, which holds name and levels
    name: str
    kind: str  # "numeric", "ordinal", "nominal"
    told: str  # its values, in a few words
    n_distinct: int  # different values, or levels, of the test rows
    n_levels: int  # that the model knows; 0 of a numeric column
    missing: float  # share of the test rows, by weight, without a value
    # low, high, mean, sd: of a numeric column, over the rows with a finite value
    low: float | None
    high: float | None
    mean: float | None
    sd: float | None
    quartiles: tuple[float, ...] | None
    asked: bool = True  # whether the model tests this column anywhere
    # share of the impurity (of boosted trees: the gain) that the column's splits removed on the training rows; None for
    # a model without splits
    impurity: float | None = None
    # permutation, error: how much worse the model is when the column is shuffled among the test rows, and the
    # standard error of that over the shuffles; None if it cannot be computed
    permutation: float | None = None
    error: float | None = None
    measure: str = ""  # the name of ``permutation``, in words
    spread: SpreadPart | None = None
    dependence: DependencePart | None = None  # None if the page leaves it out: for less important columns


@dataclass(frozen=True)
class Finding:
    """Something about the table that a reader should look at."""

    kind: str  # which check found it, such as ``"equals the target"``
    serious: bool  # whether it may make the numbers on the page wrong
    columns: tuple[str, ...]  # names of the columns as texts; empty if it is about rows or classes
    n: int  # number of columns, rows or classes that it is about
    text: str  # what was found, as a sentence
    advice: str  # what to do


# -------- Many trees


@dataclass(frozen=True)
class SeriesPart:
    """A line of a chart: a value for each x of the chart, None if it has none."""

    name: str
    y: tuple[float | None, ...]


@dataclass(frozen=True)
class MarkPart:
    """A labelled place in a chart."""

    x: float
    label: str


@dataclass(frozen=True)
class CurvePart:
    """A chart over trees or rounds."""

    key: str  # its name for tests and links: ``"loss"``, ``"history"``, ``"error"``, ``"alone"``, ``"weights"``
    title: str
    xlabel: str
    ylabel: str
    words: str  # a description in a sentence or two
    x: tuple[int, ...]  # ascending
    series: tuple[SeriesPart, ...]
    marks: tuple[MarkPart, ...] = ()
    dots: bool = False  # whether the values are drawn as points, not as a line


@dataclass(frozen=True)
class TreeSpreadPart:
    """The distribution of a number over the trees."""

    name: str
    title: str
    words: str
    least: float
    median: float
    most: float
    labels: tuple[str, ...]  # of the cells of the histogram
    counts: tuple[int, ...]  # number of trees in each
    # ends of the cells, one more than there are; None if each cell is one whole number
    edges: tuple[float, ...] | None = None
    xlabel: str = ""


@dataclass(frozen=True)
class MemberPart:
    """One of the trees."""

    number: int  # ``model.tree(number)``; counted from 0
    label: str  # its name in the list
    words: str  # its agreement with the others; empty if not known
    tree: TreePart  # without rules; of a large tree the nodes with the most rows


@dataclass(frozen=True)
class SurrogateWords:
    """The words about the surrogate tree; the tree itself is ``Summary.tree``."""

    title: str  # of the tree
    words: str  # its fidelity
    measure: str  # "probabilities", "r2": share of their variance that it explains; "agreement": of classes
    # fidelity, low, high: nan if the rows do not determine it
    fidelity: float
    low: float
    high: float
    n_fit: int
    n_judged: int
    n_leaves: int
    command: str  # the line that makes this tree
    # if a constant prediction is as good as the tree: that it is not to be read as the model; else empty
    warning: str = ""


@dataclass(frozen=True)
class EnsemblePart:
    """The section of many trees."""

    # "forest", "boosting", "adaboost": independent trees (bagging too), or trees grown round by round
    kind: str
    headline: str  # how many trees there are and how they predict together
    n_trees: int
    n_rounds: int  # 0 if there are none
    curves: tuple[CurvePart, ...]
    sizes: tuple[TreeSpreadPart, ...]
    agreement: TreeSpreadPart | None
    members: tuple[MemberPart, ...]
    surrogate: SurrogateWords | None
    notes: tuple[str, ...]  # what was left out or sampled, and why
    first: int | None = None  # which of ``members`` the page begins with; None for the surrogate tree


# -------- Contributions


@dataclass(frozen=True)
class RowContributions:
    """Contributions to the prediction for one of the example rows, the largest first."""

    columns: tuple[int, ...]  # positions in ``Summary.columns``
    values: tuple[float, ...]
    rest: float  # of all other columns together
    n_rest: int


@dataclass(frozen=True)
class OutputContributions:
    """Contributions to one output: a class, a target or a score."""

    name: str
    base: float  # the prediction if nothing is known of a row
    # means, errors: of the sizes of each column's contributions, with standard errors
    means: tuple[float, ...]
    errors: tuple[float, ...]
    swarm: tuple[tuple[float, ...], ...]  # for each column one of each row
    rows: tuple[RowContributions, ...]  # of ``ExamplesPart.rows``, in their order


@dataclass(frozen=True)
class ContributionsPart:
    """The section of contributions."""

    why_not: str = ""  # why there are none; then everything else is empty
    scale: str = ""  # "share", "score", "prediction": what is explained
    game: str = ""  # definitions of the base and of contributions
    link: str = ""  # how scores become predictions; empty if they are the predictions
    whose: str = ""  # "the tree" or "all trees together": what predicts
    columns: tuple[int, ...] = ()  # those that contribute most, positions in ``Summary.columns``
    n_columns: int = 0  # how many contribute
    n_rows: int = 0  # of the swarm
    n_all: int = 0  # test rows
    outputs: tuple[OutputContributions, ...] = ()
    n_outputs: int = 0  # of the model; the page may have fewer
    places: tuple[tuple[float | None, ...], ...] = ()  # of the swarm's cells: 0 the lowest, 1 the highest, None missing
    pairs: tuple[tuple[int, int, float], ...] = ()  # two columns, and the mean size of their interaction
    notes: tuple[str, ...] = ()


# -------- The page


FORMAT, VERSION = "treewright-report", 1


@dataclass(frozen=True)
class ColumnWords:
    """A column as the scripts need it to send rows down."""

    name: str
    kind: str  # "numeric", "ordinal", "nominal"
    levels: tuple[str, ...]  # in the order of their codes
    # low, high, middle: of a numeric column: the lowest, the highest and the median value of the test rows; None if
    # there are none
    low: float | None = None
    high: float | None = None
    middle: float | None = None
    left_out: str = ""  # why it is left out; empty if it is used
    dates: str = ""  # "date", "datetime", "duration", "time" if its numbers are days; else empty
    zone: str = ""  # of its instants, if they have one
    unnamed: int = 0  # number of levels that it has beyond those of this page (``show.page.tree``)
    # part, sources, numbers: how the model derives it (``data.calendar``, ``data.derived``): the kind of derivation,
    # the positions of its sources, and the numbers that the computation needs
    part: str = ""  # empty for a column of the table
    sources: tuple[int, ...] = ()
    numbers: tuple[float, ...] = ()


@dataclass(frozen=True)
class Fact:
    """A line of the head: a name and a value."""

    name: str
    value: str


@dataclass(frozen=True)
class Summary:
    """Everything that a page shows."""

    title: str
    subtitle: str  # algorithm, task and size of the model, in one line
    task: str  # "classification", "regression"
    target: str  # name of the target, empty if it has none
    facts: tuple[Fact, ...]  # the head of the page
    notes: tuple[str, ...]  # notes on the numbers, such as that the test rows are the training rows
    columns: tuple[ColumnWords, ...]  # all columns, in the order of the schema
    text: str  # the model as text, for readers without scripts
    tree: TreePart | None
    version: str  # of the library
    proof: ProofPart | None = None  # of an optimal tree
    # pruning, quality, data, ensemble, examples: the sections; None or empty if a page has none
    pruning: PruningPart | None = None
    quality: tuple[QualityPart, ...] = ()
    data: tuple[ColumnPart, ...] = ()
    findings: tuple[Finding, ...] = ()  # what looks wrong about the table
    ensemble: EnsemblePart | None = None
    contributions: ContributionsPart | None = None
    examples: ExamplesPart | None = None
    log: tuple[LogLine, ...] = ()  # of a tree that was grown by hand
    log_note: str = ""  # how often the tree was evaluated on held-out rows, and its score on sealed rows
    format: str = FORMAT
    format_version: int = VERSION
