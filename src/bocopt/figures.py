"""Running means as a figure, for papers and notebooks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.extras import needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INSTALL = '"bocopt[plot]"'  # what brings matplotlib
_INK = "#1f2328"
#: Colour-blind safe; the dashes keep the curves apart in grey.
_LINES: tuple[tuple[str, Any], ...] = (("#0072b2", "-"), ("#d55e00", (0, (6, 1.5))))
_BAND = (0.1, 0.9)  # quantiles over trials
_SETTLED = 20  # one in so many stages may lie outside the figure: the first means swing


class StageValues(NamedTuple):
    """A number of each stage, to be averaged over the stages so far."""

    label: str
    values: Array  # (..., T)


def draw_means(
    owner: str, curves: Sequence[StageValues], axes: "Axes | None", y_label: str, trials: str
) -> "Axes":
    """Draw means over the stages so far, with a band over trials where there are several.

    Each is labelled with its last value; `trials` says what the band is over. Without axes, they
    are those of a figure of their own.
    """
    pyplot = needed("matplotlib.pyplot", owner, INSTALL)
    if axes is None:
        _, axes = pyplot.subplots(figsize=(6.0, 3.6), layout="constrained")
        assert axes is not None
    drawn = [_running(curve.values) for curve in curves]
    for curve, means, (colour, dashes) in zip(curves, drawn, _LINES, strict=False):
        stages, middle = np.arange(1, means.shape[-1] + 1), means.mean(axis=0)
        label = f"{curve.label}: {middle[-1]:.4g}"
        axes.plot(stages, middle, color=colour, linestyle=dashes, linewidth=1.6, label=label)
        if len(means) > 1:
            low, high = np.quantile(means, _BAND, axis=0)
            axes.fill_between(stages, low, high, color=colour, alpha=0.18, linewidth=0)
    _frame(axes, drawn)
    axes.set_xlabel("stage")
    axes.set_ylabel(y_label)
    many = len(drawn[0])
    title = f"Band: 10% to 90% of {many} {trials}" if many > 1 else None
    legend = axes.legend(frameon=False, title=title, alignment="left")
    legend.get_title().set_fontsize("small")
    return axes


def _running(values: Array) -> Array:
    """Return means (trials, T) over the stages so far, of values (..., T)."""
    rows = values.reshape(-1, values.shape[-1])
    means: Array = rows.cumsum(axis=-1) / np.arange(1, rows.shape[-1] + 1)
    return means


def _frame(axes: "Axes", drawn: Sequence[Array]) -> None:
    """Limits that show what the means settle at, and a light grid."""
    stages = drawn[0].shape[-1]
    axes.set_xlim(1, max(stages, 2))
    late = np.concatenate([means[:, stages // _SETTLED :].ravel() for means in drawn])
    if np.isfinite(late).all():
        low, high = late.min(), late.max()
        room = 0.08 * (high - low) or 0.5
        axes.set_ylim(low - room, high + room)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(visible=True, color=_INK, alpha=0.12)
