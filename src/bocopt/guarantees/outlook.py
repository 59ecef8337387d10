"""What the next decisions will cost, as long as the future resembles the past.

All other guarantees are about decisions that were taken, and assume nothing of how outcomes come
about. To say anything of future costs, one has to assume that they are like those seen. This one
says so, tests it all the time, and is silent once the test has refuted it.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray
from bocopt.guarantees import kernels
from bocopt.guarantees.certificate import Certificate, Evidence, certificate
from bocopt.numeric import noise
from bocopt.state import mapped

_POWERS = np.array([0.1, 0.25, 0.5])  # of bets on each of: high, low, either
_NO_BET = 0.3  # of the capital
_PRIOR = np.tile(np.append(np.full(9, (1.0 - _NO_BET) / 9), _NO_BET) / 2.0, (2, 1))  # of both tests
_TURNS = np.array([0.0, 0.5])  # of a window
_JUMPS = 0.01  # share of the capital that starts anew after every block
_LOG_PRIOR, _LOG_JUMPS = np.log(_PRIOR), np.log(_JUMPS * _PRIOR)


class Blocks(NamedTuple):
    """Average costs of so many decisions in a row, and a test whether they are exchangeable."""

    t: Array  # ()
    paid: Array  # () in the block that has begun
    begun: Array  # () stages of it
    averages: Array  # (window) the latest last
    many: Array  # () of them that count
    compared: Array  # (2) of them that each of two tests compares with
    capital: Array  # (2, bets) logs
    refuted: Array  # () how often the test has won
    since: Array  # () the stage at which it last did


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """An interval for the average cost of the next `ahead` decisions.

    Stages are taken in blocks of `ahead`. If the next block is exchangeable with the latest ones,
    at most `window` of them, its average is equally likely to have any rank among theirs: between
    their delta / 2 quantiles it lies with a chance of 1 - delta (conformal prediction). Blocks may
    be alike inside: seasons shorter than a block do no harm.

    The test: under that assumption the ranks of new blocks are uniform and independent. Capital is
    staked on high ones, low ones and both; it multiplies by 1 / doubt with a chance of `doubt` at
    most. When it does, all blocks are forgotten, and the outlook is back once there are enough.
    Two tests share the capital. Each begins with new blocks after a window of them, as ranks among
    the latest alone would depend on each other; they take turns, so that one always knows many.

    Reference: Vovk, Gammerman, Shafer (2022), Algorithmic learning in a random world (conformal
    test martingales); Herbster, Warmuth (1998), Tracking the best expert.
    """

    lockstep: ClassVar[bool] = True
    ahead: int = 20
    window: int = 100
    delta: float = 0.1
    doubt: float = 0.05

    def __post_init__(self) -> None:
        arguments.integer("Outlook", "ahead", self.ahead, "[1, inf)")
        arguments.number("Outlook", "delta", self.delta, "(0, 1)")
        arguments.number("Outlook", "doubt", self.doubt, "(0, 1)")
        arguments.integer("Outlook", "window", self.window, f"[{self._needed}, inf)")

    @property
    def _needed(self) -> int:
        """Blocks without which there are no quantiles."""
        return int(np.ceil(2.0 / self.delta - 1.0 - 1e-9))

    def init(self, lead: tuple[int, ...]) -> Blocks:
        zero = np.zeros(lead)
        return Blocks(
            *(zero,) * 3,
            averages=np.full((*lead, self.window), np.nan),
            many=zero,
            compared=np.zeros((*lead, 2)),
            capital=np.broadcast_to(_LOG_PRIOR, (*lead, *_PRIOR.shape)).copy(),
            refuted=zero,
            since=zero,
        )

    def step(self, state: Blocks, evidence: Evidence) -> Blocks:
        t, paid, begun, *rest = state
        state = Blocks(t + 1.0, paid + evidence.cost, begun + 1.0, *rest)
        ended = np.asarray(state.begun == self.ahead)
        if not ended.any():
            return state
        after = self._with_block(state)
        return after if ended.all() else _where(ended, after, state)

    def _with_block(self, state: Blocks) -> Blocks:
        """After the last stage of a block."""
        average = state.paid / self.ahead
        rank = self._rank(state, average)
        capital, total = kernels.ranks.staked(rank, state.capital, _POWERS)
        anew = total[..., None, None] + _LOG_JUMPS
        capital = np.logaddexp(capital + np.log1p(-_JUMPS), anew)
        won = total >= np.log(1.0 / self.doubt)
        many = np.where(won, 0.0, np.minimum(state.many + 1.0, self.window))
        kept = np.concatenate([state.averages[..., 1:], average[..., None]], axis=-1)
        turn = (state.t[..., None] / self.ahead + _TURNS * self.window) % self.window < 1.0
        return Blocks(
            t=state.t,
            paid=np.zeros(average.shape),
            begun=np.zeros(average.shape),
            averages=np.where(won[..., None], np.nan, kept),
            many=many,
            compared=np.where(won[..., None] | turn, 0.0, state.compared + 1.0),
            capital=np.where(won[..., None, None], _LOG_PRIOR, capital),
            refuted=state.refuted + won,
            since=np.where(won, state.t, state.since),
        )

    def _rank(self, state: Blocks, average: Array) -> Array:
        """(2) in (0, 1): small where it is higher than most; ties are broken at random."""
        same = np.zeros(state.t.shape, np.int64)
        u = noise.uniform(same, state.t.astype(np.int64), "outlook", ())
        rank: Array = kernels.ranks.ranked(state.averages, state.compared, average, u)
        return rank

    def interval(self, state: Blocks) -> tuple[Array, Array]:
        """() between what the next average lies; NaN where there are too few blocks."""
        left_out = np.floor((state.many + 1.0) * self.delta / 2.0 + 1e-9).astype(int)
        ordered = np.sort(state.averages, axis=-1)  # NaN last
        few = self._few(state)
        last = np.maximum(state.many.astype(int) - left_out, 0)
        low, high = (
            np.take_along_axis(ordered, which[..., None], axis=-1)[..., 0]
            for which in (np.maximum(left_out - 1, 0), last)
        )
        return np.where(few, np.nan, low), np.where(few, np.nan, high)

    def _few(self, state: Blocks) -> BoolArray:
        return np.asarray(state.many < self._needed)

    def certificate(self, state: Blocks) -> Certificate:
        low, high = self.interval(state)
        few = self._few(state)
        known = np.isfinite(state.averages)
        seen = np.where(known, state.averages, 0.0).sum(axis=-1) / np.maximum(state.many, 1.0)
        return certificate(
            "outlook",
            f"average cost of the next {self.ahead} decisions",
            value=seen,
            slack=high - seen,
            trivial=np.full(seen.shape, np.inf),
            delta=self.delta,
            assumptions=(
                f"they are exchangeable with the {int(state.many.max())} blocks of "
                f"{self.ahead} before, which a live test has not refuted",
            ),
            broken={},
            failed=few,
            note=self._note(state, low, high),
        )

    def _note(self, state: Blocks, low: Array, high: Array) -> str:
        few = self._few(state)
        notes = []
        if np.isfinite(high - low).any():
            notes.append(f"Costs between {np.nanmin(low):.4g} and {np.nanmax(high):.4g}.")
        if few.any():
            stages = int(((self._needed - state.many) * self.ahead - state.begun)[few].max())
            notes.append(f"It needs {stages} more stages.")
        if (state.refuted > 0).any():
            last = int(state.since.max())
            notes.append(
                f"Switched off after stage {last}: costs no longer were like those before."
            )
        return " ".join(notes)


def _where(ended: BoolArray, after: Blocks, before: Blocks) -> Blocks:
    """The trials whose block has ended after it, the others as they were."""

    def each(new: Array, old: Array) -> Array:
        return np.where(ended.reshape(*ended.shape, *[1] * (new.ndim - ended.ndim)), new, old)

    chosen: Blocks = mapped(each, after, before)
    return chosen
