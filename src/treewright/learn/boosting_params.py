"""The parameters of boosting: their ranges, what they need, how they contradict each other. Callers: learn.boosting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treewright.boosting.losses import CLASS_LOSSES, NUMBER_LOSSES, build_loss
from treewright.data.memory import check_fits
from treewright.data.target import Labels, Numbers
from treewright.exceptions import ParameterError
from treewright.learn.params import (
    AUTO,
    CLASS_WEIGHT,
    FLAG,
    FUNCTION,
    INTERACTIONS,
    LISTED,
    LOUDNESS,
    MAX_BINS,
    MONOTONE,
    NOTHING,
    NUMBERS,
    POSITIVE,
    RANDOM_STATE,
    TEXT,
    WARM_START,
    ClassWeight,
    ColumnParams,
    Groups,
    Seed,
    Signs,
    by_task,
    methods,
    needs,
    param,
    plain,
    real,
    refuse_other_function,
    share,
    stated,
    whole,
    words,
)
from treewright.learn.registry import BOOSTING

if TYPE_CHECKING:
    from treewright.boosting.losses import Loss

QUALITIES = ("fast", "balanced", "best")
DEFAULT_LEAVES = 31

# They decide the number of rounds, or report it, but not the trees that a round grows.
_OF_NO_ROUND = frozenset({"n_estimators", "n_iter_no_change", "scoring", "tol"})
# They only shape the rounds grown with them: a warm start may change them.
OF_EACH_ROUND = frozenset({
    "learning_rate", "max_leaf_nodes", "max_depth", "growth", "min_samples_leaf", "min_child_weight", "l1", "l2",
    "min_gain", "subsample", "sampling", "top_rate", "other_rate", "features_per_tree", "features_per_level",
    "features_per_node",
})  # fmt: skip
_SHARE = real(0.0, 1.0, "right")
_FROM_0 = real(0.0, None, "left")
_INSIDE = real(0.0, 1.0, "neither")
_BY_GRADIENT = needs(sampling="gradient")
_SETS = needs(level_encoding=("auto", "subsets"))
_STOPPING = needs(early_stopping=True)
_AUTO = words(AUTO)
_SHRINKS = (
    'It shrinks the leaf\'s value, but not the leaves of "absolute_error" and "quantile", which are quantiles of their '
    "rows."
)
_LEVELS = (
    '"subsets" tests whether the level is one of these. "ordered": the statistic of a row does not use its own target '
    '(Prokhorenkova et al. 2018). "auto": subsets for columns with few levels, ordered for many (see Notes).'
)
_SAMPLED = "At least one column."


@dataclass(frozen=True, kw_only=True)
class BoostingParams(ColumnParams):
    """Gradient boosting (Friedman 2001; Chen and Guestrin 2016; Ke et al. 2017)."""

    algorithm_name: ClassVar[str] = BOOSTING.name
    learns_elsewhere = True
    grows_sparse: ClassVar[bool] = True
    by_position: ClassVar[tuple[str, ...]] = ("n_estimators",)
    criterion_name: ClassVar[str] = "gradient"
    cost_of_classes: ClassVar[str] = ", and boosting grows a tree for each class in every round"

    quality: str = param(
        "balanced",
        words(*QUALITIES),
        needs=needs(n_estimators=AUTO),
        help="what 'auto' stands for: longer fits predict better",
        more='A parameter that is set keeps its value. "fast": one model of 100 rounds. "balanced": up to 20,000 rows, '
        "two groups of five models whose scores are averaged, symmetric trees and leaf-wise ones on sampled rows and "
        "columns, each stopped on a fifth of the rows and replayed on all; for more rows, one model of 300 rounds. "
        '"best": four groups of ten up to 20,000 rows, of five up to 100,000. The table is in '
        "docs/guides/many-trees/boosting.md.",
    )
    n_estimators: int | str = param(
        AUTO, _AUTO, whole(1), unit="rounds", help="rounds; each grows one tree per score",
        more=by_task("One score for two classes, one per class for more.", "A score per output, or per level of "
                     "several quantiles."),
    )  # fmt: skip
    learning_rate: float | str = param(
        AUTO, _AUTO, _SHARE, unit="share of a tree", help="share of each tree that is added",
        more='"auto" is 0.05, or 0.1 for members and with ``quality="fast"``; that of members doubles after every 50 '
        "rounds, up to 0.4. A smaller rate needs more rounds, and often predicts better.",
    )  # fmt: skip
    loss: Any = param(
        by_task("log_loss", "squared_error"), by_task(words(*CLASS_LOSSES), words(*NUMBER_LOSSES)), FUNCTION,
        methods("gradients"), help="what rounds lower: a name, or a function or object of your own",
        kind=by_task('"log_loss", callable or object', "str, callable or object"),
        more=by_task(
            "A function ``(y, raw)`` returns gradient and hessian of each row as arrays; an object has "
            "``gradients(y, raw)`` and, if it is to be evaluated, ``value(y, raw)``, the loss of each row. ``y`` are "
            "codes, int32[n], in the order of ``classes_``; ``raw`` and both arrays of gradients float64[n] for two "
            "classes, [n, n_classes] for more. Other shapes and numbers that are not finite are refused; your own "
            "exceptions are raised with a note of the shapes.",
            'So they decide what is predicted: "squared_error" means; "absolute_error" medians; "huber" between the '
            'two; "quantile" quantiles; "expectile" expectiles; "poisson" means of counts; "gamma" and "tweedie" means '
            "of numbers above 0, and from 0 on, that vary more the larger they are. A function ``(y, raw)`` returns "
            "gradient and hessian of each row as arrays; an object has ``gradients(y, raw)`` and, if it is to be "
            "evaluated, ``value(y, raw)``, the loss of each row; it may have a ``link``. ``y`` is one output as "
            "float64[n], ``raw`` and both arrays of gradients float64[n] too, or [n, n_scores] if the object has "
            "``n_scores``. Other shapes and numbers that are not finite are refused; your own exceptions are raised "
            "with a note of the shapes.",
        ),
    )  # fmt: skip
    quantile: float | Sequence[float] = param(
        0.5,
        _INSIDE,
        LISTED,
        only=NUMBERS,
        unit="level",
        help="level of loss='quantile'; or several, ascending",
        kind="float or ascending sequence of floats, above 0 and below 1",
        more="Several levels are one model with a prediction for each, ascending in every row; one target.",
        needs=needs(loss="quantile"),
    )
    huber_delta: float | None = param(
        None,
        real(0.0, None, "neither"),
        NOTHING,
        only=NUMBERS,
        help="for loss='huber': the error from which on the loss is linear",
        more="None: nine tenths of the distances to the median are smaller.",
        needs=needs(loss="huber"),
    )
    tweedie_power: float = param(
        1.5, real(1.0, 2.0, "neither"), only=NUMBERS, help="power of loss='tweedie'", needs=needs(loss="tweedie")
    )
    expectile: float = param(
        0.5, _INSIDE, only=NUMBERS, unit="level", help="level of loss='expectile'", needs=needs(loss="expectile")
    )
    max_leaf_nodes: int | None = param(
        31, whole(2), NOTHING, unit="leaves", help="leaves of a tree; not for symmetric trees",
        more="There ``max_depth`` decides.",
    )  # fmt: skip
    max_depth: int | None = param(
        None, whole(1), NOTHING, unit="edges", help="depth of the deepest leaf; the root has depth 0",
        more="None is 6 for symmetric trees, and no limit for others.",
    )  # fmt: skip
    growth: str = param(
        AUTO, words(AUTO, "leaf", "level", "symmetric"),
        help="which node is split next: the one with the largest gain, the highest, or a whole level by one test",
        more='"auto" is "leaf" for one model.',
    )  # fmt: skip
    min_samples_leaf: int | str = param(
        "auto", words("auto"), whole(1), unit="rows",
        help="rows a branch needs; 'auto': 20, or a third of the rows if these are fewer than 60",
        more="A row with a whole weight k counts as k rows.",
    )  # fmt: skip
    min_child_weight: float = param(
        1e-3, _FROM_0, unit="hessian", help="sum of hessians a branch needs",
        more=by_task("In the unit of the weights.", 'In the unit of the weights; for "poisson" and "tweedie" in that '
                     "of the target."),
    )  # fmt: skip
    l1: float = param(
        0.0, _FROM_0, unit="gradient", help="subtracted from a leaf's gradient",
        more=by_task("Towards 0: it shrinks the leaf's value.", _SHRINKS + " It is subtracted towards 0."),
    )  # fmt: skip
    l2: float = param(
        3.0, _FROM_0, unit="hessian", help="added to a leaf's hessian",
        more=by_task("It shrinks the leaf's value.", _SHRINKS),
    )  # fmt: skip
    min_gain: float = param(0.0, _FROM_0, unit="loss", help="gain that a split needs")
    subsample: float | str = param(
        AUTO, _AUTO, _SHARE, unit="share of the rows", help="rows sampled for each round",
        more='Without replacement; "auto" is 1 for one model.',
    )  # fmt: skip
    sampling: str = param(
        "uniform",
        words("uniform", "gradient", "minimal_variance"),
        help="'gradient': the rows of the largest gradients and others; 'minimal_variance': in proportion to them",
        more='"gradient": each round uses the rows with the largest gradients (``top_rate`` of all) and samples '
        '``other_rate`` of all from the others, which weigh more (Ke et al. 2017). "minimal_variance": each round '
        "samples the share ``subsample`` of the rows on average (by default half), each with a chance in proportion to "
        "the size of its gradient and hessian; rows with a small chance weigh more (Ibragimov and Gusev 2019).",
    )
    top_rate: float = param(
        0.2, _SHARE, unit="share of the rows", help="kept rows, those of the largest gradients", needs=_BY_GRADIENT
    )
    other_rate: float = param(
        0.1, _SHARE, unit="share of the rows", help="other rows that are sampled", needs=_BY_GRADIENT
    )
    features_per_tree: float = param(
        1.0, _SHARE, unit="share of the columns", help="columns sampled for each tree", more=_SAMPLED
    )
    features_per_level: float = param(
        1.0,
        _SHARE,
        unit="share of the columns",
        help="columns sampled for each depth",
        more=f"Of the tree's. {_SAMPLED}",
    )
    features_per_node: float | str = param(
        AUTO, _AUTO, _SHARE, unit="share of the columns", help="columns sampled for each node",
        more=f'Of those of its depth. {_SAMPLED} "auto" is 0.7 for one model.',
    )  # fmt: skip
    max_bins: int = stated(MAX_BINS)
    level_encoding: str = param(
        "auto", words("auto", "subsets", "ordered"),
        help="nominal columns: subsets of levels, or levels ordered by a statistic of the target",
        more=by_task(f"{_LEVELS} Ordered only for two classes.", f"{_LEVELS} Ordered only for one output."),
    )  # fmt: skip
    level_smoothing: float = param(
        10.0,
        _FROM_0,
        unit="hessian",
        help="shrinks levels with few rows in the search for subsets of levels",
        more="It is added to the hessian of each level when levels are ordered.",
        needs=_SETS,
    )
    level_l2: float = param(1.0, _FROM_0, unit="hessian", help="added to l2 in subset tests", needs=_SETS)
    derived_columns: str = param(
        AUTO, words(AUTO, "all", "none"),
        help="trees may test row counts of levels, members also combinations of columns",
        more='"all": the row count of a level (of nominal columns with 30 levels or more), and for members the sums, '
        "differences, products and ratios of two numeric columns, the pairs of levels of two nominal ones (both from "
        "500 rows on) and a linear score of all columns (from 100 rows on), if these lower the loss of the held-out "
        "rows. The model computes these columns itself; no table needs to have them. With constraints and sparse "
        'tables there are none. "auto" is "all" if ``quality`` makes members.',
    )  # fmt: skip
    monotonic_cst: Signs = stated(MONOTONE)
    interaction_cst: Groups = stated(
        replace(INTERACTIONS, more="A group has at most 64. Columns in no group form one more group.")
    )
    class_weight: ClassWeight = stated(
        replace(
            CLASS_WEIGHT,
            more='"balanced" counts all rows that are given. A weight multiplies gradients; for ``min_samples_leaf`` a '
            "row counts as one in any class.",
        )
    )
    positive: Any = stated(POSITIVE)
    init: float | Sequence[float] | str | None = param(
        None, LISTED, real(None, None, "neither"), words("zero"), NOTHING, unit="score",
        help="initial scores: None is the best constant; 'zero', a number, or one per score",
        kind='None, "zero", float or sequence of floats',
        more=by_task("", 'Scores are logarithms of predictions for "poisson", "gamma" and "tweedie".'),
    )  # fmt: skip
    early_stopping: bool | str = param(
        AUTO, _AUTO, FLAG, help="stop when rounds no longer improve, and keep those up to the best",
        more='"auto": if there are members, or evaluation rows and no number of rounds.',
    )  # fmt: skip
    validation_fraction: float | str | None = param(
        AUTO, _AUTO, share(0.0, 1.0, "neither"), NOTHING, unit="share of the rows",
        help="held-out rows that evaluate rounds; None: the training rows do",
        more='The same share of every class. "auto" is 0.1, or 1 / ``n_members`` if ``quality`` makes members. Your '
        "own rows (``X_val``, ``y_val``) replace it.",
        needs=(_STOPPING, needs(X_val=None)),
    )  # fmt: skip
    n_members: int | str = param(
        AUTO, _AUTO, whole(1), unit="models",
        help="models whose scores are averaged; each stops on held-out rows of its own",
        more="All stop at the round with the lowest loss on all held-out rows together, and are then replayed on all "
        "rows: the tests stay, the values of the leaves are computed anew. A round of such a model is one of a member. "
        "The order of the rows does not change the model, and neither does replacing a row of weight 2 by two rows, up "
        "to the last bits of its numbers; but the latter does if levels are ordered by a statistic, or with "
        "``scoring``, which ignores weights.",
    )  # fmt: skip
    n_iter_no_change: int | str = param(
        AUTO, _AUTO, whole(1), unit="rounds", help="rounds to wait for an improvement", needs=_STOPPING,
        more='"auto" is 10.',
    )  # fmt: skip
    tol: float = param(
        0.0, _FROM_0, unit="loss", help="smallest improvement that counts",
        needs=needs(early_stopping=True, scoring=..., callbacks=..., verbose=..., X_val=...),
    )  # fmt: skip
    scoring: str | Callable[[Any, Any], float] | None = param(
        None, TEXT, FUNCTION, NOTHING,
        help="evaluates rounds instead of the loss: a scikit-learn score by name, or a function of the true targets "
        "and predicted numbers or probabilities; higher is better",
        more=by_task(
            'A score by name is "roc_auc", for example; one by ``get_scorer`` or as a metric '
            "(``sklearn.metrics.accuracy_score``) has its sign, and gets labels or probabilities as it needs. A "
            "function of your own gets the true labels, and for two classes the second's probability float64[n], for "
            "more classes float64[n, n_classes].",
            'A score by name is "r2", for example; one by ``get_scorer`` has its sign.',
        ),
    )  # fmt: skip
    callbacks: Any = param(
        None, LISTED, FUNCTION, NOTHING, shapes_model=False,
        help="functions called after each round; one that returns True ends the growth",
        kind="callable or sequence of them", more="Each gets a ``treewright.boosting.rounds.Round``.",
    )  # fmt: skip
    warm_start: bool = stated(
        replace(
            WARM_START,
            more="The result is that of one fit, so the table must be the same. Parameters that only shape a round may "
            "change, such as ``learning_rate`` or ``max_depth``; the model's facts hold those of the last fit.",
        )
    )
    verbose: int = stated(LOUDNESS)
    random_state: Seed = stated(RANDOM_STATE)

    def check_size(self, n_rows: int, n_columns: int) -> None:
        """One byte per cell; per row its place in the order of leaves, and scores, gradients and hessians."""
        check_fits(n_rows * (n_columns + 8 + 32), f"boosting on {n_rows} rows x {n_columns} columns")

    def bytes_of_classes(self, n_rows: int, n_classes: Sequence[int]) -> int:
        """For each class a row has a score, a gradient and a hessian."""
        return 16 * n_rows * sum(n_classes)

    def check_together(self) -> None:
        """Refuse values that contradict each other."""
        if self.n_members not in (AUTO, 1):
            off = {
                "warm_start": self.warm_start,
                "validation_fraction=None": self.validation_fraction is None,
                "early_stopping=False": self.early_stopping is False,
            }
            wrong = next((name for name, is_on in off.items() if is_on), None)
            if wrong:
                raise ParameterError(
                    f"n_members={self.n_members} does not go with {wrong}: members stop on their held-out rows; leave "
                    "one of them out"
                )
        if self.sampling == "minimal_variance" and self.subsample == 1:
            raise ParameterError(
                "sampling='minimal_variance' samples a share of the rows, and subsample=1 is all of them: "
                "set it below 1, or leave it out (0.5)"
            )
        if self.sampling == "gradient":
            if self.subsample not in (AUTO, 1):
                raise ParameterError(
                    f"subsample={self.subsample} samples rows uniformly, sampling='gradient' by top_rate and "
                    "other_rate: leave one of them out"
                )
            if float(self.top_rate) + float(self.other_rate) > 1:
                raise ParameterError(
                    f"top_rate={self.top_rate} and other_rate={self.other_rate} are shares of all rows: "
                    "their sum must be at most 1"
                )
        for each in self.functions_to_call:
            if not callable(each):
                raise ParameterError(f"callbacks holds {each!r}: each must be a function that takes a Round")
        if isinstance(self.scoring, str):  # estimators and the command have made a function of a name
            raise ParameterError(
                f"scoring={self.scoring!r}: scores by name are scikit-learn's and need an estimator: pass a "
                "function of true and predicted targets, or fit the estimator"
            )
        if self.scoring is not None:
            refuse_other_function(
                self.scoring, "scoring", "two arguments, the true targets and predicted numbers or probabilities", 2
            )
        for each in self.functions_to_call:
            refuse_other_function(each, "callbacks", "one argument, a Round", 1)
        if self.task == NUMBERS:
            self._loss_of_numbers()

    def meant(self) -> dict[str, Any]:
        """``early_stopping`` as True or False."""
        return {"early_stopping": self.stops}

    @property
    def is_open(self) -> bool:
        """Whether held-out rows decide the number of rounds."""
        asked = self.n_estimators == AUTO and self.early_stopping is not False and not self.warm_start
        return asked and self.quality != "fast"

    @property
    def stops(self) -> bool:
        """Whether growth ends when rounds no longer improve, as far as is known before the rows are."""
        if isinstance(self.early_stopping, str):
            return self.is_open or self.n_members not in (AUTO, 1)
        return bool(self.early_stopping)

    @property
    def functions_to_call(self) -> list[Callable[..., Any]]:
        """The callbacks as a list, which may be empty."""
        if self.callbacks is None:
            return []
        return [self.callbacks] if callable(self.callbacks) else list(self.callbacks)

    def _loss_of_numbers(self) -> Loss:
        return build_loss(
            self.loss,
            quantile=self.quantile,
            huber_delta=self.huber_delta,
            tweedie_power=self.tweedie_power,
            expectile=self.expectile,
        )

    def losses(self, n_outputs: int, n_classes: Sequence[int]) -> tuple[Loss, ...]:
        """A loss per output."""
        if n_classes:
            return tuple(build_loss(self.loss, n_classes=count) for count in n_classes)
        loss = self._loss_of_numbers()
        if n_outputs > 1 and loss.link == "sorted":
            raise ParameterError(
                f"quantile={self.quantile!r} with {n_outputs} targets: several levels need a single target; fit "
                "a model for each target"
            )
        return (loss,) * n_outputs

    def check_domain(self, target: Labels | Numbers, kept: np.ndarray | None) -> None:
        """Refuse targets outside the domain of their loss; ``kept`` bool[n_given] says which rows these are."""
        rows = None if kept is None else np.flatnonzero(kept)
        n_classes = [len(labels) for labels in target.classes] if isinstance(target, Labels) else ()
        for output, loss in enumerate(self.losses(target[0].shape[1], n_classes)):
            loss.check(np.ascontiguousarray(target[0][:, output]), "y", rows)

    def shared_by_rounds(self) -> dict[str, Any]:
        """The parameters that all rounds must share, as plain JSON."""
        shared = {name: value for name, value in self.facts().items() if name not in _OF_NO_ROUND}
        return {**shared, "positive": plain(self.positive)}
