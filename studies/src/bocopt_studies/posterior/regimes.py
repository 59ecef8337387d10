"""A change of regime, and how long each way of forgetting takes to recover from it."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bocopt.app.text import count
from bocopt.beliefs import CrankNicolson
from bocopt.core import Array
from bocopt.paper import (
    Gaussian,
    GibbsPosterior,
    LiuWest,
    MeanPrediction,
    PaperStream,
    ResampleMove,
)
from bocopt.streams import ChangePoint
from bocopt_studies.learning.worlds import Later
from bocopt_studies.posterior.samplers import LOSS, PREDICTOR, PROBLEM
from bocopt_studies.report.blocks import Chart, Curve, Grid, Row, Section
from bocopt_studies.report.tables import number
from bocopt_studies.study import Size, Summary
from bocopt_studies.work.task import Play, Record, Task

_WINDOW = 25  # stages that a point of the curves averages
_DRAWS = 200  # of the bootstrap
_PRIOR = Gaussian.isotropic(PREDICTOR.dim, 0.5)
_EXACT = ResampleMove(
    prior=_PRIOR, loss=LOSS, lam=1e-2, size=200, kernel=CrankNicolson(), chain_length=5
)
FORGETTING: dict[str, ResampleMove | GibbsPosterior] = {
    "none": _EXACT,
    "discount 0.98": replace(_EXACT, discount=0.98, window=300),
    "window 100": replace(_EXACT, window=100),
    "share 0.01": replace(_EXACT, switch_rate=0.01),
    "Liu-West": GibbsPosterior(prior=_PRIOR, loss=LOSS, lam=1e-2, size=200, move=LiuWest()),
}
_FRESH = "started at the change"
_BEFORE, _AFTER = PaperStream(), PaperStream(offset=1.3)


def tasks(size: Size) -> dict[str, Task]:
    """Return the task of each kind of forgetting, and of a start at the change, by name."""
    at = size.horizon // 2
    stream = ChangePoint(_BEFORE, _AFTER, at)

    def play(sampler: ResampleMove | GibbsPosterior, change: int) -> Play:
        """Return the task of a sampler; where `change` is 0, it starts at the change of regime."""
        return Play(
            policy=MeanPrediction(PROBLEM, PREDICTOR, sampler),
            problem=PROBLEM,
            stream=stream if change else Later(_AFTER, at),  # the same stages as the others see
            seeds=size.seeds,
            horizon=size.horizon if change else size.horizon - at,
        )

    return {
        **{name: play(sampler, at) for name, sampler in FORGETTING.items()},
        _FRESH: play(_EXACT, 0),
    }


def _step(curve: Array) -> int:
    return max(1, len(curve) // 200)


def _thinned(curve: Array, step: int) -> list[float]:
    return [float(f"{value:.5g}") for value in curve[::step]]


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return rewards before and after the change, curves and stages to recovery, by name."""
    at = size.horizon // 2
    rewards = {name: record["reward"] for name, record in records.items()}
    curves = {name: _smooth(reward.mean(axis=0)) for name, reward in rewards.items()}
    after = {name: r if name == _FRESH else r[:, at:] for name, r in rewards.items()}
    return {
        **size._asdict(),
        "change": at,
        "level": _level(after[_FRESH]),
        "recovery": {name: _recovery(r, after[_FRESH]) for name, r in after.items()},
        "recovery_interval": _intervals(after),
        "before": {n: float(rewards[n][:, at // 2 : at].mean()) for n in FORGETTING},
        "after": {name: float(reward.mean()) for name, reward in after.items()},
        "curves": {name: _thinned(curve, _step(curve)) for name, curve in curves.items()},
        "steps": {name: _step(curve) for name, curve in curves.items()},
    }


def _level(fresh: Array) -> float:
    """(trials, T): what a learner that starts at the change earns in the end."""
    return float(fresh[:, -max(1, fresh.shape[1] // 3) :].mean())


def _recovery(reward: Array, fresh: Array) -> int | None:
    """(trials, T) after the change -> stages until it earns 95% of that level; None if never."""
    there = np.flatnonzero(_smooth(reward.mean(axis=0)) >= 0.95 * _level(fresh))
    return int(there[0]) if there.size else None


def _intervals(after: Mapping[str, Array]) -> dict[str, list[int | None]]:
    """80% of what other trials would have shown, by drawing trials with replacement."""
    trials = after[_FRESH].shape[0]
    draws = np.random.default_rng(0).integers(0, trials, (_DRAWS, trials))
    found = {}
    for name, reward in after.items():
        stages = [_recovery(reward[draw], after[_FRESH][draw]) for draw in draws]
        ordered = sorted(np.inf if s is None else s for s in stages)
        ends = ordered[_DRAWS // 10], ordered[-1 - _DRAWS // 10]
        found[name] = [None if np.isinf(end) else int(end) for end in ends]
    return found


def _smooth(reward: Array) -> Array:
    """(T) -> the mean of the next stages, as many as the window has, at each."""
    width = min(_WINDOW, reward.size)
    smooth: Array = np.convolve(reward, np.ones(width) / width, mode="valid")
    return smooth


def show(summary: Summary) -> Section:
    """Return the section: the curves, and the table of recovery."""
    at, size = summary["change"], Size.of(summary)

    def stages(name: str) -> list[float]:
        """Each point stands at the last of the stages that it averages."""
        first = (at if name == _FRESH else 0) + min(_WINDOW, at)
        step = summary["steps"][name]
        return [first + step * i for i in range(len(summary["curves"][name]))]

    chart = Chart(
        name="posterior-regimes",
        title="A change of regime",
        y_label=f"reward, mean of the last {_WINDOW} stages",
        curves=[Curve(name, stages(name), values) for name, values in summary["curves"].items()],
        caption=f"Mean over {count(size.trials, 'trial')}; all weights rise by 0.3 after "
        f"stage {at}. Decisions from the mean prediction of the posterior at lambda 1e-2.",
    )
    grid = Grid(
        title=f"Recovery: {size}",
        header=["forgetting", "before", "after", "recovered after", "80% interval"],
        rows=[
            Row(
                [
                    name,
                    number(summary["before"].get(name)),
                    number(summary["after"][name]),
                    _stages(stages_),
                    " to ".join(map(_stages, summary["recovery_interval"][name])),
                ]
            )
            for name, stages_ in summary["recovery"].items()
        ],
        caption="Mean reward over the second quarter, and over the half after the change; stages "
        f"until {_WINDOW} in a row average 95% of what a learner that starts at the change, on the "
        f"same stages, earns in the end ({summary['level']:.1f}); interval by bootstrap of trials.",
    )
    return Section("The posterior: a change of regime", [chart, grid])


def _stages(number_: int | None) -> str:
    return "never" if number_ is None else count(number_, "stage")
