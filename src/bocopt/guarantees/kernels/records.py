"""The sums that guarantees keep of the stages, folded as one array.

Certificates read them by name, kernels by place: neither has an order of its own.
"""

from typing import Any, NamedTuple, TypeVar

import numpy as np

from bocopt.core import Array

Record = TypeVar("Record", bound=NamedTuple)


class WatchedSums(NamedTuple):
    """Sums that all guarantees of decisions keep; each may add numbers of its own."""

    t: Array  # ()
    cost: Array  # () sum; of what was seen in part, the most that can have been paid
    least: Array  # () the same with the least that can have been paid
    in_part: Array  # () stages at which these differ
    high: Array  # () sum of the most that could have been paid
    widest: Array  # () range
    unknown: Array  # () stages without a range
    exceeded: Array  # () stages whose cost was outside its range
    impossible: Array  # () stages whose outcome the range was not meant for
    late: Array  # () stages whose outcome came late


class Squares(NamedTuple):
    """Sums of squared ranges."""

    square: Array  # ()
    unit: Array  # () the first range above 0
    in_units: Array  # () the sum in units of that


class Errors(NamedTuple):
    """Sums of errors of prediction, in units of the declared range."""

    narrow: Array  # () stages whose range is within it
    paid: Array  # () their sum of cost - low
    square: Array  # () their sum of squared errors of predicting that
    wider: Array  # () sum of squared ranges of the others


class Bets(NamedTuple):
    """Numbers that all stakes of a bet share; Q and Y are in units, and above the level."""

    unit: Array  # () if none was declared, the first range above 0; 0 before there is one
    t: Array  # () stages that were bet on: those whose outcome was not certain
    level: Array  # () the most that the first of these could have been
    base: Array  # () sum of the levels, and of outcomes that were certain


class Apart(NamedTuple):
    """Sums over compared stages; a difference is the other cost less that of the decision taken."""

    t: Array  # () stages compared
    in_part: Array  # () of them, those whose costs do not show the difference
    least: Array  # () the sum of the least that it can have been at these
    most: Array  # ()
    own: Array  # () cost of the decisions taken at the rest
    other: Array  # () of the others
    low: Array  # () least that the difference could have been
    high: Array  # () most
    better: Array  # () the compared stage since which the other one is surely better; 0: it is not
    worse: Array  # () likewise
    absent: Array  # () stages at which it did not decide
    unknown: Array  # () stages without a range
    exceeded: Array  # () stages whose difference was outside its range
    impossible: Array  # () stages whose outcome the range was not meant for
    late: Array  # ()


class Paid(NamedTuple):
    """Sums and counts of an ensemble that draws its arm."""

    t: Array  # ()
    mean: Array  # () expected cost of the draw
    worst: Array  # () the most that any arm would have paid
    bound: Array  # () AdaHedge's so far
    missed: Array  # () stages before which others had been learned than those watched
    stale: Array  # () stages whose decision was drawn by other weights
    in_part: Array  # () stages whose outcome was seen in part: nothing else is added at these


class Losses(NamedTuple):
    """Sums and counts of the losses of a belief."""

    t: Array  # ()
    mean: Array  # () E_pi loss
    mix: Array  # () mix loss at the policy's lam
    posterior: Array  # () E_q loss
    kl: Array  # () KL(q || pi)
    own: Array  # () loss of the decision taken, cut at the cap
    refuted: Array  # () stages that refute mixability
    jensen: Array  # () stages at which the decision lost more than the belief's mean
    cap: Array  # () what the loss is known to be at most
    capped: Array  # () stages on which a particle lost that much
    unbounded: Array  # () stages whose loss is not known to be in [0, C]
    outside: Array  # () stages on which it was not
    unknown: Array  # () stages that say nothing of a belief
    other_kind: Array  # () stages at which the decision's loss was unknown, or another than theirs
    other_lam: Array  # () stages whose mix loss is at another lam than this one
    changed: Array  # () stages whose pi was not the q of the stage before
    changing: Array  # () 1 where the next one's will not be
    stale: Array  # () stages at which another belief had decided
    late: Array  # () stages whose outcome came late, or after one that never came
    in_part: Array  # () stages whose outcome was seen in part: nothing else is added at these


class Lately(NamedTuple):
    """Counts of stages; bets on a change in either direction stand behind them."""

    t: Array  # () compared
    unit: Array  # () of the stakes: if none was declared, the first range above 0
    alarms: Array  # () that the other decision costs more
    worse: Array  # () the stage of the latest one; 0 where it has been better since
    absent: Array  # () stages at which the other one did not decide
    unknown: Array  # () stages without a range
    exceeded: Array  # () stages whose difference was outside its range
    impossible: Array  # () stages whose outcome the range was not meant for
    late: Array  # ()


def places(record: type[Record], first: int = 0) -> Any:
    """Return the record with the index of each field, from `first` on.

    >>> places(Squares, 8)
    Squares(square=8, unit=9, in_units=10)
    """
    return record(*range(first, first + len(record._fields)))


def named(record: type[Record], sums: Array) -> Record:
    """Return the record of the sums (fields), each field ().

    >>> named(Squares, np.array([[2.0, 1.0, 2.0], [8.0, 2.0, 2.0]])).unit
    array([1., 2.])
    """
    return record(*np.moveaxis(sums, -1, 0))
