"""Laws that every problem and policy keeps, ours and yours: run them on your own classes.

    from bocopt.checks import check_policy, check_problem
    check_problem(my_problem, x, xi)            # x (n, k) and xi (n, m): samples of valid input
    check_policy(my_policy, my_stream)

Each law is a function of its own. A broken one raises `LawError`, which says what was expected.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.abilities import Lockstep, SmallestOfTies
from bocopt.core import (
    Array,
    IntArray,
    Policy,
    Problem,
    Sampler,
    Solution,
    Status,
    Stream,
    is_ranged,
    judges,
    knows_differences,
)
from bocopt.loop import play
from bocopt.numeric.history import History
from bocopt.numeric.stacking import axes_of, key, stacked, unstack
from bocopt.policies.matching import check_same_problem, problem_of
from bocopt.state import flatten, rebuild
from bocopt.wrappers import forgotten, has, promises, says, scenarios_of

_ONE = np.ones(1)
_ROUNDING = 1e-9  # relative, of values that a solver of continuous programs gives
_COMPARED = ("x", "decision", "xi", "cost", "feasible", "hindsight", "solvable")


class LawError(AssertionError):
    """A class does not keep a law."""


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


def check_policy(
    policy: Policy[Any],
    stream: Stream,
    *,
    problem: Problem | None = None,
    seeds: tuple[int, ...] = (0, 1, 2),
    horizon: int = 20,
) -> None:
    """Check a policy on the first stages of a stream, for a few trials.

    `problem` is only needed for a policy that does not say its own.
    """
    arguments.kind("check_policy", "policy", policy, Policy)
    arguments.kind("check_policy", "stream", stream, Stream)
    problem = problem_of("check_policy", problem, policy)
    check_same_problem(policy, problem)
    arguments.integer("check_policy", "horizon", horizon, "[2, inf)")
    given = arguments.seeds_of("check_policy", seeds)
    stages = list(islice(stream.stages(given), horizon))
    if len(stages) < 2 or given.size < 2:
        raise ValueError("check_policy needs at least 2 stages and 2 seeds.")
    for law in POLICY_LAWS:
        law(policy, problem, given, stages)


def shapes(problem: Problem, x: Array, xi: Array) -> None:
    """Answers have the leading axes of the question and the sizes of `dims`."""
    n = len(x)
    solution = problem.solve(xi[:, None, :], _ONE, x)
    _expect(solution.z.shape == (n, problem.dims.z), "solve", f"z of shape {(n, problem.dims.z)}")
    for name in ("value", "status", "gap"):
        _expect(getattr(solution, name).shape == (n,), "solve", f"{name} of shape {(n,)}")
    for measure in (problem.cost, problem.violation):
        shape = np.shape(measure(x, solution.z, xi))
        _expect(shape == (n,), measure.__name__, f"an answer of shape {(n,)}, not {shape}")


def batch_equals_alone(problem: Problem, x: Array, xi: Array) -> None:
    """An instance in a batch is answered as it is alone, bit for bit."""
    batch = problem.solve(xi[:, None, :], _ONE, x)
    costs, violations = problem.cost(x, batch.z, xi), problem.violation(x, batch.z, xi)
    for i in range(len(x)):
        alone = problem.solve(xi[i : i + 1], _ONE, x[i])
        inside = Solution(*(part[i] for part in batch))
        _expect(_same(alone, inside), "solve", "the same answer in a batch as alone")
        _expect(bool(problem.cost(x[i], batch.z[i], xi[i]) == costs[i]), "cost", "batch = alone")
        lone = problem.violation(x[i], batch.z[i], xi[i])
        _expect(bool(lone == violations[i]), "violation", "batch = alone")


def judged_as_asked_apart(problem: Problem, x: Array, xi: Array) -> None:
    """`judge`, where a problem has it, answers with its `cost` and `violation`, bit for bit."""
    if not judges(problem):
        return
    z = problem.solve(xi[:, None, :], _ONE, x).z
    pairs = x[:, None, :], z[:, None, :], xi  # each decision with every outcome
    for question in ((x, z, xi), (x[0], z[0], xi[0]), pairs):
        cost, violation = problem.judge(*question)
        _expect(_same(cost, problem.cost(*question)), "judge", "a cost that is `cost`'s")
        same = _same(violation, problem.violation(*question))
        _expect(same, "judge", "a violation that is `violation`'s")


def pure(problem: Problem, x: Array, xi: Array) -> None:
    """Asked twice, the answer is the same, and the question is left as it was."""
    w = np.full(len(xi), 1.0 / len(xi))
    before = x.copy(), xi.copy(), w.copy()
    first, second = (problem.solve(xi, w, x[0]) for _ in range(2))
    problem.cost(x, np.broadcast_to(first.z, (len(x), problem.dims.z)), xi)
    _expect(_same(before, (x, xi, w)), "solve or cost", "to leave its arguments alone")
    _expect(_same(first, second), "solve", "the same answer to the same question")


def feasible_and_priced(problem: Problem, x: Array, xi: Array) -> None:
    """Check that what is called optimal is feasible, and that `value` is what `cost` says."""
    solution = problem.solve(xi[:, None, :], _ONE, x)
    optimal = solution.status == Status.OPTIMAL
    bad = optimal & (problem.violation(x, solution.z, xi) > 0)
    _expect(not bad.any(), "solve", "an optimal z that does not violate its own scenario")
    cost = problem.cost(x, solution.z, xi)
    _expect(bool((solution.value == cost)[optimal].all()), "solve", "value = cost of z")
    none = solution.status == Status.INFEASIBLE
    _expect(bool(np.isinf(solution.value[none]).all()), "solve", "value inf where infeasible")


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
            _expect(not (there & (cost < solution.value - margin)).any(), "solve", "an optimal z")
            tie = there & (cost == solution.value) & (step < 0) & smallest
            _expect(not tie.any(), "solve", "the lexicographically smallest of equal z")


def one_scenario_or_two_halves(problem: Problem, x: Array, xi: Array) -> None:
    """A scenario and its two halves are the same distribution."""
    for i in range(len(x)):
        whole = problem.solve(xi[i : i + 1], _ONE, x[i])
        halves = problem.solve(np.repeat(xi[i : i + 1], 2, axis=0), np.full(2, 0.5), x[i])
        same = bool((whole.z == halves.z).all())
        _expect(same, "solve", "the same z for a scenario and for its two halves")


def met_and_priced_under_scenarios(problem: Problem, x: Array, xi: Array) -> None:
    """Under many scenarios, a z with a finite value meets the problem's risk, which gives it."""
    w = np.full(len(xi), 1.0 / len(xi))
    solution = problem.solve(xi, w, x[0])
    if not np.isfinite(solution.value):
        return
    z = np.broadcast_to(solution.z, (len(xi), problem.dims.z))
    here = np.broadcast_to(x[0], x.shape)
    met = problem.risk.met(problem.violation(here, z, xi), w)
    _expect(bool(met), "solve", "a z that meets the risk, or an infinite value")
    value = float(problem.risk.value(problem.cost(here, z, xi), w))
    close = abs(value - float(solution.value)) <= _ROUNDING * max(1.0, abs(value))
    _expect(close, "solve", "the value that the risk gives to the costs of z")


def refuses_nan(problem: Problem, x: Array, xi: Array) -> None:
    """A NaN is an error, not an answer."""
    bad = np.full_like(xi[:1], np.nan)
    _expect_error(lambda: problem.solve(bad, _ONE, x[0]), "solve", "a NaN scenario")
    z = problem.solve(xi[:1], _ONE, x[0]).z
    _expect_error(lambda: problem.cost(x[0], z, bad[0]), "cost", "a NaN outcome")


def within_its_range(problem: Problem, x: Array, xi: Array) -> None:
    """Whatever possible outcome comes, a decision costs what `range` said before, where it does."""
    if not is_ranged(problem):
        return
    z = problem.solve(xi[:, None, :], _ONE, x).z
    low, high = (np.asarray(end) for end in problem.range(x, z))
    _expect(low.shape == high.shape == (len(x),), "range", f"two answers of shape {(len(x),)}")
    alone = [np.shape(end) for end in problem.range(x[0], z[0])]
    _expect(alone == [(), ()], "range", "two numbers for one decision")
    cost = problem.cost(x[:, None, :], z[:, None, :], xi)  # each decision with every outcome
    out = arguments.outside(cost, low[:, None], high[:, None])
    out &= problem.possible(x[:, None, :], xi)
    _expect(not out.any(), "range", "a range that no possible outcome exceeds")


def differences_within_their_range(problem: Problem, x: Array, xi: Array) -> None:
    """Whatever possible outcome comes, two decisions differ as `range_of_difference` said before.

    It is never wider than both ranges, zero for a decision and itself, and the same in a batch.
    """
    if not knows_differences(problem):
        return
    z = problem.solve(xi[:, None, :], _ONE, x).z
    other, who = np.roll(z, 1, axis=0), "range_of_difference"
    low, high = (np.asarray(end) for end in problem.range_of_difference(x, z, other))
    _expect(low.shape == high.shape == (len(x),), who, f"two answers of shape {(len(x),)}")
    alone = np.array([problem.range_of_difference(x[i], z[i], other[i]) for i in range(len(x))])
    _expect(_same(alone.T, np.stack([low, high])), who, "batch = alone")
    itself = problem.range_of_difference(x, z, z)
    _expect(not np.any(itself), who, "zero for a decision and itself")
    (least, largest), (least_other, largest_other) = (problem.range(x, d) for d in (z, other))
    wider = arguments.outside(low, least - largest_other, largest - least_other)
    wider |= arguments.outside(high, least - largest_other, largest - least_other)
    _expect(not wider.any(), who, "nothing wider than the ranges of both")
    here = x[:, None, :]
    costs = [problem.cost(here, d[:, None, :], xi) for d in (z, other)]  # with every outcome
    rounding = _ROUNDING * np.maximum(1.0, np.abs(costs).sum(axis=0))
    more = costs[0] - costs[1]
    out = (more < low[:, None] - rounding) | (more > high[:, None] + rounding)
    _expect(not (out & problem.possible(here, xi)).any(), who, "ends that no outcome exceeds")


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
    refuses_nan,
)

Stages = list[tuple[Array, Array]]


def decisions_fit(policy: Policy[Any], problem: Problem, seeds: IntArray, stages: Stages) -> None:
    """A decision has the leading axes of the seeds and the size of `dims`."""
    solution = policy.decide(policy.init(seeds), 0, stages[0][0]).solution
    wanted = (*seeds.shape, problem.dims.z)
    _expect(np.shape(solution.z) == wanted, "decide", f"z of shape {wanted}")


def trial_equals_batch(
    policy: Policy[Any], problem: Problem, seeds: IntArray, stages: Stages
) -> None:
    """A trial alone gives the same bits as inside a batch."""
    batch = list(_played(policy, problem, seeds, stages))
    for i, seed in enumerate(seeds):
        own = [(x[i], xi[i]) for x, xi in stages]
        alone = _played(policy, problem, np.array(seed), own)
        for one, many in zip(alone, batch, strict=True):
            same = _same(one, [leaf[i] for leaf in many])
            _expect(same, "decide and learn", "the same for a trial alone as inside a batch")


def deciding_is_pure(
    policy: Policy[Any], problem: Problem, seeds: IntArray, stages: Stages
) -> None:
    """`decide` and `learn` leave the state as it was, and answer the same when asked again."""
    state = policy.init(seeds)
    for t, (x, xi) in enumerate(stages):
        before = [leaf.copy() for leaf in _visible(state)]
        decision = policy.decide(state, t, x)
        again = policy.decide(state, t, x)
        _expect(_same(decision, again), "decide", "the same decision when asked again")
        after = policy.learn(state, t, x, decision, xi)
        _expect(_same(before, _visible(state)), "decide or learn", "to leave the state alone")
        state = after


def restored_equals_uninterrupted(
    policy: Policy[Any], problem: Problem, seeds: IntArray, stages: Stages
) -> None:
    """A state rebuilt from its arrays goes on with the same bits."""
    state: Any = policy.init(seeds)
    template = restored = state  # what a file is read into: the state before the first stage
    for t, (x, xi) in enumerate(stages):
        stage, state = play(policy, problem, state, t, x, xi)
        arrays = {name: leaf.copy() for name, leaf in flatten(restored).items()}
        again, restored = play(policy, problem, rebuild(template, arrays), t, x, xi)
        same = _same(stage.decision, again.decision) and _same(_visible(state), _visible(restored))
        _expect(same, "a state", "to hold all that its policy needs, in its arrays")


def branches_are_apart(
    policy: Policy[Any], problem: Problem, seeds: IntArray, stages: Stages
) -> None:
    """Learning twice from one state gives two states that do not see each other."""
    trunk: Any = policy.init(seeds)
    (x, xi), (_, other) = stages[0], stages[1]
    decision = policy.decide(trunk, 0, x)
    left = policy.learn(trunk, 0, x, decision, xi)
    shown = [leaf.copy() for leaf in _visible(left)]
    policy.learn(trunk, 0, x, decision, other)
    _expect(_same(shown, _visible(left)), "learn", "to leave the other branch alone")
    again = policy.learn(trunk, 0, x, decision, xi)
    _expect(_same(shown, _visible(again)), "learn", "the same state from the same lesson")


def nan_is_not_learned(
    policy: Policy[Any], problem: Problem, seeds: IntArray, stages: Stages
) -> None:
    """A NaN outcome is an error, or not read at all: it never gets into a state."""
    x, xi = stages[0]
    state: Any = policy.init(seeds)
    before = [leaf.copy() for leaf in _visible(state)]
    decision = policy.decide(state, 0, x)
    usual = _nans(policy.learn(state, 0, x, decision, xi))
    try:
        found = _nans(policy.learn(state, 0, x, decision, np.full_like(xi, np.nan)))
    except ValueError:
        found = 0
    _expect(found <= usual, "learn", "a ValueError for a NaN outcome")
    _expect(_same(before, _visible(state)), "a bad outcome", "to leave the state alone")


def stacked_equals_alone(
    policy: Policy[Any], problem: Problem, seeds: IntArray, stages: Stages
) -> None:
    """Check that trials of a `lockstep` policy, at different stages in one call, are as alone."""
    if not promises(policy, Lockstep):
        return
    axes, many = axes_of(policy.init), min(len(stages), 4)
    states: list[Any] = []
    for i, first in enumerate((0, 1)):  # as many outcomes, of other stages
        state: Any = policy.init(np.array(seeds.flat[i]))
        for t in range(first, many - 2 + first):
            x, xi = (part.reshape(seeds.size, -1)[i] for part in stages[t])
            _, state = play(policy, problem, state, t, x, xi)
        states.append(state)
    if key(states[0], axes) != key(states[1], axes):
        return
    numbers: Any = np.array([many - 2, many - 1])
    pairs = [[part.reshape(seeds.size, -1)[i] for part in stages[t]] for i, t in enumerate(numbers)]
    x, xi = (np.stack(column) for column in zip(*pairs, strict=True))
    together = stacked(states, axes)
    decision = policy.decide(together, numbers, x)
    after = unstack(policy.learn(together, numbers, x, decision, xi), axes, 2)
    for i, t in enumerate(numbers.tolist()):
        taken = policy.decide(states[i], t, x[i])
        learned = policy.learn(states[i], t, x[i], taken, xi[i])
        inside = [leaf[i] for leaf in _visible(decision)]
        same = _same(_visible(taken), inside) and _same(_visible(learned), _visible(after[i]))
        _expect(same, "decide and learn", "the same for a trial alone as beside other stages")


def abilities_given_on(
    policy: Policy[Any], problem: Problem, seeds: IntArray, stages: Stages
) -> None:
    """A policy around a policy or a model gives on what that is able to do, or says why not."""
    for name, inner in sorted(getattr(policy, "__dict__", {}).items()):
        if not has(inner, Policy) and not has(inner, Sampler):
            continue
        missing = ", ".join(forgotten(policy, inner))
        what = f"to give on what its '{name}' has ({missing}), by `inner`, `parts` or `withholds`"
        _expect(not missing, type(policy).__name__, f"{what}: see bocopt.wrappers")


def scenarios_fit(policy: Policy[Any], problem: Problem, seeds: IntArray, stages: Stages) -> None:
    """Scenarios under which a policy says that it decides are outcomes with weights."""
    state: Any = policy.init(seeds)
    for t, (x, xi) in enumerate(stages[:2]):
        told = scenarios_of(policy, state, t, x)
        if told is not None:
            (*_, many, size), weights = np.shape(told[0]), np.shape(told[1])
            fits = size == problem.dims.xi and weights[-1:] == (many,)
            _expect(fits, "scenarios", f"(s, {problem.dims.xi}) and their weights (s)")
        _, state = play(policy, problem, state, t, x, xi)


POLICY_LAWS = (
    decisions_fit,
    trial_equals_batch,
    deciding_is_pure,
    restored_equals_uninterrupted,
    branches_are_apart,
    nan_is_not_learned,
    stacked_equals_alone,
    abilities_given_on,
    scenarios_fit,
)


def _played(
    policy: Policy[Any], problem: Problem, seeds: IntArray, stages: Stages
) -> Iterator[list[Any]]:
    """All that each stage shows, as arrays with the leading axes of the seeds."""
    state: Any = policy.init(seeds)
    for t, (x, xi) in enumerate(stages):
        stage, state = play(policy, problem, state, t, x, xi)
        shown = stage._asdict()
        yield _visible((*(shown[name] for name in _COMPARED), *stage.info.values()))


def _visible(state: Any) -> list[Any]:
    """Return the arrays of a state: of a history its rows, not the spare room that states share."""
    if isinstance(state, History):
        return [state.rows]
    if isinstance(state, tuple):
        return [leaf for part in state for leaf in _visible(part)]
    return [np.asarray(state)]


def _nans(state: Any) -> int:
    return sum(int(np.isnan(leaf).sum()) for leaf in _visible(state) if leaf.dtype.kind == "f")


def _same(left: Any, right: Any) -> bool:
    """Bit for bit, NaN equal to NaN."""
    if isinstance(left, tuple | list):
        pairs = zip(left, right, strict=True)
        return all(_same(one, other) for one, other in pairs)
    return np.shape(left) == np.shape(right) and bool(
        np.array_equal(left, right, equal_nan=np.asarray(left).dtype.kind == "f")
    )


def _expect(kept: bool, who: str, what: str) -> None:
    if not kept:
        raise LawError(f"Expected of {who}: {what}.")


def _expect_error(call: Callable[[], object], who: str, what: str) -> None:
    try:
        call()
    except ValueError:
        return
    raise LawError(f"Expected of {who}: a ValueError for {what}.")
