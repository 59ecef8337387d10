"""Randomness as a function of (seed, stage, purpose): nothing is passed around or mutated.

The bit generator is Philox: its key is (seed, purpose), and the stage stands in the *highest* word
of its counter, so that no number of draws can run into the next stage. A trial alone therefore
draws the same numbers as inside a batch, and a restored run as an uninterrupted one. Trials may be
at different stages: a stage is one number for all, or one for each seed.

Reference: Salmon et al. (2011), Parallel random numbers: as easy as 1, 2, 3.
"""

from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from math import prod

import numpy as np
from numpy.random import Generator, Philox

from bocopt.core import Array, BoolArray, IntArray

Draw = Callable[[Generator, Array], object]
When = int | IntArray  # a stage of all trials, or one for each


def normal(seeds: IntArray, stage: When, purpose: str, shape: tuple[int, ...]) -> Array:
    """Standard normal numbers of shape (*seeds.shape, *shape).

    >>> many = normal(np.arange(3), stage=7, purpose="example", shape=(2,))
    >>> bool((many[1] == normal(np.array(1), stage=7, purpose="example", shape=(2,))).all())
    True
    """
    return _fill(seeds, stage, purpose, shape, lambda rng, out: rng.standard_normal(out=out))


def uniform(seeds: IntArray, stage: When, purpose: str, shape: tuple[int, ...]) -> Array:
    """Uniform numbers in [0, 1) of shape (*seeds.shape, *shape)."""
    return _fill(seeds, stage, purpose, shape, lambda rng, out: rng.random(out=out))


def at(stage: When, some: IntArray | BoolArray) -> When:
    """The stage of some of the trials.

    >>> at(7, np.array([1])), at(np.array([3, 4]), np.array([1])).tolist()
    (7, [4])
    """
    return stage if np.ndim(stage) == 0 else np.asarray(stage)[some]


def merged(stage: When) -> When:
    """Return the stages with all leading axes merged into one."""
    return stage if np.ndim(stage) == 0 else np.reshape(stage, -1)


def _fill(seeds: IntArray, stage: When, purpose: str, shape: tuple[int, ...], draw: Draw) -> Array:
    out = np.empty((*seeds.shape, *shape))
    if out.size == 0:
        return out
    bits = Philox(key=0)
    rng, state = Generator(bits), bits.state
    counter, key = state["state"]["counter"], state["state"]["key"]
    key[1] = _number(purpose)
    stages = np.broadcast_to(stage, seeds.shape).reshape(-1)
    for seed, when, row in zip(
        seeds.reshape(-1), stages, out.reshape(-1, prod(shape)), strict=True
    ):
        key[0], counter[3] = seed, when
        bits.state = state  # re-setting one generator is several times cheaper than making one
        draw(rng, row)
    return out


@cache
def _number(purpose: str) -> int:
    return int.from_bytes(blake2b(purpose.encode(), digest_size=8).digest(), "little")
