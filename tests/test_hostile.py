"""Every public call with something else in the place of each argument: taken, or named."""

import inspect
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest
from registry import CLASSES, INSTANCES, KNAPSACK, PUBLIC, STREAM, kind_of, the

import bocopt
from bocopt import checks
from bocopt.app.reading.columns import Table
from bocopt.loop import play

STAGES = list(bocopt.run(the.Constant([1, 1]), STREAM, problem=KNAPSACK, horizon=3))
PLAYED = {"policy": the.Constant([1, 1]), "problem": KNAPSACK}
FRAME = Table("the table", "row", np.arange(3), {"y": np.arange(3.0)})
SHOPS = replace(
    FRAME, columns={**FRAME.columns, "unique_id": ["a", "a", "b"], "ds": np.arange(3.0)}
)
BATCH = {"losses": np.ones((3, 2)), "log_prior": np.log([0.5, 0.5]), "lam": 1.0}


def said_by(thing: Any) -> dict[str, Any]:
    """The arguments that a configuration was made of, as it keeps them."""
    return {f.name: getattr(thing, f.name) for f in fields(thing) if f.init}


#: Arguments that are fine, for every public call: those of the registry, and of functions.
FINE: dict[Callable[..., Any], dict[str, Any]] = {
    **{type(thing): said_by(thing) for thing in INSTANCES.values() if is_dataclass(thing)},
    the.BestArm: {},
    the.Monitor: {"problem": KNAPSACK},
    the.default_members: {},
    the.histories_of: {"state": the.Ensemble(KNAPSACK).init(np.array(0))},
    the.for_horizon: {"horizon": 10, "scale": 1.0},
    the.certify: {
        "guarantee": the.Feasibility(),
        "stages": [the.evidence_of(KNAPSACK, stage) for stage in STAGES],
    },
    the.gibbs: BATCH,
    the.offline: {**BATCH, "scale": 1.0},
    the.anytime: {
        "losses": [[0.2, 0.6], [0.1, 0.7]],
        "log_prior": np.log([0.5, 0.5]),
        "scale": 1.0,
    },
    the.discoveries: {"log_e": [0.0, 3.0], "shares": [0.5, 0.5]},
    the.guide: {"lam": 1.0, "horizon": 1000, "scale": 1.0},
    the.headline: {},
    the.comparisons: {"names": ["one"]},
    the.c_bound: {"margins": [0.5, 0.5]},
    the.vote_margin: {"decisions": [[1.0], [2.0]], "w": [0.5, 0.5], "right": [True, False]},
    the.Gaussian.isotropic: {"dim": 2},
    **{variable: {"shape": 2, "upper": 3.0} for variable in (the.real, the.integer, the.recourse)},
    the.binary: {"shape": 2},
    the.at_least: {"low": 3.0},
    the.at_most: {"high": 3.0},
    the.between: {"low": 3.0, "high": 5.0},
    the.grid: {"rows": 2, "columns": 2},
    the.staffing: {"wage": [1.0], "covers": [[1.0]]},
    the.portfolio: {"assets": 2},
    the.facility_location: {
        "fixed": [1.0],
        "ship_cost": [[1.0]],
        "room": 1.0,
        "unmet_cost": 1.0,
    },
    the.unit_commitment: {
        "hours": 2,
        **{n: [1.0] for n in ("capacity", "least", "start_cost", "hour_cost", "fuel_cost")},
        "unserved_cost": 1.0,
    },
    the.read: {"path": "x"},
    the.frame_of: {"table": import_module("polars").DataFrame({"x": [1.0, 2.0]})},
    the.series_of: {"frame": FRAME, "spec": the.Spec("y")},
    the.panel_of: {
        "frame": SHOPS,
        "spec": the.Spec("y", time="ds", series="unique_id"),
    },
    the.shown: {"series": the.series_of(FRAME, the.Spec("y"))},
    the.from_sklearn: {"regressor": INSTANCES["FromSklearn"].regressor},
    the.from_river: {"regressor": INSTANCES["FromRiver"].regressor},
    the.from_pyepo: {"optmodel": INSTANCES["FromPyepo"].optmodel},
    the.Incremental: {"learner": the.SampleAverage(KNAPSACK)},
    the.environment: {"stream": STREAM, "problem": KNAPSACK},
    the.to_frame: {"trace": INSTANCES["Trace"]},
    the.from_csv: {"path": "x", "context": ["x"], "outcome": ["y"]},
    play: {
        **PLAYED,
        "state": the.Constant([1, 1]).init(np.array(0)),
        "t": 0,
        "x": np.zeros(3),
        "xi": np.ones(2),
    },
    bocopt.run: {**PLAYED, "stream": STREAM, "horizon": 2},
    bocopt.backtest: {**PLAYED, "x": None, "xi": np.ones((2, 2))},
    the.record: {"stages": STAGES, "sense": KNAPSACK.sense},
    checks.check_policy: {**PLAYED, "stream": STREAM, "horizon": 2},
    checks.check_problem: {"problem": KNAPSACK, "x": np.zeros((2, 3)), "xi": np.ones((2, 2))},
}

#: Laws that `check_problem` and `check_policy` call with what they checked.
LAWS = {*checks.__all__} - {"check_problem", "check_policy", "LawError"}
#: Functions of arrays that the loops call with what was checked before.
INNER = {
    *(the.effective_size, the.multinomial, the.systematic, the.posterior_mean),
    *(the.evidence_of, the.range_of, the.why_unranged, the.average),
    *(getattr(checks, name) for name in LAWS),
}
#: Called with functions or parts of the user's, and tested with them; a record of a run.
ELSEWHERE = {
    *(
        the.Agent,
        the.PanelAgent,
        the.Coupled,
        the.CoupledAgent,
        the.from_callables,
        the.FromCallables,
        the.Trace,
        bocopt.compare,
    ),
    *(the.program, the.Program, the.minimise, the.maximise, the.pos, the.absolute),
    *(the.from_cvxpy, the.Conic, the.FromPyepo, the.informed_ensemble),
    *(the.open_case, the.backtest, the.decide, the.Featuriser, the.Case),
    *(the.PanelFeaturiser, the.backtest_panel),
    the.play_on_gpu,
}
FINE = {call: given for call, given in FINE.items() if call not in ELSEWHERE}

BAD = {
    "3.0": 3.0,
    "None": None,
    "'x'": "x",
    "[]": [],
    "object()": object(),
    "nan": float("nan"),
    "-1": -1,
    "lambda": lambda: 0,
}


def test_every_public_call_is_here() -> None:
    calls = {thing for name, thing in PUBLIC.items() if not _is_record(name)}
    extra = {the.Gaussian.isotropic, bocopt.backtest}  # `the.backtest` is that of cases
    assert calls == (set(FINE) - extra) | INNER | ELSEWHERE


def _is_record(name: str) -> bool:
    return name in CLASSES and kind_of(CLASSES[name]) == "record"


def _said(attempt: Callable[[], Any]) -> str | None:
    """The message of an error that a user may see; None where there is none."""
    try:
        attempt()
    except (ValueError, TypeError) as error:
        return str(error)
    return None


def _parameters(call: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(call).parameters)


CASES = [(call, name) for call in FINE for name in _parameters(call)]


@pytest.mark.parametrize(
    ("call", "name"), CASES, ids=[f"{call.__qualname__}-{name}" for call, name in CASES]
)
@pytest.mark.filterwarnings("ignore:lam = ")  # `guide` warns where a bound says nothing
def test_something_else_is_taken_or_named(
    call: Callable[..., Any], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").write_text("x,y\n1,2\n")
    monkeypatch.chdir(tmp_path)
    call(**FINE[call])
    itself = call if isinstance(call, type) else type(call)
    for bad in (*BAD.values(), itself):
        said = _said(partial(call, **{**FINE[call], name: bad}))
        assert said is None or re.search(f"'{name}'|There are no {name} |needs x", said), said


@pytest.mark.parametrize(
    ("call", "name"), CASES, ids=[f"{call.__qualname__}-{name}" for call, name in CASES]
)
def test_a_part_is_never_a_number(call: Callable[..., Any], name: str) -> None:
    """Where a problem, policy, predictor and so on belongs, everything in BAD is refused."""
    hint = inspect.signature(call).parameters[name].annotation
    wanted = getattr(hint, "__origin__", hint)
    if not (isinstance(wanted, type) and wanted.__module__.startswith("bocopt")):
        return
    callables = "__call__" in vars(wanted) and Protocol in wanted.__bases__
    for key, bad in BAD.items():
        if not (callables and key == "lambda"):
            with pytest.raises(ValueError, match=f"'{name}' parameter of .* must be an? "):
                call(**{**FINE[call], name: bad})
