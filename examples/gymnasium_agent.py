"""A stream and a program as a Gymnasium environment, and a policy of ours as one of its agents.

Any agent of that library can be trained on what we decide, and ours can be held against it. Here
the other one draws its actions.

    python examples/gymnasium_agent.py        needs gymnasium: pip install "bocopt[gym]"
"""

import numpy as np

from bocopt import Replay, integer, minimise, pos, program
from bocopt.interop import Incremental, environment
from bocopt.policies import ResidualSampleAverage

try:
    import gymnasium
except ImportError as error:
    raise SystemExit('This example needs gymnasium: pip install "bocopt[gym]"') from error


@program(xi=1, people=integer(1, upper=20))
def staffing(xi, people):
    return minimise(10 * people.sum() + 40 * pos(xi - people).sum())


def days(many, seed=0):
    """How busy it looks, and how many people would have been enough."""
    rng = np.random.default_rng(seed)
    busy = rng.uniform(0, 1, (many, 1))
    return Replay(busy, np.rint(4 + 12 * busy + rng.normal(0, 1, (many, 1))))


def by_learning(env, agent):
    """A day after the other: decide, step, learn what was needed."""
    x, _ = env.reset(seed=0)
    over, rewards = False, []
    while not over:
        features = {"busy": x[0]}
        x, reward, over, _, info = env.step(agent.decide_one(features))
        agent.learn_one(features, info["xi"])
        rewards.append(reward)
    return np.mean(rewards)


def by_chance(env):
    env.reset(seed=0)
    env.action_space.seed(1)  # another one than that of the days
    over, rewards = False, []
    while not over:
        _, reward, over, _, _ = env.step(np.rint(env.action_space.sample()))
        rewards.append(reward)
    return np.mean(rewards)


def main(many=100):
    env = environment(days(many), staffing, actions=(0, 20), observations=(0, 1))
    assert isinstance(env, gymnasium.Env)
    agent = Incremental(ResidualSampleAverage(staffing))
    print(f"actions that learn earn {by_learning(env, agent):7.1f} a day")
    print(f"drawn actions earn      {by_chance(env):7.1f} a day")


if __name__ == "__main__":
    main()
