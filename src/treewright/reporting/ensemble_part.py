"""The section of many trees. In: ``Judged``. Out: ``EnsemblePart``. Caller: reporting.summary."""

from __future__ import annotations

import numpy as np

from treewright.model.data import ModelData, sizes_of
from treewright.model.summary import counted
from treewright.page.parts_ensemble import CurvePart, EnsemblePart, MemberPart
from treewright.reporting.forest_curve_part import forest_curve
from treewright.reporting.judged import Judged
from treewright.reporting.options import Options
from treewright.reporting.rounds_part import adaboost_curves, boosting_curves
from treewright.reporting.surrogate_part import LEAST_ROWS, Standing
from treewright.reporting.trees_part import Agreement, agreement_of, agreement_part, members_of, size_parts
from treewright.show.ensemble import COMBINED, LINKED


def ensemble_part(judged: Judged, options: Options, standing: Standing | None = None) -> EnsemblePart | None:
    """What the page tells of many trees; None of a single one and of neighbours.

    Parameters
    ----------
    judged : Judged
    options : Options
    standing : Standing, optional
        The tree that stands for all (``surrogate_part``).
    """
    if judged.is_neighbors or judged.model.is_single_tree:
        return None
    model = judged.model
    kind = "boosting" if model.has_scores else "adaboost" if model.has_rounds else "forest"
    n_scores = model.aggregation.n_scores
    n_rounds = 0 if kind == "forest" else len(model.trees) // n_scores
    curves: list[CurvePart]
    notes: list[str]
    if kind == "forest":
        curve, told = forest_curve(judged, options)
        curves, notes = [curve], list(told)
    else:
        curves, notes = (boosting_curves if kind == "boosting" else adaboost_curves)(judged, options, n_rounds)
    agreement = None if kind == "boosting" else agreement_of(judged, options)
    sizes = sizes_of(model)
    members = members_of(judged, sizes, agreement, options.trees)
    if standing is None:
        notes.append(f"There is no tree in place of all: that takes {LEAST_ROWS} judged rows, there are {judged.n}.")
    return EnsemblePart(
        kind=kind,
        headline=headline_of(model, n_rounds),
        n_trees=len(model.trees),
        n_rounds=n_rounds,
        curves=tuple(curves),
        sizes=size_parts(sizes),
        agreement=None if agreement is None else agreement_part(judged, agreement),
        members=members,
        surrogate=None if standing is None else standing.words,
        notes=tuple(notes),
        first=first_shown(members, agreement, standing),
    )


def first_shown(members: tuple[MemberPart, ...], agreement: Agreement | None, standing: Standing | None) -> int | None:
    """The single tree most like all, where the tree that stands for all is not to be read as them.

    Of boosted trees none: each answers another question.
    """
    if standing is None or not standing.words.warning or agreement is None:
        return None
    alike = agreement.with_all[[member.number for member in members]]
    return int(np.nanargmax(alike)) if np.isfinite(alike).any() else None


def headline_of(model: ModelData, n_rounds: int) -> str:
    """How many trees there are and how they answer together."""
    trees = counted(len(model.trees), "tree")
    if model.boosting is not None:
        each = "one" if model.boosting.n_scores == 1 else f"one for each of {model.boosting.n_scores} scores"
        said = LINKED.get(model.boosting.link, model.boosting.link)
        return (
            f"{trees}, grown in {counted(n_rounds, 'round')} ({each} a round), each on what those before left over. "
            f"Their numbers add up to {'a score' if model.boosting.n_scores == 1 else 'scores'}; the prediction is "
            f"{said}."
        )
    if model.has_rounds:
        said = (
            "the class that has most of the weight of the trees"
            if model.aggregation.votes
            else "the weighted median of their predictions"
        )
        return (
            f"{trees}, grown one after another, each on rows weighed by what those before got wrong. The prediction is "
            f"{said}."
        )
    said = COMBINED.get((model.task, model.combine), model.combine)
    return f"{trees}, each grown by itself. The prediction is {said}."
