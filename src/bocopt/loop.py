"""The loop: observe x, decide z, see xi, learn. It knows nothing about what it runs."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from bocopt import arguments
from bocopt.abilities import NamesColumns, TakesMissing
from bocopt.core import (
    Array,
    Decision,
    IntArray,
    Policy,
    Problem,
    S,
    State,
    Stream,
)
from bocopt.policies.matching import check_same_problem, policy_of, problem_of
from bocopt.policies.names import names_of
from bocopt.stages import Stage, review
from bocopt.wrappers import find, promises

__all__ = ["Stage", "play", "run"]  # the rest is for those who play in other ways


def play(
    policy: Policy[S],
    problem: Problem,
    state: S,
    t: int,
    x: Array,
    xi: Array,
    *,
    hindsight: bool = True,
) -> tuple[Stage, S]:
    """Play one stage. The policy decides before it is shown xi.

    Without `hindsight`, what could have been decided is not computed: one program less a stage.
    """
    arguments.kind("play", "policy", policy, Policy)
    arguments.kind("play", "problem", problem, Problem)
    arguments.kind("play", "state", state, State)
    check_same_problem(policy, problem)
    arguments.integer("play", "t", t, "[0, inf)")
    return _played(policy, problem, state, t, x, xi, hindsight)


def _played(
    policy: Policy[S], problem: Problem, state: S, t: int, x: Array, xi: Array, hindsight: bool
) -> tuple[Stage, S]:
    x = context("play", policy, problem, x)
    xi = arguments.array("play", "xi", xi, (problem.dims.xi,))
    return arguments.checked(_decided_and_learned, policy, problem, state, t, x, xi, hindsight)


def _decided_and_learned(
    policy: Policy[S], problem: Problem, state: S, t: int, x: Array, xi: Array, hindsight: bool
) -> tuple[Stage, S]:
    decision = policy.decide(state, t, x)
    decision = checked_decision(f"{type(policy).__name__}.decide", problem, decision)
    after = policy.learn(state, t, x, decision, xi)
    return review(problem, t, x, decision, xi, after.info, hindsight), after


def checked_decision(owner: str, problem: Problem, decision: Decision) -> Decision:
    """Return the decision of `owner` (say "BMA.decide"), with a finite z of the right size."""
    if not isinstance(decision, Decision):
        raise arguments.wrong(owner, "decision", "a Decision", decision, arguments.RETURNED)
    given = decision.solution.z
    z = arguments.array(owner, "z", given, (problem.dims.z,), arguments.RETURNED)
    return decision if z is given else decision._replace(solution=decision.solution._replace(z=z))


def context(owner: str, policy: Policy[S], problem: Problem, x: Array) -> Array:
    """A context that the policy and the problem can take: NaN only where neither minds."""
    unread = problem.dims.x is None
    gaps = unread and promises(policy, TakesMissing)
    return arguments.array(owner, "x", x, (... if unread else problem.dims.x,), gaps=gaps)


def run(
    policy: Policy[Any] | Problem,
    stream: Stream,
    *,
    problem: Problem | None = None,
    seeds: Any = 0,
    horizon: int | None = None,
    hindsight: bool = True,
) -> Iterator[Stage]:
    """Play stage after stage; `seeds` is one number (one trial) or many (a leading axis).

    A problem alone is left to the default learner. `problem` is what decisions are judged by, for a
    policy that does not say its own. Without a horizon it goes on as long as the stream does;
    `hindsight` as in `play`.

    >>> from bocopt.problems import Newsvendor
    >>> from bocopt.streams import Replay
    >>> bakery = Newsvendor(unit_cost=[1.0], price=[3.0])
    >>> days = Replay(x=[[0.0], [1.0]], xi=[[4.0], [7.0]])
    >>> [stage.decision.solution.status.item() for stage in run(bakery, days)]
    [6, 0]
    """
    policy = policy_of("run", policy)
    arguments.kind("run", "stream", stream, Stream)
    problem = problem_of("run", problem, policy)
    check_same_problem(policy, problem)
    seeds = arguments.seeds_of("run", seeds)
    if horizon is not None:
        arguments.integer("run", "horizon", horizon, "[1, inf)")
    return _stages(policy, problem, stream, seeds, horizon, hindsight)


def _stages(
    policy: Policy[S],
    problem: Problem,
    stream: Stream,
    seeds: IntArray,
    horizon: int | None,
    hindsight: bool,
) -> Iterator[Stage]:
    state = policy.init(seeds)
    names = names_of(problem, policy) | _columns(stream) or None
    outcomes = stream.stages(seeds)
    for t in count() if horizon is None else range(horizon):
        try:
            x, xi = next(outcomes)
        except StopIteration:
            if t == 0 or horizon is not None:
                raise ValueError(
                    f"The stream ended after {t} stages; {horizon or 'at least one'} wanted."
                ) from None
            return
        stage, state = _played(policy, problem, state, t, x, xi, hindsight)
        yield stage._replace(names=names)


def _columns(stream: Stream) -> dict[str, tuple[str, ...]]:
    """Names of the numbers of x and xi, as far as the stream has any."""
    found = find(stream, NamesColumns)
    if found is None:
        return {}
    named = {"x": tuple(found.part.x_names), "xi": tuple(found.part.xi_names)}
    return {key: names for key, names in named.items() if names}
