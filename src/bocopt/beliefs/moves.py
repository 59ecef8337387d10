"""One move of weighted particles: resampled, then taken on by sweeps of a kernel.

Everything here has exactly one leading axis, the trials.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bocopt.beliefs.belief import Belief
from bocopt.beliefs.kernels import Chain, Draw, Kernel, Shape, learns_shape, shape_of
from bocopt.beliefs.target import Target
from bocopt.core import Array, BoolArray, IntArray
from bocopt.numeric import noise
from bocopt.numeric.blas import one_thread
from bocopt.numeric.weights import multinomial, uniform
from bocopt.state import mapped

_SLOWEST = 0.25  # of the axes: what is judged
_BY_CHANCE = 2.5  # times 1 / M: the mean square of their correlations if nothing is left
MOST_SWEEPS = 50  # of a move that stops by itself
TOLERATED = 0.2  # of where it began may be left at its end
UNMIXED = 0.5  # where so much is left, particles do not tell how wrong they are
_SWEEPS_TO_JUDGE = 10  # after so many the pace is known, step sizes having been found
_SMALLEST_SCALE = 1e-4
T = TypeVar("T")
S = TypeVar("S", bound=np.generic)
#: Noise for some trials at a sweep.
Draws = Callable[[IntArray, str], Draw]


class Start(NamedTuple):
    """Positions where a move began, along their principal axes, centred and of unit length."""

    axes: Array  # (p, p) in columns
    places: Array  # (M, p)


def start_of(u: Array) -> Start:
    """(M, p) positions."""
    around = u - u.mean(axis=-2, keepdims=True)
    axes: Array = np.linalg.eigh(np.matmul(np.swapaxes(around, -1, -2), around)).eigenvectors
    return Start(axes, _standardised(np.matmul(u, axes)))


def left_of(start: Start, u: Array) -> Array:
    """() the mean squared correlation of start and present, over the quarter of the axes where it
    is largest, less what chance alone would show: about 1 at first, 0 once all is forgotten.

    An error of the particles' mean at the start, squared, lives on by this factor.
    """
    along = (start.places * _standardised(np.matmul(u, start.axes))).sum(axis=-2) ** 2
    many = max(1, round(_SLOWEST * along.shape[-1]))
    slowest = np.sort(along, axis=-1)[..., -many:].mean(axis=-1)
    left: Array = np.maximum(slowest - _BY_CHANCE / u.shape[-2], 0.0)
    return left


def _standardised(places: Array) -> Array:
    around = places - places.mean(axis=-2, keepdims=True)
    length = np.sqrt((around**2).sum(axis=-2, keepdims=True))
    return np.asarray(around / np.maximum(length, 1e-300))


class MovingParticles(NamedTuple):
    """Weighted particles under way, and what moving them has taken so far."""

    u: Array  # (N, p)
    log_w: Array  # (N)
    before: Array  # (N) total loss over the past
    last: Array  # (N) loss at the stage beside it
    gone: Array  # (N) discounted loss at the stage that leaves it
    repaid: Array  # (N) the same, of those whose place a particle took
    birth: IntArray  # (N)
    carried: Array  # (N)
    inherited: Array  # (N, window)
    roots: IntArray  # (N, lag)
    scale: Array  # ()
    moves: Array  # ()
    acceptance: Array  # () of the last sweep
    evaluated: Array  # ()
    spared: Array  # ()
    unfinished: Array  # () 1 where there were not enough rounds
    sweeps: Array  # () in all
    left: Array  # () what the last move left of where it began


def some_of(tree: T, trials: IntArray, of: int) -> T:
    """Only these trials of so many, of every array."""
    if len(trials) == of:
        return tree
    some: T = mapped(lambda part: part[trials], tree)
    return some


def with_some(tree: T, trials: IntArray, of: int, some: T) -> T:
    """Return the tree with these trials replaced in every array."""
    if len(trials) == of:
        return some

    def replaced(part: Any, new: Any) -> Any:
        """Return a copy of the array with `new` in the rows of these trials."""
        part = part.copy()
        part[trials] = new
        return part

    replaced_tree: T = mapped(replaced, tree, some)
    return replaced_tree


def particles_of(belief: Belief, last: Array, gone: Array, repaid: Array) -> MovingParticles:
    """The particles of a belief, with their losses (N) at the stages beside its past."""
    none = np.zeros(len(belief.seeds))
    return MovingParticles(
        u=belief.u,
        log_w=belief.log_w,
        before=belief.total,
        last=last,
        gone=gone,
        repaid=repaid,
        birth=belief.birth,
        carried=belief.carried,
        inherited=belief.inherited,
        roots=belief.roots,
        scale=belief.scale,
        moves=none,
        acceptance=none + np.nan,
        evaluated=none,
        spared=none,
        unfinished=none,
        sweeps=none,
        left=belief.info.left,
    )


@dataclass(frozen=True)
class Mover:
    """Settings of a move: its kernel, sweeps and chains, and when particles are moved."""

    kernel: Kernel
    sweeps: int | None  # None: until next to nothing is left of where they began
    chain_length: int | None
    threshold: float
    rounds: int = 1  # of moves between reweighting, at most

    @property
    def most_sweeps(self) -> int:
        """Largest number of sweeps in one move."""
        if self.chain_length:
            return self.chain_length - 1
        return self.sweeps or MOST_SWEEPS

    @property
    def stops_when_mixed(self) -> bool:
        """True if a move ends once particles have mixed, not after a fixed number of sweeps."""
        return self.sweeps is None and self.chain_length is None


class _Walk(NamedTuple):
    """Chains under way."""

    chain: Chain
    scale: Array  # ()
    acceptance: Array  # () of the last sweep
    evaluated: Array  # ()
    spared: Array  # ()
    sweeps: Array  # ()
    left: Array  # ()


def moved(
    mover: Mover, particles: MovingParticles, target: Target, purpose: str
) -> MovingParticles:
    """Resampled, and moved by the kernel."""
    trials, size = particles.log_w.shape
    copies = mover.chain_length or 1
    kept_size = size // copies

    def draws(some: IntArray, of: str) -> Draw:
        """Return the noise of some of the moved trials, a function of its kind and shape."""
        trials = target.trials[some]
        seeds, stage = target.ledger.seeds[trials], noise.at(target.stage.t, trials)

        def draw(distribution: str, shape: tuple[int, ...]) -> Array:
            """Return normal or uniform noise of this shape for each of the trials."""
            source = noise.normal if distribution.startswith("normal") else noise.uniform
            return source(seeds, stage, f"{purpose}.{of}.{distribution}", shape)

        return draw

    w = np.exp(particles.log_w)
    one = draws(np.arange(trials), "resample")("uniform", (1,))
    group = np.arange(size) % kept_size >= kept_size // 2  # the states of a chain are in one
    order = _by_group(group, mover)
    kept = order[multinomial(w[:, order], (np.arange(kept_size) + one) / kept_size)]

    def taken(part: NDArray[S]) -> NDArray[S]:
        """Return the rows of the resampled particles, along axis 1."""
        index = kept.reshape(*kept.shape, *(1,) * (part.ndim - kept.ndim))
        return np.take_along_axis(part, index, axis=1)

    def repeated(part: NDArray[S]) -> NDArray[S]:
        """The states of a chain are kept one after another."""
        return np.tile(part, (1, copies, *(1,) * (part.ndim - 2)))

    birth = taken(particles.birth)
    losses = taken(particles.before), taken(particles.last), taken(particles.gone)
    target = target.born(birth)
    chain = Chain(taken(particles.u), target.coefficients.energy(*losses), *losses)
    shape = shape_of(particles.u, w, group, kept, alike=copies)
    with one_thread():
        states = _walked(mover, chain, shape, particles.scale, target, draws)
    end, kept_states = states[-1], states if mover.chain_length else states[-1:]
    chain = Chain(
        *(np.concatenate(p, axis=1) for p in zip(*(s.chain for s in kept_states), strict=True))
    )
    itself = np.broadcast_to(np.arange(kept_size)[:, None], (trials, kept_size, 1))
    roots = np.concatenate([taken(particles.roots)[..., 1:], itself], axis=-1)
    return MovingParticles(
        u=chain.u,
        log_w=uniform((trials,), size),
        before=chain.before,
        last=chain.last,
        gone=chain.gone,
        repaid=repeated(taken(particles.repaid)),
        birth=repeated(birth),
        carried=repeated(taken(particles.carried)),
        inherited=repeated(taken(particles.inherited)),
        roots=repeated(roots),
        scale=end.scale,
        moves=particles.moves + 1,
        acceptance=end.acceptance,
        evaluated=particles.evaluated + end.evaluated,
        spared=particles.spared + end.spared,
        unfinished=particles.unfinished,
        sweeps=particles.sweeps + end.sweeps,
        left=end.left,
    )


def _by_group(group: BoolArray, mover: Mover) -> IntArray:
    """(N) the order in which particles are resampled.

    Those of one group first: their descendants are then one group again. If the states of one
    chain began chains of both groups, each group would learn its own errors from the other.
    """
    if mover.chain_length and learns_shape(mover.kernel):
        return np.argsort(group, kind="stable")
    return np.arange(len(group))


def _walked(
    mover: Mover, chain: Chain, shape: Shape, scale: Array, target: Target, draws: Draws
) -> list[_Walk]:
    """Chains after each sweep, as they began first. Each trial stops by itself."""
    none, all_ = np.zeros(scale.shape), len(scale)
    walk = _Walk(chain, scale, none + np.nan, none, none, none, none + 1)
    states, start, going = [walk], start_of(chain.u), np.arange(len(scale))
    for sweep in range(mover.most_sweeps):
        draw = draws(going, f"{sweep}")
        here, shapes = some_of(walk, going, all_), some_of(shape, going, all_)
        after = _one_sweep(mover.kernel, here, shapes, target.among(going), draw)
        if mover.stops_when_mixed or sweep + 1 == mover.most_sweeps:
            after = after._replace(left=left_of(some_of(start, going, all_), after.chain.u))
        walk = with_some(walk, going, all_, after)
        states.append(walk)
        if mover.stops_when_mixed:
            going = going[(after.left > TOLERATED) & ~_hopeless(after.left, sweep + 1)]
        if not going.size:
            break
    return states


def _hopeless(left: Array, sweeps: int) -> BoolArray:
    """Return True () where the most sweeps there are, at this pace, would leave over half."""
    return (sweeps >= _SWEEPS_TO_JUDGE) & (left ** (MOST_SWEEPS / sweeps) > UNMIXED)


def _one_sweep(kernel: Kernel, walk: _Walk, shape: Shape, target: Target, draw: Draw) -> _Walk:
    chain, acceptance = kernel.sweep(walk.chain, shape, walk.scale, target, draw)
    scale = walk.scale * np.exp(acceptance - kernel.wanted)
    return walk._replace(
        chain=chain,
        scale=np.clip(scale, _SMALLEST_SCALE, kernel.largest_scale),
        acceptance=acceptance,
        evaluated=walk.evaluated + target.evaluated,
        spared=walk.spared + target.spared,
        sweeps=walk.sweeps + 1,
    )
