"""The polynomial stream that predict-then-optimise methods are compared on."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray, IntArray
from bocopt.numeric import noise

_TYPICAL = 3.5  # (typical^degree + 1) is about the size of a cost


@dataclass(frozen=True, kw_only=True)
class PolynomialCosts:
    """Costs that are a polynomial of the context x ~ N(0, I), more and more unlike a linear one.

        xi_j = ((B x)_j / sqrt(k) + 3)^degree + 1, times eps_j,   eps_j ~ U[1 - w, 1 + w]

    with k features, a matrix B of fair coin flips 0 and 1, and the half-width w of the noise. The
    flips are a function of `law`: another law, another B. The default sizes are those of the 5 x 5
    grid of the literature. All costs are divided by 3.5^degree, so that they are about 1 whatever
    the degree; regret relative to cost stays the same.

    >>> x, xi = next(PolynomialCosts(degree=4).stages(np.arange(5)))
    >>> x.shape, xi.shape
    ((5, 5), (5, 40))

    Reference: Elmachtoub, Grigas (2022), Smart "predict, then optimize", section 6.1.
    """

    degree: int = 1
    half_width: float = 0.0
    dim_x: int = 5
    dim_xi: int = 40
    law: int = 0

    def __post_init__(self) -> None:
        name = "PolynomialCosts"
        arguments.integer(name, "degree", self.degree, "[1, 20]")
        arguments.number(name, "half_width", self.half_width, "[0, 1]")
        arguments.integer(name, "dim_x", self.dim_x, "[1, inf)")
        arguments.integer(name, "dim_xi", self.dim_xi, "[1, inf)")
        arguments.integer(name, "law", self.law, "[0, 9e18]")

    @property
    def dim_noise(self) -> int:
        """Number of noise variables m of an outcome: one for each cost."""
        return self.dim_xi

    @cached_property
    def matrix(self) -> BoolArray:
        """B, (m, k)."""
        flips = noise.uniform(np.array(self.law), 0, "polynomial.matrix", (self.dim_xi, self.dim_x))
        return flips < 0.5

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Endless."""
        seeds = arguments.seeds_of("PolynomialCosts.stages", seeds)
        t = 0
        while True:
            x = noise.normal(seeds, t, "polynomial.context", (self.dim_x,))
            yield (
                x,
                self.sample_given(x, noise.normal(seeds, t, "polynomial.noise", (self.dim_xi,))),
            )
            t += 1

    def sample_given(self, x: Array, u: Array) -> Array:
        """(k), (m) -> (m): the law of xi given x; at u = 0 it is the mean."""
        x = arguments.array("PolynomialCosts.sample_given", "x", x, (self.dim_x,))
        u = arguments.array("PolynomialCosts.sample_given", "u", u, (self.dim_xi,))
        # One product a context, and powers by multiplying: the same bits whatever the leading axes.
        inner = np.matmul(self.matrix.astype(float), x[..., None])[..., 0] / np.sqrt(self.dim_x) + 3
        power = inner
        for _ in range(self.degree - 1):
            power = power * inner
        from scipy.special import ndtr

        factor = 1.0 + self.half_width * (2.0 * ndtr(u) - 1.0)
        xi: Array = (power + 1.0) / _TYPICAL**self.degree * factor
        return xi
