"""The contracts and records that everything else is written against, on one page.

Names and shapes, the same in every file:

    x (k) context       xi (m) uncertainty    z (d) decision        theta (p) parameters
    scenarios (s, m)    w (s) their weights   u (n) noise           lam learning rate
    alpha feasibility target                  seeds () one trial, (trials,) many

Every function is written for *one* instance; any leading axes (particles, trials) are free and
broadcast. Arguments stand in time order: x, z, xi. `solve` begins with what is always there: the
scenarios, then w, then x. Everything inside is a **cost to minimise**.
"""

from collections.abc import Iterator
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
    """Whether reports show what is paid or what is earned; inside, everything is a cost."""

    MINIMISE = "cost"
    MAXIMISE = "reward"

    @property
    def sign(self) -> float:
        """What turns a cost into the number that is shown."""
        return 1.0 if self is Sense.MINIMISE else -1.0


class Status(IntEnum):
    """How a decision came about."""

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
    """What `Problem.solve` answers."""

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


class Risk(Protocol):
    """What is asked of a decision under scenarios: one number for its costs, and one verdict."""

    @property
    def alpha(self) -> float | None:
        """The share of outcomes in which the constraints are to hold; None: nothing is promised."""
        ...

    def value(self, costs: Array, w: Array) -> Array:
        """(s), (s) -> () what is minimised."""
        ...

    def met(self, violations: Array, w: Array) -> BoolArray:
        """(s), (s) -> () whether the constraints hold as far as they are to."""
        ...


class Problem(Protocol):
    """min over z of risk.value(cost(x, z, .))  subject to  risk.met(violation(x, z, .)).

    Where some columns are only decided once xi is known, z is what is decided before, and `cost`
    includes the best of them. What a problem may say beside is in `bocopt.abilities`.
    """

    @property
    def dims(self) -> Dims: ...
    @property
    def sense(self) -> Sense: ...
    @property
    def risk(self) -> Risk: ...
    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        """(s, m), (s), (k) -> the best z under the distribution; one scenario gives P(xi).

        Asked with all three. A problem may do with fewer: equal weights, and no context.
        """
        ...

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () what is paid, the payment for infeasibility included."""
        ...

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () the one judge of feasibility: feasible means <= 0.

        Exact where all is integer; where not, what is within the problem's tolerance is <= 0.
        """
        ...


class Judging(Problem, Protocol):
    """A problem that prices a decision at once: work that both numbers need is done once."""

    def judge(self, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        """(k), (d), (m) -> (), (): `cost` and `violation`, the same bits as from these."""
        ...


def judges(problem: Problem) -> TypeGuard[Judging]:
    """Whether a problem prices a decision at once.

    Not so a class that changes `cost` or `violation` of one that does, and leaves its `judge`.
    """
    return _judges(type(problem))


@cache
def _judges(kind: type) -> bool:
    for each in kind.__mro__:
        if "judge" in vars(each):
            return True
        if "cost" in vars(each) or "violation" in vars(each):
            return False
    return False


def judge(problem: Problem, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
    """(k), (d), (m) -> (), (): cost and violation, asked for at once where the problem can."""
    if judges(problem):
        return problem.judge(x, z, xi)
    return problem.cost(x, z, xi), problem.violation(x, z, xi)


class Ranged(Problem, Protocol):
    """The cost has bounds that are known before xi: what certificates need.

    Asked by `guarantees/monitor.py`, `checks.py`, `app/case.py` and `app/playing/verdict.py`.
    """

    def range(self, x: Array, z: Array) -> tuple[Array, Array]:
        """(k), (d) -> (), (): for any possible outcome, the cost lies in [low, high]."""
        ...

    def possible(self, x: Array, xi: Array) -> BoolArray:
        """(k), (m) -> (): whether `range` was meant for such an outcome."""
        ...


def is_ranged(problem: Problem) -> TypeGuard[Ranged]:
    """Whether a problem knows bounds of its cost."""
    return hasattr(problem, "range") and hasattr(problem, "possible")


class RangedDifference(Ranged, Protocol):
    """Knows how far apart the costs of two decisions can lie.

    Asked by `guarantees/monitor.py` and `checks.py`.
    """

    def range_of_difference(self, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
        """(k), (d), (d) -> (), (): cost(x, z, .) - cost(x, other, .) lies in [low, high].

        For any possible outcome, and both zero where z is `other`. It is never wider than what the
        ranges of both say.
        """
        ...


def knows_differences(problem: Problem) -> TypeGuard[RangedDifference]:
    """Whether a problem knows bounds of what one decision costs more than another."""
    return is_ranged(problem) and hasattr(problem, "range_of_difference")


class Predictor(Protocol):
    """m(x; theta), pure: the noise is an input (dim_noise 0: the deterministic predictor)."""

    @property
    def dim(self) -> int: ...
    @property
    def dim_noise(self) -> int: ...
    def sample(self, theta: Array, x: Array, u: Array) -> Array:
        """(p), (k), (n) -> (m)."""
        ...


class Differentiable(Predictor, Protocol):
    """What gradient policies need."""

    def pullback(self, theta: Array, x: Array, g: Array) -> Array:
        """(p), (k), (m) -> (p): a gradient in xi becomes a gradient in theta."""
        ...


class Density(Predictor, Protocol):
    """A predictor whose law of xi has a density: what the log score needs."""

    def log_density(self, theta: Array, x: Array, xi: Array) -> Array:
        """(p), (k), (m) -> ()."""
        ...


class Centred(Predictor, Protocol):
    """A predictor that can be told what to predict: what a calibrated prior needs."""

    def constant(self, xi: Array) -> Array:
        """(m) -> (p): parameters that predict xi whatever the context, or nearly so."""
        ...


class Prior(Protocol):
    """The belief before any outcome."""

    @property
    def dim(self) -> int: ...
    def sample(self, u: Array) -> Array:
        """(p) standard normal noise -> (p)."""
        ...

    def log_density(self, theta: Array) -> Array:
        """(p) -> ()."""
        ...


class Loss(Protocol):
    """How bad one parameter was at one stage; `lower` bounds it from below.

    What a loss may say beside, for guarantees, is in `bocopt.abilities`.
    """

    @property
    def lower(self) -> float: ...
    @property
    def dim_noise(self) -> int: ...
    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        """(p), (k), (m), (n) -> (); u is the stage's noise, common to all particles."""
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
    """What a loss says of itself, for any outcome."""

    loss_lower: Array  # () it is at least this
    loss_upper: Array  # () and at most this; infinite if it says nothing
    loss_is_regret: Array  # () 1 where it is what a decision cost above hindsight


class BeliefReport(NamedTuple):
    """What guarantees want to know of a belief at one stage; NaN where nothing is known."""

    losses: LossReport
    bounds: LossBounds
    intact: Array  # () 1 where the belief went on as q, and nothing else


class ArmsReport(NamedTuple):
    """What guarantees want to know of a choice among arms; NaN where nothing is known."""

    arm_mean: Array  # () expected cost of drawing an arm by the weights before the outcome
    arm_cost: Array  # (A) what each arm would have paid
    arm_bound: Array  # () such costs so far are at most the best arm's and this
    arm_stages: Array  # () how many outcomes these are


class ShadowReport(NamedTuple):
    """What policies that are not followed decided at the last stage."""

    shadow_z: Array  # (shadows, d)


Report = BeliefReport | ArmsReport | ShadowReport


class State(Protocol):
    """A NamedTuple of arrays; `info` is a NamedTuple of what the last lesson showed.

    An info may hold reports (`Report`), or infos that do: guarantees look for them.
    """

    @property
    def info(self) -> Any: ...


S = TypeVar("S", bound=State)


class BeliefState(State, Protocol):
    """A state that holds weighted parameters."""

    @property
    def seeds(self) -> IntArray: ...
    @property
    def theta(self) -> Array: ...  # (N, p)
    @property
    def log_w(self) -> Array: ...  # (N) normalised
    @property
    def score(self) -> Array: ...  # (N) log density, up to a constant


B = TypeVar("B", bound=BeliefState)


class Sampler(Protocol[B]):
    """The Gibbs posterior pi_{t+1} ~ exp(-lam loss) pi_t, held by weighted particles."""

    def init(self, seeds: IntArray) -> B: ...
    def step(self, belief: B, t: int, x: Array, xi: Array) -> B: ...


class Policy(Protocol[S]):
    """The method and every baseline alike; all three functions are pure.

    What a policy may be able to do beside, and how wrappers give it on, is in `bocopt.abilities`.
    """

    def init(self, seeds: IntArray) -> S: ...
    def decide(self, state: S, t: int, x: Array) -> Decision: ...
    def learn(self, state: S, t: int, x: Array, decision: Decision, xi: Array) -> S: ...


class Model(Protocol[S]):
    """The law of xi given x, learned online: where a forecaster goes. All three are pure.

    What a model may be able to do beside, and how wrappers give it on, is in `bocopt.abilities`.
    """

    def init(self, seeds: IntArray) -> S: ...
    def step(self, state: S, t: int, x: Array, xi: Array) -> S: ...
    def sample(self, state: S, x: Array) -> tuple[Array, Array]:
        """(k) -> (s, m), (s): scenarios of xi and their weights, after at least one outcome."""
        ...


class Stream(Protocol):
    """Where contexts and outcomes come from: pure too, a function of the seeds."""

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Yield (x, xi) stage by stage, each with the leading axes of the seeds."""
        ...


class ConditionalSampler(Protocol):
    """A stream that knows its law."""

    @property
    def dim_noise(self) -> int: ...
    def sample_given(self, x: Array, u: Array) -> Array:
        """(k), (n) -> (m): xi given x."""
        ...
