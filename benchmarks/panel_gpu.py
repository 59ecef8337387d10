"""A newsvendor for every series of a panel on a graphics processor: speed, memory, agreement.

python benchmarks/panel_gpu.py FOLDER    writes FOLDER/panel_gpu.{json,md}, about two minutes

Needs a CUDA device and `bocopt[gpu]`. The panel of M5's size is synthetic: 30,490 series of 1,941
days, counts with many zeros, and twelve contexts (weekday, lags 1, 7 and 28, means of 7 and 28, a
promotion). Its time is that of `play_on_gpu`, from arrays of the host to decisions and totals
there.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from panel_made import CONTEXTS, DAYS, SERIES, demand

from bocopt.core import Array
from bocopt.live import play_on_gpu
from bocopt.live.gpu import advanced, begun, device_library, device_problem
from bocopt.models import LightMixture
from bocopt.policies import Predictive
from bocopt.problems import Newsvendor

PROBLEM = Newsvendor(unit_cost=[1.0], price=5.0)
POLICY = Predictive(PROBLEM, LightMixture())
PRECISIONS = ("float64", "float32")
WARM, TIMED = 40, 40  # stages


def mixed(rng: np.random.Generator, days: int, series: int) -> tuple[Array, Array]:
    """Normal contexts, and outcomes of three kinds: heavy tails, counts, and many zeros."""
    x = rng.standard_normal((days, series, CONTEXTS))
    y = 20.0 + x @ np.linspace(-1.0, 2.0, CONTEXTS) + rng.standard_t(3, (days, series))
    y[:, ::3] = rng.poisson(3.0, y[:, ::3].shape)
    y[:, 1::3] = rng.gamma(2.0, 3.0, y[:, 1::3].shape) * (rng.random(y[:, 1::3].shape) < 0.6)
    return x, y


def on_processor(x: Array, y: Array) -> Array:
    """(T, S) the decisions of a processor, all series in lock step."""
    state, found = POLICY.init(np.arange(y.shape[1])), []
    for t in range(len(y)):
        decision = POLICY.decide(state, t, x[t])
        found.append(decision.solution.z[..., 0])
        state = POLICY.learn(state, t, x[t], decision, y[t][:, None])
    return np.stack(found)


def agreement(days: int = 300, series: int = 1_000) -> dict[str, Any]:
    """How far decisions are from a processor's, relative to these (to 1 where they are less)."""
    x, y = mixed(np.random.default_rng(0), days, series)
    z, found = on_processor(x, y), {}
    for precision in PRECISIONS:
        off = np.abs(play_on_gpu(POLICY, x, y, precision=precision).z - z) / np.maximum(z, 1.0)
        found[precision] = {"largest": off.max(), "quantile .999": np.quantile(off, 0.999)}
    return {"series": series, "stages": days, **found}


def speed(series: int, precision: str) -> dict[str, Any]:
    """Series-stages a second where all is on the device, from the 41st stage to the 80th."""
    cuda, some = device_library(), min(series, 100_000)
    problem = device_problem(POLICY)
    x, y = mixed(np.random.default_rng(1), WARM + TIMED, some)
    times = -(-series // some)  # beyond 100,000 series the same ones again
    shown = cuda.to_device(np.tile(x.astype(precision), (1, times, 1))[:, :series])
    seen = cuda.to_device(np.tile(y.astype(precision), (1, times))[:, :series])
    free = cuda.current_context().get_memory_info()[0]
    on = begun(np.arange(series), CONTEXTS, precision == "float32")
    kept = free - cuda.current_context().get_memory_info()[0]
    advanced(on, problem, 0.0, 0, shown[:WARM], seen[:WARM])
    start, end = cuda.event(), cuda.event()
    start.record()
    advanced(on, problem, 0.0, WARM, shown[WARM:], seen[WARM:])
    end.record()
    end.synchronize()
    stage = cuda.event_elapsed_time(start, end) / 1000 / TIMED
    return {
        "precision": precision,
        "series": series,
        "seconds a stage": stage,
        "series-stages a second": series / stage,
        "bytes a series": kept / series,
    }


def whole(precision: str) -> dict[str, Any]:
    """Seconds of the panel of M5's size, from arrays to decisions and totals: each of three."""
    x, y = demand(np.random.default_rng(2), DAYS, SERIES)
    x, y = x.astype(precision), y.astype(precision)
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        played = play_on_gpu(POLICY, x, y, precision=precision)
        taken.append(time.perf_counter() - start)
    best = np.quantile(y[28:, :500], 0.8, axis=0)  # in hindsight, of few series: is it sensible?
    fixed = PROBLEM.cost(
        x[0, 0], np.broadcast_to(best, y[28:, :500].shape)[..., None], y[28:, :500, None]
    )
    return {
        "precision": precision,
        "seconds": taken,
        "arrays, bytes": x.nbytes + y.nbytes,
        "cost a series-stage": float(played.by_time.sum() / y.size),
        "cost of 500 series from day 29": float(cost_of(played.z[28:, :500], y[28:, :500])),
        "the same at the best constant of each": float(fixed.mean()),
    }


def cost_of(z: Array, y: Array) -> Any:
    """The mean cost of decisions (T, S)."""
    return PROBLEM.cost(np.zeros(1), z[..., None], y[..., None].astype(float)).mean()


def lines(numbers: dict[str, Any]) -> list[str]:
    """The page: what was measured, in three tables."""
    found = [f"# A panel on a graphics processor: {numbers['device']}", ""]
    found += ["| precision | series | ms a stage | series-stages a second | kB a series |"]
    found += ["|---|---:|---:|---:|---:|"]
    for each in numbers["speed"]:
        rate, size = each["series-stages a second"], each["bytes a series"] / 1000
        found += [
            f"| {each['precision']} | {each['series']:,} | {each['seconds a stage'] * 1000:.3f} "
            f"| {rate:.2e} | {size:.1f} |"
        ]
    found += ["", f"{SERIES:,} series of {DAYS:,} days, from arrays to decisions and totals:", ""]
    for each in numbers["whole"]:
        seconds = ", ".join(f"{s:.2f}" for s in each["seconds"])
        found += [f"- {each['precision']}: {seconds} s"]
    about = numbers["agreement"]
    found += [
        "",
        f"Decisions beside a processor's, {about['series']} series, {about['stages']} stages:",
        "",
    ]
    for precision in PRECISIONS:
        off = about[precision]
        most, rest = f"{off['largest']:.1e}", f"{off['quantile .999']:.1e}"
        found += [
            f"- {precision}: relative difference at most {most}; of one in 1,000 above {rest}"
        ]
    return found


def main(folder: Path) -> None:
    cuda = device_library()
    name = cuda.get_current_device().name
    start = time.perf_counter()
    agreed = agreement()
    numbers = {
        "device": name.decode() if isinstance(name, bytes) else name,
        "command": "python benchmarks/panel_gpu.py FOLDER",
        "versions": {each: version(each) for each in ("numba", "numba-cuda", "numpy")},
        "contexts": CONTEXTS,
        "agreement": agreed,
        "agreement, seconds with compilation": time.perf_counter() - start,
        "speed": [speed(s, p) for p in PRECISIONS for s in (1_000, 10_000, SERIES, 100_000, 10**6)],
        "whole": [whole(p) for p in PRECISIONS],
    }
    folder.mkdir(exist_ok=True)
    (folder / "panel_gpu.json").write_text(json.dumps(numbers, indent=2) + "\n")
    (folder / "panel_gpu.md").write_text("\n".join(lines(numbers)) + "\n")
    print("\n".join(lines(numbers)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
