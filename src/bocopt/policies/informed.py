"""The default learner for a new stream that has a fleet behind it."""

from pathlib import Path
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.core import Problem
from bocopt.models import Informed, Mixture, SharedPrior
from bocopt.policies.ensemble import Ensemble
from bocopt.problems.ranges import support_of


def informed_ensemble(
    problem: Problem, prior: SharedPrior | str | Path, at_once: bool = False, **settings: Any
) -> Ensemble:
    """`Ensemble(problem, Informed(prior))`; the prior, or the file that it was saved to.

    The first decision is that of a stream on its own, and the fleet is believed as far as the first
    outcome is like it. With `at_once` it is believed before: other arms then start with what it
    would do in its usual context, if no `initial_decision` is given. Other `settings` are those of
    `Ensemble`.
    """
    arguments.kind("informed_ensemble", "problem", problem, Problem)
    known = SharedPrior.load(prior) if isinstance(prior, str | Path) else prior
    arguments.kind("informed_ensemble", "prior", known, SharedPrior)
    if known.dim_xi != problem.dims.xi:
        expected = f"one of {problem.dims.xi} outcomes, as the problem has"
        raise arguments.wrong("informed_ensemble", "prior", expected, known.dim_xi)
    own = Mixture(dim_xi=known.dim_xi, support=support_of(problem))
    model = Informed(known, own, at_once=at_once)
    if settings.get("initial_decision") is None and at_once:
        x = known.usual_context
        usual = problem.solve(*model.sample(model.init(np.array(0)), x), x)
        settings["initial_decision"] = usual.z.tolist()
    return Ensemble(problem, model, **settings)
