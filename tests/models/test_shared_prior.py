"""What old streams know: found from rows or states, kept in a file, refused where it is not one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_fleets import fleet, informed, learned, line, quick

from bocopt import Agent, Ensemble
from bocopt.fingerprint import fingerprint
from bocopt.models import Remembering, SharedPrior, histories_of
from bocopt.policies import Constant, Predictive
from bocopt.problems import Newsvendor
from bocopt.state import CheckpointError

PROBLEM = Newsvendor(unit_cost=[1.0], price=[3.0])
PRIOR = SharedPrior.of(fleet())


def _first(prior: SharedPrior) -> Any:
    model = informed(prior)
    return model.sample(model.init(np.array(0)), np.array([0.5]))[0]


def test_a_file_holds_all_of_it(tmp_path: Path) -> None:
    PRIOR.save(tmp_path / "fleet.prior")
    loaded = SharedPrior.load(str(tmp_path / "fleet.prior"))
    assert loaded.fingerprint == PRIOR.fingerprint
    assert (_first(loaded) == _first(PRIOR)).all()


def test_the_fingerprint_tells_priors_apart() -> None:
    other = SharedPrior.of(fleet(7))
    assert SharedPrior.of(fleet()).fingerprint == PRIOR.fingerprint
    assert other.fingerprint != PRIOR.fingerprint
    one, two = (fingerprint(Ensemble(PROBLEM, informed(prior))) for prior in (PRIOR, other))
    assert one != two


def test_an_agent_goes_on_with_its_prior_alone(tmp_path: Path) -> None:
    agent = Agent(Predictive(PROBLEM, informed(PRIOR)))
    agent.observe(agent.decide([0.1]).id, [21.0])
    agent.save(tmp_path / "agent")
    agent.close()
    again = Agent.load(tmp_path / "agent", Predictive(PROBLEM, informed(PRIOR)))
    assert (again.decide([0.2]).z == agent.decide([0.2]).z).all()
    other = Predictive(PROBLEM, informed(SharedPrior.of(fleet(7))))
    with pytest.raises(CheckpointError, match="configuration"):
        Agent.load(tmp_path / "agent", other, problem=PROBLEM)


def test_the_order_of_streams_does_not_matter() -> None:
    assert np.allclose(_first(SharedPrior.of(fleet()[::-1])), _first(PRIOR), rtol=1e-8)


def test_the_unit_of_outcomes_does_not_matter() -> None:
    large = SharedPrior.of([(x, 8.0 * xi) for x, xi in fleet()])
    assert np.allclose(_first(large), 8.0 * _first(PRIOR), rtol=1e-6)


def test_states_say_the_same_as_their_rows() -> None:
    policy = Ensemble(PROBLEM, quick())
    states = [Agent(policy, problem=PROBLEM, seed=seed) for seed in range(3)]
    rows = [line(seed, 20.0, 3.0, 1.0, 6) for seed in range(3)]
    for agent, (x, xi) in zip(states, rows, strict=True):
        for t in range(6):
            agent.observe(agent.decide(x[t]).id, xi[t])
    found = SharedPrior.of([agent.state for agent in states])
    assert found.fingerprint == SharedPrior.of(rows).fingerprint


def test_a_state_of_several_trials_holds_several_streams() -> None:
    model, (x, _) = quick(dim_xi=2), line(0, 0.0, 0.0, 1.0, 5)
    counts = np.random.default_rng(1).poisson(3.0, (5, 4, 2)).astype(float)
    state = model.init(np.arange(4))
    for t in range(5):
        state = model.step(state, t, x[t], counts[t])
    rows = histories_of(state)
    assert len(rows) == 4
    assert all((xi == counts[:, s]).all() for s, (_, xi) in enumerate(rows))  # whole, as they came


def test_streams_that_remember_share_what_they_see() -> None:
    def remembering(model: Any) -> Remembering:
        return Remembering(model, lags=[1], periods=[4])

    states = [learned(remembering(quick()), rows) for rows in fleet(4, 20)]
    prior = SharedPrior.of(states)
    assert prior.dim_x == 1 + 1 + 3
    model = remembering(informed(prior))
    rows = fleet(5, 20)[4]
    scenarios, _ = model.sample(learned(model, rows), np.array([0.0]))
    assert abs(np.median(scenarios) - 20.0) < 4.0


X = np.zeros((5, 1))


@pytest.mark.parametrize(
    ("streams", "message"),
    [
        ([], "must be two streams or more.* Got 0"),
        ([line(0, 1.0, 1.0, 1.0)], "must be two streams or more.* Got 1"),
        (None, "must be a sequence of streams. Got None"),
        ("shops", "must be a sequence of streams. Got 'shops'"),
        ([(X, X), (np.zeros((5, 2)), X)], r"streams\[1\]' .* of 1 contexts and 1 outcomes"),
        ([(X, X), (X, np.zeros((5, 2)))], r"streams\[1\]' .* Got '1 and 2'"),
        ([(X, X), (X, np.full((5, 1), np.nan))], r"streams\[1\]' .* must be finite. Got nan"),
        ([(X, X), (X[:3], X)], r"streams\[1\]' .* as many of one as of the other"),
        ([(X, X), (X, X[:0])], r"streams\[1\]' .* shape"),
        ([(X, X), (X, X * 0 + 1e200)], r"streams\[1\]' .* at most 1e\+150"),
        ([(X, X), 3.0], "must be a state with a mixture in it"),
        ([(X, X), Constant([1.0]).init(np.array(0))], "a state with a mixture in it"),
    ],
)
def test_bad_streams_are_named(streams: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SharedPrior.of(streams)


def test_a_prior_of_other_shapes_is_refused() -> None:
    broken = PRIOR.fleet[0]._replace(mean=np.zeros((1, 5)))
    with pytest.raises(ValueError, match=r"fleet.mean' .* shape \(1, 2\). Got \(1, 5\)"):
        replace(PRIOR, fleet=(broken,))
    with pytest.raises(ValueError, match=r"fleet.rate' .* positive"):
        replace(PRIOR, fleet=(PRIOR.fleet[0]._replace(rate=np.zeros(1)),))


def test_constant_streams_have_a_prior() -> None:
    """No spread, contexts that never vary, all zeros: no number is divided by nothing."""
    for level in (0.0, 7.0):
        prior = SharedPrior.of([(np.ones((6, 2)), np.full((6, 1), level))] * 3)
        model = informed(prior)
        scenarios, _ = model.sample(model.init(np.array(0)), np.array([1.0, 5.0]))
        assert np.allclose(np.median(scenarios), level, atol=0.1)


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "fleet.prior"
    PRIOR.save(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(CheckpointError, match=r"fleet\.prior"):
            SharedPrior.load(path)
    path.write_bytes(whole[:-1])
    with pytest.raises(CheckpointError, match="cut short"):
        SharedPrior.load(path)
    Agent(Constant([1.0]), problem=PROBLEM).save(tmp_path / "agent")
    with pytest.raises(CheckpointError, match="holds no shared prior"):
        SharedPrior.load(tmp_path / "agent")
    with pytest.raises(FileNotFoundError):
        SharedPrior.load(tmp_path / "nowhere")
