"""Our learners on a panel: one rich `Ensemble` a series, and light mixtures in lock step.

Series that do not know of each other are played by age, all at once: the outcome of a series at an
age is learned before any is decided at the next age, as its times come after each other.
"""

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from panel_data import Panel
from panel_rivals import LEVELS, running

from bocopt import Ensemble, minimise, program, real
from bocopt.core import Array, Problem
from bocopt.models import AcrossSeries, LightMixture
from bocopt.models.across_fit import levels_of
from bocopt.policies import Predictive
from bocopt.problems import Newsvendor

CACHE = Path(__file__).parents[1] / ".benchmarks" / "panels"  # git ignores it
SHARE = 0.9  # of times on which demand is to be met


def newsvendor(level: float) -> Problem:
    """Return the problem whose best decision is the quantile of this level."""
    return Newsvendor(unit_cost=[1.0 - level], price=1.0)


def held_for(most: float) -> Problem:
    """Return the least stock that meets demand with the asked chance."""

    @program(xi=1, chance=SHARE, held=real(1, lower=0.0, upper=most))
    def stock(xi: Any, held: Any) -> Any:
        return minimise(held.sum()), held >= xi

    return stock


PROBLEMS: dict[str, Callable[[Panel], Problem]] = {
    "newsvendor .3": lambda panel: newsvendor(0.3),
    "newsvendor .9": lambda panel: newsvendor(0.9),
    "chance .9": lambda panel: held_for(3.0 * float(np.nanmax(panel.y))),
}


def ensembles(panel: Panel, problem: Problem) -> Array:
    """Return the decisions (T, n) of one `Ensemble` a series."""
    decisions = np.full(panel.y.shape, np.nan)
    for group in (panel.begins == 0, panel.begins > 0):
        alone = panel.part(np.flatnonzero(group))
        decisions[:, group] = by_age(alone, Ensemble(problem))
    return decisions


def light(panel: Panel) -> Array:
    """Return the decisions (T, n, levels) of one `LightMixture` a series."""
    policies = [Predictive(newsvendor(level), LightMixture()) for level in LEVELS]
    return np.stack([by_age(panel, policy) for policy in policies], axis=-1)


def both(panel: Panel) -> Array:
    """Return the decisions (T, n, levels) of light mixtures that the model across series helps."""
    beside = given(panel)
    model = LightMixture(given=beside.shape[-1])
    policies = [Predictive(newsvendor(level), model) for level in LEVELS]
    return np.stack([by_age(panel, policy, beside) for policy in policies], axis=-1)


def by_age(panel: Panel, policy: Any, beside: Array | None = None) -> Array:
    """Return the decisions (T, n) of a policy that knows one series alone, and what is beside."""
    y, x, (stages, series) = panel.y, panel.x, panel.y.shape
    decisions, first = np.full((stages, series), np.nan), panel.begins
    state = policy.init(np.arange(series))
    for age in range(stages - first.min()):
        when = np.minimum(first + age, stages - 1)  # those that ended learn their last again
        each, now = np.arange(series), x[when, np.arange(series)].copy()
        # Nothing is known to look back at: the lesson of a first outcome is "as before".
        now = np.where(np.isnan(now), y[when, each, None], now)
        if beside is not None:
            now = np.concatenate([now, beside[when, each]], axis=-1)
        decision = policy.decide(state, age, now)
        open_still = first + age < stages
        decisions[when[open_still], open_still] = decision.solution.z[open_still, 0]
        state = policy.learn(state, age, now, decision, y[when, each, None])
    return decisions


def kept(name: str, panel: Panel, problem: Problem) -> tuple[Array, float]:
    """Return the decisions of ensembles and their CPU seconds, from a file if they were made."""
    told = hashlib.sha256(panel.y.tobytes() + panel.x.tobytes()).hexdigest()[:12]
    path = CACHE / f"{name}-{told}.npz"
    if not path.exists():
        begin = time.process_time()
        decisions = ensembles(panel, problem)
        CACHE.mkdir(parents=True, exist_ok=True)
        np.savez(path, decisions=decisions, seconds=time.process_time() - begin)
    with np.load(path) as found:
        return found["decisions"], float(found["seconds"])


def given(panel: Panel, model: AcrossSeries | None = None) -> Array:
    """Return quantiles (T, n, L) by a model across series, fitted anew when that is due."""
    model = AcrossSeries(lags=panel.lags) if model is None else model
    state, found = model.init(np.array(0)), np.full((*panel.y.shape, model.levels), np.nan)
    for t, y in enumerate(panel.y):
        if model.is_due(state):
            state = model.refit(state)
        open_now = np.flatnonzero(panel.age[t] >= 0)
        rows = model.rows(state, open_now, panel.x[t, open_now])
        found[t, open_now] = model.quantiles(state, rows)
        state = model.learn(state, open_now, rows, y[open_now])
    return found


def across(panel: Panel) -> Array:
    """Return the decisions (T, n, levels) of the model across series alone.

    Before its first fit, and where it knows nothing, those are the running quantiles.
    """
    found, decisions = given(panel), running(panel)
    levels = levels_of(found.shape[-1])
    for t, i in zip(*np.nonzero(~np.isnan(found[..., 0])), strict=True):
        decisions[t, i] = np.interp(LEVELS, levels, found[t, i])
    return decisions


OURS: dict[str, Callable[[Panel], Array]] = {
    "light mixture a series": light,
    "across series alone": across,
    "light, given across": both,
}
