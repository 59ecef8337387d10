"""Is the new policy better than what I do now, by how much, and how sure is that?"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.core import Array, Policy, Problem, Sense, Stream
from bocopt.guarantees import Certificate, Comparison, Difference, comparisons, evidence_of
from bocopt.guarantees.certificate import nan_is_no_news
from bocopt.guarantees.comparison import verdict
from bocopt.guarantees.phrases import amount, between, verb
from bocopt.numeric.blocks import block_interval, block_length
from bocopt.policies import Recorded, Rule, Shadowed
from bocopt.run import run

Today = Policy[Any] | Callable[[Array], ArrayLike] | ArrayLike


class Bootstrap(NamedTuple):
    """An interval for the average difference by a block bootstrap: asymptotic, for one look."""

    low: Array  # ()
    high: Array  # ()
    length: Array  # () of a block, in stages, chosen from the data


class Compared(NamedTuple):
    """A policy beside what is done now; all per stage, with the leading axes of the seeds.

    Differences are costs of the policy less those of today: negative where it is better.
    """

    name: str
    sense: Sense
    cost: Array  # () of the policy
    today: Array  # () what is paid now
    difference: Difference  # seen, and what is believable at all times at once
    bootstrap: Bootstrap
    feasible: Array  # () share of stages
    feasible_today: Array  # ()
    differences: Array  # (T) stage by stage
    certificate: Certificate
    delta: float

    @property
    def percent(self) -> Array:
        """() of what is paid now; negative where the policy is better."""
        return np.asarray(100.0 * self.difference.seen / np.abs(self.today))

    def words(self, unit: str = "") -> str:
        """For one trial, in sentences; `unit` is that of a cost, say " EUR"."""
        if self.cost.ndim:
            return _of_many(self)
        seen, sense, d = float(self.difference.seen), self.sense, self.difference
        today = sense.sign * float(self.today)
        sure = f"With {100 * (1 - self.delta):g}% confidence, at all times at once"
        sequence = f"{sure}: {between(float(d.low), float(d.high), sense, unit)}, {verdict(d)}."
        if not self.certificate.applicable:
            sequence = f"At all times: not applicable. {self.certificate.note}"
        ends = between(float(self.bootstrap.low), float(self.bootstrap.high), sense, unit)
        lines = (
            f"{self.name} {verb(sense)} {amount(seen, sense, unit)} a stage than what is done now "
            f"({abs(float(self.percent)):.2g}% of {today:.4g}{unit}; {self.differences.size} "
            "stages).",
            sequence,
            f"For one look, roughly: {ends} (block bootstrap, 95%, blocks of "
            f"{int(self.bootstrap.length)}).",
            f"Feasible in {100 * float(self.feasible):.3g}% of the stages, now "
            f"{100 * float(self.feasible_today):.3g}%.",
        )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.words()


@overload
def compare(
    policy: Policy[Any],
    baseline: Today,
    problem: Problem,
    stream: Stream,
    *,
    seeds: Any = ...,
    horizon: int | None = ...,
    scale: float | None = ...,
    delta: float = ...,
) -> Compared: ...
@overload
def compare(
    policy: Mapping[str, Policy[Any]],
    baseline: Today,
    problem: Problem,
    stream: Stream,
    *,
    seeds: Any = ...,
    horizon: int | None = ...,
    scale: float | None = ...,
    delta: float = ...,
) -> dict[str, Compared]: ...


def compare(
    policy: Policy[Any] | Mapping[str, Policy[Any]],
    baseline: Today,
    problem: Problem,
    stream: Stream,
    *,
    seeds: Any = 0,
    horizon: int | None = None,
    scale: float | None = None,
    delta: float = 0.05,
) -> Compared | dict[str, Compared]:
    """Play both on the same outcomes, and tell which costs less.

    policy      one, or several by name; the more, the less sure of each: they share delta
    baseline    what is done now: a policy, a rule z = f(x), or the decisions taken (T, d)
    scale       the unit of the bets, declared in advance: about what the difference of two
                decisions can be on most stages (default: that of the first stage)

    The confidence sequence needs ranges (`Ranged`); where the problem knows how far apart the costs
    of two decisions can lie, it is tighter. It may be looked at, and the stream stopped, at any
    time. The bootstrap interval beside it needs no range, and holds roughly, for one look at many
    stages.

    >>> from bocopt import Constant, Knapsack, PaperStream, SampleAverage
    >>> problem = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)
    >>> today = Constant([1, 1, 1, 1])
    >>> found = compare(
    ...     SampleAverage(problem), today, problem, PaperStream(), horizon=100, scale=240.0
    ... )
    >>> print(found)
    SampleAverage earns 0.199 more a stage than what is done now (0.24% of 83.85; 100 stages).
    With 95% confidence, at all times at once: from 10.2 less to 11 more, which is better is open.
    For one look, roughly: from 5.66 less to 4.97 more (block bootstrap, 95%, blocks of 3).
    Feasible in 93% of the stages, now 100%.
    """
    arguments.kind("compare", "problem", problem, Problem)
    named = policy if isinstance(policy, Mapping) else {type(policy).__name__: policy}
    shadowed = Shadowed(_today(baseline), named)
    watched = comparisons(shadowed.names, scale=scale, sense=problem.sense, delta=delta)
    states: list[Any] | None = None
    costs, feasible = [], []
    for stage in run(shadowed, problem, stream, seeds=seeds, horizon=horizon, hindsight=False):
        evidence = evidence_of(problem, stage)
        if states is None:
            states = [one.init(evidence.cost.shape) for one in watched]
        with nan_is_no_news():
            states = [one.step(state, evidence) for one, state in zip(watched, states, strict=True)]
        shadows = np.moveaxis(stage.info["shadow_z"], -2, 0)
        violations = [problem.violation(stage.x, z, stage.xi) for z in shadows]
        costs.append(np.stack([stage.cost, *(one.cost for one in evidence.shadows)], axis=-1))
        feasible.append(np.stack([stage.feasible, *(v <= 0 for v in violations)], axis=-1))
    paid, met = np.stack(costs, axis=-2), np.stack(feasible, axis=-2)  # (T, 1 + policies)
    pairs = zip(watched, states or (), strict=True)
    found = {
        one.name: compared_of(one, state, paid[..., [0, i]], met[..., [0, i]], problem.sense)
        for i, (one, state) in enumerate(pairs, start=1)
    }
    return found if isinstance(policy, Mapping) else found[shadowed.names[0]]


def _today(baseline: Today) -> Policy[Any]:
    if hasattr(baseline, "decide") and hasattr(baseline, "learn"):
        return cast(Policy[Any], baseline)
    if callable(baseline):
        return Rule(baseline)
    try:
        return Recorded(baseline)
    except (TypeError, ValueError) as error:
        expected = "a policy, a rule z = f(x) or the decisions taken (T, d)"
        raise arguments.wrong("compare", "baseline", expected, baseline) from error


def compared_of(one: Comparison, state: Any, paid: Array, met: Array, sense: Sense) -> Compared:
    """After a comparison was folded over stages; paid, met (T, 2): today's first."""
    differences = paid[..., 1] - paid[..., 0]
    rows = differences.reshape(-1, differences.shape[-1])
    lengths = [block_length(row) for row in rows]
    intervals = [block_interval(row, n) for row, n in zip(rows, lengths, strict=True)]
    lead = differences.shape[:-1]
    low, high = (np.array(ends).reshape(lead) for ends in zip(*intervals, strict=True))
    return Compared(
        name=one.name,
        sense=sense,
        cost=paid[..., 1].mean(axis=-1),
        today=paid[..., 0].mean(axis=-1),
        difference=one.difference(state),
        bootstrap=Bootstrap(low, high, np.array(lengths).reshape(lead)),
        feasible=met[..., 1].mean(axis=-1),
        feasible_today=met[..., 0].mean(axis=-1),
        differences=differences,
        certificate=one.certificate(state),
        delta=one.delta,
    )


def _of_many(found: Compared) -> str:
    """For several trials: means, and in how many it is surely better or worse."""
    trials, d = found.cost.size, found.difference
    known = np.isfinite(d.since) & found.certificate.applicable
    better, worse = (int((known & side).sum()) for side in (d.high <= 0, d.low >= 0))
    percent, seen = found.percent, amount(float(d.seen.mean()), found.sense)
    spread = f" ± {percent.std(ddof=1):.2g}" if trials > 1 else ""
    return (
        f"{found.name} {verb(found.sense)} {seen} a stage than what is done now (mean of {trials} "
        f"trials; {percent.mean():+.2g}{spread}% in cost). At {100 * (1 - found.delta):g}% "
        f"confidence it is better in {better} of them and worse in {worse}."
    )
