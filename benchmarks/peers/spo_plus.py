"""Our SPO+, online, beside PyEPO's own, in batches, on the data of PyEPO's generator.

Shortest paths on a 5 x 5 grid, 5 features, a linear predictor. Both see the same 1000 instances and
are judged on the same 1000 others, by normalised regret: what is paid above the optimum, over the
optimum. PyEPO goes through the data 10 times in batches of 32. We see each instance once, in order,
as a stream; and, to compare like with like, 10 times as well. CPU seconds are those of learning.

PyEPO and OR-Tools, which it solves with here, are no dependencies of ours:

    pip install pyepo==2.2.7 torch==2.13.0 ortools
    python benchmarks/peers/spo_plus.py     writes benchmarks/results/spo_plus.{md,json}
"""

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from bocopt import Replay
from bocopt.core import Array
from bocopt.paper import Adam, Gaussian, Linear
from bocopt.policies.gradient import GradientState
from bocopt.policies.spo import SPOPlus
from bocopt.problems.hindsight import regret
from bocopt.problems.library.paths import grid

sys.path.append(str(Path(__file__).parents[1]))
results_file: Any = import_module("results_file")

DEGREES, WIDTHS, SEEDS = (1, 2, 4, 6, 8), (0.0, 0.5), (0, 1)
TRAIN = TEST = 1000
EPOCHS, BATCH, RATE = 10, 32, 0.01
PROBLEM, PREDICTOR = grid(5, 5), Linear(dim_x=5, dim_xi=40)
Fitted = Callable[[Array], Array]  # contexts -> predicted costs


def peer() -> tuple[Any, Any]:
    """PyEPO and torch, or an end that says what is missing."""
    try:
        import_module("ortools")
        return import_module("pyepo"), import_module("torch")
    except ImportError as error:
        sys.exit(f"{error}. Needed: pip install pyepo==2.2.7 torch==2.13.0 ortools")


def theirs(x: Array, c: Array, seed: int) -> Fitted:
    """PyEPO's SPO+ with Adam."""
    pyepo, torch = peer()
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    paths = import_module("pyepo.model.ort").shortestPathModel((5, 5))
    data = import_module("pyepo.data.dataset").optDataset(paths, x, c)
    loader = torch.utils.data.DataLoader(data, batch_size=BATCH, shuffle=True)
    model, loss = torch.nn.Linear(5, 40), pyepo.func.SPOPlus(paths)
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    for _ in range(EPOCHS):
        for batch in loader:
            features, *truth = batch
            optimiser.zero_grad()
            loss(model(features), *truth).backward()
            optimiser.step()
    weights, bias = (part.detach().numpy().astype(float) for part in model.parameters())
    return lambda contexts: contexts @ weights.T + bias


def ours(x: Array, c: Array, seed: int, passes: int) -> Fitted:
    """Our policy on a stream of the instances."""
    prior = Gaussian(mean=PREDICTOR.constant(np.ones(40)).tolist(), sd=0.1)
    policy = SPOPlus(problem=PROBLEM, predictor=PREDICTOR, prior=prior, adam=Adam(rate=RATE))
    stream = Replay(np.tile(x, (passes, 1)), np.tile(c, (passes, 1)))
    state: GradientState = policy.init(np.array(seed))
    for t, (context, costs) in enumerate(stream.stages(np.array(seed))):
        state = policy.learn(state, t, context, policy.decide(state, t, context), costs)
    return lambda contexts: PREDICTOR.sample(state.theta, contexts, np.empty(0))


def measured(fit: Callable[[], Fitted], x: Array, c: Array) -> tuple[float, float]:
    """Normalised regret on (x, c), and the CPU seconds of learning."""
    start = process_time()
    fitted = fit()
    spent = process_time() - start
    best = PROBLEM.solve(c[:, None, :], np.ones(1), x).value
    return float(regret(PROBLEM, x, fitted(x), c).sum() / best.sum()), spent


def row_of(degree: int, width: float) -> dict[str, Any]:
    pyepo, _ = peer()
    found: dict[str, list[tuple[float, float]]] = {"pyepo": [], "once": [], "again": []}
    for seed in SEEDS:
        x, c = pyepo.data.shortestpath.genData(
            TRAIN + TEST, 5, (5, 5), deg=degree, noise_width=width, seed=seed
        )
        x, c = x.astype(float), c.astype(float)
        learn, test = (x[:TRAIN], c[:TRAIN], seed), (x[TRAIN:], c[TRAIN:])
        found["pyepo"].append(measured(partial(theirs, *learn), *test))
        found["once"].append(measured(partial(ours, *learn, passes=1), *test))
        found["again"].append(measured(partial(ours, *learn, passes=EPOCHS), *test))
    means = {name: np.mean(pairs, axis=0).tolist() for name, pairs in found.items()}
    return {"degree": degree, "half_width": width, **means}


def main() -> None:
    rows = [row_of(degree, width) for width in WIDTHS for degree in DEGREES]
    versions = {name: version(name) for name in ("pyepo", "torch", "ortools")}
    results_file.write("spo_plus", {"peers": versions, "rows": rows}, "benchmarks/peers")
    lines = [
        "# SPO+ online beside PyEPO's SPO+ in batches",
        "",
        f"Normalised regret on {TEST} instances after {TRAIN}, mean over {len(SEEDS)} draws of",
        f"PyEPO's generator, and CPU seconds of learning. PyEPO {versions['pyepo']}:",
        f"{EPOCHS} epochs, batches of {BATCH}; both: Adam with rate {RATE}.",
        "`python benchmarks/peers/spo_plus.py`",
        "",
        "| noise | degree | PyEPO | ours, once | ours, 10 times | PyEPO s | once s | 10 times s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        regrets, seconds = zip(*(row[name] for name in ("pyepo", "once", "again")), strict=True)
        shown = [f"{100 * r:.2f}%" for r in regrets] + [f"{s:.2f}" for s in seconds]
        lines.append(f"| {row['half_width']} | {row['degree']} | {' | '.join(shown)} |")
    results_file.write_markdown("spo_plus", lines)


if __name__ == "__main__":
    main()
