"""Every public call with something else in the place of each argument: taken, or named."""

import inspect
import re
from collections.abc import Callable
from enum import Enum
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np
import pytest

import bocopt
from bocopt import (
    beliefs,
    checks,
    guarantees,
    losses,
    models,
    policies,
    predictors,
    priors,
    streams,
)
from bocopt.policies.baselines import Seeded

PROBLEM = bocopt.Knapsack(value=[12.0, 12.0], capacity=[8.0], salvage=[3.0])
LINEAR, NOISY = bocopt.Linear(1, 2), predictors.NoisyLinear(1, 2)
PRIOR = bocopt.Gaussian.isotropic(LINEAR.dim)
REGRET = bocopt.DecisionRegret(PROBLEM, LINEAR)
SAMPLER = bocopt.ResampleMove(prior=PRIOR, loss=REGRET, lam=0.1)
MODEL = bocopt.Mixture(dim_xi=2, members=[models.ConstantVariance()], scenarios=2)
STREAM = bocopt.Replay(np.zeros((3, 1)), np.ones((3, 2)))
STAGES = list(bocopt.run(bocopt.Constant((1, 1)), PROBLEM, STREAM))
GUARANTEE = guarantees.Feasibility()
EVIDENCE = [guarantees.evidence_of(PROBLEM, stage) for stage in STAGES]
BELIEF = {"problem": PROBLEM, "predictor": LINEAR, "sampler": SAMPLER}
ONE_MODEL = {"problem": PROBLEM, "predictor": LINEAR, "prior": PRIOR, "adam": bocopt.Adam()}
PAIRS = {"problem": PROBLEM, "first": None, "latest": 5}
FIXED = {"lam": 0.1, "scale": 1.0, "delta": 0.05}
LOCATION_SCALE = {"dim_x": 1, "dim_xi": 2, "df": None}
TUNED = {"wanted": 0.3, "first_scale": 0.5}
BATCH = {"losses": np.ones((3, 2)), "log_prior": np.log([0.5, 0.5]), "lam": 1.0}

#: Arguments that are fine, for every public call. The rest are their defaults.
FINE: dict[Callable[..., Any], dict[str, Any]] = {
    **dict.fromkeys([policies.BMA, policies.BGS, policies.Vote], BELIEF),
    **dict.fromkeys([policies.MostProbable, policies.MeanPrediction], BELIEF),
    **dict.fromkeys([policies.PtO, policies.DFL], ONE_MODEL),
    policies.WeightedSampleAverage: PAIRS,
    policies.ResidualSampleAverage: PAIRS,
    policies.SampleAverage: PAIRS,
    policies.Adam: {},
    policies.ConditionalOptimum: {"problem": PROBLEM, "law": bocopt.PaperStream()},
    policies.Constant: {"z": [1, 1]},
    policies.Ensemble: {"problem": PROBLEM, "model": MODEL},
    policies.Frozen: {"policy": bocopt.Constant((1, 1))},
    policies.Near: {},
    policies.Nearest: {},
    policies.Predictive: {"problem": PROBLEM, "model": MODEL},
    models.ConstantVariance: {},
    models.KernelVariance: {},
    models.LogVariance: {},
    models.RandomCoefficients: {},
    models.default_members: {},
    bocopt.Mixture: {"dim_xi": 2},
    **dict.fromkeys(
        [beliefs.CrankNicolson, beliefs.RandomWalk, beliefs.FittedCrankNicolson], TUNED
    ),
    beliefs.EllipticalSlice: {},
    beliefs.AdaHedge: {"complexity": 1.0},
    beliefs.Fixed: {"lam": 1.0},
    beliefs.for_horizon: {"horizon": 10, "scale": 1.0},
    beliefs.GibbsPosterior: {"prior": PRIOR, "loss": REGRET, "lam": 0.1},
    beliefs.ResampleMove: {"prior": PRIOR, "loss": REGRET, "lam": 0.1},
    beliefs.LiuWest: {},
    beliefs.SafeGrid: {"sampler": SAMPLER, "lams": [0.1, 1.0]},
    guarantees.BestArm: {},
    **dict.fromkeys([guarantees.Comparator, guarantees.Corollary35], FIXED),
    **dict.fromkeys([guarantees.Theorem32, guarantees.Theorem33], FIXED),
    guarantees.Direct: {"lam": 0.1},
    guarantees.EmpiricalBernstein: {"scale": 1.0},
    guarantees.Feasibility: {},
    guarantees.HoeffdingMixture: {},
    guarantees.Monitor: {"problem": PROBLEM},
    guarantees.Tightest: {"guarantees": [GUARANTEE]},
    guarantees.certify: {"guarantee": GUARANTEE, "stages": EVIDENCE},
    guarantees.gibbs: BATCH,
    guarantees.offline: {**BATCH, "scale": 1.0},
    guarantees.guide: {"lam": 1.0, "horizon": 1000, "scale": 1.0},
    guarantees.headline: {},
    predictors.Linear: {"dim_x": 1, "dim_xi": 2},
    predictors.SigmoidLinear: {"dim_x": 1, "dim_xi": 2},
    **dict.fromkeys([predictors.LogScale, predictors.NoisyLinear], LOCATION_SCALE),
    predictors.RandomSlopes: LOCATION_SCALE,
    predictors.WithResiduals: {"predictor": LINEAR, "residuals": np.ones((3, 2))},
    priors.Gaussian: {"mean": [0.0], "sd": 1.0},
    priors.Gaussian.isotropic: {"dim": 2},
    priors.Calibrated: {"predictor": LINEAR},
    losses.DecisionRegret: {"problem": PROBLEM, "predictor": LINEAR},
    losses.Clipped: {"loss": REGRET, "at": 10.0},
    losses.LogScore: {"predictor": NOISY},
    losses.EnergyScore: {"predictor": NOISY},
    losses.PinballScore: {"predictor": NOISY},
    losses.ScenarioRegret: {"predictor": NOISY, "problem": PROBLEM},
    streams.PaperStream: {},
    streams.Replay: {"x": np.zeros((3, 1)), "xi": np.ones((3, 2))},
    streams.ChangePoint: {"before": STREAM, "after": STREAM, "at": 2},
    streams.from_csv: {"path": "x", "context": ["x"], "outcome": ["y"]},
    bocopt.Knapsack: {"value": [12.0], "capacity": [8.0], "salvage": [3.0]},
    bocopt.play: {
        "policy": bocopt.Constant((1, 1)),
        "problem": PROBLEM,
        "state": Seeded(np.array(0)),
        "t": 0,
        "x": np.zeros(1),
        "xi": np.ones(2),
    },
    bocopt.run: {"policy": bocopt.Constant((1, 1)), "problem": PROBLEM, "stream": STREAM},
    bocopt.record: {"stages": STAGES, "sense": PROBLEM.sense},
    checks.check_policy: {
        "policy": bocopt.Constant((1, 1)),
        "problem": PROBLEM,
        "stream": STREAM,
        "horizon": 2,
    },
    checks.check_problem: {"problem": PROBLEM, "x": np.zeros((2, 1)), "xi": np.ones((2, 2))},
}

#: Functions of arrays that the loops call with what was checked before.
INNER = {
    *(beliefs.effective_size, beliefs.multinomial, beliefs.systematic, beliefs.posterior_mean),
    *(guarantees.evidence_of, guarantees.range_of),
}
#: Called with functions or parts of the user's, and tested with them.
ELSEWHERE = {bocopt.Agent, bocopt.from_callables}

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


def public(module: ModuleType) -> set[Callable[..., Any]]:
    """Its calls: no records, enumerations or protocols, which take anything or are not called."""
    names = getattr(module, "__all__", [name for name in vars(module) if name[0] != "_"])
    found = [getattr(module, name) for name in names]
    own = [f for f in found if callable(f) and f.__module__.startswith("bocopt")]
    if not hasattr(module, "__all__"):
        own = [f for f in own if f.__module__ == module.__name__]
    return {f for f in own if not _is_record(f)}


def _is_record(f: Callable[..., Any]) -> bool:
    kind = isinstance(f, type) and issubclass(f, tuple | Enum | bocopt.Trace)
    return kind or Protocol in getattr(f, "__bases__", ())


def test_every_public_call_is_here() -> None:
    modules = (bocopt, policies, models, beliefs, guarantees, predictors, priors, losses, streams)
    everything = set().union(*map(public, modules))
    extra = {checks.check_policy, checks.check_problem, priors.Gaussian.isotropic}
    assert everything == (set(FINE) - extra) | INNER | ELSEWHERE


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
