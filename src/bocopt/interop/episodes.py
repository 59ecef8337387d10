"""A stream and a problem as an environment of Gymnasium, an extra: pip install "bocopt[gym]"."""

from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.core import Problem, Stream
from bocopt.extras import needed

_OWNER = "environment"


def environment(
    stream: Stream,
    problem: Problem,
    *,
    actions: tuple[Any, Any] = (-np.inf, np.inf),
    observations: tuple[Any, Any] = (-np.inf, np.inf),
    horizon: int | None = None,
) -> Any:
    """A `gymnasium.Env`: an observation is a context, an action a decision, the reward minus cost.

    actions       two ends that decisions lie between, each a number or one for each: many agents
                  need finite ones
    observations  two ends that contexts lie between, likewise
    horizon       after so many stages an episode is truncated; it terminates where the stream ends,
                  and then shows the last context again

    `reset(seed=...)` begins the stream of this seed. After each step, `info` has the outcome `xi`,
    whether the decision was `feasible`, the reward in `hindsight` (had xi been known), the `regret`
    and whether any decision would have been feasible (`solvable`).

    >>> from bocopt.paper import PaperStream
    >>> from bocopt.problems import Knapsack
    >>> problem = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)
    >>> env = environment(PaperStream(), problem, actions=(0, 10), horizon=100)
    >>> x, _ = env.reset(seed=0)
    >>> x, reward, terminated, truncated, info = env.step(np.ones(4))
    >>> round(reward, 2), info["feasible"], round(info["hindsight"], 2)
    (86.38, True, 101.49)
    """
    arguments.kind(_OWNER, "stream", stream, Stream)
    arguments.kind(_OWNER, "problem", problem, Problem)
    first, _ = next(iter(stream.stages(np.array(0))))
    decided = arguments.box(_OWNER, "actions", actions, problem.dims.z)
    seen = arguments.box(_OWNER, "observations", observations, first.size)
    if horizon is not None:
        arguments.integer(_OWNER, "horizon", horizon, "[1, inf)")
    needed("gymnasium", _OWNER, '"bocopt[gym]"')
    gym = needed("bocopt.interop.gym", _OWNER, '"bocopt[gym]"')
    return gym.Environment(stream, problem, decided, seen, horizon)
