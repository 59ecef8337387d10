"""Rain at Innsbruck over three days, and eleven forecasts of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bocopt.problems.program import Program, minimise, pos, program, real
from bocopt_studies.learning.data.features import joined, lagged, season
from bocopt_studies.learning.data.source import Columns, DataSet, StudySeries, table

_FORECASTS = 11
_DAYS = 3  # that a row sums
_KNOWN = 3  # stages ago: forecasts are made a week ahead


def read() -> Mapping[str, Columns]:
    """Return the table `RainIbk` of crch, a row a day."""
    return {"days": table("crch", "RainIbk")}


def series(tables: Mapping[str, Columns]) -> StudySeries:
    """A stage is three days, an outcome their millimetres of rain: often none at all."""
    days = {name: column[::_DAYS] for name, column in tables["days"].items()}
    times = days["rownames"].astype("datetime64[D]")
    forecasts = np.stack([days[f"rainfc.{i + 1}"] for i in range(_FORECASTS)], axis=-1)
    rain = days["rain"].astype(float)[:, None]
    x = joined(season(times), forecasts.astype(float), lagged(rain, _KNOWN))
    return StudySeries(times, x, rain).part(len(times) - 1000, 1000)


def problem() -> Program:
    """Return the drawdown of a reservoir: room that stays empty is lost head, too little floods."""

    @program(xi=1, room=real(upper=500.0))
    def three_days(xi: Any, room: Any) -> Any:
        """Return the objective: room that stays empty, and four times what floods."""
        return minimise(pos(room - xi[0]) + 4.0 * pos(xi[0] - room))

    return three_days


RAIN = DataSet(read, series, problem)
