"""Rows with names, of any library and in any order, are the vectors that they name."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_agent import PROBLEM
from trees import same_bits

from bocopt import Agent, Ensemble, Mixture, Replay, SampleAverage, run
from bocopt.columns import columns_of
from bocopt.interop import to_frame
from bocopt.streams import from_csv
from bocopt.trace import record

pd: Any = pytest.importorskip("pandas")
pa: Any = pytest.importorskip("pyarrow")

X_NAMES, XI_NAMES = ("rain", "heat", "weekend"), ("north", "south")
RNG = np.random.default_rng(0)
X, XI = RNG.normal(size=(12, 3)), RNG.uniform(0.5, 1.5, (12, 2))

#: A row with names, as each kind of thing that may hold one.
ROWS: dict[str, Callable[[dict[str, float]], Any]] = {
    "dictionary": dict,
    "series of pandas": pd.Series,
    "series of objects": lambda row: pd.Series(row, dtype=object),
    "frame of pandas": lambda row: pd.DataFrame([row]),
    "frame of polars": lambda row: pl.DataFrame([row]),
    "table of pyarrow": lambda row: pa.table({name: [value] for name, value in row.items()}),
}
#: A table with names, likewise.
TABLES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dictionary": dict,
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda table: pd.DataFrame(table).convert_dtypes(),
    "polars": pl.DataFrame,
    "pyarrow": lambda table: pa.table(table),
}


def named(names: Any, values: Any) -> dict[str, Any]:
    return dict(zip(names, values, strict=True))


def shuffled(row: dict[str, Any], order: list[int]) -> dict[str, Any]:
    items = list(row.items())
    return dict(items[i] for i in order)


@pytest.mark.parametrize("kind", ROWS)
@settings(deadline=None, max_examples=20)
@given(orders=st.lists(st.permutations(range(3)), min_size=3, max_size=3))
def test_a_row_in_any_order_is_the_vector_bit_for_bit(kind: str, orders: list[Any]) -> None:
    by_name, by_place = (Agent(SampleAverage(PROBLEM)) for _ in range(2))
    for t, order in enumerate([range(3), *orders]):  # the first row says what the order is
        row = shuffled(named(X_NAMES, X[t].tolist()), list(order))
        ticket, plain = by_name.decide(ROWS[kind](row)), by_place.decide(X[t])
        assert (ticket.z == plain.z).all()
        outcome = named(XI_NAMES, XI[t].tolist())
        turned = shuffled(outcome, [1, 0]) if t else outcome
        stage = by_name.observe(ticket.id, ROWS[kind](turned))
        same = by_place.observe(plain.id, XI[t])
        assert stage is not None
        assert same is not None
        assert stage.x.tobytes() == same.x.tobytes()
        assert stage.xi.tobytes() == same.xi.tobytes()
    assert same_bits(by_name.state, by_place.state)


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_is_its_array_in_streams_and_lessons(kind: str) -> None:
    x, xi = (TABLES[kind](named(*pair)) for pair in ((X_NAMES, X.T), (XI_NAMES, XI.T)))
    replay = Replay(x, xi)
    assert (replay.x_names, replay.xi_names) == (X_NAMES, XI_NAMES)
    pairs = zip(replay.stages(np.array(0)), Replay(X, XI).stages(np.array(0)), strict=True)
    assert all(same_bits(one, other) for one, other in pairs)
    by_name, by_place = (Agent(Ensemble(PROBLEM)) for _ in range(2))
    by_name.teach(x, xi)
    by_place.teach(X, XI)
    turned = TABLES[kind](shuffled(named(X_NAMES, X.T), [2, 0, 1]))
    by_name.teach(turned, xi)
    by_place.teach(X, XI)
    assert same_bits(by_name.state, by_place.state)


@pytest.mark.parametrize("make", [pd.Series, lambda values: pl.Series("demand", values)])
def test_a_series_of_outcomes_is_one_column(make: Any) -> None:
    series, column = make(XI[:, 0]), XI[:, :1]
    found = [xi for _, xi in Replay(X, series).stages(np.array(0))]
    assert (np.stack(found) == column).all()
    one_row = columns_of("here", "xi", series, wanted="row").values
    assert one_row.shape == (12,)


def test_a_series_with_an_index_of_names_is_a_row_or_a_column_as_is_wanted() -> None:
    series = pd.Series([1.0, 2.0], index=["a", "b"], name="demand")
    row, column = (columns_of("here", "x", series, wanted=how) for how in ("either", "rows"))
    assert (row.values.tolist(), row.names) == ([1.0, 2.0], ("a", "b"))
    assert (column.values.tolist(), column.names) == ([[1.0], [2.0]], ("demand",))
    agent = Agent(SampleAverage(PROBLEM))
    agent.teach(pd.Series({"rain": 0.1}), pd.Series({"north": 1.0, "south": 2.0}))
    assert agent.taught == 1


def test_a_column_of_a_frame_is_outcomes_as_it_is() -> None:
    frame = pd.DataFrame(named(("a", "demand"), X.T[:2]))
    for xi in (frame["demand"], frame[["demand"]]):
        replay = Replay(frame, xi)
        assert repr(replay) == "<Replay: 12 stages, x (2): a, demand, xi (1): demand>"


def test_missing_and_unknown_names_are_all_named_and_change_nothing() -> None:
    agent = Agent(SampleAverage(PROBLEM))
    ticket = agent.decide(named(X_NAMES, X[0]))
    wrong = {"rain": 1.0, "haet": 2.0, "Weekend": 0.0}
    message = (
        "The 'x' parameter of Agent.decide must be named rain, heat, weekend (missing: heat, "
        "weekend; unknown: haet, Weekend). Got ['rain', 'haet', 'Weekend'] instead."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        agent.decide(wrong)
    assert agent.open_ids == (0,)
    agent.observe(ticket.id, XI[0])
    assert agent.decide(X[1]).id == 1  # a bare vector is in the order of the names
    agent.observe(1, named(XI_NAMES, XI[1]))
    with pytest.raises(ValueError, match=r"named north, south \(missing: south; unknown: west\)"):
        agent.observe(agent.decide(X[2]).id, {"north": 1.0, "west": 1.0})
    assert agent.scenarios(named(X_NAMES, X[0]))[0].shape == (2, 2)
    with pytest.raises(ValueError, match="must be named rain, heat, weekend"):
        agent.scenarios({"rain": 1.0})


def test_names_of_a_row_that_was_refused_are_not_remembered() -> None:
    agent = Agent(SampleAverage(PROBLEM))
    with pytest.raises(ValueError, match="must be finite"):
        agent.decide({"wrong": float("nan")})
    assert agent.decide({"right": 1.0}).id == 0
    with pytest.raises(ValueError, match="must be of 1 numbers, as the contexts before it"):
        agent.decide([1.0, 2.0])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame({"a": ["Monday"]}), "made of numbers, in column 'a' too. Got 'Monday'"),
        (pl.DataFrame({"a": ["Monday"]}), "made of numbers, in column 'a' too. Got 'Monday'"),
        (pd.DataFrame({"a": pd.to_datetime(["2024-01-01"])}), "in column 'a' too. Got dtype"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), "of different names. Got ['a']"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", 0]), "that are named by texts. Got ['a', 0]"),
        (pd.DataFrame({"a": [1.0, None]}), "must be finite. Got nan at [1, 0]"),
        (pl.DataFrame({"a": [1, None]}), "must be finite. Got nan at [1, 0]"),
        (pd.DataFrame({"a": pd.array([1, None], "Int64")}), "must be finite. Got nan at [1, 0]"),
        ({"a": [1.0, 2.0], "b": [1.0]}, "columns of one length. Got [(2,), (1,)]"),
        ({}, "one or more columns"),
    ],
)
def test_a_table_that_is_none_of_numbers_is_told_so(table: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Replay(table, [[1.0]])


def test_several_rows_are_no_context_and_gaps_stay_gaps() -> None:
    frame = pd.DataFrame(named(X_NAMES, X.T))
    with pytest.raises(ValueError, match="must be one context"):
        Agent(SampleAverage(PROBLEM)).decide(frame)
    gaps = Replay(pd.DataFrame({"a": pd.array([1, None], "Int64")}), XI[:2], gaps=True)
    assert np.isnan(list(gaps.stages(np.array(0)))[1][0]).all()


def test_columns_with_numbers_for_names_and_true_and_false_are_numbers() -> None:
    replay = Replay(pd.DataFrame(X), pd.DataFrame({"north": [True, False] * 6, "south": 1}))
    assert (replay.x_names, replay.xi_names) == ((), XI_NAMES)
    assert [xi.tolist() for _, xi in replay.stages(np.array(0))][:2] == [[1.0, 1.0], [0.0, 1.0]]
    series = Replay(X[None, :, :].repeat(2, axis=0), XI)
    assert repr(series) == "<Replay: 12 stages x 2 trials, x (3), xi (2)>"


def test_names_survive_a_restart_and_files_without_them_are_read(tmp_path: Path) -> None:
    agent = Agent(SampleAverage(PROBLEM))
    agent.observe(agent.decide(named(X_NAMES, X[0])).id, XI[0])
    agent.save(tmp_path / "named")
    again = Agent.load(tmp_path / "named", SampleAverage(PROBLEM))
    ticket = again.decide(shuffled(named(X_NAMES, X[1]), [2, 1, 0]))
    stage = again.observe(ticket.id, XI[1])
    assert stage is not None
    assert (stage.x == X[1]).all()
    with pytest.raises(ValueError, match="missing: heat, weekend"):
        again.decide({"rain": 1.0})
    plain = Agent(SampleAverage(PROBLEM))
    plain.observe(plain.decide(X[0]).id, XI[0])
    plain.save(tmp_path / "plain")
    loaded = Agent.load(tmp_path / "plain", SampleAverage(PROBLEM))
    assert "names" not in loaded._kept()[0]
    assert loaded.decide(named(X_NAMES, X[1])).id == 1


def test_names_reach_the_trace_and_its_frame(tmp_path: Path) -> None:
    policy = Ensemble(PROBLEM, Mixture(dim_xi=2, scenarios=32))
    stream = Replay(pd.DataFrame(named(("rain", "cost", "north"), X.T)), named(XI_NAMES, XI.T))
    trace = record(run(policy, stream), PROBLEM.sense)
    assert trace.names["x"] == ("rain", "cost", "north")
    assert trace.names["arm_weights"] == ("model", "running average")
    frame = to_frame(trace, "pandas")
    assert list(frame.columns[:9]) == [
        *("trial", "stage", "rain", "cost", "x.north", "z0", "z1", "xi.north", "south"),
    ]
    assert (frame["x.north"] == X[:, 2]).all()
    assert (frame["south"] == XI[:, 1]).all()
    weights = frame[["arm_weights.model", "arm_weights.running average"]].to_numpy()
    assert (weights == trace.info["arm_weights"].T).all()
    assert not frame.columns.duplicated().any()
    path = tmp_path / "data.csv"
    path.write_text("b,a,demand\n1,2,3\n", encoding="utf-8")
    found = from_csv(path, context=["a", "b"], outcome=["demand"])
    assert (found.x_names, found.xi_names) == (("a", "b"), ("demand",))


def test_an_agents_stages_have_the_names_that_it_knows() -> None:
    agent = Agent(SampleAverage(PROBLEM))
    rows = zip(X, XI, strict=True)
    stages = [agent.observe(agent.decide(named(X_NAMES, x)).id, xi) for x, xi in rows]
    trace = record([stage for stage in stages if stage], PROBLEM.sense)
    assert dict(trace.names) == {"x": X_NAMES}
    bare = Agent(SampleAverage(PROBLEM))
    stage = bare.observe(bare.decide(X[0]).id, XI[0])
    assert stage is not None
    assert stage.names is None
