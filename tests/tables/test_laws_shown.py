"""The laws and levels that a report shows are those of the model that decided, whatever it is."""

from typing import Any

import numpy as np
import pytest
from findings_cases import CASES
from pages import parsed

from bocopt import Ensemble, Mixture
from bocopt.app.features.series import Series
from bocopt.app.findings import Played
from bocopt.app.page import page
from bocopt.app.playing.in_hindsight import least_costs
from bocopt.app.playing.play import play
from bocopt.core import Array, Model
from bocopt.models import ConstantVariance, Informed, Remembering, SharedPrior
from bocopt.policies.names import names_of
from bocopt.problems import Newsvendor

PROBLEM = Newsvendor(unit_cost=[1.0], price=[3.0])
STAGES = 60


def _shop(seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(STAGES, 1))
    return x, 20.0 + 4.0 * x + rng.normal(size=(STAGES, 1))


OWN = Mixture(dim_xi=1, members=[ConstantVariance()], scenarios=32)
INFORMED = Informed(SharedPrior.of([_shop(seed) for seed in range(5)]), OWN)
MODELS: dict[str, Model[Any]] = {
    "alone": OWN,
    "of a fleet": INFORMED,
    "with lags": Remembering(OWN, lags=[1]),
}
LAWS = {"alone": OWN.law_names, "of a fleet": INFORMED.law_names, "with lags": OWN.law_names}


def _played(policy: Ensemble) -> tuple[Played, Series]:
    x, xi = _shop(7)
    series = Series(
        time=tuple(map(str, range(STAGES))),
        x=x,
        x_names=("warm",),
        xi=xi,
        xi_names=("demand",),
        arrives=np.arange(1, STAGES + 1),
        now=None,
        lines=np.arange(STAGES),
        notes=(),
    )
    least = least_costs(PROBLEM, series)
    return play(policy, PROBLEM, series, least=least)[0], series


@pytest.mark.parametrize("name", MODELS)
def test_a_report_shows_the_laws_that_decided(name: str) -> None:
    policy = Ensemble(PROBLEM, MODELS[name])
    played, series = _played(policy)
    names = names_of(PROBLEM, policy)
    assert names["weights"] == tuple(LAWS[name])
    assert played.info["weights"].shape == (STAGES, len(names["weights"]))
    findings = CASES["one outcome"].findings()
    one = findings._replace(series=series, warm_up=0, now=None, compared={}, alpha=None)
    shown = parsed(page(one._replace(played={"ensemble": played}), names))
    [laws] = [c for c in shown.figures if c.title.startswith("Laws")]
    assert set(laws.header[1:-1]) < set(names["weights"])
    [chart] = [c for c in shown.figures if c.header[0].startswith("predicted")]
    levels = played.info["probability"][:, 0]
    expected = np.histogram(levels[np.isfinite(levels)], bins=10, range=(0, 1))[0]
    assert [int(row[2]) for row in chart.rows] == expected.tolist()


def test_levels_of_an_informed_stream_are_those_of_its_law() -> None:
    """Judged anew from the law's own scenarios, drawn before the outcome came."""
    x, xi = _shop(7)
    wide = Mixture(dim_xi=1, members=[ConstantVariance()], scenarios=2048, calibrate=False)
    model: Any = Informed(INFORMED.prior, wide)
    state, apart = model.init(np.array(0)), []
    for t in range(12):
        drawn = model.sample(state, x[t])[0]
        state = model.step(state, t, x[t], xi[t])
        if t:
            assert state.info.probability == pytest.approx([np.mean(drawn < xi[t])], abs=0.02)
            apart.append(np.abs(state.info.probability - state.own.info.probability).max())
    assert max(apart) > 0.05  # the mixture's own are others
