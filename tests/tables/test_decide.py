"""Decisions for rows that come after a table: those of a longer table, and asked again the same."""

import csv
from pathlib import Path

import pytest
from small_cases import ran, written

from bocopt.app import decide, open_case, read
from bocopt.app.starters import EXAMPLES


def cut(folder: Path, rows: int, example: str) -> tuple[Path, Path]:
    """A case on the first rows of its table, and the next five without what came of them."""
    path = written(folder, example, rows + 5)
    lines = (folder / "data.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "data.csv").write_text("".join(lines[: rows + 1]), encoding="utf-8")
    outcomes = open_case(path).data.xi_names
    table = list(csv.DictReader([lines[0], *lines[rows + 1 :]]))
    known = [name for name in table[0] if name not in outcomes]
    with (folder / "today.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, known, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(table)
    return path, folder / "today.csv"


@pytest.mark.parametrize("example", EXAMPLES)
def test_they_are_those_of_a_longer_table(example: str, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    path, today = cut(tmp_path / "one", 80, example)
    assert ran("backtest", str(path))[0] == 0
    case = open_case(path)
    found = decide(case, read(today))
    longer = list(csv.reader((tmp_path / "one" / "data.csv").read_text("utf-8").splitlines()))
    header, rows = longer[0], longer[1:]
    for row in csv.DictReader(today.read_text("utf-8").splitlines()):
        rows.append([row.get(name, "") for name in header])
    with (tmp_path / "one" / "data.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    series, agent = open_case(path).data, case.agent()
    assert found.stages == tuple(range(80, 85))
    columns = [values for name, values in found.columns.items() if name not in ("date", "status")]
    for stage, z in zip(found.stages, zip(*columns, strict=True), strict=True):
        assert agent.decide(series.x[stage]).z.tolist() == list(z)


def test_asked_again_it_is_the_same(tmp_path: Path) -> None:
    path, today = cut(tmp_path, 60, "newsvendor")
    words = ("decide", str(today), "--config", str(path))
    code, said = ran(*words)
    assert (code, "play the case first, by `bocopt backtest`" in said) == (1, True)
    assert ran("backtest", str(path))[0] == 0
    left = {p: p.read_bytes() for p in (tmp_path / "results").rglob("*") if p.is_file()}
    code, said = ran(*words)
    assert code == 0
    assert said.splitlines()[0] == "date,ordered papers,ordered magazines,status"
    assert len(said.splitlines()) == 6
    assert ran(*words) == (0, said)
    for form in ("csv", "parquet"):
        out = tmp_path / f"out.{form}"
        code, _ = ran(*words, "--out", str(out), "--policy", "SampleAverage")
        assert (code, len(read(out))) == (0, 5)
    assert {p: p.read_bytes() for p in left} == left


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    path, today = cut(tmp_path, 60, "newsvendor")
    assert ran("backtest", str(path))[0] == 0
    words = ("decide", str(today), "--config", str(path))
    code, said = ran(*words, "--policy", "Ensembel")
    assert (code, "has no policy 'Ensembel'. It has: SampleAverage" in said) == (1, True)
    code, said = ran(*words, "--out", str(tmp_path / "out.xlsx"))
    assert (code, "a .csv or .parquet file" in said) == (1, True)
    text = today.read_text("utf-8")
    today.write_text(text.replace("temperature", "temprature"), encoding="utf-8")
    code, said = ran(*words)
    assert (code, "has no column 'temperature'" in said) == (1, True)
    today.write_text(text.replace("2024", "2023"), encoding="utf-8")
    code, said = ran(*words)
    assert (code, "2023" in said) == (1, True)
