"""The record of a run as a data frame."""

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bocopt import arguments
from bocopt.core import Status
from bocopt.extras import needed
from bocopt.trace import Trace

_OWNER = "to_frame"
_VECTORS = ("x", "z", "xi")
_LIBRARIES = ("polars", "pandas", "pyarrow")

Library = Literal["polars", "pandas", "pyarrow"]


def to_frame(trace: Trace, library: Library | None = None) -> Any:
    """One row per trial and stage, in a frame of polars or pandas, or a table of pyarrow.

    Columns are `trial`, `stage`, contexts (`x0`, ...), decisions (`z0`, ...) and outcomes (`xi0`,
    ...), then all that `Trace.to_csv` writes; a `status` is its name. What has a name stands under
    it, as `rain`; under `x.rain` where another column is called so; and the weights of arms and
    laws as `arm_weights.model`. Without a `library`, it is the first of the three that is
    installed.

    >>> from bocopt import run
    >>> from bocopt.trace import record
    >>> from bocopt.paper import PaperStream
    >>> from bocopt.policies import Constant
    >>> from bocopt.problems import Knapsack
    >>> problem = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)
    >>> stages = run(Constant([1, 1, 1, 1]), PaperStream(), problem=problem, horizon=3)
    >>> frame = to_frame(record(stages, problem.sense), "pandas")
    >>> frame["stage"].to_list(), frame["status"].to_list()
    ([0, 1, 2], ['GIVEN', 'GIVEN', 'GIVEN'])
    """
    arguments.kind(_OWNER, "trace", trace, Trace)
    if library not in (*_LIBRARIES, None):
        raise arguments.wrong(_OWNER, "library", "'polars', 'pandas', 'pyarrow' or None", library)
    return framed(columns_of(trace), _OWNER, library).to_native()


def framed(columns: Mapping[str, Any], owner: str, library: Library | None = None) -> Any:
    """A frame of narwhals, in the library that is asked for, or in the first that is installed."""
    installed = [name for name in _LIBRARIES if find_spec(name)]
    chosen = library or [*installed, _LIBRARIES[0]][0]
    needed(chosen, owner, chosen)
    narwhals = needed("narwhals", owner, "narwhals")
    return narwhals.from_dict(columns, backend=chosen)


def columns_of(trace: Trace) -> dict[str, NDArray[Any]]:
    """Return the columns (trials * T) of a trace by name, trial after trial."""
    stages = trace.horizon
    trials = trace.cost.size // stages
    vectors = {"x": trace.x, "z": trace.z, "xi": trace.xi}
    parts: dict[str, NDArray[Any]] = {
        f"{name}{j}": values[..., j]
        for name, values in vectors.items()
        for j in range(values.shape[-1])
    }
    numbers: dict[str, NDArray[Any]] = {**trace.arrays()}
    numbers["feasible"], numbers["solvable"] = trace.feasible, trace.solvable
    numbers["status"] = np.array([status.name for status in Status])[trace.status]
    every = {**parts, **{name: values for name, values in numbers.items() if name not in parts}}
    called = _called(trace, ["trial", "stage", *every])
    return {
        "trial": np.repeat(np.arange(trials), stages),
        "stage": np.tile(np.arange(stages), trials),
        **{
            called.get(name, name): np.ascontiguousarray(values).reshape(-1)
            for name, values in every.items()
        },
    }


def _called(trace: Trace, columns: Sequence[str]) -> dict[str, str]:
    """The columns that have names: alone where nothing else is called so, or after their kind."""
    named = {
        f"{vector}{j}": (vector, name)
        for vector, names in trace.names.items()
        for j, name in enumerate(names)
        if f"{vector}{j}" in columns
    }
    others = set(columns) - named.keys()
    alone = Counter([*others, *(name for _, name in named.values())])
    shown = {
        column: name if vector in _VECTORS and alone[name] == 1 else f"{vector}.{name}"
        for column, (vector, name) in named.items()
    }
    taken = Counter([*others, *shown.values()])
    return {column: name for column, name in shown.items() if taken[name] == 1}
