"""One budget over all shops: a program for all of them, beside each by itself and a known law.

python benchmarks/coupled.py    writes benchmarks/results/coupled.{json,md}; quality only, no times

The drawn shops of the panels (benchmarks/panel_data.py), of which every second opens late. Each day
all that are open order from one budget, a share of the mean demand of all of them. An order costs 1
a unit and sells at 4, so that each by itself would order the quantile at 0.75. What is left over is
lost.

- known law: the program under the law that the demand is drawn from, which nobody knows;
- one program: `Coupled(budget)`, the law of each shop by a light mixture;
- one program, past outcomes: the law of each shop is that of its outcomes so far;
- each, then cut: the light mixture of each shop decides by itself, and all orders are cut by one
  factor to the budget.

Shown is by how much less is earned than under the known law, in percent of that, over the days
after the first 60, with the standard error over blocks of 30 days.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from panel_data import DrawnShops, drawn_shops
from results_file import write, write_markdown
from scipy.stats import nbinom

from bocopt import Coupled, CoupledAgent, SampleAverage
from bocopt.core import Array
from bocopt.problems import Newsvendor

SHARES = (0.5, 0.8, 1.1)
SHOPS = 60  # the first of the drawn ones
WARM_UP, BLOCK = 60, 30
LEVELS = (np.arange(256) + 0.5) / 256


def budget_of(share: float, sizes: dict[str, float]) -> Any:
    """Return the program of the shops that are open, whose budget is a share of their demand."""
    whole = share * sum(sizes.values())

    def budget(shops: Sequence[str]) -> Newsvendor:
        """Return the newsvendor of these shops; one by itself may spend all."""
        many = len(shops)
        spent = share * sum(sizes[shop] for shop in shops) if many > 1 else whole
        return Newsvendor(unit_cost=[1.0] * many, price=4.0, capacity=spent)

    return budget


def played(drawn: DrawnShops, coupled: Coupled) -> Array:
    """Return what an agent pays each day."""
    panel, agent, cost = drawn.panel, CoupledAgent(coupled), []
    read = not isinstance(coupled.law, SampleAverage)  # which takes no gaps, and reads nothing
    for y, x in zip(panel.y, panel.x if read else np.zeros(panel.x.shape), strict=True):
        open_now = np.flatnonzero(~np.isnan(y))
        names = [f"shop {i:03}" for i in open_now.tolist()]
        agent.decide(names, x[open_now])
        cost.append(agent.observe(names, y[open_now]).cost)
    return np.array(cost)


def under_known_law(drawn: DrawnShops, coupled: Coupled) -> Array:
    """Return what the program under the true law pays each day."""
    cost = []
    for y, mean, dead in zip(drawn.panel.y, drawn.mean, drawn.dead, strict=True):
        open_now = np.flatnonzero(~np.isnan(y))
        shape = drawn.shape[open_now]
        law = np.array(nbinom.ppf(LEVELS[:, None], shape, shape / (shape + mean[open_now])))
        law[:, dead[open_now]] = 0.0
        problem = coupled.program([f"shop {i:03}" for i in open_now.tolist()]).problem
        z = problem.solve(law, np.full(len(law), 1.0 / len(law)), np.zeros(0)).z
        cost.append(float(problem.cost(np.zeros(0), z, y[open_now])))
    return np.array(cost)


def missed(cost: Array, best: Array) -> list[float]:
    """Return the percentage that is missed of what the best earns, and its standard error."""
    days = (len(cost) - WARM_UP) // BLOCK * BLOCK
    blocks = (cost - best)[WARM_UP : WARM_UP + days].reshape(-1, BLOCK).mean(axis=1)
    earned = -best[WARM_UP : WARM_UP + days].mean()
    error = blocks.std(ddof=1) / np.sqrt(len(blocks))
    return [float(100 * blocks.mean() / earned), float(100 * error / earned)]


def main() -> None:
    whole = drawn_shops()
    some = np.arange(SHOPS)
    drawn = DrawnShops(
        whole.panel.part(some), whole.mean[:, some], whole.shape[some], whole.dead[:, some]
    )
    alive = np.where(drawn.dead, 0.0, drawn.mean).mean(axis=0)
    sizes = {f"shop {i:03}": float(size) for i, size in enumerate(alive)}
    rows: dict[str, dict[str, list[float]]] = {}
    for share in SHARES:
        budget = budget_of(share, sizes)
        best = under_known_law(drawn, Coupled(budget))
        average = SampleAverage(Newsvendor(unit_cost=[1.0], price=4.0))
        rivals = {
            "one program": Coupled(budget),
            "one program, past outcomes": Coupled(budget, law=average),
            "each, then cut": Coupled(budget, together=False),
        }
        for name, coupled in rivals.items():
            rows.setdefault(name, {})[f"{share:g}"] = missed(played(drawn, coupled), best)
    write("coupled", {"shops": SHOPS, "rows": rows})
    assert __doc__ is not None
    heads = " | ".join(f"budget {share:g}" for share in SHARES)
    lines = ["# One budget over all shops", "", *__doc__.splitlines()[4:], ""]
    lines += [f"| {SHOPS} shops: % less than under the known law | {heads} |"]
    lines += ["|---|" + "---:|" * len(SHARES)]
    for name, found in rows.items():
        cells = " | ".join(f"{mean:.1f} ± {error:.1f}" for mean, error in found.values())
        lines.append(f"| {name} | {cells} |")
    write_markdown("coupled", lines)


if __name__ == "__main__":
    main()
