"""Every policy that we ship, at the paper's settings and at a temperature that makes it move."""

from typing import Any

from bocopt import Knapsack, PaperStream
from bocopt.core import Policy
from bocopt.experiments.paper import Settings, policies_of, problem_of, stream_of

SETTINGS = {
    "paper": Settings(),
    "hot": Settings(lam=1e-2),  # E21: at 1e-4 the particles are hardly ever moved
    "hot-corrected": Settings(lam=1e-2, move="corrected"),
}
HORIZON = {"paper": 40, "hot": 700, "hot-corrected": 700}
POLICIES = tuple(policies_of(Settings()))
MOVING = ("BMA", "BGS")

# Only the policies that hold a posterior depend on the temperature.
CASES = [("paper", policy) for policy in POLICIES] + [
    (setting, policy) for setting in ("hot", "hot-corrected") for policy in MOVING
]


def parts(setting: str, policy: str) -> tuple[Policy[Any], Knapsack, PaperStream]:
    settings = SETTINGS[setting]
    return policies_of(settings)[policy], problem_of(settings), stream_of(settings)
