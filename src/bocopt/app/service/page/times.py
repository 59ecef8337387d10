"""Moments and lengths of time, as they stand on the page."""

from datetime import UTC, datetime

_UNITS = (("d", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0))


def moment(at: float) -> str:
    """
    >>> moment(1789000000.4)
    '2026-09-10 00:26:40'
    """
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"


def length(seconds: float) -> str:
    """Two digits are enough.

    >>> length(0.2), length(75), length(7300), length(172800 * 30)
    ('0 s', '75 s', '2.0 h', '60 d')
    """
    for unit, size in _UNITS:
        many = seconds / size
        if many >= 1.95 or unit == "s":
            return f"{many:.1f} {unit}" if many < 9.95 and unit in "dh" else f"{many:.0f} {unit}"
    raise AssertionError


def stamp(at: float) -> str:
    """Markup with the moment; scripts may tell it in another way."""
    return f'<time datetime="{moment(at).replace(" ", "T")}Z">{moment(at)}</time>'
