"""The contracts and records that everything else is written against, on one page.

Names and shapes, the same in every file:

    x (k) context       xi (m) uncertainty    z (d) decision        theta (p) parameters
    scenarios (s, m)    w (s) their weights   u (n) noise           lam learning rate
    alpha feasibility target                  seeds () one trial, (trials,) many

Every function is written for *one* instance; any leading axes (particles, trials) are free and
broadcast. Arguments stand in time order: x, z, xi. `solve` begins with what is always there: the
scenarios, then w, then x. Everything inside is a **cost to minimise**.
"""

from collections.abc import Callable, Iterator
from enum import Enum, IntEnum
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


class Dims(NamedTuple):
    """Sizes of a problem's vectors; `x` is None where the program does not read the context."""

    x: int | None
    z: int
    xi: int


class Sense(Enum):
    """Sense of the objective in reports: a cost or a reward; inside, everything is a cost."""

    MINIMISE = "cost"
    MAXIMISE = "reward"

    @property
    def sign(self) -> float:
        """Factor that turns a cost into the number that is shown: 1, or -1 for a reward."""
        return 1.0 if self is Sense.MINIMISE else -1.0


class Status(IntEnum):
    """Status of a decision: how it came about."""

    OPTIMAL = 0
    INFEASIBLE = 1
    LIMIT = 2
    GIVEN = 3
    POOL = 4
    FALLBACK = 5
    UNINFORMED = 6

    @property
    def message(self) -> str:
        """The status in words.

        >>> Status.LIMIT.message
        'the search stopped at its limit: z is the best decision found, gap bounds what is missed'
        """
        return _MESSAGES[self]


_MESSAGES = MappingProxyType(
    {
        Status.OPTIMAL: "z is optimal",
        Status.INFEASIBLE: "no decision meets the constraints: z is what the problem falls back on",
        Status.LIMIT: "the search stopped at its limit: z is the best decision found, "
        "gap bounds what is missed",
        Status.GIVEN: "z was given, no program was solved",
        Status.POOL: "z is the best of a pool of candidates: a better one may exist",
        Status.FALLBACK: "no decision was found that meets the constraints, though one may exist: "
        "z is what the problem falls back on",
        Status.UNINFORMED: "no outcome was known: z copes with outcomes of any size",
    }
)


class Solution(NamedTuple):
    """Result of `Problem.solve`."""

    z: Array  # (d)
    value: Array  # () the risk of z's cost under the scenarios; +inf if none is feasible
    status: IntArray  # () a Status
    gap: Array  # () how far z may be from optimal, absolute, in cost


class Decision(NamedTuple):
    """A solution, and the arrays that learning from its outcome will need.

    The memo is a nested tuple of arrays. After a restart what was a NamedTuple in it is a plain
    tuple: read it with `Mine(*memo)`.
    """

    solution: Solution
    memo: tuple[Any, ...] = ()


class Bounds(NamedTuple):
    """What is known of an outcome: low <= xi <= high, component by component.

    A component is exact where its ends are equal, and unseen where they are infinite.

    >>> from bocopt.bounds import at_least, bounds_of
    >>> seen = bounds_of("observe", "xi", [12, at_least(87), None], 3)
    >>> seen.low.tolist(), seen.high.tolist()
    ([12.0, 87.0, -inf], [12.0, inf, inf])
    >>> seen.exact.tolist(), seen.unseen.tolist()
    ([True, False, False], [False, False, True])
    >>> bool(seen.holds(np.array([12.0, 90.0, -5.0])))
    True
    """

    low: Array  # (m)
    high: Array  # (m)

    @property
    def exact(self) -> BoolArray:
        """Components (m) that were seen as they are."""
        return np.asarray(self.low == self.high)

    @property
    def unseen(self) -> BoolArray:
        """Components (m) of which nothing is known."""
        return np.isneginf(self.low) & np.isposinf(self.high)

    @property
    def is_exact(self) -> bool:
        """True where every component was seen."""
        return bool(self.exact.all())

    @property
    def recorded(self) -> Array:
        """The number of each component (m) that was seen, or an end; NaN where there is none."""
        end = np.where(np.isfinite(self.low), self.low, self.high)
        return self.low if self.is_exact else np.where(np.isfinite(end), end, np.nan)

    @property
    def finite(self) -> Array:
        """The same (m), with 0 where there is none."""
        return np.nan_to_num(self.recorded, nan=0.0)

    def holds(self, xi: Array) -> BoolArray:
        """Return whether () outcomes (m) are among those that are still possible."""
        return np.asarray(((self.low <= xi) & (xi <= self.high)).all(axis=-1))


class Risk(Protocol):
    """Risk of a decision under scenarios: one number for its costs, and one verdict."""

    @property
    def alpha(self) -> float | None:
        """The share of outcomes in which the constraints are to hold; None: nothing is promised."""
        ...

    def value(self, costs: Array, w: Array) -> Array:
        """Return the number () to be minimised, from costs (s) with weights (s)."""
        ...

    def met(self, violations: Array, w: Array) -> BoolArray:
        """Return whether the constraints hold as far as they are to (), from violations (s) with
        weights (s).
        """
        ...


class Problem(Protocol):
    """min over z of risk.value(cost(x, z, .))  subject to  risk.met(violation(x, z, .)).

    Where some columns are only decided once xi is known, z is what is decided before, and `cost`
    includes the best of them. What a problem may say beside is in `bocopt.abilities`.
    """

    @property
    def dims(self) -> Dims:
        """Sizes of x, z and xi."""
        ...

    @property
    def sense(self) -> Sense:
        """Sense of the objective in reports."""
        ...

    @property
    def risk(self) -> Risk:
        """Risk by which decisions are taken."""
        ...

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        """Return the best z (d) at x (k) under scenarios (s, m) with weights (s); one scenario
        gives P(xi).

        Asked with all three. A problem may do with fewer: equal weights, and no context.
        """
        ...

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        """Return what z (d) pays () at x (k) and xi (m), the payment for infeasibility included."""
        ...

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        """Return the violation () of z (d) at x (k) and xi (m), the one judge of feasibility:
        feasible means <= 0.

        Exact where all is integer; where not, what is within the problem's tolerance is <= 0.
        """
        ...


class Judging(Problem, Protocol):
    """A problem that prices a decision at once: work that both numbers need is done once."""

    def judge(self, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        """Return `cost` and `violation` of z (d) at x (k) and xi (m), each (), with the same bits
        as from these.
        """
        ...


def judges(problem: Problem) -> TypeGuard[Judging]:
    """Return whether a problem prices a decision at once.

    Not so a class that changes `cost` or `violation` of one that does, and leaves its `judge`.
    """
    return _judges(type(problem))


@cache
def _judges(cls: type) -> bool:
    for each in cls.__mro__:
        if "judge" in vars(each):
            return True
        if "cost" in vars(each) or "violation" in vars(each):
            return False
    return False


def judge(problem: Problem, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
    """Return cost and violation (), () of z (d) at x (k), xi (m), at once where the problem can."""
    if judges(problem):
        return problem.judge(x, z, xi)
    return problem.cost(x, z, xi), problem.violation(x, z, xi)


class DeviceProblem(NamedTuple):
    """A problem of one number, by functions that are compiled for a graphics processor too."""

    level: float  # of the quantile of the outcome that decisions are made of
    decision: Callable[[float, tuple[float, ...]], float]  # (quantile, terms) -> z
    paid: Callable[[float, float, tuple[float, ...]], float]  # (z, outcome, terms) -> its cost
    terms: tuple[float, ...]


class Ranged(Problem, Protocol):
    """The cost has bounds that are known before xi: what certificates need.

    Asked by `problems/ranges.py`, `guarantees/monitor.py`, `checks/problems.py`,
    `app/opening.py`, `app/playing/verdict.py` and `live/open_series.py`.
    """

    def range(self, x: Array, z: Array) -> tuple[Array, Array]:
        """Return low and high, each (): for any possible outcome, the cost of z (d) at x (k) lies
        in [low, high].
        """
        ...

    def possible(self, x: Array, xi: Array) -> BoolArray:
        """Return whether () `range` was meant for such an outcome (m), at x (k)."""
        ...


def is_ranged(problem: Problem) -> TypeGuard[Ranged]:
    """Return whether a problem knows bounds of its cost."""
    return hasattr(problem, "range") and hasattr(problem, "possible")


class RangedDifference(Ranged, Protocol):
    """Knows how far apart the costs of two decisions can lie.

    Asked by `problems/ranges.py` and `checks/problems.py`.
    """

    def range_of_difference(self, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
        """Return low and high, each (), for z (d) and other (d) at x (k): cost(x, z, .) - cost(x,
        other, .) lies in [low, high].

        For any possible outcome, and both zero where z is `other`. It is never wider than what the
        ranges of both say.
        """
        ...


def knows_differences(problem: Problem) -> TypeGuard[RangedDifference]:
    """Return whether a problem knows bounds of what one decision costs more than another."""
    return is_ranged(problem) and hasattr(problem, "range_of_difference")


class Within(Protocol):
    """What a problem says of all possible outcomes within some bounds (m).

    Where there is none, its `verdicts` are both False, and the ends mean nothing.
    """

    def range(self, x: Array, z: Array) -> tuple[Array, Array]:
        """Return low and high, each (): for any such outcome, the cost of z (d) at x (k) lies in
        [low, high].
        """
        ...

    def range_of_difference(self, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
        """Return low and high, each (), for z (d) and other (d) at x (k): cost(x, z, .) - cost(x,
        other, .) lies in [low, high], and both are zero where z is `other`.
        """
        ...

    def verdicts(self, x: Array, z: Array) -> tuple[BoolArray, BoolArray]:
        """Return whether z (d) at x (k) may be feasible, and whether infeasible, each ()."""
        ...


class Predictor(Protocol):
    """m(x; theta), pure: the noise is an input (dim_noise 0: the deterministic predictor)."""

    @property
    def dim(self) -> int:
        """Number p of parameters."""
        ...

    @property
    def dim_noise(self) -> int:
        """Number n of noise inputs."""
        ...

    def sample(self, theta: Array, x: Array, u: Array) -> Array:
        """Return the predicted xi (m) for parameters (p) at x (k) with noise (n)."""
        ...


class Differentiable(Predictor, Protocol):
    """A predictor with the derivatives that gradient policies need."""

    def pullback(self, theta: Array, x: Array, g: Array) -> Array:
        """Return the gradient (p) in theta that follows from a gradient g (m) in xi, at x (k)."""
        ...


class Density(Predictor, Protocol):
    """A predictor whose law of xi has a density: what the log score needs."""

    def log_density(self, theta: Array, x: Array, xi: Array) -> Array:
        """Return the log density () of xi (m) at x (k), under parameters (p)."""
        ...


class Centred(Predictor, Protocol):
    """A predictor that can be told what to predict: what a calibrated prior needs."""

    def constant(self, xi: Array) -> Array:
        """Return parameters (p) that predict xi (m) whatever the context, or nearly so."""
        ...


class Prior(Protocol):
    """The belief before any outcome."""

    @property
    def dim(self) -> int:
        """Number p of parameters."""
        ...

    def sample(self, u: Array) -> Array:
        """Return parameters (p) from standard normal noise (p)."""
        ...

    def log_density(self, theta: Array) -> Array:
        """Return the log density () of parameters (p)."""
        ...


class Loss(Protocol):
    """Loss of one parameter at one stage; `lower` bounds it from below.

    What a loss may say beside, for guarantees, is in `bocopt.abilities`.
    """

    @property
    def lower(self) -> float:
        """Lower bound of the loss, for any outcome."""
        ...

    @property
    def dim_noise(self) -> int:
        """Number n of noise inputs."""
        ...

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        """Return the loss () of theta (p) at x (k) and xi (m); u (n) is the stage's noise, common
        to all particles.
        """
        ...


class LossReport(NamedTuple):
    """Losses of one stage under a belief pi, and under q: pi reweighted by the stage."""

    mean_loss: Array  # () E_pi loss: what one draw from the belief would have lost
    mix_loss: Array  # () -(1/lam) log E_pi exp(-lam loss); never above mean_loss
    posterior_loss: Array  # () E_q loss
    kl: Array  # () KL(q || pi) = lam (mix_loss - posterior_loss)
    least_loss: Array  # () of all particles
    largest_loss: Array  # ()


class LossBounds(NamedTuple):
    """Bounds that a loss declares, for any outcome."""

    loss_lower: Array  # () it is at least this
    loss_upper: Array  # () and at most this; infinite if it says nothing
    loss_is_regret: Array  # () 1 where it is what a decision cost above hindsight


class BeliefReport(NamedTuple):
    """Numbers of a belief at one stage that guarantees read; NaN where one is not known."""

    losses: LossReport
    bounds: LossBounds
    intact: Array  # () 1 where the belief went on as q, and nothing else


class ArmsReport(NamedTuple):
    """Numbers of a choice among arms that guarantees read; NaN where one is not known."""

    arm_mean: Array  # () expected cost of drawing an arm by the weights before the outcome
    arm_cost: Array  # (A) what each arm would have paid
    arm_bound: Array  # () such costs so far are at most the best arm's and this
    arm_stages: Array  # () how many outcomes these are


class ShadowReport(NamedTuple):
    """Decisions at the last stage of policies that are not followed."""

    shadow_z: Array  # (shadows, d)


Report = BeliefReport | ArmsReport | ShadowReport


class State(Protocol):
    """A NamedTuple of arrays; `info` is a NamedTuple of what the last lesson showed.

    An info may hold reports (`Report`), or infos that do: guarantees look for them.
    """

    @property
    def info(self) -> Any:
        """NamedTuple of what the last lesson showed."""
        ...


S = TypeVar("S", bound=State)


class BeliefState(State, Protocol):
    """A state that holds weighted parameters."""

    @property
    def seeds(self) -> IntArray:
        """Seeds of the trials, one for each."""
        ...

    @property
    def theta(self) -> Array:
        """Parameters (N, p) of the particles."""
        ...  # (N, p)

    @property
    def log_w(self) -> Array:
        """Log weights (N) of the particles, normalised."""
        ...  # (N) normalised

    @property
    def score(self) -> Array:
        """Log density (N) of the particles, up to a constant."""
        ...  # (N) log density, up to a constant


B = TypeVar("B", bound=BeliefState)


class Sampler(Protocol[B]):
    """The Gibbs posterior pi_{t+1} ~ exp(-lam loss) pi_t, held by weighted particles."""

    def init(self, seeds: IntArray) -> B:
        """Return the belief before any outcome, with the leading axes of the seeds."""
        ...

    def step(self, belief: B, t: int, x: Array, xi: Array) -> B:
        """Return the belief after the outcome xi (m) of context x (k) at stage t."""
        ...


class Policy(Protocol[S]):
    """The method and every baseline alike; all three functions are pure.

    What a policy may be able to do beside, and how wrappers give it on, is in `bocopt.abilities`.
    """

    def init(self, seeds: IntArray) -> S:
        """Return the state before any stage, with the leading axes of the seeds."""
        ...

    def decide(self, state: S, t: int, x: Array) -> Decision:
        """Return the decision z (d) at stage t under context x (k)."""
        ...

    def learn(self, state: S, t: int, x: Array, decision: Decision, xi: Array) -> S:
        """Return the state after the outcome xi (m) of a decision under x (k) at stage t."""
        ...


class LearnsBounds(Policy[S], Protocol[S]):
    """A policy that learns from outcomes of which only bounds are known."""

    def learn_bounds(self, state: S, t: int, x: Array, decision: Decision, bounds: Bounds) -> S:
        """Return the state after an outcome within bounds (m) of a decision under x (k) at t."""
        ...


def learns_bounds(policy: Policy[S]) -> TypeGuard[LearnsBounds[S]]:
    """Return whether a policy learns from outcomes of which only bounds are known."""
    return hasattr(policy, "learn_bounds")


class Model(Protocol[S]):
    """The law of xi given x, learned online: where a forecaster goes. All three are pure.

    What a model may be able to do beside, and how wrappers give it on, is in `bocopt.abilities`.
    """

    def init(self, seeds: IntArray) -> S:
        """Return the state before any outcome, with the leading axes of the seeds."""
        ...

    def step(self, state: S, t: int, x: Array, xi: Array) -> S:
        """Return the state after the outcome xi (m) of context x (k) at stage t."""
        ...

    def sample(self, state: S, x: Array) -> tuple[Array, Array]:
        """Return scenarios (s, m) of xi at x (k), and weights (s), after at least one outcome."""
        ...


class Stream(Protocol):
    """A source of contexts and outcomes: pure too, a function of the seeds."""

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Yield (x, xi) stage by stage, each with the leading axes of the seeds."""
        ...


class ConditionalSampler(Protocol):
    """A stream that knows its law."""

    @property
    def dim_noise(self) -> int:
        """Number n of noise inputs."""
        ...

    def sample_given(self, x: Array, u: Array) -> Array:
        """Return xi (m) given x (k), from noise (n)."""
        ...
