"""Small cases from the starters, and the command line to play them."""

from pathlib import Path

from typer.testing import CliRunner

from bocopt.app.cli import app
from bocopt.app.starters import starter


def written(folder: Path, example: str = "newsvendor", rows: int = 60) -> Path:
    """A short one that plays in no time."""
    for name, content in starter(example).items():
        text = content.decode()
        if name == "data.csv":
            text = "".join(text.splitlines(keepends=True)[: rows + 1])
        text = text.replace('["Ensemble", "SampleAverage"]', '["SampleAverage"]')
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "bocopt.toml"


def changed(path: Path, old: str, new: str) -> Path:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def ran(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output
