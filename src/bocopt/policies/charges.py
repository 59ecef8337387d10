"""Charges of the hedge's arms: costs under the risk that was asked for, and a price of misses.

An arm that pays little because it breaks the constraints is no good arm. Where the problem has a
chance constraint and does not price infeasibility by itself, a decision that turns out infeasible
is a miss, and arm a is charged

    l(a) = c(a) + price * missed(a),    price = 1/2 C Q,

where C is the typical difference between the arms' costs of one stage, and Q is the excess: the
ensemble's own expected misses above 1 - alpha, Q' = max(Q + w'missed - (1 - alpha), 0).

Typical is the second largest difference so far, where one that was followed by k others counts
.98^k of itself: a single stage sets no price, and what was is forgotten. C is raised to it at once,
and lowered to it when it is less than half of C.

What is guaranteed. Let the risk be a mean, and let some arm meet alpha: whatever has happened, the
chance that it misses next is at most 1 - alpha. Let B = sqrt(1 + log(1 / least prior) / 4), let the
arms' costs of a stage differ by R at most, where R >= C, and let C be what it is from the start.
After T stages the expected misses are at most (1 - alpha) T and

    R/C sqrt(T) (4 B + 2 + sqrt(5 + 8 B / sqrt(T))),    a share of 1 - alpha + O(1 / sqrt(T)).

Where C settles later, the stages before add what does not grow with T. Where it never does, as what
is typical falls by half again and again, nothing is claimed but what is always true: misses are
expected to be (1 - alpha) T and Q at most, and Q is known. What holding alpha costs is not bounded
beforehand: `cost_bound` tells it afterwards.

Proof. With g = w'missed - (1 - alpha), AdaHedge's bound for that arm is, summed over stages,

    sum price g  <=  sum (c(a) - w'c) + sum price (missed(a) - (1 - alpha)) + 2 gap.

- The left side is C/2 sum Q g >= C/4 (Q_T^2 - T), as Q'^2 <= Q^2 + 2 Q g + g^2 and g^2 <= 1.
- The first sum is at most R T.
- The terms of the second have means of at most 0, as the price is known before the outcome. By
  Doob, its largest value has a mean of at most C/2 sqrt(T) q, where q^2 = E max Q^2.
- A stage adds at most min(r, eta r^2 / 8) to the gap, where r <= R (1 + Q/2) is the spread of
  charges. So gap^2 <= B^2 sum r^2, and E gap <= R B sqrt(T) (1 + q/2).

Together q^2 <= R/C (5 T + 8 B sqrt(T) + (2 + 4 B) sqrt(T) q), and q^2 <= a + b q gives
q <= b + sqrt(a). At last, sum g <= Q_T, and E Q_T <= q.

If no arm meets alpha there is a warning, and the price rises until the arm that misses least
decides. Costs are counted as they are with `Expectation` and `Chance`. With any other risk, an arm
is charged what its latest cost adds to the risk of its costs so far: (n + 1) R(c_1, ..., c_n+1) -
n R(c_1, ..., c_n). With CVaR, the totals that are compared are then those of the tails.

Reference: Mahdavi, Jin, Yang (2012), Trading regret for efficiency: online convex optimization with
long term constraints.
"""

from typing import NamedTuple
from warnings import warn

import numpy as np

from bocopt.abilities import PricesInfeasibility
from bocopt.core import Array, BoolArray, Problem, Risk, judge
from bocopt.numeric.history import History, empty
from bocopt.problems.risk import Chance, Expectation
from bocopt.wrappers import says

_LATEST = 1000  # costs of each arm that a risk other than a mean looks back on
_STEP = 0.5  # of the price, in spreads of costs for each miss too many
_KEEP = 0.98  # of a difference, after another stage
_FALLEN = 0.5  # of what was typical, at which it is lowered
_LONG = 20  # stages before which nobody is blamed


class Charges(NamedTuple):
    """Costs and misses of the arms so far, and the differences that set the price of a miss."""

    past: History  # (n, A) the latest costs, where the risk is no mean
    paid: Array  # (A) in all
    surcharge: Array  # () what the draw was charged above its cost, in all
    spread: Array  # () the typical difference between costs of one stage, C
    largest: Array  # () the largest differences so far, each less for every stage since
    second: Array  # ()
    excess: Array  # () expected misses of the ensemble above 1 - alpha, Q
    arm_excess: Array  # (A) the same of each arm
    stages: Array  # ()
    warned: BoolArray  # () whether no arm had met alpha for long, at any stage so far


def prices_infeasibility(problem: Problem) -> bool:
    """Return True if a problem says that its cost includes what it costs to be infeasible."""
    return bool(says(problem, PricesInfeasibility))


def allowed_misses(problem: Problem) -> float | None:
    """The share of stages that may be infeasible; None where the hedge does not count them."""
    alpha = problem.risk.alpha
    return None if alpha is None or prices_infeasibility(problem) else 1.0 - alpha


def no_charges(lead: tuple[int, ...], arms: int) -> Charges:
    """Before any outcome."""
    one, each = np.zeros(lead), np.zeros((*lead, arms))
    return Charges(
        past=empty(lead, arms),
        paid=each,
        surcharge=one,
        spread=one,
        largest=one,
        second=one,
        excess=one,
        arm_excess=each,
        stages=one,
        warned=np.zeros(lead, bool),
    )


def price(charges: Charges) -> Array:
    """() of a miss; where the arms' costs never differed, in units of one."""
    unit = np.where(charges.spread > 0, charges.spread, 1.0)
    return np.asarray(_STEP * unit * charges.excess)


def outcomes(problem: Problem, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
    """(k), (A, d), (m) -> (A), (A): what each arm paid, and 1 where it broke the constraints.

    0 where nobody counts it.
    """
    x, xi = x[..., None, :], xi[..., None, :]
    if allowed_misses(problem) is None:
        return problem.cost(x, z, xi), np.zeros(z.shape[:-1])
    cost, violation = judge(problem, x, z, xi)
    return cost, (violation > 0).astype(np.float64)


def charged(problem: Problem, charges: Charges, paid: Array, misses: Array) -> Array:
    """(A), (A) -> (A) what the hedge is told that each arm lost."""
    cost = _added_risk(problem.risk, charges.past.rows, paid)
    if allowed_misses(problem) is None:
        return cost
    return np.asarray(cost + price(charges)[..., None] * misses)


def book(
    problem: Problem, charges: Charges, w: Array, paid: Array, misses: Array, charge: Array
) -> Charges:
    """After a stage whose arm was drawn by the weights w."""
    allowed = allowed_misses(problem)
    past = charges.past
    if not _is_mean(problem.risk):
        past = past.append(paid).at_most(_LATEST)
    after = _compared(charges, paid.max(axis=-1) - paid.min(axis=-1))
    after = after._replace(
        past=past,
        paid=charges.paid + paid,
        surcharge=charges.surcharge + (w * (charge - paid)).sum(axis=-1),
        stages=charges.stages + 1.0,
    )
    if allowed is None:
        return after
    own = (w * misses).sum(axis=-1)
    after = after._replace(
        excess=np.maximum(charges.excess + own - allowed, 0.0),
        arm_excess=np.maximum(charges.arm_excess + misses - allowed, 0.0),
    )
    after = after._replace(warned=charges.warned | _nobody_meets(after))
    if (after.warned & ~charges.warned).any():
        warn(
            f"No arm of the ensemble has met alpha = {1.0 - allowed:g} for long: give it one that "
            "is more cautious, or calibration='adaptive'.",
            stacklevel=3,
        )
    return after


def _compared(charges: Charges, differ: Array) -> Charges:
    """After a stage whose costs differ by so much; one where they do not shows nothing."""
    largest, second = _KEEP * charges.largest, _KEEP * charges.second
    second = np.maximum(second, np.minimum(largest, differ))
    largest = np.maximum(largest, differ)
    typical = np.where(second > 0, second, largest)  # the first one is all there is
    moves = (typical > charges.spread) | (typical < _FALLEN * charges.spread)
    spread = np.where(moves, typical, charges.spread)
    after, before = (spread, largest, second), (charges.spread, charges.largest, charges.second)
    shown = [np.where(differ > 0, new, old) for new, old in zip(after, before, strict=True)]
    return charges._replace(spread=shown[0], largest=shown[1], second=shown[2])


def cost_bound(charges: Charges, totals: Array, gap: Array) -> Array:
    """() the draw's expected cost is at most that of the cheapest arm and this.

    Of charges it is at most the least total and 2 gap. Costs are charges less the surcharges.
    """
    dearer = totals.min(axis=-1) - charges.paid.min(axis=-1)
    return np.asarray(2 * gap + (dearer - charges.surcharge))


def _nobody_meets(charges: Charges) -> BoolArray:
    """() whether even the best arm misses too often, by five sd at alpha = 0.9."""
    above = charges.arm_excess.min(axis=-1) > 1.5 * np.sqrt(charges.stages)
    return np.asarray(above & (charges.stages >= _LONG))


def _is_mean(risk: Risk) -> bool:
    return type(risk) in (Expectation, Chance)  # a subclass may value costs in its own way


def _added_risk(risk: Risk, past: Array, paid: Array) -> Array:
    """(n, A), (A) -> (A): what one more cost adds to n times the risk of n costs."""
    if _is_mean(risk):
        return paid
    before = np.moveaxis(past, -2, -1)
    after = np.concatenate([before, paid[..., None]], axis=-1)
    return _total(risk, after) - _total(risk, before)


def _total(risk: Risk, costs: Array) -> Array:
    """(..., n) -> (...): n times their risk."""
    n = costs.shape[-1]
    return n * risk.value(costs, np.full(n, 1.0 / n)) if n else np.zeros(costs.shape[:-1])
