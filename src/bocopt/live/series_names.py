"""Series by their names: which there are, their seeds, and what is wrong with some of them."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.core import IntArray

_SHOWN = 3  # series that a message names


def series_seed(seed: int, name: str) -> int:
    """Return the seed of one of many series, whatever others there are.

    >>> series_seed(0, "north")
    13647433252676968
    """
    return int.from_bytes(hashlib.sha256(f"{seed} {name}".encode()).digest()[:7])


def places_of(owner: str, known: Mapping[str, int], names: Sequence[str]) -> IntArray:
    """Return the places (n) of different series, -1 of one that is not known."""
    if isinstance(names, str) or not {*map(type, names)} <= {str, np.str_}:
        raise arguments.wrong(owner, "names", "a sequence of names of series", names)
    if len({*names}) < len(names):
        twice = sorted(names)
        first = next(one for one, other in pairwise(twice) if one == other)
        raise arguments.wrong(owner, "names", "different series", f"{first!r} twice")
    return np.array([known.get(name, -1) for name in names], np.int64)


def some_of(names: Sequence[str], which: Any) -> list[str]:
    """Return the names of a mask (n).

    >>> some_of(["north", "south"], np.array([False, True]))
    ['south']
    """
    return [names[i] for i in np.flatnonzero(which).tolist()]


def refuse(names: Sequence[str], *faults: tuple[Any, str]) -> None:
    """Raise one error of all series with a fault: a mask (n), and what is wrong with these.

    >>> refuse(["north", "south"], (np.array([False, True]), "close early"))
    Traceback (most recent call last):
    ValueError: Series 'south' close early.
    """
    said = list(_faults(names, faults))
    if said:
        raise ValueError(" ".join(said))


def _faults(names: Sequence[str], faults: Sequence[tuple[Any, str]]) -> Iterator[str]:
    for which, what in faults:
        some = [repr(name) for name in some_of(names, which)]
        if some:
            more = f" and {len(some) - _SHOWN} more" if len(some) > _SHOWN else ""
            yield f"Series {', '.join(some[:_SHOWN])}{more} {what}."
