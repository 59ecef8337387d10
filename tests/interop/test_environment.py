"""Environments of Gymnasium: by its own checker, and as the plain loop plays."""

from typing import Any

import numpy as np
import pytest
from registry import KNAPSACK, STREAM

from bocopt import Replay, run
from bocopt.interop import environment
from bocopt.policies import Constant
from bocopt.problems import Newsvendor

checker: Any = pytest.importorskip("gymnasium.utils.env_checker")

SHOP = Newsvendor(unit_cost=[1.0], price=[3.0])
REPLAY = Replay([[0.0], [1.0], [2.0]], [[4.0], [5.0], [6.0]])


@pytest.mark.parametrize(
    ("stream", "problem", "options"),
    [
        (STREAM, KNAPSACK, {"actions": (0, 1), "observations": (-99, 99), "horizon": 5}),
        (REPLAY, SHOP, {"actions": (0, [1.0]), "observations": ([0.0], 2)}),
    ],
)
def test_gymnasium_finds_nothing_wrong(stream: Any, problem: Any, options: Any) -> None:
    checker.check_env(environment(stream, problem, **options), skip_render_check=True)


def test_an_episode_is_what_the_plain_loop_plays() -> None:
    env = environment(STREAM, KNAPSACK, horizon=12)
    x, info = env.reset(seed=3)
    assert info == {}
    for stage in run(Constant([2, 1]), STREAM, problem=KNAPSACK, seeds=3, horizon=12):
        assert (x == stage.x).all()
        x, reward, terminated, truncated, info = env.step(np.array([2.0, 1.0]))
        assert reward == -stage.cost
        assert info["feasible"] == stage.feasible
        assert info["hindsight"] == -stage.hindsight
        assert info["regret"] == stage.cost - stage.hindsight
        assert info["solvable"] == stage.solvable
        assert (info["xi"] == stage.xi).all()
        assert (terminated, truncated) == (False, stage.t == 11)


def test_it_terminates_where_the_stream_ends() -> None:
    env = environment(REPLAY, SHOP)
    env.reset(seed=0)
    shown = [env.step(np.array([4.0])) for _ in range(3)]
    assert [x.item() for x, *_ in shown] == [1.0, 2.0, 2.0]
    assert [(ended, cut) for _, _, ended, cut, _ in shown] == [(False, False)] * 2 + [(True, False)]
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        env.step(np.array([4.0]))


def test_episodes_without_a_seed_differ_and_come_again_with_their_generator() -> None:
    first, second = ([_first(env) for _ in range(3)] for env in (_seeded(), _seeded()))
    assert first == second
    assert len(set(first)) == 3


def _seeded() -> Any:
    env = environment(STREAM, KNAPSACK)
    env.reset(seed=8)
    return env


def _first(env: Any) -> float:
    return float(env.reset()[0][0])


def test_an_action_that_is_no_number_is_refused() -> None:
    env = environment(STREAM, KNAPSACK)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"'action' parameter of environment.step must be finite"):
        env.step(np.array([1.0, np.nan]))
