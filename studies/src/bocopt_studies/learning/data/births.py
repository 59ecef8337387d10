"""Births in the United States, day by day, 1986 to 1988."""

from collections.abc import Mapping
from typing import Any

from bocopt.problems.program import Program, minimise, pos, program, real
from bocopt_studies.learning.data.features import joined, lagged, one_hot, season, weekday
from bocopt_studies.learning.data.source import Columns, DataSet, StudySeries, table

_UNIT = 100.0  # births


def read() -> Mapping[str, Columns]:
    """Return the table `Births` of mosaicData, a row a day."""
    return {"days": table("mosaicData", "Births")}


def series(tables: Mapping[str, Columns]) -> StudySeries:
    """A stage is a day, an outcome its hundreds of births; rotas are made a week ahead."""
    days = tables["days"]
    times = days["date"].astype("datetime64[D]")
    births = days["births"].astype(float)[:, None] / _UNIT
    x = joined(
        one_hot(weekday(times), range(7)),
        season(times),
        days["day_of_month"].astype(float),
        lagged(births, 7, 8, 14, 364),
    )
    return StudySeries(times, x, births).part(len(times) - 1000, 1000)


def problem() -> Program:
    """Midwives on duty, enough on nine days of ten; the others cost overtime."""

    @program(xi=1, chance=0.9, staff=real(upper=1000.0))
    def day(xi: Any, staff: Any) -> Any:
        """Return the objective, staff and overtime, and the constraint that staff suffices."""
        return minimise(staff + 8.0 * pos(xi[0] - staff)), staff >= xi[0]

    return day


BIRTHS = DataSet(read, series, problem)
