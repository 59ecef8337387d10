"""A portfolio whose bad days are bounded: the mean of the worst losses, with costs of trading."""

from typing import Any

from bocopt import arguments
from bocopt.problems.program import Program, absolute, minimise, program, real
from bocopt.problems.risk import CVaR


def portfolio(
    *, assets: int, beta: float = 0.95, most: float = 1.0, fee: float = 0.0, **options: Any
) -> Program:
    """x are the shares held until now, z those to hold, xi the returns.

        min CVaR_beta( -xi'z + fee |z - x|_1 )   s.t.  sum z = 1,   0 <= z <= most

    More `options` as for `program`.

    >>> import numpy as np
    >>> safe = portfolio(assets=2, beta=0.5)
    >>> returns = np.array([[0.3, 0.1], [-0.2, 0.0]])
    >>> safe.solve(returns, x=np.array([0.5, 0.5])).z
    array([0., 1.])

    Reference: Rockafellar, Uryasev, Optimization of conditional value-at-risk, 2000.
    """
    assets = arguments.integer("portfolio", "assets", assets, "[1, 10000]")
    most = arguments.number("portfolio", "most", most, "(0, 1]")
    fee = arguments.number("portfolio", "fee", fee, "[0, inf)")

    @program(x=assets, xi=assets, risk=CVaR(beta), hold=real(assets, upper=most), **options)
    def portfolio(x: Any, xi: Any, hold: Any) -> Any:
        """Return the objective and the rows of one instance, from its symbols."""
        trading = fee * absolute(hold - x).sum()
        return minimise(trading - xi @ hold), hold.sum() == 1

    return portfolio
