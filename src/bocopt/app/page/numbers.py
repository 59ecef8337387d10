"""Numbers as they stand on the page."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from bocopt.core import Array

NONE = "-"  # where there is no number


def figure(value: float) -> str:
    """Return a number with about four digits.

    >>> figure(1234567.8), figure(12.3456), figure(-0.01), figure(float("nan"))
    ('1,234,568', '12.35', '-0.01', '-')
    """
    if math.isnan(value):
        return NONE
    if 1000 <= abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value + 0.0:.4g}"  # no minus zero


def decimals(values: Iterable[float]) -> int:
    """Return the number of decimals for a column of numbers: four digits of the largest.

    >>> decimals([12.5, 0.1]), decimals([4000.0]), decimals([math.nan])
    (2, 0, 0)
    """
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return min(max(3 - math.floor(math.log10(largest)), 0), 8) if largest else 0


def fixed(value: float, digits: int) -> str:
    """Return a number with so many decimals.

    >>> fixed(-1234.5678, 2), fixed(math.nan, 2)
    ('-1,234.57', '-')
    """
    if math.isnan(value) or abs(value) >= 1e15:
        return figure(value)
    return f"{round(value, digits) + 0.0:,.{digits}f}"


def money(value: float, unit: str) -> str:
    """Return an amount with its unit, if it has one.

    >>> money(12.3456, "EUR"), money(12.3456, "")
    ('12.35 EUR', '12.35')
    """
    return f"{figure(value)} {unit}" if unit else figure(value)


def percent(share: float) -> str:
    """Return a share in percent, without the sign, with about two digits or more.

    >>> percent(0.0623), percent(-0.00041), percent(1.0), percent(1e-300), percent(float("nan"))
    ('6.2', '-0.041', '100', '0', '-')
    """
    value = 100.0 * share
    if math.isnan(value):
        return NONE
    if abs(value) >= 999.5:
        return figure(value)
    if abs(value) < 5e-4:
        return "0"
    if abs(value) >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 0.95 else f"{value:.2g}"


def target(share: float) -> str:
    """Return a share that somebody chose, as it was written.

    >>> target(0.9), target(0.975)
    ('90%', '97.5%')
    """
    return f"{100.0 * share:.6g}%"


def ends(low: str, high: str) -> str:
    """Return an interval; a single number where both ends are written alike.

    >>> ends("2", "3.5"), ends("2", "2"), ends("-", "2")
    ('2 to 3.5', '2', '-')
    """
    if NONE in (low, high):
        return NONE
    return low if low == high else f"{low} to {high}"


def thinned(count: int, most: int = 400) -> list[int]:
    """Return places among so many, evenly, with the first and the last.

    >>> thinned(5), thinned(9, most=5)
    ([0, 1, 2, 3, 4], [0, 2, 4, 6, 8])
    """
    return sorted(set(np.linspace(0, count - 1, min(count, most)).round().astype(int).tolist()))


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers in [low, high].

    >>> ticks(-3.0, 18.0)
    [0.0, 5.0, 10.0, 15.0]
    """
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * size for size in (1.0, 2.0, 5.0, 10.0) if power * size >= rough)
    return [float(f"{i * step:.15g}") for i in range(math.ceil(low / step), int(high // step) + 1)]


def span(parts: Sequence[Array]) -> tuple[float, float]:
    """Return the least and the largest of finite numbers, with some room where they are one.

    >>> span([np.array([1.0, np.nan]), np.array([3.0])]), span([np.zeros(2)]), span([])
    ((1.0, 3.0), (-1.0, 1.0), (-1.0, 1.0))
    """
    flat = np.concatenate([np.zeros(0), *(np.ravel(part) for part in parts)])
    finite = flat[np.isfinite(flat)]
    if not finite.size:
        return -1.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    least = max(1e-9 * max(abs(low), abs(high)), 1e-300)
    return (
        (low, high) if high - low > least else (low - (abs(low) or 1.0), high + (abs(high) or 1.0))
    )
