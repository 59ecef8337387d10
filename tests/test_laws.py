"""Laws that hold for every policy, bit for bit."""

from itertools import islice
from typing import Any

import numpy as np
import pytest
from cases import CASES, HORIZON, MOVING, parts
from trees import leaves, same_bits, through_a_file

from bocopt import Stage, play, record, run
from bocopt.core import Sense

SEEDS = (3, 4, 5)

every_case = pytest.mark.parametrize(("setting", "name"), CASES)


def stage_parts(stage: Stage) -> Any:
    return tuple(stage[1:-1]) + tuple(stage.info.values())


@every_case
def test_batch_equals_alone(setting: str, name: str) -> None:
    policy, problem, stream = parts(setting, name)
    horizon = HORIZON[setting]
    batch = list(run(policy, problem, stream, seeds=SEEDS, horizon=horizon))
    if setting != "paper":
        assert (record(batch, Sense.MAXIMISE).rejuvenations >= 10).all()
    for i, seed in enumerate(SEEDS):
        alone = run(policy, problem, stream, seeds=seed, horizon=horizon)
        for one, many in zip(alone, batch, strict=True):
            inside = [leaf[i] for leaf in leaves(stage_parts(many))]
            assert same_bits(stage_parts(one), inside)


@every_case
def test_restored_equals_uninterrupted(setting: str, name: str) -> None:
    policy, problem, stream = parts(setting, name)
    seeds, horizon = np.array(SEEDS), HORIZON[setting]
    state = restored = policy.init(seeds)
    for t, (x, xi) in enumerate(islice(stream.stages(seeds), horizon)):
        stage, state = play(policy, problem, state, t, x, xi)
        again, restored = play(policy, problem, through_a_file(restored), t, x, xi)
        assert same_bits(stage_parts(stage), stage_parts(again))
        assert same_bits(state, restored)


@every_case
def test_decide_and_learn_are_pure(setting: str, name: str) -> None:
    policy, _, stream = parts(setting, name)
    seeds = np.array(SEEDS)
    state = policy.init(seeds)
    for t, (x, xi) in enumerate(islice(stream.stages(seeds), 20)):
        before = [leaf.copy() for leaf in visible(state)]
        decision = policy.decide(state, t, x)
        assert same_bits(decision, policy.decide(state, t, x))
        after = policy.learn(state, t, x, decision, xi)
        assert same_bits(tuple(before), tuple(visible(state)))
        state = after


@every_case
def test_learning_twice_from_one_state_branches_cleanly(setting: str, name: str) -> None:
    policy, problem, stream = parts(setting, name)
    seeds = np.array(SEEDS)
    stages = list(islice(stream.stages(seeds), 40))
    state = policy.init(seeds)
    for t in range(19):
        _, state = play(policy, problem, state, t, *stages[t])
    branches = {"left": stages[19:30], "right": stages[30:]}
    shared = dict.fromkeys(branches, state)  # both grow from one trunk, in turns
    for i in range(10):
        for name, branch in branches.items():
            _, shared[name] = play(policy, problem, shared[name], 19 + i, *branch[i])
    for name, branch in branches.items():
        lone = through_a_file(state)  # shares nothing with anyone
        for i in range(10):
            _, lone = play(policy, problem, lone, 19 + i, *branch[i])
        assert same_bits(tuple(visible(shared[name])), tuple(visible(lone)))


@pytest.mark.parametrize("setting", ["paper", "hot", "hot-corrected"])
def test_bma_and_bgs_hold_the_same_posterior(setting: str) -> None:
    states = []
    for name in MOVING:
        policy, problem, stream = parts(setting, name)
        seeds = np.array(SEEDS)
        state = policy.init(seeds)
        for t, (x, xi) in enumerate(islice(stream.stages(seeds), HORIZON[setting])):
            _, state = play(policy, problem, state, t, x, xi)
        states.append(state)
    assert same_bits(*states)


def visible(state: Any) -> list[Any]:
    """What a state shows: of a history its rows, not the spare room that states share."""
    if hasattr(state, "rows"):
        return [np.asarray(state.rows)]
    if isinstance(state, tuple):
        return [leaf for part in state for leaf in visible(part)]
    return [np.asarray(state)]
