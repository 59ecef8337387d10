"""Studies on real tables, each a folder here, in the files that a user of `bocopt backtest` writes.

A folder has `bocopt.toml`, `problem.txt` (that user's problem.py), and what makes `data.csv` in its
`__init__.py`: `read()`, the tables of a package by name, and `rows(tables)`, the columns of one
table with a row a stage.
"""

from importlib.resources import files

#: Studies, by the names of their folders.
NAMES = tuple(
    sorted(each.name for each in files(__name__).iterdir() if (each / "problem.txt").is_file())
)
