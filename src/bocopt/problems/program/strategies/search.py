"""Chance constraints on integers: exact search in z, for some thirty columns.

What does the work is `exact`, imported at first use: numba takes a while to load.
"""

from bocopt.problems.program.form import BestFound, SolveTask
from bocopt.problems.program.strategies.fixed import expected

MOST_ITEMS = 30
NODES = 1000  # of the search, for one node of a branch and bound


def applies(task: SolveTask) -> bool:
    """Integers z >= 0 alone, under a chance constraint on non-negative sums."""
    form, rows = task.form, task.form.uncertain
    return (
        expected(task)
        and form.shared == form.size == len(form.lower)
        and 1 <= form.size <= MOST_ITEMS
        and form.defining.many == 0
        and bool(form.integer.all() and (form.lower >= 0.0).all())
        and rows.many > 0
        and not rows.equal.any()
        and bool((rows.matrix >= 0.0).all())
    )


def solve(task: SolveTask) -> BestFound:
    """The optimum, or the best within the limits."""
    from bocopt.problems.program.strategies import exact

    return exact.solve(task, NODES * task.limits.nodes)
