"""A stream and a problem as an environment of Gymnasium, which this module needs."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import gymnasium
import numpy as np

from bocopt import arguments
from bocopt.core import Array, Problem, Stream, judge
from bocopt.problems.hindsight import hindsight

_LARGEST_SEED = 2**31


class Environment(gymnasium.Env[Array, Array]):
    """See `environment`."""

    def __init__(
        self,
        stream: Stream,
        problem: Problem,
        actions: arguments.Ends,
        observations: arguments.Ends,
        horizon: int | None,
    ) -> None:
        self.metadata = {"render_modes": []}
        self._stream, self._problem, self._horizon = stream, problem, horizon
        self.action_space, self.observation_space = (
            gymnasium.spaces.Box(np.array(low), np.array(high), dtype=np.float64)
            for low, high in (actions, observations)
        )
        self._stages: Iterator[tuple[Array, Array]] = iter(())
        self._now: tuple[Array, Array] | None = None
        self._played = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin the stream of this seed; without one, of a seed that is drawn."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(_LARGEST_SEED))
        self._stages = self._stream.stages(np.array(drawn if seed is None else seed))
        self._now, self._played = next(self._stages), 0
        return self._now[0].copy(), {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Decide, and see what came of it."""
        if self._now is None:
            raise ValueError("The episode is over, or has not begun: call reset() first.")
        problem, (x, xi) = self._problem, self._now
        z = arguments.array("environment.step", "action", action, (problem.dims.z,))
        (cost, violation), best = judge(problem, x, z, xi), hindsight(problem, x, xi)
        self._played += 1
        self._now = next(chain(self._stages, [None]))
        ended, cut = self._now is None, self._played == self._horizon
        shown = x if self._now is None else self._now[0]
        if cut:
            self._now = None
        info = {
            "xi": xi.copy(),
            "feasible": bool(violation <= 0),
            "hindsight": float(-best.cost),
            "regret": float(cost - best.cost),
            "solvable": bool(best.feasible),
        }
        return shown.copy(), float(-cost), ended, cut and not ended, info
