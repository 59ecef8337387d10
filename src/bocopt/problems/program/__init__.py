"""Programs that are declared by one function: the algebra, the arrays, and the ways to solve."""

from bocopt.problems.program.declare import program
from bocopt.problems.program.expression import DeclarationError
from bocopt.problems.program.functions import absolute, maximise, minimise, pos
from bocopt.problems.program.problem import Program
from bocopt.problems.program.variables import binary, integer, real, recourse

__all__ = [
    "DeclarationError",
    "Program",
    "absolute",
    "binary",
    "integer",
    "maximise",
    "minimise",
    "pos",
    "program",
    "real",
    "recourse",
]
