"""A row at a time gives what the whole table gives: x of every stage, bit for bit."""

import json
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import same_bits, through_a_file

from bocopt.app import Featuriser, Series, Spec, read, series_of
from bocopt.app.faults import FaultsError
from bocopt.app.features.category import Category
from bocopt.app.features.looking_back import lagged, means
from bocopt.app.features.rows import learn_row, rows_of
from bocopt.app.reading.columns import Table, TableError
from bocopt.core import Array, IntArray
from bocopt.state import flatten, leaves, pack, rebuild, unpack

HEADER = ["at", "came", "demand", "returns", "price", "rain", "shop", "code"]
WORDS = ["hour", "weekday", "week", "day_of_year", "month", "trend"]
EAST = [timezone(timedelta(hours=hours)) for hours in (1, 2)]

#: How a time is written, by its number.
WRITTEN: dict[str, Any] = {
    "none": lambda n: "",
    "number": lambda n: repr(0.1 * n - 3.7),
    "day number": lambda n: f"{date(2023, 12, 20) + timedelta(n):%Y%m%d}",
    "date": lambda n: str(date(2023, 12, 20) + timedelta(n)),
    "month": lambda n: f"{2023 + n // 12}-{n % 12 + 1:02}",
    "moment": lambda n: str(datetime(2024, 2, 28, 21, 7) + n * timedelta(minutes=47)),
    "zoned": lambda n: datetime.fromtimestamp(1711846800 + 1801 * n, EAST[n % 2]).isoformat(),
}


class Drawn(NamedTuple):
    rows: list[list[str]]  # in the order of the stages
    file: list[int]  # their order in the file
    due: IntArray  # (T) the first stage at which the outcome should be known
    kind: str
    spec: Spec


NUMBERS = st.one_of(
    st.sampled_from(["0", "-0.0", "7", "true", "1e-3"]), st.floats(-1e3, 1e3).map(repr)
)


@st.composite
def tables(draw: st.DrawFn, kind: str, missing: str, *, repeated: bool) -> Drawn:
    """What no batch would refuse: rows that share a time neither look back nor are filled."""
    count = draw(st.integers(3, 24))
    steps = draw(st.lists(st.integers(0 if repeated else 1, 3), min_size=count, max_size=count))
    steps[-1] = 1  # two times at least
    times = np.cumsum(steps)
    moments = np.unique(times, return_inverse=True)[1]
    dated = kind not in ("none", "number")
    arrives = kind != "none" and draw(st.booleans())
    delay = 0 if arrives else draw(st.integers(0, 3))
    waits = np.array([draw(st.integers(0, 4)) for _ in range(count)])
    lost = np.array([draw(st.integers(0, 5)) == 0 for _ in range(count)])
    gap = "" if missing == "keep" or (missing == "last" and not repeated) else "1"
    cells = st.one_of(st.just(gap), NUMBERS)
    rows = [
        [
            WRITTEN[kind](n),
            "" if away else WRITTEN[kind](n + wait),
            *(draw(st.one_of(st.just(""), NUMBERS)) for _ in range(2)),
            *(draw(cells) for _ in range(2)),
            draw(st.sampled_from([gap and "A", "A", "B", "NA"])),
            draw(st.sampled_from([gap, "1", "2.0", "-3.5"])),
        ]
        for n, wait, away in zip(times.tolist(), waits.tolist(), lost.tolist(), strict=True)
    ]
    rows[0][2:4], rows[0][6] = ["5.0", "7.0"], "A"  # one outcome, and texts
    counts = st.lists(st.integers(1, 12), max_size=3, unique=True)
    given: dict[str, Any] = {
        "outcome": draw(st.sampled_from([["demand"], ["demand", "returns"]])),
        "context": ["price", "rain"],
        "categories": ["shop", "code"],
        "time": None if kind == "none" else "at",
        "calendar": draw(st.lists(st.sampled_from(WORDS if dated else ["trend"]), unique=True)),
        "lags": [] if repeated else draw(counts),
        "rolling": [] if repeated else draw(counts),
        "missing": missing,
        "repeated": "keep" if repeated else draw(st.sampled_from(["keep", "refuse"])),
        "delay": delay,
        "arrives": "came" if arrives else None,
        "warm_up": draw(st.integers(1, max(1, int(moments[-1])))),
    }
    came = np.where(lost, times[-1] + 1, times + waits)
    by_time = np.searchsorted(times, came, side="right")
    due = by_time if arrives else np.searchsorted(moments, moments + 1 + delay)
    order = list(range(count))
    is_sorted = repeated or kind == "none"
    shuffled = order if is_sorted else draw(st.permutations(order))
    return Drawn(rows, shuffled, due, kind, Spec(**given))


def batch(table: Drawn, rows: int | None = None) -> Series:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        kept = [n for n in table.file if rows is None or n < rows]
        lines = [HEADER, *(table.rows[n] for n in kept)]
        path.write_text("".join(",".join(line) + "\n" for line in lines))
        return series_of(read(path), table.spec)


def named(table: Drawn, t: int, *, as_text: bool) -> dict[str, object]:
    """A row as a program sends it; a gap is empty, None or not there."""
    cells: dict[str, object] = dict(zip(HEADER, table.rows[t], strict=True))
    seen = [*table.spec.context, *table.spec.categories]
    sent = {name: cells[name] for name in ([table.spec.time, *seen] if table.spec.time else seen)}
    if as_text:
        return sent
    for name in ("price", "rain", "code"):
        cell = str(sent[name])
        sent[name] = cell == "true" if cell == "true" else float(cell) if cell else None
    return {name: value for name, value in sent.items() if name != "shop" or value}


class Told(NamedTuple):
    stage: int
    xi: Array
    came: str | None


def telling(
    data: st.DataObject, table: Drawn, featuriser: Featuriser, *, early: bool
) -> list[list[Told]]:
    """Before each decision, the outcomes that are told: when they are due, or earlier."""
    count, arrives = len(table.rows), table.spec.arrives is not None
    told: list[list[Told]] = [[] for _ in range(count + 1)]
    for s, row in enumerate(table.rows):
        fields = dict(zip(HEADER, row, strict=True))
        xi = featuriser.outcome({name: fields[name] for name in table.spec.outcome})
        if not arrives or row[1]:
            at = data.draw(st.integers(s + 1, int(table.due[s]))) if early else int(table.due[s])
            told[at].append(Told(s, xi, row[1] if arrives and early else None))
    return [data.draw(st.permutations(each)) for each in told]


def fed(data: st.DataObject, table: Drawn, featuriser: Featuriser, *, early: bool) -> Array:
    """(T, k) x of all rows; at some stage the state and the featuriser are stored and loaded."""
    told, as_text = telling(data, table, featuriser, early=early), data.draw(st.booleans())
    restart = data.draw(st.integers(0, len(table.rows) - 1))
    state, found = featuriser.begin(), []
    for t in range(len(table.rows)):
        for stage, xi, came in told[t]:
            state = featuriser.learn(state, stage, xi, came)
        if t == restart:
            featuriser = Featuriser.from_json(featuriser.to_json())
            state = rebuild(featuriser.begin(), unpack(pack({}, flatten(state)))[1])
        state, x = featuriser.decide(state, named(table, t, as_text=as_text))
        found.append(x)
    return np.stack(found)


def bits(values: Array) -> bytes:
    return np.ascontiguousarray(values).tobytes()


CASES = [
    (kind, missing, repeated)
    for kind in WRITTEN
    for missing in ("last", "keep", "refuse")
    for repeated in (False, True)
    if kind != "none" or not repeated
]


def assert_rows_give_what_the_table_gives(
    data: st.DataObject, kind: str, missing: str, repeated: bool
) -> None:
    table = data.draw(tables(kind, missing, repeated=repeated))
    series = batch(table)
    featuriser = series.featuriser
    assert featuriser is not None
    assert featuriser.x_names == series.x_names
    assert featuriser.xi_names == series.xi_names
    for early in (False, True):
        x = fed(data, table, featuriser, early=early)
        assert x.dtype == series.x.dtype
        assert bits(x) == bits(series.x)


@pytest.mark.parametrize(("kind", "missing", "repeated"), CASES)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_rows_one_at_a_time_give_the_bits_of_their_table(
    kind: str, missing: str, repeated: bool, data: st.DataObject
) -> None:
    assert_rows_give_what_the_table_gives(data, kind, missing, repeated)


@pytest.mark.full
@pytest.mark.parametrize(("kind", "missing", "repeated"), CASES)
@settings(max_examples=500, deadline=None)
@given(data=st.data())
def test_rows_of_any_table_give_its_bits(
    kind: str, missing: str, repeated: bool, data: st.DataObject
) -> None:
    assert_rows_give_what_the_table_gives(data, kind, missing, repeated)


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_what_is_learned_is_learned_in_the_warm_up(data: st.DataObject) -> None:
    """A table that ends after it gives the same featuriser, which serves all that come later."""
    kind = data.draw(st.sampled_from([kind for kind in WRITTEN if kind != "day number"]))
    table = data.draw(tables(kind, data.draw(st.sampled_from(["last", "keep"])), repeated=False))
    whole, part = batch(table), batch(table, rows=table.spec.warm_up + 1)
    assert whole.featuriser is not None
    assert part.featuriser is not None
    assert part.featuriser == whole.featuriser
    assert bits(fed(data, table, part.featuriser, early=True)) == bits(whole.x)


@given(data=st.data())
def test_an_outcome_may_come_later_than_its_delay(data: st.DataObject) -> None:
    """Which no table can say: as `lagged` and `means` have it for any arrivals."""
    count, delay = data.draw(st.integers(1, 20)), data.draw(st.integers(0, 3))
    counts = st.lists(st.integers(1, 6), min_size=1, max_size=3, unique=True)
    spec = Spec("y", delay=delay, lags=data.draw(counts), rolling=data.draw(counts), missing="keep")
    due = np.minimum(np.arange(count) + 1 + delay, count)
    late = data.draw(st.lists(st.integers(0, 5), min_size=count, max_size=count))
    arrives = np.minimum(due + late, count)
    xi = np.random.default_rng(count).normal(size=(count, 1))
    places = lagged(due, arrives, spec.lags)
    expected = [np.where(places < 0, np.nan, xi[places, 0])]
    expected += [means(xi, arrives, count) for count in spec.rolling]
    featuriser = Featuriser(spec)
    state, found = featuriser.begin(), []
    for t in range(count):
        for s in np.flatnonzero(arrives == t).tolist():
            state = featuriser.learn(state, s, xi[s])
        state, x = featuriser.decide(state, {})
        found.append(x)
    assert bits(np.stack(found)) == bits(np.concatenate(expected, axis=1))


def test_a_state_is_bounded() -> None:
    """It forgets what no lag and no mean can ask for again; some outcomes never come."""
    spec = Spec("y", lags=[1, 7], rolling=[3, 5], delay=2)
    featuriser = Featuriser(spec)
    state, sizes = featuriser.begin(), []
    for t in range(300):
        state, _ = featuriser.decide(state, {})
        if t % 11:
            state = featuriser.learn(state, t, [float(t)])
        sizes.append(sum(leaf.size for leaf in leaves(state)))
    assert max(sizes[50:]) == max(sizes[:50])


def refused(table: Drawn) -> bool:
    try:
        batch(table)
    except TableError:
        return True
    return False


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_rows_are_refused_where_their_table_is(data: st.DataObject) -> None:
    """Gaps, and rows that share a time where something looks back over rows."""
    table = data.draw(tables("date", "last", repeated=data.draw(st.booleans())))
    table = table._replace(file=list(range(len(table.rows))))
    missing = data.draw(st.sampled_from(["last", "keep", "refuse"]))
    changed: dict[str, Any] = {
        "missing": missing,
        "repeated": data.draw(st.sampled_from(["keep", "refuse"])),
        "lags": data.draw(st.sampled_from([[], [1]])),
    }
    for row in data.draw(st.lists(st.sampled_from(table.rows), max_size=2)):
        row[data.draw(st.sampled_from([4, 6]))] = ""
    table = table._replace(spec=replace(table.spec, **changed))
    featuriser = Featuriser(
        table.spec, "date", categories=[Category("shop", ("A",)), Category("code", ("1",), True)]
    )
    try:
        fed(data, table, featuriser, early=True)
    except FaultsError:
        assert refused(table)
    else:
        assert not refused(table)


FULL = Featuriser(
    Spec(
        ["demand", "returns"],
        context=["price", "rain"],
        categories="shop",
        time="day",
        lags=[1],
        missing="refuse",
        decisions="ordered",
        warm_up=1,
    ),
    kind="date",
    categories=[Category("shop", ("north", "south"))],
)
GOOD = {"day": "2024-03-02", "price": 1.5, "rain": "0.25", "shop": "north"}

WRONG: list[tuple[dict[str, object], list[str]]] = [
    ({"price": "1,5"}, ["'price' must be a number up to 1e+100", "'1,5'", "decimal point"]),
    ({"price": 1e101}, ["'price' must be a number up to 1e+100 in size. Got 1e+101"]),
    ({"price": float("inf")}, ["'price' must be a number", "Got inf"]),
    ({"price": 10**400}, ["'price' must be a number"]),
    ({"price": [1.5]}, ["'price' must be a number", "Got [1.5]"]),
    ({"price": np.ones(2)}, ["'price' must be a number", "Got array"]),
    ({"price": None}, ["'price' is missing"]),
    ({"rain": "", "shop": " "}, ["'rain' is missing", "'shop' is missing"]),
    ({"shop": True}, ["'shop' must be a text or a number. Got True"]),
    ({"day": None}, ["'day' is missing: a date expected"]),
    ({"day": "2024-02-30"}, ["'day' must be a date. Got '2024-02-30'"]),
    ({"day": "2024-03-02 14:30"}, ["'day' must be a date."]),
    ({"day": 3.5}, ["'day' must be a date. Got 3.5"]),
    ({"day": "2024-03-01"}, ["'day' must be later than 2024-03-01", "Got '2024-03-01'"]),
    ({"day": date(2024, 2, 1)}, ["'day' must be 2024-03-01 or later"]),
    ({"prize": 1.0}, ["no field 'prize'. Is 'price' meant?"]),
    ({"7": 1.0}, ["no field '7'. There are: 'day', 'price', 'rain', 'shop'."]),
    ({"demand": 31}, ["'demand' is not known before the decision"]),
    ({"ordered": 31}, ["'ordered' is not known before the decision"]),
    (
        {"price": "x", "rain": "", "day": "x", "sun": 1, "shop": {}},
        ["'price' must", "'rain' is missing", "'day' must", "no field 'sun'", "'shop' must"],
    ),
]


@pytest.mark.parametrize(("changed", "said"), WRONG)
def test_all_that_is_wrong_with_a_row_is_told_at_once(
    changed: dict[str, object], said: list[str]
) -> None:
    state, _ = FULL.decide(FULL.begin(), GOOD | {"day": "2024-03-01"})
    before = through_a_file(state)
    with pytest.raises(FaultsError) as error:
        FULL.decide(state, GOOD | changed)
    for part in said:
        assert part in str(error.value)
    assert len(str(error.value).splitlines()) == max(1, len(changed))
    assert same_bits(state, before)
    after, x = FULL.decide(state, GOOD | {"demand": "", "ordered": None})
    assert x.tolist() == [1.5, 0.25, 1.0, 0.0, 0.0, 0.0]
    assert int(after.t) == 2


@pytest.mark.parametrize(
    ("stage", "xi", "came", "said"),
    [
        (1, [1.0, 2.0], None, "'stage' .* must be one of the 1 stages that have been decided"),
        (-1, [1.0, 2.0], None, "'stage' .* must be an integer"),
        (0, [1.0], None, "'xi' .* must be an array of shape"),
        (0, [[1.0, 2.0]], None, "'xi' .* must be 2 numbers"),
        (0, [1.0, 1e101], None, "'xi' .* must be 2 numbers up to 1e"),
        (0, [1.0, 2.0], "2024-03-02", "'came' .* must be None where the Spec has no 'arrives'"),
    ],
)
def test_an_outcome_that_cannot_be_is_refused(stage: int, xi: Any, came: Any, said: str) -> None:
    state, _ = FULL.decide(FULL.begin(), GOOD)
    with pytest.raises(ValueError, match=said):
        FULL.learn(state, stage, xi, came)
    learned = FULL.learn(state, 0, [1.0, 2.0])
    with pytest.raises(ValueError, match="must be learned once"):
        FULL.learn(learned, 0, [1.0, 2.0])


ZONED = Featuriser(Spec("y", time="at", arrives="came", lags=[1]), kind="moment", zoned=True)


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("2024-03-02 10:00", "must be a date with a time of day and a time zone"),
        ("2024-03-02 10:00+03:00", "at most an hour from"),
        ("2024-03-01 11:30+02:00", "must be 2024-03-01T10:00.00:00 or later"),
    ],
)
def test_time_zones_are_those_of_the_rows_before(at: str, said: str) -> None:
    state, _ = ZONED.decide(ZONED.begin(), {"at": "2024-03-01 11:00+01:00"})
    with pytest.raises(FaultsError, match=said):
        ZONED.decide(state, {"at": at})
    with pytest.raises(ValueError, match=r"'came' .* must be None, or a date"):
        ZONED.learn(state, 0, [1.0], "2024-03-02 10:00")


def test_what_is_no_row_and_no_state_is_refused() -> None:
    nothing: Any = ()
    asks: list[Any] = [FULL.missing, FULL.outcome, lambda row: FULL.decide(FULL.begin(), row)]
    for ask in asks:
        with pytest.raises(ValueError, match=r"'row' .* must be a mapping"):
            ask([1.0])
    with pytest.raises(ValueError, match=r"'state' .* must be a FeaturiserState"):
        FULL.decide(nothing, GOOD)


def test_gaps_of_a_row_are_named() -> None:
    assert FULL.missing(GOOD | {"price": None, "shop": ""}) == ("price", "shop")
    assert FULL.fields == {
        "day": "a date",
        "price": "a number",
        "rain": "a number",
        "shop": "a text or a number",
    }
    with pytest.raises(FaultsError, match="no field 'price'"):
        FULL.outcome({"price": 1.0})


BROKEN: list[tuple[dict[str, Any], list[str]]] = [
    ({"version": 2}, ['"version": 1']),
    ({"kind": "day", "zoned": 1}, ["'kind' parameter", "'zoned' parameter"]),
    ({"origin": 0.5, "more": 1}, ["'origin' parameter", "no 'more'"]),
    ({"spec": {"lags": [0], "delays": 1}}, ["'outcome'", "'lags' parameter of Spec", "'delays'"]),
    ({"spec": None, "kind": 3}, ["'spec' parameter", "'kind' parameter"]),
    ({"categories": [{"name": "shop", "values": ["b", "a"], "numbers": False}]}, ["rising"]),
    ({"categories": []}, ["'categories' parameter", "'shop'"]),
    ({"kind": "number"}, ["'kind' parameter", "'calendar'"]),
    ({"zoned": True}, ["'zoned' parameter"]),
]


@pytest.mark.parametrize(("changed", "said"), BROKEN)
def test_a_broken_text_says_all_that_is_wrong(changed: dict[str, Any], said: list[str]) -> None:
    spec = Spec("y", categories="shop", time="day", calendar=["month", "trend"], warm_up=3)
    featuriser = Featuriser(spec, "date", origin=5, categories=[Category("shop", ("a", "b"))])
    text = featuriser.to_json()
    assert Featuriser.from_json(text) == featuriser
    with pytest.raises(FaultsError) as error:
        Featuriser.from_json(json.dumps(json.loads(text) | changed))
    for part in said:
        assert part in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "3", '{"version": ', "{}"])
def test_what_is_no_featuriser_is_refused(text: str) -> None:
    with pytest.raises(FaultsError, match="A featuriser"):
        Featuriser.from_json(text)


def frame_of_drawn(drawn: Drawn) -> Table:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        lines = [HEADER, *(drawn.rows[n] for n in drawn.file)]
        path.write_text("".join(",".join(line) + "\n" for line in lines))
        return read(path)


@pytest.mark.parametrize(("kind", "missing", "repeated"), CASES)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_a_table_leaves_the_state_of_its_rows(
    kind: str, missing: str, repeated: bool, data: st.DataObject
) -> None:
    table = data.draw(tables(kind, missing, repeated=repeated))
    frame = frame_of_drawn(table)
    series = series_of(frame, table.spec)
    featuriser, found = series.featuriser, series.state
    assert featuriser is not None
    assert found is not None
    state = featuriser.begin()
    for stage, row in enumerate(rows_of(frame, table.spec)):
        state, _ = featuriser.decide(state, row.fields)
        state = learn_row(featuriser, state, stage, row)
    assert same_bits(found, state)
    for one, other in zip(leaves(found), leaves(state), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
