"""The best of a pool of decisions under scenarios: a few of them judged on all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, IntArray, Risk
from bocopt.problems.scenarios import merged, synthetic, thin

Possible = Callable[[Array], BoolArray]  # (n, m) -> (n)

_SCREEN, _FINALISTS = 128, 8  # scenarios to choose candidates on, and candidates for all scenarios


class Question(NamedTuple):
    """One instance: what is asked, and which scenarios the user's solve is asked for."""

    x: Array  # (k)
    scenarios: Array  # (s, m) each once
    w: Array  # (s) positive
    asked: Array  # (n, m)
    own: int  # so many of them are scenarios; the others are made up

    @property
    def alone(self) -> bool:
        """True where there is one scenario, and so no average to take."""
        return len(self.scenarios) == 1


def ask(
    x: Array,
    scenarios: Array,
    w: Array,
    *,
    most: int | None,
    candidates: int,
    made_up: int,
    possible: Possible,
) -> Question:
    """Ask for at most so many candidates, of them so many made up, if they are possible.

    Of more than `most` scenarios, so many all over stand for all.
    """
    scenarios, w = merged(scenarios, w)
    if most is not None and len(w) > most:
        some = thin(len(w), most)
        scenarios, w = scenarios[some], w[some] / w[some].sum()
    if len(scenarios) == 1:
        return Question(x, scenarios, w, asked=scenarios, own=1)
    new = synthetic(scenarios, w, made_up)
    new = new[possible(new)] if len(new) else new
    own = scenarios[thin(len(scenarios), candidates - len(new))]
    asked = merged(np.concatenate([own, new]), np.ones(len(own) + len(new)))[0]
    return Question(x, scenarios, w, asked=asked, own=len(own))


class PooledDecision(NamedTuple):
    """A decision, and what it does in each scenario."""

    z: Array  # (d)
    costs: Array  # (s)
    violations: Array  # (s)
    missed: float  # the weight of the scenarios that are missed, if they are too many; else 0
    worth: float  # the risk of the costs; where too much is missed, the mean excess instead

    @property
    def rank(self) -> tuple[float, float]:
        """The less, the better."""
        return self.missed, self.worth


@dataclass(frozen=True)
class CandidateJudge:
    """The judge of decisions under given scenarios."""

    cost: Callable[[Array, Array], Array]  # (d), (s, m) -> (s)
    violation: Callable[[Array, Array], Array]  # (d), (s, m) -> (s)
    risk: Risk
    scenarios: Array  # (s, m)
    w: Array  # (s) positive

    def __call__(self, z: Array) -> PooledDecision:
        costs, violations = self.cost(z, self.scenarios), self.violation(z, self.scenarios)
        missed, worth = ranks(self.risk, costs, violations, self.w)
        return PooledDecision(z, costs, violations, float(missed), float(worth))

    def on(self, some: IntArray) -> "CandidateJudge":
        """The same with some of the scenarios only."""
        share = self.w[some] / self.w[some].sum()
        return replace(self, scenarios=self.scenarios[some], w=share)


def ranks(risk: Risk, costs: Array, violations: Array, w: Array) -> tuple[Array, Array]:
    """(s), (s), (s) -> (), (): see `PooledDecision`."""
    met = risk.met(violations, w)
    missed = np.where(met, 0.0, (w * (violations > 0)).sum(axis=-1))
    excess = (w * np.maximum(violations, 0.0)).sum(axis=-1)
    return missed, np.where(met, risk.value(costs, w), excess)


def best_of(
    judge: CandidateJudge, pool: Sequence[Array], seeded: Sequence[Array] = ()
) -> PooledDecision | None:
    """The decision that ranks first, of equal ones the smallest; None where there is none.

    If there are many scenarios, the pool is compared on some of them. The best few go on to all
    scenarios, and so do the next ones as long as none meets the risk. Those that are seeded are
    judged on all at once.
    """
    candidates = list(np.unique(np.array(pool), axis=0)) if pool else []
    finalists = len(candidates)
    if finalists > _FINALISTS and len(judge.scenarios) > 2 * _SCREEN:
        candidates, finalists = _best_first(judge, candidates), _FINALISTS
    judged = [judge(z) for z in (*seeded, *candidates[:finalists])]
    for z in candidates[finalists:]:
        if any(one.missed == 0 for one in judged):
            break
        judged.append(judge(z))
    return min(judged, key=lambda one: (*one.rank, *one.z), default=None)


def evaluations(scenarios: int, candidates: int, moves: int) -> int:
    """Return the planned evaluations of `cost` for one program, if a finalist meets the risk.

    >>> evaluations(1024, 26, 0), evaluations(64, 13, 25)
    (11520, 2432)
    """
    screened = candidates > _FINALISTS and scenarios > 2 * _SCREEN
    pool = candidates * _SCREEN + _FINALISTS * scenarios if screened else candidates * scenarios
    return pool + moves * scenarios


def _best_first(judge: CandidateJudge, candidates: list[Array]) -> list[Array]:
    few = judge.on(thin(len(judge.scenarios), _SCREEN))
    keys = [few(z).rank for z in candidates]
    return [candidates[i] for i in sorted(range(len(keys)), key=keys.__getitem__)]
