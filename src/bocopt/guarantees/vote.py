"""A bound on how often a majority vote goes wrong, by its margins alone: the C-bound.

Each parameter votes for a decision; those that are good enough for the outcome are right. With the
weights behind each decision, the margin of a vote is

    M = (most weight behind one right decision) - (most weight behind one wrong decision),

so that a vote with M > 0 is right. For any a >= 0, 1[M <= 0] <= (1 - a M)^2, and the best a gives

    P(M <= 0)  <=  1 - (E M)^2 / E M^2,   if E M > 0.                                           (C)

It holds for any mixture of outcomes, so also for the average over stages that differ: E is then the
average of what each stage's expectation was before its outcome.
"""

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray
from bocopt.guarantees.certificate import Certificate, certificate


def vote_margin(decisions: Array, w: Array, right: BoolArray) -> Array:
    """Return the margin M () of decisions (N, d) with weights (N), each right or wrong (N).

    Two thirds for a right decision, and one third for a wrong one:

    >>> float(vote_margin([[0.0], [2.0], [2.0]], np.full(3, 1 / 3), [False, True, True]).round(3))
    0.333
    """
    decisions = arguments.array("vote_margin", "decisions", decisions, (None, None))
    w = arguments.weights("vote_margin", w, decisions.shape[-2])
    right = np.asarray(right)
    if right.dtype != np.bool_ or right.shape[-1:] != w.shape[-1:]:
        expected = f"{w.shape[-1]} truth values"
        raise arguments.wrong("vote_margin", "right", expected, right)
    margin: Array = _margin(decisions, w, right)
    return margin


def c_bound(margins: Array, *, delta: float = 0.05) -> Certificate:
    """Return a bound on how often a vote is wrong, from margins (n) of votes in order.

    The two moments in (C) are bounded by Hoeffding's inequality at delta / 2 each, at this n alone:
    the average of E M is at least the mean of M less sqrt(2 log(2/delta) / n), that of E M^2 at
    most the mean of M^2 plus sqrt(log(2/delta) / (2 n)). Where each vote is seen to be right or
    wrong, as here, their share is itself evidence, and (C) is the weaker: its use is that it
    needs no more than the margins' first two moments.

    >>> margins = np.where(np.arange(1000) % 10 == 0, -0.2, 0.6)
    >>> found = c_bound(margins)
    >>> round(float(found.value), 3), round(float(found.bound), 3)
    (0.176, 0.492)

    Reference: Lacasse, Laviolette, Marchand, Germain, Usunier (2006), PAC-Bayes bounds for the risk
    of the majority vote and the variance of the Gibbs classifier; Laviolette, Morvant, Ralaivola,
    Roy (2017), Risk upper bounds for general ensemble methods with an application to multiclass
    classification; paper, section 3.1.
    """
    arguments.number("c_bound", "delta", delta, "(0, 1)")
    margins = arguments.array("c_bound", "margins", margins, (None,))
    n = margins.shape[-1]
    first, second = margins.mean(axis=-1), (margins**2).mean(axis=-1)
    price = np.log(2 / delta)
    least = np.maximum(first - np.sqrt(2 * price / n), 0.0)
    most = np.minimum(second + np.sqrt(price / (2 * n)), 1.0)
    value = _at_most(np.maximum(first, 0.0), second)
    return certificate(
        "C-bound",
        "share of outcomes at which the vote is wrong",
        value=value,
        slack=_at_most(least, most) - value,
        trivial=np.ones(value.shape),
        delta=delta,
        assumptions=("weights and decisions of each vote were fixed before its outcome",),
        broken={
            "A margin was outside [-1, 1]": arguments.outside(margins, -1.0, 1.0).sum(
                axis=-1, dtype=float
            )
        },
        if_vacuous="Votes are too close, or too few: (C) needs a mean margin well above 0.",
    )


def _at_most(first: Array, second: Array) -> Array:
    """Return the bound (C), or 1 where the mean margin is not above 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(first > 0, 1.0 - first**2 / second, 1.0)


def _margin_of(decisions: Array, w: Array, right: BoolArray) -> float:
    candidates, which = np.unique(decisions, axis=0, return_inverse=True)
    weight = np.bincount(which.ravel(), weights=w)
    good = np.zeros(len(candidates), bool)
    good[which.ravel()[right]] = True
    return float(weight[good].max(initial=0.0) - weight[~good].max(initial=0.0))


_margin = np.vectorize(_margin_of, signature="(n,d),(n),(n)->()", otypes=[np.float64])
