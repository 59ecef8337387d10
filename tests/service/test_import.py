"""`bocopt import`: every row of a table is taught once, in order, and none is a decision."""

import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shop as here
from fleets import same
from running import Service
from shop import Counting, assert_is_its_log, bits, cache, engine, folded, one, shop, status
from typed import CONFIG, bocopt

from bocopt import Agent
from bocopt.app.case_file import StreamLimits
from bocopt.app.reading.columns import TableError
from bocopt.app.reading.frame import frame_of
from bocopt.app.reading.sources import read
from bocopt.app.service.commands import Decide, Forget, Observe, Query, RefusedError, Teach
from bocopt.app.service.config import load_config
from bocopt.app.service.engine import Engine
from bocopt.app.service.history import Names, columns, taught
from bocopt.app.service.stores import Store, open_store
from bocopt.app.service.stores.store import StoreError
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.core import Array
from bocopt.live.events import from_bytes
from bocopt.live.fold import Taught

NAMES = Names(("day",), ("left", "right"))


def rows_of(many: int, seed: int = 0) -> tuple[Array, Array]:
    """The first of them do not depend on how many there are."""
    found = np.random.default_rng(seed).uniform(0.5, 1.5, (many, 3)).round(3)
    return found[:, :1].copy(), found[:, 1:].copy()


def write(path: Path, many: int, **changed: Any) -> str:
    """A table of so many rows; some cells are changed by line and column."""
    x, xi = rows_of(many)
    lines = [["day", "note", "left", "right"]]
    lines += [
        [str(a), "fine", str(b), str(c)]
        for (a,), (b, c) in zip(x.tolist(), xi.tolist(), strict=True)
    ]
    for place, cell in changed.items():
        line, column = place.split("_")[1:]
        lines[int(line) - 1][lines[0].index(column)] = cell
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    return str(path)


class Silent:
    def begin(self, what: str, stages: int, done: int | None = None) -> None:
        pass

    def advance(self, stages: int) -> None:
        pass


def teach(store: Store, path: str, kind: StreamTemplate, ours: Engine | None = None) -> Any:
    ours = ours or engine(store, kind)
    rows = columns(read(path), kind, NAMES)
    return taught(ours, store, kind, "shop", rows, Silent())


def lived(kind: StreamTemplate, many: int) -> Agent[Any]:
    agent = Agent(kind.fold.policy, problem=here.problem, seed=kind.seed)
    for x, xi in zip(*rows_of(many), strict=True):
        agent.observe(agent.decide(x).id, xi)
    return agent


@pytest.mark.parametrize("policy", ["policy", "learner"])
def test_a_stream_that_was_taught_goes_on_as_one_that_lived_it(
    store: Store, tmp_path: Path, policy: str
) -> None:
    kind = shop(policy=getattr(here, policy), shadows={"better": here.better}, seed=3)
    ours = engine(store, kind)
    many = 70 if policy == "policy" else 12
    found = teach(store, write(tmp_path / "table.csv", many), kind, ours)
    assert (found.rows, found.before, found.decisions) == (many, 0, 0)
    assert_is_its_log(ours, store)
    agent = lived(kind, many)
    assert same(cache(ours).state("shop").live.state, agent.state)
    ticket, mine = one(ours, Decide("shop", [0.3])).body, agent.decide([0.3])
    assert list(ticket["z"].values()) == mine.z.tolist()
    assert (ticket["id"], mine.id) == (0, many)
    one(ours, Observe("shop", 0, [1.0, 1.1]))
    agent.observe(mine.id, [1.0, 1.1])
    assert same(cache(ours).state("shop").live.state, agent.state)
    assert_is_its_log(ours, store)


def test_nothing_counts_a_lesson(store: Store, tmp_path: Path) -> None:
    kind = shop(shadows={"better": here.better})
    ours = engine(store, kind)
    path = write(tmp_path / "table.csv", 9)
    teach(store, path, kind, ours)
    shown = one(ours, Query("shop", "summary")).body
    assert (shown["taught"], shown["events"]) == (9, 9)
    assert (shown["decisions"], shown["outcomes"], shown["open"]) == (0, 0, [])
    assert (shown["average"], shown["feasible"]) == (None, None)
    told = one(ours, Query("shop", "certificates")).body
    assert told["certificates"] == []
    assert told["compared_since"]["words"] == "Compared since the first decision."
    [standing] = store.standings()
    assert (standing.decisions, standing.outcomes, standing.open) == (0, 0, 0)
    assert (store.lessons("shop"), store.last_decision("shop")) == (9, -1)
    assert (store.stages("shop"), store.waiting("shop", 9)) == ([], [])
    one(ours, Decide("shop", [0.1]))
    one(ours, Observe("shop", 0, [1.0, 1.0]))
    [standing] = store.standings()
    assert (standing.decisions, standing.outcomes, standing.events) == (1, 1, 11)
    assert standing.delay is not None
    assert (store.lessons("shop"), store.last_decision("shop")) == (9, 0)
    [headline, *_] = one(ours, Query("shop", "certificates")).body["certificates"]
    assert "came late" not in headline["words"]


def test_a_table_is_taught_once_and_goes_on_where_it_has_grown(
    store: Store, tmp_path: Path
) -> None:
    kind = shop()
    ours = engine(store, kind)
    assert teach(store, write(tmp_path / "a.csv", 5), kind, ours).words == (
        "Taught 5 rows to 'shop'. None counts as a decision."
    )
    for many, words in (
        (5, "Nothing to do: 'shop' was taught 5 rows, which begin with these."),
        (3, "Nothing to do: 'shop' was taught 5 rows, which begin with these."),
        (8, "Taught 3 rows to 'shop', after 5 that it knew. None counts as a decision."),
    ):
        assert teach(store, write(tmp_path / "b.csv", many), kind, ours).words == words
    one(ours, Forget("shop", one(ours, Decide("shop", [0.1])).body["id"]))
    found = teach(store, write(tmp_path / "b.csv", 9), kind, ours)
    assert "It has taken 1 decision itself" in found.words
    assert same(cache(ours).state("shop").live.state.outcomes.rows, rows_of(9)[1])
    assert_is_its_log(ours, store)


def test_another_table_is_refused_by_its_first_other_row(file: Store, tmp_path: Path) -> None:
    kind = shop()
    ours = engine(file, kind)
    teach(file, write(tmp_path / "a.csv", 5), kind, ours)
    before = file.last_seq("shop")
    for change in ("at_4_day", "at_4_right"):
        other = write(tmp_path / "b.csv", 9, **{change: "0.25"})
        with pytest.raises(TableError, match="line 4: the row that 'shop' was taught as its les"):
            teach(file, other, kind, ours)
    assert file.last_seq("shop") == before


def test_a_lesson_that_is_repeated_changes_nothing(store: Store) -> None:
    ours = engine(store)
    assert status(ours, Teach("shop", 0, [0.1], [1.0, 1.0])) == 201
    seq = store.last_seq("shop")
    assert status(ours, Teach("shop", 0, [0.1], [1.0, 1.0])) == 200
    for command, code in (
        (Teach("shop", 0, [0.1], [1.0, 2.0]), 409),
        (Teach("shop", 0, [0.2], [1.0, 1.0]), 409),
        (Teach("shop", 2, [0.1], [1.0, 1.0]), 409),
        (Teach("shop", 1, [np.nan], [1.0, 1.0]), 422),
        (Teach("shop", 1, [0.1, 0.2], [1.0, 1.0]), 422),
        (Teach("shop", 1, [0.1], [1.0]), 422),
        (Teach("mart", 0, [0.1], [1.0, 1.0]), 404),
    ):
        assert status(ours, command) == code
    twice = [Teach("shop", 1, [0.1], [1.0, 1.0])] * 2
    answers = ours.step(twice)
    assert [here.status_code(answer) for answer in answers] == [201, 200]
    assert store.last_seq("shop") == seq + 1
    assert_is_its_log(ours, store)


def test_open_decisions_come_first(file: Store) -> None:
    ours = engine(file)
    one(ours, Decide("shop", [0.1]))
    with pytest.raises(RefusedError, match="1 decisions of 'shop' wait for their outcome"):
        one(ours, Teach("shop", 0, [0.1], [1.0, 1.0]))
    one(ours, Observe("shop", 0, [1.0, 1.0]))
    one(ours, Teach("shop", 0, [0.1], [1.0, 1.0]))
    one(ours, Decide("shop", [0.1]))
    assert status(ours, Teach("shop", 1, [0.1], [1.0, 1.0])) == 409
    assert_is_its_log(ours, file)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_commit_that_fails_anywhere_teaches_no_row_twice(
    url: str, tmp_path: Path, when: str
) -> None:
    """At each commit of the import in turn; the next one ends it."""
    kind, path = shop(limits=StreamLimits(snapshot=50)), write(tmp_path / "table.csv", 200)
    commits, known, refused = range(5), list[int](), 0
    store = open_store(url)
    for fails in commits:
        failing = Counting(store, failing={fails: when})
        try:
            ours = engine(failing, kind)
            teach(failing, path, kind, ours)
        except RefusedError:
            refused += 1
        known.append(store.lessons("shop"))
    teach(store, path, kind)
    assert store.lessons("shop") == 200
    assert known == sorted(known)
    assert refused >= 2
    held = folded(store, kind)
    assert same(held.live.state.outcomes.rows, rows_of(200)[1])
    lone = open_store("sqlite:///alone.db", tmp_path)
    teach(lone, path, kind)
    assert bits(held) == bits(folded(lone, kind))
    for each in (store, lone):
        each.close()


def test_two_imports_and_a_server_at_once_teach_no_row_twice(url: str, tmp_path: Path) -> None:
    """Nobody should; but the log holds all the same."""
    kind, path = shop(), write(tmp_path / "table.csv", 130)
    stores = [open_store(url) for _ in range(2)]
    one_engine, other = (engine(store, kind) for store in stores)
    rows = columns(read(path), kind, NAMES)
    commands = [Teach("shop", i, *lesson) for i, lesson in enumerate(rows.lessons)]
    for first in range(0, 130, 10):
        for ours in (one_engine, other):
            answers = ours.step(commands[first : first + 10])
            assert all(here.status_code(answer) in (200, 201) for answer in answers)
        number = one(other, Decide("shop", [0.1])).body["id"]
        assert status(one_engine, commands[first + 10 if first < 120 else 129]) in (200, 409)
        one(one_engine, Observe("shop", number, [1.0, 1.0]))
    assert (stores[0].lessons("shop"), stores[0].last_decision("shop")) == (130, 12)
    assert_is_its_log(one_engine, stores[0])
    for store in stores:
        store.close()


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """A folder with a declaration that names its columns."""
    from typed import SHOP

    (tmp_path / "shop.py").write_text(SHOP)
    names = 'context = ["day"]\noutcome = ["left", "right"]\n'
    (tmp_path / "bocopt.toml").write_text(CONFIG + names)
    return tmp_path


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Store, StreamTemplate]]:
    config = load_config(folder / "bocopt.toml")
    store = open_store(config.store, folder, read_only=True)
    try:
        yield store, config.templates["shop"]
    finally:
        store.close()


def typed(folder: Path, *words: str) -> tuple[int, str]:
    return bocopt("import", *words, "--config", str(folder / "bocopt.toml"))


def test_the_command_teaches_and_all_others_know_it(named: Path) -> None:
    table = write(named / "table.csv", 20)
    code, said = typed(named, table, "--stream", "shop")
    assert (code, said.splitlines()[-1]) == (
        0,
        "Taught 20 rows to 'shop'. None counts as a decision.",
    )
    assert "Nothing to do" in typed(named, table, "--stream", "shop")[1]
    path = str(named / "bocopt.toml")
    code, said = bocopt("replay", path, "--verify")
    assert (code, "20 events, 0 decisions, 0 outcomes, 0 open; 20 lessons." in said) == (0, True)
    code, said = bocopt("doctor", path)
    assert (code, "shop: 20 events, which fold without a gap." in said) == (0, True)
    assert "the snapshot at 20 is what the log says" in said
    code, said = bocopt("export", "shop", str(named / "out.csv"), "--config", path)
    assert (code, said) == (0, f"Wrote 0 decisions to {named / 'out.csv'}.\n")
    code, said = typed(named, table, "--stream", "north", "--case", "shop")
    assert (code, "Taught 20 rows to 'north'." in said) == (0, True)
    code, said = bocopt("prior", str(named / "out.prior"), "--config", path)
    assert (code, "2 streams with 40 outcomes" in said) == (0, True)


def test_a_damaged_lesson_is_named(named: Path) -> None:
    import sqlite3

    typed(named, write(named / "table.csv", 5), "--stream", "shop")
    for sql, words in (
        ("UPDATE events SET decision = -9 WHERE seq = 3", "it is the lesson 3, and its row says"),
        ("UPDATE events SET body = zeroblob(50) WHERE seq = 3", "It is damaged or cut short"),
    ):
        with sqlite3.connect(named / "bocopt.db") as connection:
            connection.execute(sql)
        connection.close()
        code, said = bocopt("doctor", str(named / "bocopt.toml"))
        assert (code, words in said) == (1, True), said


def test_all_that_is_wrong_is_told_at_once_and_nothing_is_taught(named: Path) -> None:
    cells = {"at_3_left": "", "at_4_right": "many", "at_6_day": "inf", "at_7_left": "1,5"}
    code, said = typed(named, write(named / "table.csv", 9, **cells), "--stream", "shop")
    assert code == 1
    for words in (
        "line 3, column 'left': a number expected, nothing found. Leave out rows",
        "line 4, column 'right': a number expected, 'many' found.",
        "line 6, column 'day': a finite number expected, 'inf' found.",
    ):
        assert words in said
    code, said = typed(named, str(named / "table.csv"), "--stream", "shop", "--x", "dya,tme")
    assert (code, "--x must name as many columns. Got dya, tme instead" in said) == (1, True)
    code, said = typed(
        named, str(named / "table.csv"), "--stream", "shop", "--x", "dya", "--xi", "lft,right"
    )
    assert code == 1
    for words in ("no column 'dya'", "Is 'day' meant?", "no column 'lft'", "'many' found"):
        assert words in said
    with opened(named) as (store, _):
        assert (store.lessons("shop"), store.last_seq("shop")) == (0, -1)


def test_a_stream_or_columns_that_are_not_there_are_told(folder: Path) -> None:
    table = write(folder / "table.csv", 5)
    for words, message in (
        (("--stream", "shop"), "Which columns are x? Say --x a,b,c, or name them"),
        (("--stream", "shop", "--x", "day"), "Which columns are xi?"),
        (("--stream", "shp", "--x", "day"), "There is no stream 'shp'. Did you mean 'shop'?"),
        (("--stream", "a", "--case", "shp"), "There is no [cases.shp] in"),
        (("--stream", "a b", "--case", "shop"), "The stream 'a b' must match"),
    ):
        code, said = typed(folder, table, *words)
        assert (code, message in said) == (1, True), said
    code, said = typed(folder, str(folder / "none.csv"), "--stream", "shop")
    assert (code, "There is no file" in said) == (1, True)
    code, said = typed(folder, table, "--stream", "shop", "--x", "day", "--xi", "left,right")
    assert code == 0


def test_data_frames_and_parquet_teach_the_same(named: Path) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.read_csv(write(named / "table.csv", 6))
    frame.write_parquet(named / "table.parquet")
    with opened_after(named) as (store, kind):
        rows = columns(frame_of(frame), kind, Names())
        x, xi = (np.array([lesson[i] for lesson in rows.lessons]) for i in (0, 1))
        assert same((x, xi), rows_of(6))
        assert store.lessons("shop") == 6


@contextmanager
def opened_after(folder: Path) -> Iterator[tuple[Store, StreamTemplate]]:
    assert typed(folder, str(folder / "table.parquet"), "--stream", "shop")[0] == 0
    with opened(folder) as found:
        yield found


def test_a_killed_import_goes_on_where_it_stopped(named: Path) -> None:
    many = 3000
    table, code = write(named / "table.csv", many), "from bocopt.app.cli import app; app()"
    words = ["import", table, "--stream", "shop", "--config", str(named / "bocopt.toml")]
    command = [sys.executable, "-c", code, *words]
    known = 0
    for _ in range(2):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while time.monotonic() < until and lessons(named) <= known + 100 and process.poll() is None:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert known < lessons(named) < many
        known = lessons(named)
    found, said = typed(named, table, "--stream", "shop")
    assert (found, f"after {known} that it knew" in said) == (0, True)
    with opened(named) as (store, kind):
        events = [from_bytes(row.body, kind.problem) for row in store.tail("shop")]
        assert [event.number for event in events] == list(range(many))
        assert all(isinstance(event, Taught) for event in events)
        assert same(folded(store, kind).live.state.outcomes.rows, rows_of(many)[1])


def lessons(folder: Path) -> int:
    try:
        with opened(folder) as (store, _):
            return store.lessons("shop")
    except StoreError:  # it is being made
        return 0


def test_the_page_says_what_was_taught_and_counts_it_nowhere(url: str, tmp_path: Path) -> None:
    kind = shop(shadows={"better": here.better})
    store = open_store(url)
    teach(store, write(tmp_path / "table.csv", 7), kind, engine(store, kind))
    store.close()
    with Service(url, kind) as service:
        page = service.raw("GET", "/streams/shop")[2].decode()
        assert "Nothing was decided yet." in page
        assert "taught from a table</dt><dd>7</dd><dd>outcomes, counted nowhere else" in page
        assert "<dt>decisions</dt><dd>0</dd>" in page
        assert "No decision was asked for yet." in page
        _, ticket = service.ask("POST", "/v1/streams/shop/decisions", {"x": [0.3]})
        assert ticket["id"] == 0
        service.ask("PUT", "/v1/streams/shop/decisions/0/outcome", {"xi": [1.0, 1.1]})
        why = service.raw("GET", "/streams/shop/decisions/0")[2].decode()
        assert "0 outcomes were known, beside 7 that were taught from a table." in why
        status, told = service.ask("GET", "/v1/streams/shop/decisions/0/explanation")
        assert (status, told["scenarios"]) == (200, 7)
        events = service.ask("GET", "/v1/streams/shop/log")[1]["events"]
        assert [event["kind"] for event in events] == [*["lesson"] * 7, "decision", "outcome"]
        assert [event["lesson"] for event in events[:7]] == list(range(7))
        assert (events[0]["x"], "decision" in events[0]) == (rows_of(7)[0][0].tolist(), False)
