"""A bakery with four shops that plays in no time: one opens late, one closes, and one has gaps."""

from pathlib import Path

import numpy as np

from bocopt.app.starters import starter

DAYS = 24
SIZES = {"north": 60, "South": 30, "late": 20, "a/b c": 10}

#: Changes of its file: one policy, and no decisions of today.
ALONE = ('["SampleAverage", "always"]', '["SampleAverage"]'), ('decisions = "baked"', "")
ALWAYS = """

def always(problem):
    from bocopt.policies import Constant

    return Constant([30.0])
"""


def table(shops: tuple[str, ...] = tuple(SIZES), missing: bool = False) -> str:
    """The rows of some shops, which do not depend on which others there are."""
    lines = []
    for number, shop in enumerate(SIZES):
        rng = np.random.default_rng(number)
        for day in range(DAYS):
            wanted, baked, lost = rng.poisson(SIZES[shop]), SIZES[shop] + 4, rng.random() < 0.15
            closed = (shop == "late" and day < 9) or (shop == "a/b c" and day >= 15)
            if closed or (shop == "South" and day in (5, 6)) or shop not in shops:
                continue
            loaves = "" if missing and lost and day > 2 else str(wanted)
            lines.append((day, f"2024-01-{day + 1:02},{shop},{day % 2},{loaves},{baked}\n"))
    rows = [line for _, line in sorted(lines, key=lambda each: each[0])]
    return "".join(["date,shop,promotion,loaves,baked\n", *rows])


def bakery(folder: Path, *, shops: tuple[str, ...] = tuple(SIZES), missing: bool = False) -> Path:
    """The files of the case."""
    folder.mkdir(exist_ok=True)
    for name, content in starter("shops").items():
        text = content.decode() if name != "data.csv" else table(shops, missing)
        theirs = '# policies = ["LightMixtureAcross", "SampleAverage"]'
        text = text.replace(theirs, 'policies = ["SampleAverage", "always"]')
        text = text.replace("warm_up = 28", "warm_up = 4")
        if name == "problem.py":
            text += ALWAYS
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "bocopt.toml"
