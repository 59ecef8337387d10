"""An interval for the cost of the next decisions, as long as the future resembles the past.

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
from bocopt.guarantees.certificate import IN_PART, Certificate, Evidence, certificate
from bocopt.state import mapped

_POWERS = np.array([0.1, 0.25, 0.5])  # of bets on each of: high, low, either
_NO_BET = 0.3  # of the capital
_PRIOR = np.tile(np.append(np.full(9, (1.0 - _NO_BET) / 9), _NO_BET), (2, 1))  # of each test
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0  # its multiples, less whole numbers, are all over [0, 1)
_TURNS = np.array([0.0, 0.5])  # of a window
_JUMPS = 0.01  # share of a test's capital that starts anew after every block
_LOG_PRIOR, _LOG_JUMPS = np.log(_PRIOR), np.log(_JUMPS * _PRIOR)


class BlockAverages(NamedTuple):
    """Average costs of so many decisions in a row, and a test whether they are exchangeable."""

    t: Array  # ()
    paid: Array  # () in the block that has begun
    weighed: Array  # () likewise, weighed by where in the block it was paid
    begun: Array  # () stages of it
    averages: Array  # (window) since it started, the latest last
    seconds: Array  # (window) which of equal averages counts as higher
    many: Array  # () of them that count
    compared: Array  # (2) of them that each of two tests compares with
    capital: Array  # (2, bets) logs
    refuted: Array  # () how often the test has won
    since: Array  # () the stage at which it last did
    in_part: Array  # () stages whose cost was not seen, for which it is silent


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """An interval for the average cost of the next whole block of `ahead` decisions.

    Stages are counted as their outcomes come, and taken in blocks of `ahead`. If all blocks since a
    start are exchangeable, whatever came before it, then the average of any of them lies between
    the delta / 2 quantiles of the latest `window` blocks known some blocks earlier, with a chance
    of at least 1 - delta (conformal prediction). Blocks may be alike inside: seasons shorter than a
    block do no harm. But nothing is said of stages from the middle of one block to that of another.

    A live test may refute this. All blocks are then forgotten, and the outlook starts again with
    those to come. If the blocks after a start are exchangeable, the chance that it is refuted at
    all before another start is at most `doubt`. In random order, the rank k of the latest of n
    blocks is uniform and independent of earlier ranks. So capital staked on a function of k that is
    1 on average is a martingale, and multiplies by 2 / doubt with a chance of doubt / 2 at most
    (Ville's inequality). Equal averages are ordered by what is inside the blocks. Those that remain
    equal count against the test: gains fall in k, so its capital is at most what it would be if
    they were ordered at random. No random number is drawn, and two streams are refuted at once only
    by what their costs have in common. A block outside the interval is extreme without any ties.

    A rank is independent of earlier ranks only if it is taken among all blocks since a start, not
    among the latest `window`. So a test starts anew after a window of blocks, and two tests run
    half a turn apart: one of them always has at least half a window. Each errs with doubt / 2 at
    most; capital is never added up, since each is a martingale only given its own ranks.

    Reference: Vovk, Gammerman, Shafer (2022), Algorithmic learning in a random world (conformal
    test martingales); Herbster, Warmuth (1998), Tracking the best expert; Choe, Ramdas (2024),
    Combining evidence across filtrations.
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

    def init(self, lead: tuple[int, ...]) -> BlockAverages:
        """Return the state before any stage, without blocks, with leading axes `lead`."""
        zero = np.zeros(lead)
        return BlockAverages(
            *(zero,) * 4,
            averages=np.full((*lead, self.window), np.nan),
            seconds=np.full((*lead, self.window), np.nan),
            many=zero,
            compared=np.zeros((*lead, 2)),
            capital=np.broadcast_to(_LOG_PRIOR, (*lead, *_PRIOR.shape)).copy(),
            refuted=zero,
            since=zero,
            in_part=zero,
        )

    def step(self, state: BlockAverages, evidence: Evidence) -> BlockAverages:
        """Return the state after one more stage; a block that ends is tested and kept."""
        t, paid, weighed, begun, *rest = state
        unseen = ~np.isnan(evidence.least)
        cost, weight = np.where(unseen, 0.0, evidence.cost), begun * _GOLDEN % 1.0
        state = BlockAverages(t + 1.0, paid + cost, weighed + weight * cost, begun + 1.0, *rest)
        state = state._replace(in_part=state.in_part + unseen)
        ended = np.asarray(state.begun == self.ahead)
        if not ended.any():
            return state
        after = self._with_block(state)
        return after if ended.all() else _where(ended, after, state)

    def _with_block(self, state: BlockAverages) -> BlockAverages:
        """Return the state after the last stage of a block."""
        average = state.paid / self.ahead
        top, bottom = kernels.ranks.ranked(
            state.averages, state.seconds, state.compared, average, state.weighed
        )
        capital, total = kernels.ranks.staked(top, bottom, state.compared, state.capital, _POWERS)
        anew = total[..., None] + _LOG_JUMPS
        capital = np.logaddexp(capital + np.log1p(-_JUMPS), anew)
        won = total.max(axis=-1) >= np.log(2.0 / self.doubt)
        many = np.where(won, 0.0, np.minimum(state.many + 1.0, self.window))
        turn = (state.t[..., None] / self.ahead + _TURNS * self.window) % self.window < 1.0
        return BlockAverages(
            t=state.t,
            paid=np.zeros(average.shape),
            weighed=np.zeros(average.shape),
            begun=np.zeros(average.shape),
            averages=_kept(state.averages, average, won),
            seconds=_kept(state.seconds, state.weighed, won),
            many=many,
            compared=np.where(won[..., None] | turn, 0.0, state.compared + 1.0),
            capital=np.where(won[..., None, None], _LOG_PRIOR, capital),
            refuted=state.refuted + won,
            since=np.where(won, state.t, state.since),
            in_part=state.in_part,
        )

    def interval(self, state: BlockAverages) -> tuple[Array, Array]:
        """Return the ends of the next block's average, each (); NaN with too few blocks."""
        left_out = np.floor((state.many + 1.0) * self.delta / 2.0 + 1e-9).astype(int)
        ordered = np.sort(state.averages, axis=-1)  # NaN last
        few = self._few(state)
        last = np.maximum(state.many.astype(int) - left_out, 0)
        low, high = (
            np.take_along_axis(ordered, which[..., None], axis=-1)[..., 0]
            for which in (np.maximum(left_out - 1, 0), last)
        )
        return np.where(few, np.nan, low), np.where(few, np.nan, high)

    def _few(self, state: BlockAverages) -> BoolArray:
        return np.asarray(state.many < self._needed)

    def certificate(self, state: BlockAverages) -> Certificate:
        """Return the upper end of the next block's average cost; the note has both ends."""
        low, high = self.interval(state)
        few = self._few(state)
        known = np.isfinite(state.averages)
        seen = np.where(known, state.averages, 0.0).sum(axis=-1) / np.maximum(state.many, 1.0)
        block = f"the next whole block of {self.ahead} decisions{self._when(state)}"
        return certificate(
            "outlook",
            f"average cost of {block}",
            value=seen,
            slack=high - seen,
            trivial=np.full(seen.shape, np.inf),
            delta=self.delta,
            assumptions=(
                f"it is exchangeable with the {int(state.many.max())} whole blocks before, which a "
                "live test has not refuted",
            ),
            broken={IN_PART: state.in_part},
            failed=few,
            note=self._note(state, low, high),
            reward=f"average reward of {block}",
        )

    def _when(self, state: BlockAverages) -> str:
        """The stages of that block, counted from 1, where they are the same in all trials."""
        first = state.t + (self.ahead - state.begun) % self.ahead + 1.0
        if np.unique(first).size > 1:
            return ""
        return f" (stages {int(first.max())} to {int(first.max()) + self.ahead - 1})"

    def _note(self, state: BlockAverages, low: Array, high: Array) -> str:
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
                f"Began anew after stage {last}: blocks were no longer exchangeable, says the test."
            )
        return " ".join(notes)


def _kept(before: Array, latest: Array, won: BoolArray) -> Array:
    """Return the window with the latest instead of the first; NaN once the test has won."""
    kept = np.concatenate([before[..., 1:], latest[..., None]], axis=-1)
    return np.where(won[..., None], np.nan, kept)


def _where(ended: BoolArray, after: BlockAverages, before: BlockAverages) -> BlockAverages:
    """The trials whose block has ended after it, the others as they were."""

    def each(new: Array, old: Array) -> Array:
        """Return the new array for trials whose block has ended, else the old one."""
        return np.where(ended.reshape(*ended.shape, *[1] * (new.ndim - ended.ndim)), new, old)

    chosen: BlockAverages = mapped(each, after, before)
    return chosen
