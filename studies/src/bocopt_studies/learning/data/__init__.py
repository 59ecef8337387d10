"""Real data to learn on, each with a decision that makes sense there."""

from collections.abc import Mapping
from functools import cache

from bocopt.policies import Rule
from bocopt.streams import Replay
from bocopt_studies.learning.data import chicago, gasoline, pizza
from bocopt_studies.learning.data.births import BIRTHS
from bocopt_studies.learning.data.calls import CALLS
from bocopt_studies.learning.data.chicago import CHICAGO
from bocopt_studies.learning.data.electricity import ELECTRICITY
from bocopt_studies.learning.data.flights import FLIGHTS
from bocopt_studies.learning.data.gasoline import GASOLINE
from bocopt_studies.learning.data.pizza import PIZZA
from bocopt_studies.learning.data.rain import RAIN
from bocopt_studies.learning.data.source import DataSet
from bocopt_studies.learning.worlds import LearningWorld

DATA_SETS: Mapping[str, DataSet] = {
    "Chicago ridership": CHICAGO,
    "bank calls": CALLS,
    "late flights": FLIGHTS,
    "electricity demand": ELECTRICITY,
    "pizzas": PIZZA,
    # Held out: they, and what is decided on them, were fixed before any learner had seen them.
    "births (held out)": BIRTHS,
    "gasoline (held out)": GASOLINE,
    "rain (held out)": RAIN,
}

#: What a practitioner would do without a learner, where the range of a difference is known.
TODAY: Mapping[str, tuple[str, Rule]] = {
    "Chicago ridership": ("last week's riders", Rule(chicago.as_last_week)),
    "pizzas": ("last week's sales and a fifth", Rule(pizza.as_last_week)),
    "gasoline (held out)": ("last week's and 2%", Rule(gasoline.as_last_week)),
}


@cache
def data_world(name: str) -> LearningWorld:
    """One of them, as a world of 1000 stages whose law nobody knows."""
    data = DATA_SETS[name]
    series = data.series(data.read())
    return LearningWorld(data.problem(), Replay(series.x, series.xi), None)


def data_worlds() -> dict[str, LearningWorld]:
    """All of them, by name."""
    return {name: data_world(name) for name in DATA_SETS}
