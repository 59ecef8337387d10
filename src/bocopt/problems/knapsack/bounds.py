"""Bounds that the searches share to prune; (R) is explained in `reference`."""

import numpy as np

from bocopt.core import Array
from bocopt.numeric.compiled import compiled, inlined


@compiled
def relaxed_weights(weights: Array, w: Array, spare: float) -> tuple[Array, Array]:
    """M of (R), by item, and the magnitude of the terms it was summed from (for rounding)."""
    scenarios, resources, items = weights.shape
    m, magnitude = np.zeros((items, resources)), np.zeros((items, resources))
    for j in range(items):
        for r in range(resources):
            top = 0.0
            for i in range(scenarios):
                m[j, r] += w[i] * weights[i, r, j]
                magnitude[j, r] += w[i] * abs(weights[i, r, j])
                if 0.0 < w[i] <= spare:
                    top = max(top, weights[i, r, j])
            m[j, r] -= spare * top
            magnitude[j, r] += spare * top
    return m, magnitude


@inlined
def narrowed(low: float, high: float, gain: float, missing: float) -> tuple[float, float]:
    """The integers v from low >= 0 to high with gain * v >= missing, one too many if in doubt."""
    if gain > 0.0 and missing > 0.0:
        low = max(low, np.ceil(missing / gain - 1e-6))
    elif gain < 0.0 and gain * high < missing:
        high = np.floor(missing / gain + 1e-6)
    elif gain == 0.0 and missing > 0.0:
        high = low - 1.0
    return low, high
