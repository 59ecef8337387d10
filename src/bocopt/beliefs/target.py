"""Target of full-history moves: a Gibbs posterior over the stages seen so far."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from bocopt.beliefs.kernels import Chain
from bocopt.beliefs.past import Ledger, checked
from bocopt.core import Array, BoolArray, IntArray, Loss
from bocopt.numeric import noise
from bocopt.numeric.noise import When


class NextStage(NamedTuple):
    """One more stage beside the past; trials are the leading axis."""

    t: When
    x: Array  # (k)
    xi: Array  # (m)
    u: Array  # (n)


def stage_of(loss: Loss, seeds: IntArray, t: When, x: Array, xi: Array) -> NextStage:
    """A stage with the noise that the loss has there."""
    return NextStage(t, x, xi, noise.normal(seeds, t, "loss", (loss.dim_noise,)))


def losses_at(loss: Loss, theta: Array, stage: NextStage) -> Array:
    """Return the losses (N) of particles (N, p) at one stage."""
    x, xi, u = (part[:, None, :] for part in (stage.x, stage.xi, stage.u))
    return checked(loss, loss(theta, x, xi, u))


class Leaving(NamedTuple):
    """The oldest stage on its way out: the past no longer has it, the target does in part."""

    stage: NextStage
    arrival: IntArray  # () how many arrived before it
    weight: float  # with which it counted, by the discount

    def counted(self, lost: Array, birth: IntArray, arrival: IntArray) -> Array:
        """Return how much of their losses (M) there still counts for these births (M)."""
        counted: Array = self.weight * lost * (birth <= arrival)
        return counted


class Coefficients(NamedTuple):
    """energy = before * (total loss over the past) + last * (loss at the stage that enters)
    + gone * (discounted loss at the stage that leaves)."""

    before: Array  # ()
    last: Array  # ()
    gone: Array  # ()

    def energy(self, before: Array, last: Array, gone: Array) -> Array:
        """(N), (N), (N) -> (N)."""
        of_past: Array = self.before[..., None] * before
        return of_past + self.last[..., None] * last + self.gone[..., None] * gone

    def towards(self, end: "Coefficients", share: Array) -> "Coefficients":
        """Return the coefficients at a share () of the line to `end`: 0 is here, 1 is there."""
        return Coefficients(*(a + share * (b - a) for a, b in zip(self, end, strict=True)))

    def of(self, trials: IntArray) -> "Coefficients":
        """Return the coefficients of these trials."""
        return Coefficients(*(part[trials] for part in self))


@dataclass
class Target:
    """The energy of proposals for some trials, and a count of the losses that it took."""

    ledger: Ledger
    sample: Callable[[Array, IntArray], Array]  # u (M, p), trials (M) -> theta (M, p)
    stage: NextStage
    trials: IntArray  # (B) those that are moved
    coefficients: Coefficients  # (B)
    leaving: Leaving | None = None
    birth: IntArray = field(default_factory=lambda: np.zeros((0, 0), np.int64))  # (B, M)
    evaluated: Array = field(init=False)  # (B)
    spared: Array = field(init=False)  # (B)

    def __post_init__(self) -> None:
        self.evaluated = np.zeros(len(self.trials))
        self.spared = np.zeros(len(self.trials))

    def at(self, trials: IntArray, coefficients: Coefficients) -> "Target":
        """Return the target for these trials (B) and coefficients (B), with counts of zero."""
        return replace(self, trials=trials, coefficients=coefficients)

    def among(self, some: IntArray) -> "Target":
        """Return the target for some of the trials that are moved, with a count of its own."""
        at, birth = self.coefficients.of(some), self.birth[some]
        return replace(self, trials=self.trials[some], coefficients=at, birth=birth)

    def born(self, birth: IntArray) -> "Target":
        """Return the target for chains born at these stages (B, M), with counts of zero."""
        return replace(self, birth=birth)

    def __call__(self, u: Array, budget: Array) -> tuple[BoolArray, Chain]:
        """Return whether the energy of (B, M, p) stays below the budget (B, M), and what was found.

        Where it does not, what was found is meaningless: the sum was given up. A budget of -inf
        asks for nothing.
        """
        asked = np.isfinite(budget) | (budget > 0)
        row, column = np.nonzero(asked)
        if not row.size:
            nothing = np.zeros(budget.shape)
            return nothing > 0, Chain(u, nothing, nothing, nothing, nothing)
        trial = self.trials[row]
        theta, birth = self.sample(u[row, column], trial), self.birth[row, column]
        last, gone = self._lost(theta, trial, self.stage), np.zeros(len(row))
        if self.leaving:
            lost = self._lost(theta, trial, self.leaving.stage)
            gone = self.leaving.counted(lost, birth, self.leaving.arrival[trial])
        on_past, on_last, on_gone = (part[row] for part in self.coefficients)
        spare = budget[row, column] - on_last * last - on_gone * gone
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(on_past > 0, spare / on_past, np.where(spare > 0, np.inf, -np.inf))
        totals = self.ledger.totals(theta, trial, birth, room)
        beside = 1.0 + (self.leaving is not None)
        full = np.bincount(row, minlength=len(self.trials)) * (self.ledger.past.size + beside)
        done = np.bincount(row, weights=totals.evaluated + beside, minlength=len(self.trials))
        self.evaluated += done
        self.spared += full - done

        def spread_out(values: Array) -> Array:
            """Return an array (B, M) of these values, with 0 where no energy was asked for."""
            out = np.zeros(budget.shape)
            out[row, column] = values
            return out

        below = np.zeros(budget.shape, bool)
        below[row, column] = totals.alive
        losses = spread_out(totals.total), spread_out(last), spread_out(gone)
        return below, Chain(u, self.coefficients.energy(*losses), *losses)

    def _lost(self, theta: Array, trial: IntArray, stage: NextStage) -> Array:
        """Return the losses (M) of proposals (M, p) at one stage of their trials (M)."""
        x, xi, u = (part[trial] for part in (stage.x, stage.xi, stage.u))
        return checked(self.ledger.loss, self.ledger.loss(theta, x, xi, u))
