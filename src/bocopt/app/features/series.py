"""A table, ready to be played."""

from typing import NamedTuple

from bocopt.app.features.featuriser import Featuriser
from bocopt.core import Array, IntArray


class Series(NamedTuple):
    """Stages in time order; whatever a decision sees is known when it is taken."""

    time: tuple[str, ...]  # (T) as it stands in the table, or its number
    x: Array  # (T, k) contexts; NaN where a number is missing and is to be kept so
    x_names: tuple[str, ...]  # (k)
    xi: Array  # (T, m) outcomes; NaN in all of a row whose outcome never came
    xi_names: tuple[str, ...]  # (m)
    arrives: IntArray  # (T) the first stage whose decision may know the outcome; T where none does
    now: Array | None  # (T, d) decisions that were taken; NaN in a row where none was
    lines: IntArray  # (T) where the stage stands in the file: its line, or its row
    notes: tuple[str, ...]  # what was found in the table, and what was assumed: a sentence each
    warm_up: int = 0  # first stages, that no number counts
    featuriser: Featuriser | None = None  # makes x of further rows; None where x is from elsewhere
