"""Golden traces: the numbers of each policy do not change unless we mean them to.

Regenerate, after a change that is meant, with `python tests/instructions.py tests/test_golden.py`.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from cases import CASES, HORIZON, LEARNERS, parts

from bocopt import run
from bocopt.core import Array
from bocopt.trace import record

GOLDEN = Path(__file__).parent / "golden"
SHOWN = ("reward", "ess", "mean_loss", "rejuvenated", "squared_error")
ALSO_OF_LEARNERS = (
    "promised_reward",
    "ancestors",
    "evaluated",
    "mixture_score",
    "probability0",
    "chosen",
    "arm_mean",
    "arm_bound",
)


def trace_of(setting: str, name: str) -> dict[str, list[float]]:
    """Running sums, thinned to forty points: every stage counts."""
    policy, problem, stream = parts(setting, name)
    trace = record(
        run(policy, stream, problem=problem, seeds=0, horizon=HORIZON[setting]), problem.sense
    )
    shown = (*SHOWN, *ALSO_OF_LEARNERS) if setting == "learners" else SHOWN
    arrays = trace.arrays()
    every = -(HORIZON[setting] // 40)
    sums = {n: running_sum(arrays[n])[::every] for n in shown if n in arrays}
    return {n: [float(f"{v:.10g}") for v in values[::-1]] for n, values in sums.items()}


def running_sum(values: Array) -> Array:
    """Of the stages that have the number; NaN if none has it."""
    sums: Array = np.nancumsum(values)
    return np.full(sums.shape, np.nan) if np.isnan(values).all() else sums


@pytest.mark.parametrize(("setting", "name"), [*CASES, *LEARNERS])
def test_trace_is_the_golden_one(setting: str, name: str) -> None:
    golden = json.loads((GOLDEN / f"{setting}.json").read_text())[name]
    trace = trace_of(setting, name)
    assert list(trace) == list(golden)
    for column, values in trace.items():
        assert np.array(values) == pytest.approx(np.array(golden[column]), rel=1e-8, nan_ok=True)
    if setting not in ("paper", "learners"):
        assert golden["rejuvenated"][-1] >= 10


if __name__ == "__main__":
    cases = [*CASES, *LEARNERS]
    for setting in {setting for setting, _ in cases}:
        traces = {name: trace_of(s, name) for s, name in cases if s == setting}
        (GOLDEN / f"{setting}.json").write_text(json.dumps(traces).replace("]", "]\n") + "\n")
