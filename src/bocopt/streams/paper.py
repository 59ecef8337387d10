"""The paper's synthetic stream."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bocopt import arguments
from bocopt.core import Array, IntArray
from bocopt.numeric import noise

_PHI1 = np.array([[0.5, -0.9, 0.0], [1.1, -0.7, 0.0], [0.0, 0.0, 0.5]])
_PHI2 = np.array([[0.0, -0.5, 0.0], [-0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
_THETA1 = np.array([[0.4, 0.8, 0.0], [-1.1, -0.3, 0.0], [0.0, 0.0, 0.0]])
_THETA2 = np.array([[0.0, -0.8, 0.0], [-1.1, 0.0, 0.0], [0.0, 0.0, 0.0]])
_SIGMA_U = np.array([[1.0, 0.5, 0.0], [0.5, 1.2, 0.5], [0.0, 0.5, 0.8]])
_G = 2.5 * np.tile([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], (4, 1))
_B = 7.5 * np.array(
    [[0, -1, -1], [-1, 0, -1], [-1, -1, 0], [0, -1, 1], [-1, 0, 1], [-1, 1, 0],
     [0, 1, -1], [1, 0, -1], [1, -1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
)  # fmt: skip


@dataclass(frozen=True)
class PaperStream:
    """The paper's ARMA(2,2) context x (3) and its heteroscedastic outcome xi (12).

        x_t  = u_t + Phi1 x_{t-1} + Phi2 x_{t-2} + Theta1 u_{t-1} + Theta2 u_{t-2}
        xi~  = G (x_t + delta_t / 4) + (B x_t) * eps_t
        xi   = max(-100, xi~) / 100 + offset

    with u ~ N(0, Sigma_U) and delta, eps standard normal. The print has offset 2, with which its
    own table is impossible (E1). It does not say how the process starts: here from zero, with
    `run_in` stages thrown away.

    >>> x, xi = next(PaperStream().stages(np.arange(5)))
    >>> x.shape, xi.shape
    ((5, 3), (5, 12))
    """

    offset: float = 1.0
    run_in: int = 100

    def __post_init__(self) -> None:
        arguments.number("PaperStream", "offset", self.offset, "(-inf, inf)")
        arguments.integer("PaperStream", "run_in", self.run_in, "[0, inf)")

    @property
    def dim_noise(self) -> int:
        """Number of noise variables of an outcome: 3 of delta and 12 of eps."""
        return 3 + 12

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Endless."""
        seeds = arguments.seeds_of("PaperStream.stages", seeds)
        x1 = x2 = u1 = u2 = np.zeros((*seeds.shape, 3))
        factor = np.linalg.cholesky(_SIGMA_U)
        t = 0
        while True:
            u = _times(factor, noise.normal(seeds, t, "stream.innovation", (3,)))
            x = (
                u
                + _times(_PHI1, x1)
                + _times(_PHI2, x2)
                + _times(_THETA1, u1)
                + _times(_THETA2, u2)
            )
            if t >= self.run_in:
                yield x, self.sample_given(x, noise.normal(seeds, t, "stream.outcome", (15,)))
            x1, x2, u1, u2 = x, x1, u, u1
            t += 1

    def sample_given(self, x: Array, u: Array) -> Array:
        """(3), (15) -> (12): the law of xi given x, with u = (delta, eps)."""
        x = arguments.array("PaperStream.sample_given", "x", x, (3,))
        u = arguments.array("PaperStream.sample_given", "u", u, (self.dim_noise,))
        raw = _times(_G, x + u[..., :3] / 4) + _times(_B, x) * u[..., 3:]
        return np.maximum(-100.0, raw) / 100 + self.offset


def _times(matrix: Array, x: Array) -> Array:
    """The product with each x alone: the same bits whatever the leading axes are."""
    product: Array = np.matmul(matrix, x[..., None])[..., 0]
    return product
