"""Resampling: weights w (N) and uniform noise -> indices of particles."""

import numpy as np

from bocopt.core import Array, IntArray

_search = np.vectorize(
    lambda cumulative, point: np.searchsorted(cumulative, point, side="right"),
    signature="(n),(m)->(m)",
    otypes=[np.int64],
)


def multinomial(w: Array, u: Array) -> IntArray:
    """(N) weights, (M) uniforms -> (M) independent indices: I_k = i with probability w_i.

    >>> multinomial(np.array([0.2, 0.0, 0.8]), np.array([0.1, 0.2, 0.99])).tolist()
    [0, 2, 2]
    """
    cumulative = np.cumsum(w, axis=-1)
    total = cumulative[..., -1:]
    point = np.minimum(u * total, np.nextafter(total, 0.0))  # below the top whatever is rounded
    index: IntArray = _search(cumulative, point)
    return index


def systematic(w: Array, u: Array) -> IntArray:
    """(N) weights, () one uniform -> (N) indices: i comes up floor or ceil of N w_i times.

    >>> systematic(np.array([0.5, 0.25, 0.25, 0.0]), np.array(0.3)).tolist()
    [0, 0, 1, 2]
    """
    size = w.shape[-1]
    return multinomial(w, (np.arange(size) + u[..., None]) / size)
