"""Phrases of certificates: differences, intervals and counts in words."""

from collections.abc import Iterable

from bocopt.core import Array, Sense


def together(deltas: Iterable[float], of: str = "") -> str:
    """Say how sure all claims are that fail with these chances each; nothing of fewer than two.

    >>> together([0.05, 0.1])
    'Each holds with the confidence it says, all together with 85%.'
    >>> together([0.05, 0.1], "the certificates")
    'Of the certificates, each holds with the confidence it says, all together with 85%.'
    >>> together([0.05]), together([0.6, 0.6])
    ('', '')
    """
    claimed = [delta for delta in deltas if delta]
    sure = 100 * (1 - sum(claimed))
    if len(claimed) < 2 or sure <= 0:
        return ""
    each = f"Of {of}, each" if of else "Each"
    return f"{each} holds with the confidence it says, all together with {sure:g}%."


def on(count: Array) -> str:
    """Return in words on how many stages it was, and in how many trials.

    >>> import numpy as np
    >>> on(np.array(3.0)), on(np.array([3.0, 0.0]))
    ('on 3 stages', 'on 3 stages, in 1 of 2 trials')
    """
    total = int(count.sum())
    stages = "on 1 stage" if total == 1 else f"on {total} stages"
    return f"{stages}, in {int((count > 0).sum())} of {count.size} trials" if count.ndim else stages


def at_worst(count: Array) -> str:
    """Say how many stages count at their worst; nothing where none does.

    >>> import numpy as np
    >>> at_worst(np.array(31.0)), at_worst(np.array(0.0))
    ('The outcome was not seen in full on 31 stages, which count at their worst.', '')
    """
    if not count.any():
        return ""
    which = "which counts at its worst" if count.sum() == 1 else "which count at their worst"
    return f"The outcome was not seen in full {on(count)}, {which}."


def verb(sense: Sense) -> str:
    """Return "costs" or "earns", as the sense has it."""
    return "costs" if sense is Sense.MINIMISE else "earns"


def amount(difference: float, sense: Sense, unit: str = "") -> str:
    """Return a difference in cost in words, as so much less or more.

    >>> amount(-1.5, Sense.MINIMISE, " EUR"), amount(-1.5, Sense.MAXIMISE)
    ('1.5 EUR less', '1.5 more')
    """
    return f"{abs(difference):.3g}{unit} {_direction(difference, sense)}"


def between(low: float, high: float, sense: Sense, unit: str = "") -> str:
    """Return an interval of differences in cost in words.

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
