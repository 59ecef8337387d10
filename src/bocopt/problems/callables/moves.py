"""Moves that improve a decision inside a box: one coordinate, or one up and one down.

The moves of single coordinates are judged first. What they do to the cost and the violation of each
scenario is then added up, to guess which moves and pairs of moves are worth a trial. A guess is
only a guess: a move is made where the judge ranks its result better. Where no move helps, the steps
are halved. Where the decision misses too many scenarios, better means fewer missed: a repair.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray, IntArray
from bocopt.problems.callables.pool import CandidateJudge, PooledDecision, ranks
from bocopt.problems.risk import WEIGHT_TOLERANCE
from bocopt.problems.scenarios import thin

_HALVINGS = 12  # of the first step, until a continuous coordinate is as good as it gets
_PATIENCE = 4  # guesses in vain before the steps are judged anew
_SIDE = 48  # moves up, and moves down, that pairs are made of
_GUESSED = 60_000  # numbers that a guess adds up: with more, it looks at fewer scenarios
_FEWEST = 128  # but at so many at least
_LITTLE = 0.01  # of a move, which is not worth a trial
_FIT = 1e-9  # what is left free where a move is made to fit
_NEAR = 1e-6  # what a solver may be outside the box, or from an integer


@dataclass(frozen=True)
class DecisionBox:
    """The bounds of a decision, and which coordinates are integers."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    integer: tuple[bool, ...]

    @classmethod
    def of(cls, box: Any, integer: Any, size: int) -> "DecisionBox":
        """Return the box (d) of a user's bounds, each a number or one for each coordinate."""
        try:
            low, high = box
        except (TypeError, ValueError):
            raise arguments.wrong("from_callables", "box", "a pair (lower, upper)", box) from None
        lower, upper = (_bounds(end, box, size) for end in (low, high))
        if not (lower <= upper).all() or (lower == np.inf).any() or (upper == -np.inf).any():
            raise arguments.wrong("from_callables", "box", "a pair with lower <= upper", box)
        whole = np.asarray(integer)
        if whole.dtype.kind != "b" or whole.shape not in ((), (size,)):
            expected = f"True, False, or {size} of them"
            raise arguments.wrong("from_callables", "integer", expected, integer)
        whole = np.broadcast_to(whole, size)
        lower, upper = (
            np.where(whole, np.ceil(lower), lower),
            np.where(whole, np.floor(upper), upper),
        )
        if (lower > upper).any():
            raise arguments.wrong("from_callables", "box", "a pair with an integer between", box)
        return cls(tuple(lower.tolist()), tuple(upper.tolist()), tuple(whole.tolist()))

    def inside(self, z: Array) -> Array:
        """The nearest decision in the box, with integers where they are asked for."""
        return np.where(self.integer, np.rint(z), z).clip(self.lower, self.upper)

    def checked(self, name: str, z: Array) -> Array:
        """A decision that the user's function returned, without the rounding of its solver."""
        inside = self.inside(z)
        if (np.abs(inside - z) > _NEAR * np.maximum(1.0, np.abs(z))).any():
            raise ValueError(
                f"The user's {name} returned z = {z.tolist()}, which is outside the box or not "
                f"integer: the nearest that fits is {inside.tolist()}."
            )
        return inside

    def first_steps(self, pool: Sequence[Array], z: Array) -> Array:
        """(d): a quarter of where the pool lies; where that is a point, a sixteenth of the box."""
        points = np.array([*pool, z])
        width = np.subtract(self.upper, self.lower)
        size = np.where(np.isfinite(width), width / 4, np.maximum(1.0, np.abs(z)))
        ranged = np.ptp(points, axis=0)
        step = np.where(ranged > 0, ranged, size) / 4
        return np.where(self.integer, np.maximum(np.rint(step), 1.0), step)

    def halved(self, step: Array) -> Array:
        """(d) -> (d): half of it, for integers at least 1."""
        return np.where(self.integer, np.maximum(np.floor(step / 2), 1.0), step / 2)


def _bounds(end: Any, box: Any, size: int) -> Array:
    try:
        given = np.asarray(end)
    except ValueError:
        given = np.empty(0, object)
    fits = given.dtype.kind in "iuf" and given.shape in ((), (size,)) and not np.isnan(given).any()
    if not fits:
        expected = f"a pair (lower, upper), each a number or {size} numbers"
        raise arguments.wrong("from_callables", "box", expected, box)
    return np.broadcast_to(given.astype(np.float64), size)


def improved(
    judge: CandidateJudge, box: DecisionBox, start: PooledDecision, step: Array, budget: int
) -> PooledDecision:
    """The best decision that moves find, with at most `budget` decisions judged."""
    best, left = start, budget
    least = np.where(box.integer, 1.0, step * 0.5**_HALVINGS)
    while left > 0:
        singles = [judge(z) for z in _neighbours(box, best.z, step)[:left]]
        if not singles:
            break
        left -= len(singles)
        found, tried = _follow_guesses(judge, box, best, singles, left)
        left -= tried
        if found.rank < best.rank:
            best = found
        elif (step <= least).all():
            break
        else:
            step = box.halved(step)
    return best


def _neighbours(box: DecisionBox, z: Array, step: Array) -> list[Array]:
    """One coordinate up or down by its step, or to its bound."""
    moved = (
        box.inside(z + sign * size * (np.arange(len(z)) == j))
        for j, size in enumerate(step)
        for sign in (1.0, -1.0)
    )
    return [point for point in moved if (point != z).any()]


class _Guesses(NamedTuple):
    """Moves of one coordinate or two, and what they would change if effects added up."""

    some: IntArray  # (s) the scenarios that guesses look at
    steps: Array  # (g, d)
    costs: Array  # (g, s)
    violations: Array  # (g, s)


def _follow_guesses(
    judge: CandidateJudge,
    box: DecisionBox,
    base: PooledDecision,
    singles: Sequence[PooledDecision],
    budget: int,
) -> tuple[PooledDecision, int]:
    """Try what looks best, go on from there where it is, and stop when guesses were in vain."""
    best = min((base, *singles), key=lambda one: one.rank)
    guesses = _guesses(judge, box, base, singles)
    untried = np.ones(len(guesses.steps), bool)
    tried, in_vain = 0, 0
    while tried < min(budget, len(singles)) and in_vain < _PATIENCE:
        ends = best.z + guesses.steps
        possible = np.flatnonzero(untried & (box.inside(ends) == ends).all(axis=-1))
        chosen = _most_promising(judge, best, guesses, possible)
        if chosen is None:
            break
        after, tried = judge(ends[chosen]), tried + 1
        if after.rank < best.rank:
            best = after
        else:
            untried[chosen], in_vain = False, in_vain + 1
    return best, tried


def _guesses(
    judge: CandidateJudge, box: DecisionBox, base: PooledDecision, singles: Sequence[PooledDecision]
) -> _Guesses:
    moves = sorted(singles, key=lambda one: float(judge.risk.value(one.costs, judge.w)))
    steps = np.array([one.z - base.z for one in moves])
    both = _alone_and_in_pairs(steps)
    much = np.where([True, False], 1.0, both[:, :1] != both[:, 1:])  # a single move counts once
    if judge.risk.alpha is not None:
        last = _last_to_hold(judge, base, judge.risk.alpha)
        effects = np.array([one.violations[last] for one in moves]) - base.violations[last]
        fitted, fits = _fitted(much, effects[both], -float(base.violations[last]))
        both, much = np.concatenate([both, both[fits]]), np.concatenate([much, fitted[fits]])
    whole = np.array(box.integer)[np.abs(steps).argmax(axis=1)][both]
    size = np.abs(steps).max(axis=1)[both]
    much = np.where(whole, np.floor(much * size + _FIT) / size, much)
    some = thin(len(judge.w), max(_GUESSED // len(both), _FEWEST))

    def added_up(parts: Array) -> Array:
        """Return the sums of the parts of each guess's moves, scaled: (n, ...) -> (g, ...)."""
        return much[:, :1] * parts[both[:, 0]] + much[:, 1:] * parts[both[:, 1]]

    costs = np.array([one.costs[some] for one in moves]) - base.costs[some]
    violations = np.array([one.violations[some] for one in moves]) - base.violations[some]
    planned = added_up(steps)
    planned = np.where(box.integer, np.rint(planned), planned)
    return _Guesses(some, planned, added_up(costs), added_up(violations))


def _alone_and_in_pairs(steps: Array) -> IntArray:
    """(n, d) -> (g, 2): which moves are taken, one up and one down, or twice the same one."""
    up, down = (np.flatnonzero((sign * steps).sum(axis=1) > 0)[:_SIDE] for sign in (1, -1))
    pairs = np.stack(np.meshgrid(up, down), axis=-1).reshape(-1, 2)
    compatible = ~(steps[pairs] != 0).all(axis=1).any(axis=1)
    alone = np.arange(len(steps))
    return np.concatenate([np.stack([alone, alone], axis=-1), pairs[compatible]])


def _last_to_hold(judge: CandidateJudge, base: PooledDecision, alpha: float) -> int:
    """The scenario up to which the constraints must hold, in the order of their violation."""
    order = base.violations.argsort(kind="stable")
    enough = judge.w[order].cumsum() >= alpha * judge.w.sum() - WEIGHT_TOLERANCE
    return int(order[enough.argmax()])


def _fitted(much: Array, effects: Array, slack: float) -> tuple[Array, BoolArray]:
    """(g, 2), (g, 2) -> (g, 2), (g): with less of what takes room, or of what frees it, to fit.

    The second says where that is something new, and not next to nothing.
    """
    takes, frees = (np.maximum(sign * much * effects, 0.0).sum(axis=1) for sign in (1, -1))
    all_of_it = np.ones(len(much))
    taken = np.divide(slack + frees, takes, out=all_of_it.copy(), where=takes > 0)
    freed = np.divide(takes - slack, frees, out=all_of_it.copy(), where=frees > 0)
    share = np.where(effects > 0, (taken - _FIT)[:, None], (freed + _FIT)[:, None])
    fitted = much * share.clip(0.0, 1.0)
    new = ((fitted >= _LITTLE * much).all(axis=1)) & (fitted < much).any(axis=1)
    return fitted, new


def _most_promising(
    judge: CandidateJudge, best: PooledDecision, guesses: _Guesses, possible: IntArray
) -> int | None:
    """Return the index of the possible guess that ranks first; None if it is no improvement."""
    w = judge.w[guesses.some]
    costs, violations = best.costs[guesses.some], best.violations[guesses.some]
    now = ranks(judge.risk, costs, violations, w)
    missed, worth = ranks(
        judge.risk, costs + guesses.costs[possible], violations + guesses.violations[possible], w
    )
    order = np.lexsort((worth, missed))
    if not len(order) or not (missed[order[0]], worth[order[0]]) < now:
        return None
    return int(possible[order[0]])
