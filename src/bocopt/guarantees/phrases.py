"""Differences in words: a cost is told as a reward where the problem is a maximisation."""

from bocopt.core import Sense


def verb(sense: Sense) -> str:
    return "costs" if sense is Sense.MINIMISE else "earns"


def amount(difference: float, sense: Sense, unit: str = "") -> str:
    """What a difference in cost is.

    >>> amount(-1.5, Sense.MINIMISE, " EUR"), amount(-1.5, Sense.MAXIMISE)
    ('1.5 EUR less', '1.5 more')
    """
    return f"{abs(difference):.3g}{unit} {_direction(difference, sense)}"


def between(low: float, high: float, sense: Sense, unit: str = "") -> str:
    """What an interval of differences in cost is.

    >>> between(-4.0, -2.0, Sense.MINIMISE), between(-4.0, 1.0, Sense.MAXIMISE)
    ('2 to 4 less', 'from 1 less to 4 more')
    >>> between(2.0, 2.0, Sense.MINIMISE), between(-4.0, 0.0, Sense.MINIMISE)
    ('2 more', '0 to 4 less')
    """
    if low * high >= 0:
        near, far = (f"{end:.3g}" for end in sorted((abs(low), abs(high))))
        both = near if near == far else f"{near} to {far}"
        return f"{both}{unit} {_direction(low + high, sense)}"
    return f"from {amount(high, sense, unit)} to {amount(low, sense, unit)}"


def _direction(difference: float, sense: Sense) -> str:
    return "less" if (difference < 0) == (sense is Sense.MINIMISE) else "more"
