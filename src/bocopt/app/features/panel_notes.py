"""Notes on the series of a table beside each other, which are few."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from bocopt.app.features.odd import alike
from bocopt.app.features.spec import Spec
from bocopt.app.features.split import Split
from bocopt.app.reading.columns import Column
from bocopt.app.text import count
from bocopt.core import Array, IntArray

_SHOWN = 3  # series that a note names
_MEANT = 0.1  # of the series, at the most, in which a column changes that is meant as constant
_ENOUGH = 3  # series, of which one can differ from the others


def notes_of_split(parts: Split, spec: Spec) -> Iterator[str]:
    """Yield notes on late, early and irregular series, and on categories that change."""
    time, moments, begins = parts.times.shown, parts.moments, parts.begins
    first = moments[begins[:-1]]
    yield f"{len(parts.names)} series."
    late, early = np.flatnonzero(first > 0), _stopped(parts)
    if late.size:
        named = _named(parts, late, [time[row] for row in begins[:-1].tolist()], "from")
        yield f"{_series(late, 'begin')} after the first time of the table: {named}."
    after = int((first >= spec.warm_up).sum()) if spec.warm_up else 0
    if after:
        yield (
            f"{after} of them begin{'s' if after == 1 else ''} after the warm-up of "
            f"{count(spec.warm_up, 'time')}: all their stages count, from the first."
        )
    if early.size:
        named = _named(parts, early, [time[row] for row in (begins[1:] - 1).tolist()], "up to")
        yield (
            f"{_series(early, 'stop')} before the last time of the table: {named}. If "
            f"{'it goes' if early.size == 1 else 'they go'} on, rows are missing in the file."
        )
    for name in spec.series:
        texts = {key[spec.series.index(name)] for key in parts.keys}
        yield from (f"{note}." for note in alike(name, texts))
    yield from _frequencies(parts)
    for name in spec.categories:
        yield from _changing(parts, name)


def _series(which: IntArray, verb: str) -> str:
    return f"One series {verb}s" if which.size == 1 else f"{which.size} series {verb}"


def _named(parts: Split, which: IntArray, times: Sequence[str], word: str) -> str:
    shown = [f"'{parts.names[one]}' ({word} {times[one]})" for one in which[:_SHOWN].tolist()]
    more = [f"{len(which) - _SHOWN} more"] if len(which) > _SHOWN else []
    return ", ".join([*shown, *more])


def _frequencies(parts: Split) -> Iterator[str]:
    """Yield a note on series whose usual step is another than that of the most."""
    usual = _steps(parts)
    known = [one for one in usual if one is not None]
    if len({*known}) < 2:
        return
    common = Counter(known).most_common(1)[0][0]
    others = np.flatnonzero([one is not None and one != common for one in usual])
    shown = ", ".join(f"'{parts.names[one]}'" for one in others[:_SHOWN].tolist())
    more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    steps = [_in_words(parts, one) for one in (usual[int(others[0])], common)]
    yield (
        f"{shown}{more}: another frequency than the other series ({steps[0]} from row to row, "
        f"usually {steps[1]}). Lags, means and delays count rows of the series: where that is not "
        "meant, give them a case of their own."
    )


def _stopped(parts: Split) -> IntArray:
    """Return the series whose next time, by their usual step, is not after the table's last."""
    scale, ends = _scale(parts), parts.begins[1:] - 1
    steps = np.array([1.0 if step is None else step for step in _steps(parts)])
    before = parts.moments[ends] < parts.moments.max()
    return np.flatnonzero(before & (scale[ends] + steps <= scale.max()))


def _steps(parts: Split) -> list[float | None]:
    """Return the commonest step (n) between rows of each series; None for one row."""
    order, found = _scale(parts), list[float | None]()
    for low, high in zip(parts.begins[:-1].tolist(), parts.begins[1:].tolist(), strict=True):
        lengths, counts = np.unique(np.diff(order[low:high]), return_counts=True)
        found.append(float(lengths[counts.argmax()]) if lengths.size else None)
    return found


def _scale(parts: Split) -> Array | IntArray:
    """Return the times (rows) on a scale where months are equally long."""
    if parts.times.kind == "month" and parts.times.clock is not None:
        return parts.times.clock.astype("M8[M]").astype(np.int64)
    return parts.times.order


def _in_words(parts: Split, step: float | None) -> str:
    assert step is not None
    if parts.times.kind == "month":
        return count(int(step), "month")
    if parts.times.kind == "number":
        return f"{step:g}"
    days = step / 86_400_000_000
    return f"{days:g} day{'' if days == 1 else 's'}" if days >= 1 else f"{24 * days:.4g} h"


def _changing(parts: Split, name: str) -> Iterator[str]:
    """Yield a note on a column that changes in few of the series, and in all others never."""
    codes = _codes(parts.frame.columns[name])
    many = len(parts.names)
    changed = np.zeros(many, bool)
    where = np.zeros(many, np.int64)
    for one, (low, high) in enumerate(zip(parts.begins[:-1], parts.begins[1:], strict=True)):
        own = codes[low:high]
        known = np.flatnonzero(own >= 0)
        other = known[own[known] != own[known[0]]] if known.size else known
        if other.size:
            changed[one], where[one] = True, parts.frame.places[low + other[0]]
    odd = np.flatnonzero(changed)
    if not odd.size or many < _ENOUGH or odd.size > max(1.0, _MEANT * many):
        return
    shown = ", ".join(
        f"'{parts.names[one]}' ({parts.frame.place} {where[one]})" for one in odd[:_SHOWN].tolist()
    )
    more = f" and {len(odd) - _SHOWN} more" if len(odd) > _SHOWN else ""
    yield f"'{name}' never changes within a series, but in {shown}{more}: is that right?"


def _codes(column: Column) -> IntArray:
    """Return codes (rows) that are equal where the cells are; -1 for a gap."""
    if isinstance(column, np.ndarray):
        return np.where(np.isnan(column), -1, np.unique(column, return_inverse=True)[1])
    numbers: dict[str, int] = {"": -1}
    return np.array([numbers.setdefault(cell, len(numbers)) for cell in column], np.int64)
