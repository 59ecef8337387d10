"""Decisions as a table for spreadsheets."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from findings_cases import CASES

from bocopt.app.page import decisions_csv
from bocopt.core import Sense


def test_the_csv_has_every_decision() -> None:
    f = CASES["missing outcomes"].findings()
    rows = list(csv.DictReader(io.StringIO(decisions_csv(f, {"z": ["loaves"]}))))
    assert len(rows) == 400 * 4
    at = {(row["policy"], row["time"]): row for row in rows}
    for policy, played in f.played.items():
        for t in (0, 100, 399):
            row = at[policy, f.series.time[t]]
            assert float(row["loaves"]) == played.z[t, 0]
            known = np.isfinite(played.cost[t])
            assert row["cost"] == (repr(float(played.cost[t])) if known else "")
            assert row["feasible"] == (repr(float(played.feasible[t])) if known else "")
            assert row["counts"] == str(int(known and t >= f.warm_up))
            assert row["line"] == str(t + 2)
    assert sum(row["cost"] == "" for row in rows) == 40 * 4


def test_the_csv_shows_rewards_where_they_are_earned() -> None:
    f = CASES["rewards"].findings()
    row = next(csv.DictReader(io.StringIO(decisions_csv(f))))
    assert float(row["reward"]) == -f.played["ensemble"].cost[0]
    assert f.sense is Sense.MAXIMISE


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_spreadsheets_compute_nothing_of_the_csv(begin: str) -> None:
    case = replace(CASES["three stages"], names=lambda words: f"{begin}cmd|{words}")
    f = case.findings()
    f = f._replace(series=f.series._replace(time=(f"{begin}1+1", "b", "c")))
    rows = list(csv.reader(io.StringIO(decisions_csv(f, {"z": [f"{begin}z"]}), newline="")))
    header, first = rows[0], rows[1]
    assert header[3] == f"'{begin}z"
    assert first[0] == f"'{begin}1+1"
    assert first[2] == f"'{begin}cmd|ensemble"
