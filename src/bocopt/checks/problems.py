"""Laws of problems, each a function of contexts (n, k) and outcomes (n, m)."""

import numpy as np

from bocopt import arguments
from bocopt.abilities import RangedWithin, SmallestOfTies
from bocopt.checks.law import expect, expect_error, expect_given_on, same_bits
from bocopt.core import (
    Array,
    BoolArray,
    Bounds,
    Problem,
    Solution,
    Status,
    is_ranged,
    judges,
    knows_differences,
)
from bocopt.problems import ranges
from bocopt.wrappers import find, says

_ONE = np.ones(1)
_ROUNDING = 1e-9  # relative, of values that a solver of continuous programs gives


def check_problem(problem: Problem, x: Array, xi: Array) -> None:
    """Check a problem on samples of contexts (n, k) and outcomes (n, m), n at least 2."""
    arguments.kind("check_problem", "problem", problem, Problem)
    x = arguments.array("check_problem", "x", x, (...,))
    xi = arguments.array("check_problem", "xi", xi, (...,))
    if x.ndim != 2 or xi.ndim != 2 or len(x) != len(xi) or len(x) < 2:
        raise ValueError(
            f"check_problem needs x (n, k) and xi (n, m), n >= 2. Got {x.shape} and {xi.shape}."
        )
    for law in PROBLEM_LAWS:
        law(problem, x, xi)


def shapes(problem: Problem, x: Array, xi: Array) -> None:
    """Answers have the leading axes of the question and the sizes of `dims`."""
    n = len(x)
    solution = problem.solve(xi[:, None, :], _ONE, x)
    expect(solution.z.shape == (n, problem.dims.z), "solve", f"z of shape {(n, problem.dims.z)}")
    for name in ("value", "status", "gap"):
        expect(getattr(solution, name).shape == (n,), "solve", f"{name} of shape {(n,)}")
    for measure in (problem.cost, problem.violation):
        shape = np.shape(measure(x, solution.z, xi))
        expect(shape == (n,), measure.__name__, f"an answer of shape {(n,)}, not {shape}")


def batch_equals_alone(problem: Problem, x: Array, xi: Array) -> None:
    """An instance in a batch is answered as it is alone, bit for bit."""
    batch = problem.solve(xi[:, None, :], _ONE, x)
    costs, violations = problem.cost(x, batch.z, xi), problem.violation(x, batch.z, xi)
    for i in range(len(x)):
        alone = problem.solve(xi[i : i + 1], _ONE, x[i])
        inside = Solution(*(part[i] for part in batch))
        expect(same_bits(alone, inside), "solve", "the same answer in a batch as alone")
        expect(bool(problem.cost(x[i], batch.z[i], xi[i]) == costs[i]), "cost", "batch = alone")
        lone = problem.violation(x[i], batch.z[i], xi[i])
        expect(bool(lone == violations[i]), "violation", "batch = alone")


def judged_as_asked_apart(problem: Problem, x: Array, xi: Array) -> None:
    """`judge`, where a problem has it, answers with its `cost` and `violation`, bit for bit."""
    if not judges(problem):
        return
    z = problem.solve(xi[:, None, :], _ONE, x).z
    pairs = x[:, None, :], z[:, None, :], xi  # each decision with every outcome
    for question in ((x, z, xi), (x[0], z[0], xi[0]), pairs):
        cost, violation = problem.judge(*question)
        expect(same_bits(cost, problem.cost(*question)), "judge", "a cost that is `cost`'s")
        same = same_bits(violation, problem.violation(*question))
        expect(same, "judge", "a violation that is `violation`'s")


def pure(problem: Problem, x: Array, xi: Array) -> None:
    """Asked twice, the answer is the same, and the question is left as it was."""
    w = np.full(len(xi), 1.0 / len(xi))
    before = x.copy(), xi.copy(), w.copy()
    first, second = (problem.solve(xi, w, x[0]) for _ in range(2))
    problem.cost(x, np.broadcast_to(first.z, (len(x), problem.dims.z)), xi)
    expect(same_bits(before, (x, xi, w)), "solve or cost", "to leave its arguments alone")
    expect(same_bits(first, second), "solve", "the same answer to the same question")


def feasible_and_priced(problem: Problem, x: Array, xi: Array) -> None:
    """Check that what is called optimal is feasible, and that `value` is what `cost` says."""
    solution = problem.solve(xi[:, None, :], _ONE, x)
    optimal = solution.status == Status.OPTIMAL
    bad = optimal & (problem.violation(x, solution.z, xi) > 0)
    expect(not bad.any(), "solve", "an optimal z that does not violate its own scenario")
    cost = problem.cost(x, solution.z, xi)
    expect(bool((solution.value == cost)[optimal].all()), "solve", "value = cost of z")
    none = solution.status == Status.INFEASIBLE
    expect(bool(np.isinf(solution.value[none]).all()), "solve", "value inf where infeasible")


def best_and_smallest(problem: Problem, x: Array, xi: Array) -> None:
    """No neighbour of an optimal z costs less; where z is to be the smallest, no tie before it."""
    smallest = bool(says(problem, SmallestOfTies))
    solution = problem.solve(xi[:, None, :], _ONE, x)
    optimal = solution.status == Status.OPTIMAL
    for j in range(problem.dims.z):
        for step in (-1.0, 1.0):
            z = solution.z + step * (np.arange(problem.dims.z) == j)
            there = optimal & (problem.violation(x, z, xi) <= 0)
            cost = problem.cost(x, z, xi)
            margin = 0.0 if smallest else _ROUNDING * np.maximum(1.0, np.abs(cost))
            expect(not (there & (cost < solution.value - margin)).any(), "solve", "an optimal z")
            tie = there & (cost == solution.value) & (step < 0) & smallest
            expect(not tie.any(), "solve", "the lexicographically smallest of equal z")


def one_scenario_or_two_halves(problem: Problem, x: Array, xi: Array) -> None:
    """A scenario and its two halves are the same distribution."""
    for i in range(len(x)):
        whole = problem.solve(xi[i : i + 1], _ONE, x[i])
        halves = problem.solve(np.repeat(xi[i : i + 1], 2, axis=0), np.full(2, 0.5), x[i])
        same = bool((whole.z == halves.z).all())
        expect(same, "solve", "the same z for a scenario and for its two halves")


def met_and_priced_under_scenarios(problem: Problem, x: Array, xi: Array) -> None:
    """Under many scenarios, a z with a finite value meets the problem's risk, which gives it."""
    w = np.full(len(xi), 1.0 / len(xi))
    solution = problem.solve(xi, w, x[0])
    if not np.isfinite(solution.value):
        return
    z = np.broadcast_to(solution.z, (len(xi), problem.dims.z))
    here = np.broadcast_to(x[0], x.shape)
    met = problem.risk.met(problem.violation(here, z, xi), w)
    expect(bool(met), "solve", "a z that meets the risk, or an infinite value")
    value = float(problem.risk.value(problem.cost(here, z, xi), w))
    close = abs(value - float(solution.value)) <= _ROUNDING * max(1.0, abs(value))
    expect(close, "solve", "the value that the risk gives to the costs of z")


def refuses_nan(problem: Problem, x: Array, xi: Array) -> None:
    """A NaN is an error, not an answer."""
    bad = np.full_like(xi[:1], np.nan)
    expect_error(lambda: problem.solve(bad, _ONE, x[0]), "solve", "a NaN scenario")
    z = problem.solve(xi[:1], _ONE, x[0]).z
    expect_error(lambda: problem.cost(x[0], z, bad[0]), "cost", "a NaN outcome")


def within_its_range(problem: Problem, x: Array, xi: Array) -> None:
    """Whatever possible outcome comes, a decision costs what `range` said before, where it does."""
    if not is_ranged(problem):
        return
    z = problem.solve(xi[:, None, :], _ONE, x).z
    low, high = (np.asarray(end) for end in problem.range(x, z))
    expect(low.shape == high.shape == (len(x),), "range", f"two answers of shape {(len(x),)}")
    alone = [np.shape(end) for end in problem.range(x[0], z[0])]
    expect(alone == [(), ()], "range", "two numbers for one decision")
    cost = problem.cost(x[:, None, :], z[:, None, :], xi)  # each decision with every outcome
    out = arguments.outside(cost, low[:, None], high[:, None])
    out &= problem.possible(x[:, None, :], xi)
    expect(not out.any(), "range", "a range that no possible outcome exceeds")


def differences_within_their_range(problem: Problem, x: Array, xi: Array) -> None:
    """Whatever possible outcome comes, two decisions differ as `range_of_difference` said before.

    It is never wider than both ranges, zero for a decision and itself, and the same in a batch.
    """
    if not knows_differences(problem):
        return
    z = problem.solve(xi[:, None, :], _ONE, x).z
    other, who = np.roll(z, 1, axis=0), "range_of_difference"
    low, high = (np.asarray(end) for end in problem.range_of_difference(x, z, other))
    expect(low.shape == high.shape == (len(x),), who, f"two answers of shape {(len(x),)}")
    alone = np.array([problem.range_of_difference(x[i], z[i], other[i]) for i in range(len(x))])
    expect(same_bits(alone.T, np.stack([low, high])), who, "batch = alone")
    itself = problem.range_of_difference(x, z, z)
    expect(not np.any(itself), who, "zero for a decision and itself")
    (least, largest), (least_other, largest_other) = (problem.range(x, d) for d in (z, other))
    wider = arguments.outside(low, least - largest_other, largest - least_other)
    wider |= arguments.outside(high, least - largest_other, largest - least_other)
    expect(not wider.any(), who, "nothing wider than the ranges of both")
    here = x[:, None, :]
    costs = [problem.cost(here, d[:, None, :], xi) for d in (z, other)]  # with every outcome
    rounding = _ROUNDING * np.maximum(1.0, np.abs(costs).sum(axis=0))
    more = costs[0] - costs[1]
    out = (more < low[:, None] - rounding) | (more > high[:, None] + rounding)
    expect(not (out & problem.possible(here, xi)).any(), who, "ends that no outcome exceeds")


def priced_within_bounds(problem: Problem, x: Array, xi: Array) -> None:
    """Where only bounds of an outcome are known, all outcomes within them are as `within` says.

    It is never wider than what is known without them, and the same in a batch.
    """
    if find(problem, RangedWithin) is None:
        return
    beside = np.roll(xi, 1, axis=0)
    low, high = np.minimum(xi, beside), np.maximum(xi, beside)
    odd, none = np.arange(xi.shape[-1]) % 2 == 1, np.full(xi.shape, np.inf)
    mixed = [np.where(which, xi, beside) for which in (odd, ~odd)]
    outcomes = np.concatenate([xi, *mixed, low, high])
    boxes = (low, high), (low, none), (-none, high), (xi, xi), (-none, none)
    for bounds in (*boxes, (np.where(odd, xi, -none), np.where(odd, xi, none))):
        _priced_within(problem, x, Bounds(*bounds), xi, outcomes)


def _priced_within(problem: Problem, x: Array, bounds: Bounds, xi: Array, outcomes: Array) -> None:
    """Check decisions (n) at contexts (n, k) for bounds (n), by outcomes (many, m)."""
    z = problem.solve(xi[:, None, :], _ONE, x).z
    other, who, found = np.roll(z, 1, axis=0), "within", ranges.within(problem, bounds)
    said = *found.range(x, z), *found.range_of_difference(x, z, other), *found.verdicts(x, z)
    fits = all(part.shape == (len(x),) for part in said)
    expect(fits, who, f"answers of shape {(len(x),)}")
    for i in range(len(x)):
        one = ranges.within(problem, Bounds(bounds.low[i], bounds.high[i]))
        asked = (x[i], z[i]), (x[i], z[i], other[i])
        alone = *one.range(*asked[0]), *one.range_of_difference(*asked[1]), *one.verdicts(*asked[0])
        expect(same_bits(alone, tuple(part[i] for part in said)), who, "batch = alone")
        here = np.broadcast_to(x[i], (len(outcomes), x.shape[-1]))
        known = bounds.low[i], bounds.high[i]
        held = outcomes[Bounds(*known).holds(outcomes) & _possible(problem, here, outcomes)]
        if not len(held):
            continue
        cost, cost_of_other = (problem.cost(x[i], d[i], held) for d in (z, other))
        _expect_between(cost, alone[0], alone[1], np.abs(cost), "costs")
        size = np.abs(cost) + np.abs(cost_of_other)
        _expect_between(cost - cost_of_other, alone[2], alone[3], size, "differences")
        feasible = problem.violation(x[i], z[i], held) <= 0
        kept = (alone[4] | ~feasible).all() and (alone[5] | feasible).all()
        expect(bool(kept), who, "verdicts that hold for all outcomes within the bounds")
    if is_ranged(problem):
        low, high = problem.range(x, z)
        wide = arguments.outside(said[0], low, high) | arguments.outside(said[1], low, high)
        none = ~(said[4] | said[5])  # no possible outcome is within the bounds
        expect(bool((none | ~wide).all()), who, "nothing wider than `range`")


def _possible(problem: Problem, x: Array, xi: Array) -> BoolArray:
    return problem.possible(x, xi) if is_ranged(problem) else np.ones(len(xi), bool)


def _expect_between(values: Array, low: Array, high: Array, size: Array, what: str) -> None:
    rounding = _ROUNDING * np.maximum(1.0, size)
    kept = ((values >= low - rounding) & (values <= high + rounding)).all()
    expect(bool(kept), "within", f"ends of {what} that no outcome within the bounds exceeds")


def abilities_given_on(problem: Problem, x: Array, xi: Array) -> None:
    """A problem around another one gives on what that is able to do, or says why not."""
    expect_given_on(problem, Problem)


PROBLEM_LAWS = (
    shapes,
    batch_equals_alone,
    judged_as_asked_apart,
    pure,
    feasible_and_priced,
    best_and_smallest,
    one_scenario_or_two_halves,
    met_and_priced_under_scenarios,
    within_its_range,
    differences_within_their_range,
    priced_within_bounds,
    refuses_nan,
    abilities_given_on,
)
