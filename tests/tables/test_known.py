"""No decision sees what it cannot know: by brute force, and by files with another future."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bocopt.app import Series, Spec, read, series_of
from bocopt.app.features.known import after_arrival, after_delay
from bocopt.app.features.looking_back import lagged, means
from bocopt.core import Array, IntArray

HEADER = "at,came,demand,returns,price,store,order"


@st.composite
def arrivals(draw: st.DrawFn) -> tuple[IntArray, IntArray]:
    """When outcomes are due, and when they come: some never."""
    count = draw(st.integers(1, 12))
    waits = draw(st.lists(st.integers(1, 6), min_size=count, max_size=count))
    lost = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    due = np.minimum(np.arange(count) + np.array(waits), count)
    return due, np.where(lost, count, due)


@given(arrivals(), st.lists(st.integers(1, 5), min_size=1, max_size=3))
def test_lags_are_what_they_say(when: tuple[IntArray, IntArray], lags: list[int]) -> None:
    due, arrives = when
    found = lagged(due, arrives, lags)
    for t in range(len(due)):
        latest = max((s for s in range(len(due)) if due[s] <= t), default=-1)
        for lag, place in zip(lags, found[t], strict=True):
            known = [s for s in range(len(due)) if arrives[s] <= t and s <= latest + 1 - lag]
            assert place == max(known, default=-1)


@given(arrivals(), st.integers(1, 5))
def test_means_are_what_they_say(when: tuple[IntArray, IntArray], count: int) -> None:
    _, arrives = when
    xi = np.random.default_rng(len(arrives)).normal(size=(len(arrives), 2))
    found = means(xi, arrives, count)
    for t in range(len(arrives)):
        came = sorted((int(arrives[s]), s) for s in range(len(arrives)) if arrives[s] <= t)
        last = [xi[s] for _, s in came[-count:]]
        expected = np.mean(last, axis=0) if last else np.full(2, np.nan)
        np.testing.assert_allclose(found[t], expected, rtol=1e-14)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=8), st.integers(0, 3))
def test_a_delay_counts_times(steps: list[int], delay: int) -> None:
    moments = np.cumsum([0, *(min(step, 1) for step in steps)])
    for s, arrives in enumerate(after_delay(moments, delay)):
        later = [t for t in range(len(moments)) if moments[t] >= moments[s] + 1 + delay]
        assert arrives == min(later, default=len(moments))


def test_what_comes_at_the_time_of_a_decision_is_not_known_to_it() -> None:
    times, came = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, np.nan])
    assert after_arrival(times, came, np.isnan(came)).tolist() == [1, 2, 3]


Row = list[str]


@st.composite
def cells(draw: st.DrawFn, at: int, came: int) -> Row:
    number = st.one_of(st.just(""), st.floats(-1e3, 1e3).map(repr))
    store = draw(st.sampled_from(["", "A", "B", "C"]))
    values = [draw(number) for _ in range(4)]
    return [str(at), str(came), *values[:3], store, values[3]]


class Files:
    """A table, and another that differs only in what is not known at stage t."""

    def __init__(self, rows: list[Row], changed: list[Row], t: int, warm_up: int) -> None:
        self.rows, self.changed, self.t, self.warm_up = rows, changed, t, warm_up


@st.composite
def files(draw: st.DrawFn, *, by_column: bool, delay: int, repeated: bool) -> Files:
    """All cells of later stages change, and outcomes that are still to come."""
    count = draw(st.integers(4, 10))
    steps = st.integers(0 if repeated else 1, 2)
    times = np.cumsum([draw(steps) for _ in range(count)]).tolist()
    waits = [draw(st.integers(0, 4)) for _ in range(count)]
    rows = [draw(cells(a, a + wait)) for a, wait in zip(times, waits, strict=True)]
    rows[0][2:4] = ["5.0", "7.0"]  # so that there is an outcome, in both files
    moments = np.unique(times, return_inverse=True)[1]
    assume(moments[-1] > 0)
    warm_up = draw(st.integers(1, max(1, int(moments[-1]) - 1)))
    first = int(np.searchsorted(moments, warm_up))  # it counts times
    t = draw(st.integers(first - 1, count - 1))  # the categories are those of the warm-up
    changed = []
    for s, row in enumerate(rows):
        came = times[s] + waits[s] < times[t] if by_column else moments[s] + delay < moments[t]
        other = draw(cells(times[s], max(times[s], times[t]) + draw(st.integers(0, 3))))
        if s > t:
            changed.append(other)
        elif came:
            changed.append(row)
        else:  # decided, and waiting for its outcome
            arrival = [other[1]] if by_column else [row[1]]
            changed.append([row[0], *arrival, *other[2:4], *row[4:]])
    changed[0][2:4] = rows[0][2:4] if changed[0][2:4] == rows[0][2:4] else ["6.0", "1.0"]
    return Files(rows, changed, t, warm_up)


def prepared(rows: list[Row], order: list[int], **spec: Any) -> Series:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_text("\n".join([HEADER, *(",".join(rows[row]) for row in order), ""]))
        return series_of(read(path), Spec(**spec))


def assert_the_same_until(t: int, one: Series, other: Series) -> None:
    def bits(values: Array) -> bytes:
        return np.ascontiguousarray(values).tobytes()

    assert one.x_names == other.x_names
    assert one.time == other.time
    assert bits(one.x[: t + 1]) == bits(other.x[: t + 1])
    for stage in range(t + 1):
        known = one.arrives <= stage
        assert known.tolist() == (other.arrives <= stage).tolist()
        assert bits(one.xi[known]) == bits(other.xi[known])
        assert np.flatnonzero(known).max(initial=-1) < stage


WAYS: dict[str, dict[str, Any]] = {
    "at once": {"by_column": False, "delay": 0, "repeated": False},
    "delayed": {"by_column": False, "delay": 2, "repeated": False},
    "by a column": {"by_column": True, "delay": 0, "repeated": False},
    "at once, many at a time": {"by_column": False, "delay": 0, "repeated": True},
    "by a column, many at a time": {"by_column": True, "delay": 0, "repeated": True},
}


EVERY_WAY = pytest.mark.parametrize(
    ("way", "missing"),
    [
        (way, missing)
        for way in WAYS
        for missing in ("last", "keep")
        if missing == "keep" or not WAYS[way]["repeated"]  # no row stands for another series
    ],
)


@EVERY_WAY
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_the_future_changes_nothing_before_it(way: str, missing: str, data: st.DataObject) -> None:
    assert_no_look_ahead(way, missing, data)


@pytest.mark.full
@EVERY_WAY
@settings(max_examples=500, deadline=None)
@given(data=st.data())
def test_no_future_changes_anything(way: str, missing: str, data: st.DataObject) -> None:
    assert_no_look_ahead(way, missing, data)


def assert_no_look_ahead(way: str, missing: str, data: st.DataObject) -> None:
    found = data.draw(files(**WAYS[way]))
    repeated = WAYS[way]["repeated"]
    in_order = list(range(len(found.rows)))
    order = in_order if repeated else data.draw(st.permutations(in_order))
    spec = {
        "outcome": ["demand", "returns"],
        "context": ["price"],
        "categories": ["store"],
        "time": "at",
        "calendar": ["trend"],
        "lags": [] if repeated else [1, 3],
        "rolling": [] if repeated else [1, 4],
        "missing": missing,
        "repeated": "keep" if repeated else "refuse",
        "delay": WAYS[way]["delay"],
        "arrives": "came" if WAYS[way]["by_column"] else None,
        "warm_up": found.warm_up,
    }
    one, other = (prepared(rows, order, **spec) for rows in (found.rows, found.changed))
    assert_the_same_until(found.t, one, other)


def test_the_check_sees_a_look_ahead() -> None:
    """One that changed the present would be noticed."""
    rows = [[str(n), str(n), str(n), "1", str(n), "A", "0"] for n in range(6)]
    changed = [row if n != 2 else [*row[:2], "9", *row[3:]] for n, row in enumerate(rows)]
    spec: dict[str, Any] = {"outcome": "demand", "lags": [1], "time": "at"}
    one, other = (prepared(table, list(range(6)), **spec) for table in (rows, changed))
    assert_the_same_until(2, one, other)
    with pytest.raises(AssertionError):
        assert_the_same_until(3, one, other)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_table_that_grows_says_the_same_of_its_past(data: st.DataObject) -> None:
    found = data.draw(files(by_column=False, delay=1, repeated=False))
    rows = max(found.t, found.warm_up, 1) + 1
    spec: dict[str, Any] = {
        "outcome": ["demand", "returns"],
        "context": ["price"],
        "categories": ["store"],
        "calendar": ["trend"],
        "time": "at",
        "lags": [1, 2],
        "rolling": [3],
        "delay": 1,
        "warm_up": found.warm_up,
    }
    whole = prepared(found.rows, list(range(len(found.rows))), **spec)
    part = prepared(found.rows[:rows], list(range(rows)), **spec)
    assert whole.x[:rows].tobytes() == part.x.tobytes()
    assert np.minimum(whole.arrives[:rows], rows).tolist() == part.arrives.tolist()
