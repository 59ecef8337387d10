"""The paper's process against a plain loop and its own law; replay of arrays."""

import re
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from bocopt import Replay, run
from bocopt.core import Sense
from bocopt.numeric import noise
from bocopt.paper import PaperStream
from bocopt.policies import Constant
from bocopt.problems import Knapsack
from bocopt.streams import ChangePoint, from_csv
from bocopt.streams.paper import _B, _G, _PHI1, _PHI2, _SIGMA_U, _THETA1, _THETA2
from bocopt.trace import record

SEEDS = np.arange(3)


def test_equals_a_plain_loop() -> None:
    stream = PaperStream(run_in=0)
    factor = np.linalg.cholesky(_SIGMA_U)
    past = [(np.zeros(3), np.zeros(3))] * 2
    for t, (x, xi) in enumerate(islice(stream.stages(np.array(4)), 50)):
        u = factor @ noise.normal(np.array(4), t, "stream.innovation", (3,))
        (x1, u1), (x2, u2) = past
        expected = u + _PHI1 @ x1 + _PHI2 @ x2 + _THETA1 @ u1 + _THETA2 @ u2
        assert x == pytest.approx(expected)
        e = noise.normal(np.array(4), t, "stream.outcome", (15,))
        raw = _G @ (x + e[:3] / 4) + (_B @ x) * e[3:]
        assert xi == pytest.approx(np.maximum(-100, raw) / 100 + 1)
        past = [(expected, u), past[0]]


def test_innovations_have_the_printed_covariance() -> None:
    u = np.concatenate([x for x, _ in islice(PaperStream(run_in=0).stages(np.arange(20_000)), 1)])
    assert np.cov(u.T) == pytest.approx(_SIGMA_U, abs=0.05)


def test_run_in_is_thrown_away() -> None:
    long = list(islice(PaperStream(run_in=0).stages(SEEDS), 30))
    short = list(islice(PaperStream(run_in=20).stages(SEEDS), 10))
    for (x, xi), (late_x, late_xi) in zip(short, long[20:], strict=True):
        assert (x == late_x).all()
        assert (xi == late_xi).all()


def test_weights_are_never_negative_and_offset_shifts_them() -> None:
    for (_, one), (_, two) in zip(
        islice(PaperStream().stages(SEEDS), 50),
        islice(PaperStream(offset=2.0).stages(SEEDS), 50),
        strict=True,
    ):
        assert (one >= 0).all()
        assert two == pytest.approx(one + 1)


def test_printed_offset_makes_doing_nothing_optimal() -> None:
    """E1: with offset 2 the clairvoyant earns 72, which z = 0 earns too: table 1 is impossible."""
    problem = Knapsack(value=[12.0] * 4, capacity=[8.0] * 3, salvage=[3.0] * 3)
    trace = record(
        run(
            Constant((0, 0, 0, 0)),
            PaperStream(offset=2.0),
            problem=problem,
            seeds=range(5),
            horizon=100,
        ),
        Sense.MAXIMISE,
    )
    assert (trace.reward == 72).all()
    assert -trace.hindsight.mean() == pytest.approx(72.0, abs=0.05)


def test_replay_of_one_series_and_of_one_per_trial() -> None:
    rng = np.random.default_rng(0)
    x, xi = rng.normal(size=(6, 2)), rng.normal(size=(6, 4))
    shared = list(Replay(x, xi).stages(SEEDS))
    assert len(shared) == 6
    assert all((one_x == x[t]).all() for t, (one_x, _) in enumerate(shared))
    own = rng.normal(size=(3, 6, 2))
    assert [a.shape for a, _ in Replay(own, xi).stages(SEEDS)] == [(3, 2)] * 6


def test_csv_columns_by_name_in_the_order_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("day,b,a,demand\n1,2,3,4\n5,6.5,-7e1,8\n\n", encoding="utf-8-sig")
    stages = list(from_csv(path, context=["a", "b"], outcome=["demand"]).stages(np.array(0)))
    assert [x.tolist() for x, _ in stages] == [[3, 2], [-70, 6.5]]
    assert [xi.tolist() for _, xi in stages] == [[4], [8]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must name its columns in the first line"),
        ("\nx,y\n1,2\n", "must name its columns in the first line"),
        ("x,y\n1_000,2\n", "line 2, column 'x': a finite number expected, '1_000' found"),
        ("x,y\n", "has no stages"),
        ("x,z\n1,2\n", "has no columns 'y'. It has: x, z."),
        ("x,y,y\n1,2,3\n", "has 2 columns 'y'"),
        ("x,y\n1,2\n3,four\n", "line 3, column 'y': a finite number expected, 'four' found"),
        ("x,y\n1,2\n3,\n", "line 3, column 'y': a finite number expected, '' found"),
        ("x,y\nnan,2\n", "line 2, column 'x': a finite number expected, 'nan' found"),
        ("x,y\n1,inf\n", "line 2, column 'y': a finite number expected, 'inf' found"),
        ("x,y\n1,2\n3\n", "line 3: 2 cells expected, 1 found"),
        ('x,y\n1,2\n"3\n', "line 3: 2 cells expected, 1 found"),
        ("x,y\n1,2,9\n", "line 2: 2 cells expected, 3 found"),
    ],
)
def test_a_broken_csv_file_says_where(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(message)):
        from_csv(path, context=["x"], outcome=["y"])


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes("x,y,gr\xfc\xdfe\n1,2,3\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"is not a CSV file in UTF-8"):
        from_csv(path, context=["x"], outcome=["y"])


def test_csv_column_lists_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'context' parameter of from_csv must be a list"):
        from_csv(tmp_path / "no.csv", context="x", outcome=["y"])
    with pytest.raises(ValueError, match="'outcome' parameter of from_csv must be a list"):
        from_csv(tmp_path / "no.csv", context=["x"], outcome=["y", "y"])
    with pytest.raises(FileNotFoundError):
        from_csv(tmp_path / "no.csv", context=["x"], outcome=["y"])


def test_a_change_point_shows_one_stream_and_then_the_other() -> None:
    seeds = np.array([1, 2])
    before, after = PaperStream(), PaperStream(offset=1.3)
    changing = list(islice(ChangePoint(before, after, at=3).stages(seeds), 6))
    for t, (one, other) in enumerate(
        islice(zip(before.stages(seeds), after.stages(seeds), strict=False), 6)
    ):
        x, xi = one if t < 3 else other
        assert (changing[t][0] == x).all()
        assert (changing[t][1] == xi).all()
    short = ChangePoint(Replay(np.zeros((5, 1)), np.zeros((5, 1))), after, at=7)
    with pytest.raises(ValueError, match="ended at stage 5"):
        list(islice(short.stages(np.array(0)), 9))
    with pytest.raises(ValueError, match="'at' parameter of ChangePoint"):
        ChangePoint(before, after, at=-1)
