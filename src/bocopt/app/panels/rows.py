"""The decisions of a block of series as rows of arrays, and when each is taken and learned from."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bocopt.app.features.series import Panel
from bocopt.core import Array, BoolArray, IntArray


class PanelRows(NamedTuple):
    """Decisions (R) of n series, series by series, and in each by time."""

    names: tuple[str, ...]  # (n)
    begins: IntArray  # (n + 1) the first row of each; last, the number of rows
    place: IntArray  # (R) the number of the series
    stage: IntArray  # (R) of the decision, among those of its series
    moment: IntArray  # (R) the number of the time, among those of the panel
    x: Array  # (R, k)
    xi: Array  # (R, m)
    arrives: IntArray  # (R) as in `Series`
    now: Array | None  # (R, d)

    @property
    def known(self) -> BoolArray:
        """Return whether the outcome (R) of each came."""
        return np.asarray(np.isfinite(self.xi).all(axis=-1))


class Step(NamedTuple):
    """Rows that are played by one call, none of them of the same series."""

    moment: int  # outcomes of a moment come before its decisions; a last one is after all
    decides: bool  # or else it learns
    rows: IntArray


def rows_of_panel(panel: Panel, first: int, last: int) -> PanelRows:
    """Return the decisions of the series from a number up to another one."""
    series, at = panel.series[first:last], panel.at[first:last]
    sizes = np.array([len(one.x) for one in series])
    begins = np.concatenate([[0], np.cumsum(sizes)])
    place = np.repeat(np.arange(len(series)), sizes)
    now = [one.now for one in series if one.now is not None]
    return PanelRows(
        names=panel.names[first:last],
        begins=begins,
        place=place,
        stage=np.arange(begins[-1]) - begins[place],
        moment=np.concatenate(at),
        x=np.concatenate([one.x for one in series]),
        xi=np.concatenate([one.xi for one in series]),
        arrives=np.concatenate([one.arrives for one in series]),
        now=np.concatenate(now) if now else None,
    )


def first_rows(rows: PanelRows, many: int) -> PanelRows:
    """Return the first decisions of the first series alone."""
    last = min(many, int(rows.begins[1]))
    return PanelRows(
        names=rows.names[:1],
        begins=np.array([0, last]),
        place=rows.place[:last],
        stage=rows.stage[:last],
        moment=rows.moment[:last],
        x=rows.x[:last],
        xi=rows.xi[:last],
        arrives=rows.arrives[:last],
        now=None if rows.now is None else rows.now[:last],
    )


def steps_of(rows: PanelRows) -> Iterator[Step]:
    """Yield the steps in their order: at each moment outcomes that came, then decisions.

    Each series lives what it would live alone: an outcome comes just before the decision of the
    stage at which it is known, after the last decision where there is none. Outcomes of one series
    that come at one moment are learned by one step each.
    """
    decided = np.lexsort((rows.place, rows.moment))
    came, at, turn = _lessons(rows)
    last = int(rows.moment.max()) + 1
    learned = np.searchsorted(at, np.arange(last + 2))
    taken = np.searchsorted(rows.moment[decided], np.arange(last + 2))
    for moment in range(last + 1):
        some = slice(*learned[moment : moment + 2].tolist())
        ends = np.flatnonzero(np.diff(turn[some])) + 1
        for part in np.split(came[some], ends):
            if len(part):
                yield Step(moment, False, part)
        now = decided[slice(*taken[moment : moment + 2].tolist())]
        if len(now):
            yield Step(moment, True, now)


def _lessons(rows: PanelRows) -> tuple[IntArray, IntArray, IntArray]:
    """Return the rows whose outcomes come, their moments, and their turn within a series."""
    came = np.flatnonzero(rows.known)
    own, stage = rows.place[came], rows.arrives[came]
    ends = np.diff(rows.begins)[own]
    row = rows.begins[own] + np.minimum(stage, ends - 1)
    moment = np.where(stage < ends, rows.moment[row], int(rows.moment.max()) + 1)
    order = np.lexsort((rows.stage[came], stage, own, moment))
    came, own, moment = came[order], own[order], moment[order]
    same = np.append(False, (own[1:] == own[:-1]) & (moment[1:] == moment[:-1]))
    count = np.arange(len(came))
    turn = count - np.maximum.accumulate(np.where(same[: len(came)], 0, count))
    again = np.lexsort((own, turn, moment))
    return came[again], moment[again], turn[again]


def split_by_series(rows: PanelRows, values: Sequence[Array | IntArray]) -> list[list[Any]]:
    """Return arrays (R, ...) as those of each series, in the order of the series."""
    ends = rows.begins[1:-1]
    return [list(parts) for parts in zip(*(np.split(each, ends) for each in values), strict=True)]
