"""AdaBoost as the papers write it: lists of floats, no tricks. In: what members say of the rows. Out: weights."""

from __future__ import annotations

import math


def samme(said, true, own, n_classes, learning_rate=1.0):
    """Zhu et al. 2009, algorithm 2: the weights of the rows in each round, errors and weights of the members.

    ``said`` is a list of predictions per member, all of which are better than chance.
    """
    rows = [weight / sum(own) for weight in own]
    seen, errors, alphas = [], [], []
    for answers in said:
        seen.append(rows)
        wrong = [answer != label for answer, label in zip(answers, true, strict=True)]
        errors.append(math.fsum(weight for weight, is_wrong in zip(rows, wrong, strict=True) if is_wrong))
        if errors[-1] == 0.0:
            alphas.append(1.0)
            break
        alphas.append(learning_rate * (math.log((1 - errors[-1]) / errors[-1]) + math.log(n_classes - 1)))
        rows = [w * math.exp(alphas[-1]) if is_wrong else w for w, is_wrong in zip(rows, wrong, strict=True)]
        total = math.fsum(rows)
        rows = [weight / total for weight in rows]
    return seen, errors, alphas


def r2(said, true, own, loss="linear", learning_rate=1.0):
    """Drucker 1997: as ``samme``."""
    rows = [weight / sum(own) for weight in own]
    seen, errors, alphas = [], [], []
    for answers in said:
        seen.append(rows)
        off = [abs(answer - number) for answer, number in zip(answers, true, strict=True)]
        if max(off) == 0.0:
            errors.append(0.0)
            alphas.append(1.0)
            break
        shares = [distance / max(off) for distance in off]
        losses = {
            "linear": shares,
            "square": [share**2 for share in shares],
            "exponential": [1 - math.exp(-share) for share in shares],
        }[loss]
        errors.append(math.fsum(weight * lost for weight, lost in zip(rows, losses, strict=True)))
        beta = errors[-1] / (1 - errors[-1])
        alphas.append(learning_rate * math.log(1 / beta))
        rows = [w * beta ** (learning_rate * (1 - lost)) for w, lost in zip(rows, losses, strict=True)]
        total = math.fsum(rows)
        rows = [weight / total for weight in rows]
    return seen, errors, alphas


def vote(said, alphas, classes):
    """The class whose members weigh most, for each row; the first of equals."""
    chosen = []
    for row in range(len(said[0])):
        weights = dict.fromkeys(classes, 0.0)
        for answers, alpha in zip(said, alphas, strict=True):
            weights[answers[row]] += alpha
        chosen.append(max(classes, key=lambda label: weights[label]))
    return chosen


def median(said, alphas):
    """The smallest prediction that members of at least half the weight do not exceed, for each row."""
    chosen = []
    for row in range(len(said[0])):
        reached = 0.0
        for number, alpha in sorted((answers[row], alpha) for answers, alpha in zip(said, alphas, strict=True)):
            reached += alpha
            if reached >= 0.5 * math.fsum(alphas):
                chosen.append(number)
                break
    return chosen
