"""The chart of docs/scale.md: how long answers take, against how many decisions are asked for."""

import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter

STYLE = Path(__file__).parents[2] / "docs" / "extensions" / "figures.mplstyle"
FILE = Path(__file__).parents[1] / "results" / "scale.svg"
_DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_MARKS = "osoDv"
_SIZES = (3.5, 3.5, 8.0, 3.5, 3.5)  # a ring, where two designs do the same


def draw(found: dict[str, Any], file: Path = FILE) -> None:
    """One panel a policy, one line a design; up to its most, and a little more."""
    with mpl.rc_context(fname=STYLE), patch.dict(os.environ, {"SOURCE_DATE_EPOCH": "0"}):
        figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.8), sharey=True)
        for axis, (policy, by_design) in zip(axes, found["policies"].items(), strict=True):
            for at, (name, row) in enumerate(by_design.items()):
                rates = [point["decisions_per_s"] for point in row["curve"]]
                slow = [1000 * point["p99_s"] for point in row["curve"]]
                style = {"ls": _DASHES[at], "marker": _MARKS[at], "ms": _SIZES[at]}
                style |= {"mfc": "none"} if at == 2 else {}
                axis.plot(rates, slow, **style, label=name)
            axis.axhline(1000, color="#808890", lw=0.8)
            axis.set(xscale="log", yscale="log", title=policy, xlabel="decisions a second")
            axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
            axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes[0].set_ylabel("99 of 100 answers within, ms")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        figure.savefig(file)
        plt.close(figure)
