"""Outcomes as clients send them and as they are shown: numbers, or what was seen of them.

A number that was not seen in full is {"at_least": 87}, {"at_most": 3}, both of these, or null.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

from bocopt.app.page.numbers import figure
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.bounds import Bound
from bocopt.columns import wrong_names
from bocopt.core import Bounds

_ENDS = ("at_least", "at_most")
_EXPECTED = 'a finite number, null where nothing was seen, or bounds such as {"at_least": 87}'


class _PartError(ValueError):
    """What is wrong with one number of an outcome."""


def outcome_of(template: StreamTemplate, owner: str, given: Any) -> Bounds:
    """Return what was seen (m), given in order or by name; one ValueError has all that is wrong."""
    if not isinstance(given, Mapping | list | tuple) or all(
        isinstance(one, float) for one in given
    ):
        return template.fold.outcome(owner, given)  # an array, bounds, or numbers alone
    if isinstance(given, Mapping) and not template.outcomes:
        why = "must be a list of numbers, as [cases.NAME] does not name them by 'outcome'"
        raise ValueError(f"The 'xi' parameter of {owner} {why}. Got {_short(given)} instead.")
    problems = list(_misplaced(template, given))
    places = (
        {repr(name): part for name, part in given.items()}
        if isinstance(given, Mapping)
        else {f"number {i}": part for i, part in enumerate(given)}
    )
    parts = dict[str, float | Bound | None]()
    for place, part in places.items():
        try:
            parts[place] = _part(part)
        except _PartError as error:
            problems.append(f"{place[:60]} {error}")
    if problems:
        raise ValueError(f"The 'xi' parameter of {owner}: {'; '.join(problems)}.")
    if isinstance(given, Mapping):
        return template.fold.outcome(owner, [parts[repr(name)] for name in template.outcomes])
    return template.fold.outcome(owner, list(parts.values()))


def _misplaced(template: StreamTemplate, given: Mapping[str, Any] | Sequence[Any]) -> Iterator[str]:
    size, names = template.problem.dims.xi, template.outcomes
    if isinstance(given, Mapping):
        if wrong := wrong_names(given, names):
            listed = ", ".join(repr(name) for name in names)
            yield f"must be an object with {listed} ({wrong})"
    elif len(given) != size:
        yield f"must have shape ({size},), a number each. Got ({len(given)},) instead"


def _part(given: Any) -> float | Bound | None:
    """Return a number, bounds of one, or None; a _PartError says what is wrong."""
    if given is None or isinstance(given, Bound):
        return given
    if not isinstance(given, Mapping):
        return _number(given)
    if not given or not {*given} <= {*_ENDS}:
        raise _PartError(f"must be {_EXPECTED}. Got {_short(given)} instead")
    low, high = (
        _number(given[end]) if end in given else inf
        for end, inf in zip(_ENDS, (-math.inf, math.inf), strict=True)
    )
    if low > high:
        raise _PartError(f"is at least {low:g} and at most {high:g}, which no number is")
    return Bound(low, high)


def _number(given: Any) -> float:
    fits = isinstance(given, Real) and not isinstance(given, bool)
    try:
        found = float(given) if fits else math.nan
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise _PartError(f"must be {_EXPECTED}. Got {_short(given)} instead")
    return found


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def seen_shown(seen: Bounds) -> list[float | dict[str, float] | None]:
    """Return what was seen as a client would send it; numbers that are not known are null.

    >>> from bocopt.bounds import at_least, bounds_of
    >>> seen_shown(bounds_of("outcome", "xi", [3, at_least(87), None], 3))
    [3.0, {'at_least': 87.0}, None]
    """
    return [_shown(low, high) for low, high in _ends(seen)]


def _ends(seen: Bounds) -> list[tuple[float, float]]:
    return list(zip(seen.low.tolist(), seen.high.tolist(), strict=True))


def _shown(low: float, high: float) -> float | dict[str, float] | None:
    if low == high:
        return low + 0.0
    both = zip(_ENDS, (low, high), strict=True)
    return {end: value + 0.0 for end, value in both if math.isfinite(value)} or None


def seen_words(seen: Bounds) -> list[str]:
    """Return what was seen of each number, in words.

    >>> from bocopt.bounds import at_least, between, bounds_of
    >>> seen_words(bounds_of("outcome", "xi", [3, at_least(87), between(3, 5), None], 4))
    ['3', 'at least 87', '3 to 5', 'not seen']
    """
    return [_said(low, high) for low, high in _ends(seen)]


def _said(low: float, high: float) -> str:
    if low == high:
        return figure(low)
    if math.isfinite(low) and math.isfinite(high):
        return f"{figure(low)} to {figure(high)}"
    if math.isfinite(low):
        return f"at least {figure(low)}"
    return f"at most {figure(high)}" if math.isfinite(high) else "not seen"
