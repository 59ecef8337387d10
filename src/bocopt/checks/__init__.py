"""Laws that every problem and policy keeps, ours and yours: run them on your own classes.

    from bocopt.checks import check_policy, check_problem
    check_problem(my_problem, x, xi)            # x (n, k) and xi (n, m): samples of valid input
    check_policy(my_policy, my_stream)

Each law is a function of its own. A broken one raises `LawError`, which says what was expected.
"""

from bocopt.checks.law import LawError
from bocopt.checks.policies import (
    abilities_given_on,
    branches_are_apart,
    check_policy,
    deciding_is_pure,
    decisions_fit,
    nan_is_not_learned,
    restored_equals_uninterrupted,
    scenarios_fit,
    stacked_equals_alone,
    trial_equals_batch,
)
from bocopt.checks.problems import (
    batch_equals_alone,
    best_and_smallest,
    check_problem,
    differences_within_their_range,
    feasible_and_priced,
    judged_as_asked_apart,
    met_and_priced_under_scenarios,
    one_scenario_or_two_halves,
    pure,
    refuses_nan,
    shapes,
    within_its_range,
)

__all__ = [
    "LawError",
    "abilities_given_on",
    "batch_equals_alone",
    "best_and_smallest",
    "branches_are_apart",
    "check_policy",
    "check_problem",
    "deciding_is_pure",
    "decisions_fit",
    "differences_within_their_range",
    "feasible_and_priced",
    "judged_as_asked_apart",
    "met_and_priced_under_scenarios",
    "nan_is_not_learned",
    "one_scenario_or_two_halves",
    "pure",
    "refuses_nan",
    "restored_equals_uninterrupted",
    "scenarios_fit",
    "shapes",
    "stacked_equals_alone",
    "trial_equals_batch",
    "within_its_range",
]
