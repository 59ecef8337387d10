"""Scenarios of several laws at once: each from the law that it belongs to."""

from bocopt.core import Array, IntArray
from bocopt.numeric.compiled import gufunc


@gufunc(
    "void(int64[:], float64[:,:], float64[:], float64[:,:], float64[:,:], float64[:,:,:], "
    "float64[:,:])",
    "(s),(s,m),(s),(l,m),(l,m),(l,m,m)->(s,m)",
)
def draw(
    whose: IntArray,
    normal: Array,
    heavy: Array,
    location: Array,
    scale: Array,
    factor: Array,
    drawn: Array,
) -> None:
    """location + scale * (factor normal) * heavy, of the law `whose`."""
    for i in range(len(whose)):
        law = whose[i]
        for j in range(location.shape[1]):
            shaped = 0.0
            for k in range(j + 1):
                shaped += factor[law, j, k] * normal[i, k]
            drawn[i, j] = location[law, j] + scale[law, j] * shaped * heavy[i]
