"""Any program by its extensive form: the way that is left where no other applies."""

from bocopt.problems.program.form import BestFound, SolveTask
from bocopt.problems.program.strategies import bigm
from bocopt.problems.program.strategies.model import of_all, of_one
from bocopt.problems.program.strategies.recheck import settled
from bocopt.problems.program.strategies.start import first_decision


def applies(task: SolveTask) -> bool:
    """Always."""
    return True


def solve(task: SolveTask) -> BestFound:
    """The best decision within the limits."""
    if len(task.w) == 1:
        return settled(task, lambda inside: of_one(task.form, inside))
    return settled(task, lambda inside: of_all(task, bigm.add_rows, inside), first_decision)
