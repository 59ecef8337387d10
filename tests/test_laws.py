"""The public laws, bit for bit, on long runs of every policy (short ones: test_registry.py)."""

from itertools import islice

import numpy as np
import pytest
from cases import CASES, HORIZON, MOVING, parts
from lengths import long
from trees import same_bits, through_a_file

from bocopt import run
from bocopt.checks import check_policy
from bocopt.loop import play
from bocopt.trace import record

SEEDS = (3, 4, 5)


@pytest.mark.parametrize(
    ("setting", "name", "horizon"),
    [(*case, 25) for case in CASES] + [long(*case, HORIZON[case[0]]) for case in CASES],
)
def test_laws_hold_on_a_long_run(setting: str, name: str, horizon: int) -> None:
    policy, problem, stream = parts(setting, name)
    check_policy(policy, stream, problem=problem, seeds=SEEDS, horizon=horizon)


@pytest.mark.parametrize(
    ("setting", "name"),
    [("hot", "BMA"), ("hot-corrected", "BMA"), long("hot", "BGS"), long("hot-corrected", "BGS")],
)
def test_the_long_run_moves_its_particles(setting: str, name: str) -> None:
    policy, problem, stream = parts(setting, name)
    stages = run(policy, stream, problem=problem, seeds=SEEDS, horizon=HORIZON[setting])
    assert (record(stages, problem.sense).rejuvenations >= 10).all()


@pytest.mark.parametrize(("setting", "name"), CASES)
def test_two_branches_grown_in_turns_stay_apart(setting: str, name: str) -> None:
    policy, problem, stream = parts(setting, name)
    seeds = np.array(SEEDS)
    stages = list(islice(stream.stages(seeds), 40))
    trunk = policy.init(seeds)
    for t in range(19):
        _, trunk = play(policy, problem, trunk, t, *stages[t])
    branches = {"left": stages[19:29], "right": stages[29:39]}
    grown = dict.fromkeys(branches, trunk)
    shown: dict[str, list[object]] = {key: [] for key in branches}
    for i in range(10):
        for key, branch in branches.items():
            stage, grown[key] = play(policy, problem, grown[key], 19 + i, *branch[i])
            shown[key].append(stage.decision)
    for key, branch in branches.items():
        lone = through_a_file(trunk)  # shares nothing with anyone
        for i in range(10):
            stage, lone = play(policy, problem, lone, 19 + i, *branch[i])
            assert same_bits(stage.decision, shown[key][i])


@pytest.mark.parametrize(
    ("setting", "horizon"),
    [
        ("paper", 40),
        ("hot", 200),
        ("hot-corrected", 200),
        long("hot", 700),
        long("hot-corrected", 700),
    ],
)
def test_bma_and_bgs_hold_the_same_posterior(setting: str, horizon: int) -> None:
    states = []
    for name in MOVING:
        policy, problem, stream = parts(setting, name)
        seeds = np.array(SEEDS)
        state = policy.init(seeds)
        for t, (x, xi) in enumerate(islice(stream.stages(seeds), horizon)):
            _, state = play(policy, problem, state, t, x, xi)
        states.append(state)
    assert same_bits(*states)
