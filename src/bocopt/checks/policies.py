"""Laws of policies, each a function of a problem, seeds and the stages of a stream."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.abilities import Lockstep
from bocopt.checks.law import expect, expect_given_on, same_bits
from bocopt.core import Array, IntArray, Policy, Problem, Sampler, Stream
from bocopt.loop import play
from bocopt.numeric.history import History
from bocopt.numeric.stacking import axes_of, key, stacked, unstack
from bocopt.policies.matching import check_same_problem, problem_of
from bocopt.state import flatten, rebuild
from bocopt.wrappers import promises, scenarios_of

_COMPARED = ("x", "decision", "xi", "cost", "feasible", "hindsight", "solvable")

Stages = list[tuple[Array, Array]]


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


def decisions_fit(policy: Policy[Any], problem: Problem, seeds: IntArray, stages: Stages) -> None:
    """A decision has the leading axes of the seeds and the size of `dims`."""
    solution = policy.decide(policy.init(seeds), 0, stages[0][0]).solution
    wanted = (*seeds.shape, problem.dims.z)
    expect(np.shape(solution.z) == wanted, "decide", f"z of shape {wanted}")


def trial_equals_batch(
    policy: Policy[Any], problem: Problem, seeds: IntArray, stages: Stages
) -> None:
    """A trial alone gives the same bits as inside a batch."""
    batch = list(_played(policy, problem, seeds, stages))
    for i, seed in enumerate(seeds):
        own = [(x[i], xi[i]) for x, xi in stages]
        alone = _played(policy, problem, np.array(seed), own)
        for one, many in zip(alone, batch, strict=True):
            same = same_bits(one, [leaf[i] for leaf in many])
            expect(same, "decide and learn", "the same for a trial alone as inside a batch")


def deciding_is_pure(
    policy: Policy[Any], problem: Problem, seeds: IntArray, stages: Stages
) -> None:
    """`decide` and `learn` leave the state as it was, and answer the same when asked again."""
    state = policy.init(seeds)
    for t, (x, xi) in enumerate(stages):
        before = [leaf.copy() for leaf in _visible(state)]
        decision = policy.decide(state, t, x)
        again = policy.decide(state, t, x)
        expect(same_bits(decision, again), "decide", "the same decision when asked again")
        after = policy.learn(state, t, x, decision, xi)
        expect(same_bits(before, _visible(state)), "decide or learn", "to leave the state alone")
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
        shown = stage.decision, _visible(state)
        same = same_bits(shown, (again.decision, _visible(restored)))
        expect(same, "a state", "to hold all that its policy needs, in its arrays")


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
    expect(same_bits(shown, _visible(left)), "learn", "to leave the other branch alone")
    again = policy.learn(trunk, 0, x, decision, xi)
    expect(same_bits(shown, _visible(again)), "learn", "the same state from the same lesson")


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
    expect(found <= usual, "learn", "a ValueError for a NaN outcome")
    expect(same_bits(before, _visible(state)), "a bad outcome", "to leave the state alone")


def stacked_equals_alone(
    policy: Policy[Any], problem: Problem, seeds: IntArray, stages: Stages
) -> None:
    """Check that trials of a `lockstep` policy, at different stages in one call, are as alone."""
    if not promises(policy, Lockstep):
        return
    axes, many = axes_of(policy.init), min(len(stages), 4)

    def row(i: int, t: int) -> tuple[Array, Array]:
        """Return the context and the outcome of trial i at stage t."""
        x, xi = stages[t]
        return x.reshape(seeds.size, -1)[i], xi.reshape(seeds.size, -1)[i]

    states: list[Any] = []
    for i, first in enumerate((0, 1)):  # as many outcomes, of other stages
        state: Any = policy.init(np.array(seeds.flat[i]))
        for t in range(first, many - 2 + first):
            _, state = play(policy, problem, state, t, *row(i, t))
        states.append(state)
    if key(states[0], axes) != key(states[1], axes):
        return
    numbers: Any = np.array([many - 2, many - 1])
    pairs = [row(i, t) for i, t in enumerate(numbers)]
    x, xi = (np.stack(column) for column in zip(*pairs, strict=True))
    together = stacked(states, axes)
    decision = policy.decide(together, numbers, x)
    after = unstack(policy.learn(together, numbers, x, decision, xi), axes, 2)
    for i, t in enumerate(numbers.tolist()):
        taken = policy.decide(states[i], t, x[i])
        learned = policy.learn(states[i], t, x[i], taken, xi[i])
        inside = [leaf[i] for leaf in _visible(decision)], _visible(after[i])
        same = same_bits((_visible(taken), _visible(learned)), inside)
        expect(same, "decide and learn", "the same for a trial alone as beside other stages")


def abilities_given_on(
    policy: Policy[Any], problem: Problem, seeds: IntArray, stages: Stages
) -> None:
    """A policy around a policy or a model gives on what that is able to do, or says why not."""
    expect_given_on(policy, Policy, Sampler)


def scenarios_fit(policy: Policy[Any], problem: Problem, seeds: IntArray, stages: Stages) -> None:
    """Scenarios under which a policy says that it decides are outcomes with weights."""
    state: Any = policy.init(seeds)
    for t, (x, xi) in enumerate(stages[:2]):
        scenarios = scenarios_of(policy, state, t, x)
        if scenarios is not None:
            (*_, many, size), weights = np.shape(scenarios[0]), np.shape(scenarios[1])
            fits = size == problem.dims.xi and weights[-1:] == (many,)
            expect(fits, "scenarios", f"(s, {problem.dims.xi}) and their weights (s)")
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
