"""What was backtested is what is served: one that was taught a table goes on as its backtest."""

import csv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lengths import long
from shop import cache, engine, folded, one
from small_cases import changed, ran, written

from bocopt.app import backtest, open_case
from bocopt.app.service.commands import Decide, Observe, RefusedError
from bocopt.app.service.config import load_config
from bocopt.app.service.engine import Engine
from bocopt.app.service.machine import numeric_fingerprint
from bocopt.app.service.stores import Store, open_store
from bocopt.app.starters import EXAMPLES
from bocopt.state import flatten

ROWS, MORE = 60, 10


def fields_of(path: Path) -> tuple[str, list[dict[str, Any]], list[dict[str, float]]]:
    """The case, and the rows of its table: what is known before, and what came."""
    case = open_case(path)
    assert case.spec is not None
    spec, known, came = case.spec, [], []
    names = [spec.time, *spec.context, *spec.categories]
    for row in csv.DictReader((path.parent / "data.csv").read_text("utf-8").splitlines()):
        known.append({name: row[name] or None for name in names if name})
        came.append({name: float(row[name]) for name in spec.outcome})
    return case.name, known, came


def cut(path: Path, rows: int) -> None:
    data = path.parent / "data.csv"
    lines = data.read_text("utf-8").splitlines(keepends=True)
    data.write_text("".join(lines[: rows + 1]), encoding="utf-8")


@contextmanager
def serving(path: Path) -> Iterator[tuple[Engine, Store]]:
    config = load_config(path)
    store = open_store(config.store, config.folder)
    try:
        yield engine(store, *config.templates.values(), numeric=numeric_fingerprint()), store
    finally:
        store.close()


def asked(ours: Engine, name: str, fields: Mapping[str, Any], key: str | None = None) -> Any:
    return one(ours, Decide(name, dict(fields), key)).body


def decisions_of(path: Path, policy: str) -> np.ndarray[Any, Any]:
    return backtest(open_case(path))[0].played[policy].z[ROWS:]


@pytest.mark.parametrize("example", ["newsvendor", *map(long, EXAMPLES[1:])])
@pytest.mark.parametrize("policy", ["SampleAverage", long("Ensemble")])
def test_a_service_goes_on_as_a_longer_backtest(example: str, policy: str, tmp_path: Path) -> None:
    """Taught the table, then ten days by named fields: the same numbers, bit for bit.

    An outcome that is a stage late is learned before the next decision in lessons, and after it in
    a backtest: an Ensemble, whose lessons depend on what it decided, then differs.
    """
    path = written(tmp_path, example, ROWS + MORE)
    changed(path, '["SampleAverage"]', f'["{policy}"]')
    if "warm_up = 60" in path.read_text("utf-8"):
        changed(path, "warm_up = 60", "warm_up = 28")
    late = "delay = 1" in path.read_text("utf-8")
    if late and policy == "Ensemble":
        changed(path, "delay = 1", "delay = 0")
    name, known, came = fields_of(path)
    expected = decisions_of(path, policy)
    cut(path, ROWS)
    assert ran("import", "--stream", name, "--config", str(path))[0] == 0
    wait = late and policy != "Ensemble"
    with serving(path) as (ours, store):
        before: int | None = None
        for i, z in enumerate(expected):
            found = asked(ours, name, known[ROWS + i])
            if i or not wait:  # the last lesson was not known yet in the backtest
                assert list(found["z"].values()) == z.tolist(), i
            if before is not None:
                one(ours, Observe(name, before, came[ROWS + before]))
            before = found["id"]
            if not wait:
                one(ours, Observe(name, before, came[ROWS + before]))
                before = None
        held = cache(ours).state(name)
        again = folded(store, held.template, name)
        assert held.features is not None
        assert again.features is not None
        here, there = flatten(held.features), flatten(again.features)
        assert all(here[key].tobytes() == there[key].tobytes() for key in here)


def test_x_of_each_day_is_that_of_a_backtest_also_after_a_restart(tmp_path: Path) -> None:
    path = written(tmp_path, "newsvendor", ROWS)
    changed(path, 'policies = ["SampleAverage"]', 'policies = ["SampleAverage"]\nsnapshot = 7')
    name, known, came = fields_of(path)
    x = open_case(path).data.x
    for first in range(0, ROWS, 20):
        with serving(path) as (ours, _):
            for i in range(first, first + 20):
                number = asked(ours, name, known[i])["id"]
                held = cache(ours).state(name)
                assert held.live.open[number].x.tobytes() == x[i].tobytes()
                one(ours, Observe(name, number, came[i]))
            ours.stop()


def test_fields_that_are_missing_are_said_and_wrong_ones_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "newsvendor", ROWS)
    name, known, came = fields_of(path)
    with serving(path) as (ours, _):
        first = known[0] | {"weather": None}
        found = asked(ours, name, first, "monday")
        assert found["missing"] == ["weather"]
        assert asked(ours, name, dict(reversed(first.items())), "monday") == found
        for wrong, why in [
            ({**first, "temperature": "hot"}, "'temperature' must be a number"),
            ({**first, "wether": "rain"}, "no field 'wether'. Is 'weather' meant?"),
            ({"temperature": 3.0}, "'date' is missing"),
            ({**first, "date": "2023-12-31"}, "2023-12-31"),
            ([1.0, 2.0], "an object of named fields"),
        ]:
            with pytest.raises(RefusedError, match=why) as refused:
                one(ours, Decide(name, wrong))
            assert refused.value.status == 422
        with pytest.raises(RefusedError, match="which had another context"):
            asked(ours, name, known[0], "monday")
        for wrong_xi, why in [
            ({"papers": 3.0}, "missing: magazines"),
            ({**came[0], "books": 1.0}, "unknown: books"),
        ]:
            with pytest.raises(RefusedError, match=why):
                one(ours, Observe(name, 0, wrong_xi))
        one(ours, Observe(name, 0, dict(reversed(came[0].items()))))
        held = cache(ours).state(name)
        assert held.live.last is not None
        assert held.live.last[1].tolist() == [*came[0].values()]
