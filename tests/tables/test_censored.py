"""Tables of sales: which outcomes are bounds, what policies learn of them, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_cases import ran

from bocopt import Agent
from bocopt.app import Spec, open_case, panel_of, read, series_of
from bocopt.app.backtesting import backtest
from bocopt.app.features.rows import learn_row, rows_of
from bocopt.app.reading.columns import TableError
from bocopt.arguments import WrongError
from bocopt.state import flatten

PROBLEM = '''"""A shop."""

from bocopt.problems import Newsvendor

SHOP = Newsvendor(unit_cost=[0.3], price=1.0, upper=200.0, largest_demand=200.0)
'''
CASE = """
[cases.shop]
title = "A shop"
problem = "problem:SHOP"
policies = ["SampleAverage", "LightMixture"]

[cases.shop.data]
file = "data.csv"
time = "day"
outcome = "sold"
decisions = "stock"
warm_up = 10
"""


def sales(days: int = 80, stock: float = 30.0, seed: int = 0) -> tuple[list[float], list[float]]:
    """What a shop sold that stocked a bit less than is asked for, and what was asked for."""
    demand = np.rint(30.0 * np.random.default_rng(seed).gamma(9.0, 1.0 / 9.0, days)).tolist()
    return [min(y, stock) for y in demand], demand


def table(path: Path, header: str, rows: list[str]) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def shop(folder: Path, more: str = "") -> Path:
    sold, _ = sales()
    rows = [
        f"2024-{1 + i // 28:02}-{1 + i % 28:02},{s:g},30,{'yes' if s >= 30 else 'no'}"
        for i, s in enumerate(sold)
    ]
    table(folder / "data.csv", "day,sold,stock,sold_out", rows)
    (folder / "problem.py").write_text(PROBLEM, encoding="utf-8")
    (folder / "bocopt.toml").write_text(CASE + more, encoding="utf-8")
    return folder / "bocopt.toml"


@pytest.mark.parametrize("said", ["sold_out", "sold >= stock"])
def test_a_column_or_a_rule_says_which_outcomes_are_bounds(said: str, tmp_path: Path) -> None:
    shop(tmp_path)
    spec = Spec("sold", time="day", decisions="stock", censored=said, lags=[1])
    series, (sold, demand) = series_of(read(tmp_path / "data.csv"), spec), sales()
    out = np.array(sold) >= 30.0
    assert 0.2 < out.mean() < 0.8
    assert (np.isnan(series.xi[:, 0]) == out).all()
    assert series.seen is not None
    assert (series.seen.low[:, 0] == sold).all()
    assert (series.seen.high[out, 0] == np.inf).all()
    assert (series.seen.high[:, 0] >= demand).all()
    assert (series.x[1:, 0] == sold[:-1]).all()  # a lag is what was recorded
    assert series.came.all()
    assert (series.in_part == out).all()
    assert f"{out.sum()} of 80 outcomes are at least the number that stands there" in " ".join(
        series.notes
    )


def test_rows_one_by_one_give_the_same_contexts(tmp_path: Path) -> None:
    shop(tmp_path)
    spec = Spec("sold", time="day", censored="sold_out", lags=[1, 7], rolling=[3])
    frame = read(tmp_path / "data.csv")
    series = series_of(frame, spec)
    assert series.featuriser is not None
    assert series.seen is not None
    state = series.featuriser.begin()
    for stage, row in enumerate(rows_of(frame, spec)):
        state, x = series.featuriser.decide(state, row.fields)
        assert (x == series.x[stage]).all()
        assert (row.seen is not None) == series.in_part[stage]
        if row.seen is not None:
            assert row.seen.low.tolist() == series.seen.low[stage].tolist()
            assert row.seen.high.tolist() == [np.inf]
        state = learn_row(series.featuriser, state, stage, row)


def test_two_outcomes_of_which_one_is_seen(tmp_path: Path) -> None:
    path = table(
        tmp_path / "two.csv", "bread,rolls,out", ["3,4,no", "5,,no", ",,no", "6,7,yes", "2,2,no"]
    )
    series = series_of(read(path), Spec(["bread", "rolls"], censored=["out", "bread >= rolls"]))
    assert series.seen is not None
    assert np.array_equal(series.seen.low[:, 0], [3, 5, np.nan, 6, 2], equal_nan=True)
    assert np.array_equal(series.seen.high[:, 0], [3, 5, np.nan, np.inf, 2], equal_nan=True)
    assert np.array_equal(series.seen.low[:, 1], [4, -np.inf, np.nan, 7, 2], equal_nan=True)
    assert np.array_equal(series.seen.high[:, 1], [4, np.inf, np.nan, 7, np.inf], equal_nan=True)
    assert series.came.tolist() == [True, True, False, True, True]


def test_policies_learn_demand_from_sales(tmp_path: Path) -> None:
    """They order what demand asks for, where sales taken as demand would never tell."""
    _, demand = sales()
    wanted = np.quantile(demand, 0.7)
    plain, _ = backtest(open_case(shop(tmp_path)))
    findings, _ = backtest(open_case(shop(tmp_path, 'censored = "sold >= stock"\n')))
    for name in ("SampleAverage", "LightMixture"):
        assert plain.played[name].z[40:].max() <= 30.0
        assert 30.0 < findings.played[name].z[40:].mean() < 1.25 * wanted


def test_faults_are_told_at_once(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", "sold,out,stock", ["3,yes,4", "x,perhaps,5", "4,,abc"])
    with pytest.raises(TableError) as caught:
        series_of(read(path), Spec("sold", censored="out"))
    assert "line 3, column 'sold': a number expected" in str(caught.value)
    assert "line 3, column 'out': yes or no expected, 'perhaps' found" in str(caught.value)
    assert "line 4, column 'out': yes or no expected, nothing found" in str(caught.value)
    with pytest.raises(TableError, match="column 'stock': a number expected, 'abc' found"):
        series_of(read(path), Spec("sold", censored="sold >= stock"))
    with pytest.raises(TableError, match="has no column 'gone'"):
        series_of(read(path), Spec("sold", censored="sold >= gone"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"censored": 3}, "columns of yes and no, or rules"),
        ({"censored": ["a", "b"]}, "one column or rule for all outcomes, or one for each of the 1"),
        ({"censored": "a", "stage": "day", "time": "at"}, r"\(\) where 'stage' is 'day'"),
    ],
)
def test_specs_that_cannot_be(given: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongError, match=message):
        Spec("sold", **given)


PANEL = """series = "shop"
censored = "sold >= stock"
"""


def shops(folder: Path, more: str = "") -> Path:
    path = shop(folder, PANEL + more)
    lines = (folder / "data.csv").read_text(encoding="utf-8").splitlines()
    rows = [f"{line},{name}" for name in ("A", "B") for line in lines[1:41]]
    table(folder / "data.csv", lines[0] + ",shop", rows)
    return path


def test_series_of_a_panel_are_played_by_themselves(tmp_path: Path) -> None:
    path = shops(tmp_path)
    code, said = ran("backtest", str(path))
    assert code == 0, said
    case = open_case(path)
    assert case.panel is not None
    assert case.panel.series[0].in_part.any()
    agent = case.of_series("A").agent("SampleAverage")
    assert agent.scenarios([])[0].max() > 30.0
    code, said = ran("decide", str(path), str(tmp_path / "data.csv"), "--learn")
    assert code != 0


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("coupled = true\n", "'censored' and 'coupled'"),
        ("", "learns from outcomes that were seen in full"),
    ],
)
def test_what_needs_outcomes_in_full_is_refused(key: str, message: str, tmp_path: Path) -> None:
    path = shops(tmp_path, key)
    if not key:
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('"LightMixture"', '"LightMixtureAcross"'), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        open_case(path)


def test_a_panel_keeps_the_columns_of_a_rule(tmp_path: Path) -> None:
    shops(tmp_path)
    spec = Spec("sold", time="day", series="shop", censored="sold_out")
    panel = panel_of(read(tmp_path / "data.csv"), spec)
    alone = series_of(read(tmp_path / "data.csv"), Spec("sold", censored="sold_out"))
    both = np.concatenate([one.xi for one in panel.series])
    assert np.array_equal(both, alone.xi, equal_nan=True)


def test_sales_that_are_not_said_to_be_are_asked_about(tmp_path: Path) -> None:
    shop(tmp_path)
    frame, spec = read(tmp_path / "data.csv"), Spec("sold", time="day", decisions="stock")
    [note] = [each for each in series_of(frame, spec).notes if "exactly what was decided" in each]
    assert note.endswith('Then say censored = "sold >= stock" in [data].')
    said = series_of(frame, Spec("sold", time="day", decisions="stock", censored="sold_out"))
    assert not any("exactly what was decided" in each for each in said.notes)
    shops(tmp_path)
    panel = panel_of(
        read(tmp_path / "data.csv"), Spec("sold", time="day", decisions="stock", series="shop")
    )
    assert any(each.startswith("In 2 of 2 series, outcomes of 'sold'") for each in panel.notes)


def test_demand_that_is_met_at_times_is_not_asked_about(tmp_path: Path) -> None:
    asked, rng = 0, np.random.default_rng(4)
    for _ in range(40):
        demand = rng.poisson(6.0, 150).tolist()
        path = table(
            tmp_path / "a.csv", "asked,stock", [f"{y},{6 + i % 3}" for i, y in enumerate(demand)]
        )
        notes = series_of(read(path), Spec("asked", decisions="stock")).notes
        asked += any("exactly what was decided" in each for each in notes)
    assert asked == 0


def test_an_agent_that_is_taught_the_table_is_that_of_its_backtest(tmp_path: Path) -> None:
    case = open_case(shop(tmp_path, 'censored = "sold >= stock"\nlags = [1]\n'))
    _, agents = backtest(case)
    series = case.data
    assert series.seen is not None
    for name, policy in case.policies.items():
        taught = Agent(policy, problem=case.problem, seed=case.seed, hindsight=False)
        taught.teach(series.x, series.seen)
        ours, theirs = flatten(taught.state), flatten(agents[name].state)
        assert ours.keys() == theirs.keys()
        assert all(np.array_equal(ours[key], theirs[key], equal_nan=True) for key in ours)
