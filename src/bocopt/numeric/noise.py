"""Randomness as a function of (seed, stage, purpose): nothing is passed around or mutated.

The bit generator is Philox: its key is (seed, purpose), and the stage stands in the *highest* word
of its counter, so that no number of draws can run into the next stage. A trial alone therefore
draws the same numbers as inside a batch, and a restored run as an uninterrupted one.

Reference: Salmon et al. (2011), Parallel random numbers: as easy as 1, 2, 3.
"""

from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from math import prod

import numpy as np
from numpy.random import Generator, Philox

from bocopt.core import Array, IntArray

Draw = Callable[[Generator, Array], object]


def normal(seeds: IntArray, stage: int, purpose: str, shape: tuple[int, ...]) -> Array:
    """Standard normal numbers of shape (*seeds.shape, *shape).

    >>> many = normal(np.arange(3), stage=7, purpose="example", shape=(2,))
    >>> bool((many[1] == normal(np.array(1), stage=7, purpose="example", shape=(2,))).all())
    True
    """
    return _fill(seeds, stage, purpose, shape, lambda rng, out: rng.standard_normal(out=out))


def uniform(seeds: IntArray, stage: int, purpose: str, shape: tuple[int, ...]) -> Array:
    """Uniform numbers in [0, 1) of shape (*seeds.shape, *shape)."""
    return _fill(seeds, stage, purpose, shape, lambda rng, out: rng.random(out=out))


def _fill(seeds: IntArray, stage: int, purpose: str, shape: tuple[int, ...], draw: Draw) -> Array:
    out = np.empty((*seeds.shape, *shape))
    if out.size == 0:
        return out
    bits = Philox(key=0)
    rng, state = Generator(bits), bits.state
    state["state"]["counter"][3] = stage
    state["state"]["key"][1] = _number(purpose)
    for seed, row in zip(seeds.reshape(-1), out.reshape(-1, prod(shape)), strict=True):
        state["state"]["key"][0] = seed
        bits.state = state  # re-setting one generator is several times cheaper than making one
        draw(rng, row)
    return out


@cache
def _number(purpose: str) -> int:
    return int.from_bytes(blake2b(purpose.encode(), digest_size=8).digest(), "little")
