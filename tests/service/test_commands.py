"""`bocopt replay`, `doctor` and `export`, as a user types them."""

import csv
import re
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typed import CONFIG, bocopt, play

from bocopt.app.service.config import load_config
from bocopt.app.service.machine import numeric_fingerprint
from bocopt.app.service.stores import open_store


def test_a_log_is_replayed_as_it_was_and_decided_again(folder: Path) -> None:
    play(folder)
    path = str(folder / "bocopt.toml")
    code, output = bocopt("replay", path)
    assert code == 0
    assert "shop: 15 events, 8 decisions, 6 outcomes, 1 open." in output
    assert "headline: " in output
    assert "decided again" not in output
    code, output = bocopt("replay", path, "--verify", "--stream", "shop")
    assert (code, "  decided again: 8 of 8 bit for bit." in output) == (0, True)
    code, output = bocopt("replay", path, "--stream", "mart")
    assert (code, "There is no stream 'mart' in sqlite:///bocopt.db." in output) == (1, True)


def change(folder: Path, sql: str, *values: Any) -> None:
    with sqlite3.connect(folder / "bocopt.db") as connection:
        assert connection.execute(sql, values).rowcount == 1
    connection.close()


def test_a_decision_that_comes_out_otherwise_is_named(folder: Path) -> None:
    from bocopt.live.events import from_bytes, to_bytes
    from bocopt.live.fold import Decided

    play(folder)
    config = load_config(folder / "bocopt.toml")
    store = open_store(config.store, folder, read_only=True)
    row = next(row for row in store.tail("shop") if row.decision == 5)
    store.close()
    event = from_bytes(row.body, config.templates["shop"].problem)
    assert isinstance(event, Decided)
    solution = event.waiting.decision.solution
    for other, verdict in (
        (solution._replace(value=solution.value + 1.0), "7 of 8 bit for bit, 1 with the same z"),
        (
            solution._replace(z=solution.z + 1.0),
            "7 of 8 bit for bit, 1 with another z (decision 5)",
        ),
    ):
        waiting = event.waiting._replace(decision=event.waiting.decision._replace(solution=other))
        body = to_bytes(event._replace(waiting=waiting))
        change(folder, "UPDATE events SET body = ? WHERE seq = ?", body, row.seq)
        code, output = bocopt("replay", str(folder / "bocopt.toml"), "--verify")
        assert verdict in output
        here = config_numeric(folder) == numeric_fingerprint()
        assert code == int(here or "another z" in verdict)


def config_numeric(folder: Path) -> str:
    store = open_store("sqlite:///bocopt.db", folder, read_only=True)
    [declared] = store.streams()
    store.close()
    return declared.numeric


def test_a_doctor_finds_nothing_in_a_sound_log(folder: Path) -> None:
    play(folder)
    code, output = bocopt("doctor", str(folder / "bocopt.toml"))
    assert code == 0
    assert output.splitlines() == [
        "the store: tables and indexes are whole.",
        "shop: the snapshot at 6 is what the log says.",
        "shop: the snapshot at 12 is what the log says.",
        "shop: 15 events, which fold without a gap.",
        "shop: 1 outcomes are waited for, the oldest for 0.0 hours.",
    ]


DAMAGE = {
    "UPDATE events SET body = zeroblob(50) WHERE seq = 3": (
        "Event 3 of stream 'shop': It is damaged or cut short: its checksum does not match."
    ),
    "UPDATE events SET decision = 77 WHERE seq = 3": (
        "Event 3 of stream 'shop': it is the outcome of decision 1, and its row says otherwise."
    ),
    "UPDATE events SET kind = 'forgotten' WHERE seq = 3": "and its row says otherwise.",
    "DELETE FROM events WHERE seq = 3": (
        "Event 4 of stream 'shop': it stands where event 3 was due."
    ),
    "UPDATE snapshots SET state = zeroblob(50) WHERE seq = 6": (
        "shop: the snapshot at 6 is not used: It is damaged or cut short"
    ),
    "UPDATE snapshots SET seq = 99 WHERE seq = 12": (
        "shop: the snapshot at 99 is after the end of the log."
    ),
    "DELETE FROM stages WHERE n = 6": "shop: its sums for charts do not reach the end of the log.",
    "INSERT INTO waiting VALUES ('shop', 2, 1.5)": (
        "shop: decisions that have ended are listed as waiting for their outcome."
    ),
    "UPDATE streams SET fingerprint = 'other'": "shop: began with another problem or policy",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_doctor_names_damage(folder: Path, damage: str) -> None:
    play(folder)
    change(folder, damage)
    code, output = bocopt("doctor", str(folder / "bocopt.toml"))
    assert (code, DAMAGE[damage] in output) == (1, True), output


def test_a_doctor_tells_of_a_missing_index_and_of_what_is_overdue(folder: Path) -> None:
    play(folder)
    with sqlite3.connect(folder / "bocopt.db") as connection:
        connection.execute("DROP INDEX events_key")
    connection.close()
    change(folder, "UPDATE events SET at = at - 7200 WHERE seq = 14")
    (folder / "bocopt.toml").write_text(CONFIG + "expire = 3600\n")
    code, output = bocopt("doctor", str(folder / "bocopt.toml"))
    assert code == 1
    assert "the store: The index events_key is missing." in output
    assert "shop: 1 outcomes are overdue (decision 7): the service gives them up." in output


def test_a_log_is_exported_as_a_table(folder: Path) -> None:
    play(folder)
    out, path = folder / "shop.csv", str(folder / "bocopt.toml")
    code, output = bocopt("export", "shop", str(out), "--config", path)
    assert (code, output) == (0, f"Wrote 8 decisions to {out}.\n")
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert list(rows[0]) == [
        "decision",
        "decided",
        "x0",
        "z0",
        "z1",
        "status",
        "observed",
        "xi0",
        "xi1",
        "cost",
        "feasible",
        "hindsight",
        "forgotten",
    ]
    assert [row["decision"] for row in rows] == [str(i) for i in range(8)]
    assert [bool(row["forgotten"]) for row in rows] == [True, *[False] * 7]
    assert [bool(row["xi0"]) for row in rows] == [False, *[True] * 6, False]
    problem = load_config(path).templates["shop"].problem
    for row in rows[1:7]:
        x, z, xi = (
            np.array([float(value) for name, value in row.items() if re.fullmatch(kind, name)])
            for kind in (r"x\d", r"z\d", r"xi\d")
        )
        assert float(row["cost"]) == problem.cost(x, z, xi)
    bad = bocopt("export", "shop", str(folder / "shop.txt"), "--config", path)
    assert (bad[0], "FILE must end in .csv or .parquet" in bad[1]) == (1, True)
    assert bocopt("export", "mart", str(out), "--config", path)[0] == 1


def test_the_parquet_of_a_log_says_the_same(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    play(folder)
    path = str(folder / "bocopt.toml")
    for name in ("shop.csv", "shop.parquet"):
        assert bocopt("export", "shop", str(folder / name), "--config", path)[0] == 0
    rows = list(csv.DictReader((folder / "shop.csv").read_text().splitlines()))
    found = parquet.read_table(folder / "shop.parquet").to_pylist()
    texts = [
        {name: "" if value is None else str(value) for name, value in row.items()} for row in found
    ]
    assert texts == rows


def test_errors_are_one_sentence(folder: Path) -> None:
    path = str(folder / "bocopt.toml")
    code, output = bocopt("replay", path)  # there is no log yet
    assert (code, "unable to open database file" in output) == (1, True)
    code, output = bocopt("serve", str(folder / "other.toml"))
    assert (code, "cannot be read: No such file" in output) == (1, True)
    code, output = bocopt("serve", path, "--host", "0.0.0.0")
    assert (code, "so 'token' must name a file" in output) == (1, True)
