"""Data frames of a run hold what the trace does."""

import csv
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from registry import KNAPSACK, STREAM

from bocopt import run
from bocopt.interop import to_frame
from bocopt.policies import Constant, Shadowed
from bocopt.trace import record

STAGES = run(Constant([2, 1]), STREAM, problem=KNAPSACK, seeds=[0, 1], horizon=4)
TRACE = record(STAGES, KNAPSACK.sense)


def columns(frame: Any) -> dict[str, list[Any]]:
    as_table = frame.to_pydict() if hasattr(frame, "to_pydict") else None
    return as_table or {name: frame[name].to_list() for name in frame.columns}


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow", None])
def test_every_number_of_the_trace_is_there(library: Any) -> None:
    wanted = library or next(name for name in ("polars", "pandas", "pyarrow") if find_spec(name))
    pytest.importorskip(wanted)
    frame = to_frame(TRACE, library)
    assert type(frame).__module__.partition(".")[0] == wanted
    found = columns(frame)
    assert found["trial"] == [0] * 4 + [1] * 4
    assert found["stage"] == [*range(4)] * 2
    assert found["reward"] == (-TRACE.cost).ravel().tolist()
    assert found["feasible"] == TRACE.feasible.ravel().tolist()
    assert found["status"] == ["GIVEN"] * 8
    for name, values in (("x", TRACE.x), ("z", TRACE.z), ("xi", TRACE.xi)):
        for j in range(values.shape[-1]):
            assert found[f"{name}{j}"] == values[..., j].ravel().tolist()


def test_it_has_all_columns_of_the_csv_file(tmp_path: Path) -> None:
    policy = Shadowed(Constant([2, 1]), {"other": Constant([1, 1])})
    trace = record(
        run(policy, STREAM, problem=KNAPSACK, horizon=3, hindsight=False), KNAPSACK.sense
    )
    trace.to_csv(tmp_path / "trace.csv")
    with open(tmp_path / "trace.csv", newline="", encoding="utf-8") as file:
        header = next(csv.reader(file))
    found = columns(to_frame(trace, "pandas"))
    assert set(header) <= set(found)
    assert np.isnan(found["hindsight_reward"]).all()


def test_a_library_that_is_not_one_is_named() -> None:
    excel: Any = "excel"
    with pytest.raises(ValueError, match="'library' parameter of to_frame must be 'polars'"):
        to_frame(TRACE, excel)
