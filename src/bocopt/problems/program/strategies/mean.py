"""The expected cost of columns that are all decided before xi: mean coefficients say it all.

min  E constant_s + E cost_s . v   s.t.  all rows of v, in every scenario
"""

from bocopt.problems.program import highs
from bocopt.problems.program.form import BestFound, SolveTask, Sparse
from bocopt.problems.program.strategies.fixed import (
    Relaxation,
    answered,
    expected,
    mean,
    shrunk,
    solved,
    together,
    without_stages,
)


def applies(task: SolveTask) -> bool:
    """Return whether only costs differ between scenarios, or rows that all must hold."""
    return expected(task) and without_stages(task)


def solve(task: SolveTask) -> BestFound:
    """One linear or integer program."""
    form, w = task.form, task.w
    rows = together(form, form.certain, form.defining, form.uncertain)
    cost, constant = mean(form.cost, w), float(mean(form.constant, w))
    integer = form.integer if form.integer.any() else None

    def relaxed(inside: float) -> Relaxation:
        """Return the solution with rows of integer columns by `inside` within their limits."""
        tightened = shrunk(rows, form.integer, inside)
        sparse = Sparse.of(tightened.matrix)
        return solved(
            highs.LinearProgram(
                cost,
                form.lower,
                form.upper,
                sparse,
                tightened.least,
                tightened.limit,
                integer,
                constant,
            ),
            task,
        )

    return answered(task, relaxed)
