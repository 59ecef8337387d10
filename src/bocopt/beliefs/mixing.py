"""How well particles have forgotten where a move began."""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array

_SLOWEST = 0.25  # of the axes: what is judged
_BY_CHANCE = 2.5  # times 1 / M: the mean square of their correlations if nothing is left


class Start(NamedTuple):
    """Where a move began: along the principal axes there, centred and of unit length."""

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
