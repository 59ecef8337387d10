"""Specification of a table: which columns mean what, and what is known when."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal, get_args

from bocopt import arguments
from bocopt.app.features.public_holidays import AWAY, is_region

Calendar = Literal[
    "hour",
    "weekday",
    "week",
    "day_of_year",
    "month",
    "trend",
    "holiday",
    "day_before_holiday",
    "day_after_holiday",
]
Stage = Literal["row", "day"]
Missing = Literal["last", "keep", "refuse"]
Repeated = Literal["refuse", "keep"]

_ROLES = ("outcome", "context", "categories", "decisions", "arrives")  # of which a column has one
_NO_HOLIDAYS = "left out where 'calendar' has no 'holiday'"
_NOT_OF_DAYS = (("arrives", None), ("repeated", "refuse"), ("censored", ()))
_LONGEST = "1e6]"  # stages, that anything looks back or waits


@dataclass(frozen=True)
class Spec:
    """Specification of how to read a table: a row is a stage, at which something is decided.

    - `outcome`: the columns of xi. A row with gaps in all of them has no outcome: nothing is
      learned from it. One with gaps in some was seen in part.
    - `censored`: which outcomes were at least the number that stands there, such as the demand of a
      shop that sold out: a column of yes and no, or a rule of two columns, "sold >= stock". One for
      each column of the outcome, or one for all.
    - `context`: columns of numbers that are known when the decision of their row is taken.
    - `categories`: columns of texts or numbers, known likewise. Each value in the warm-up
      gets a column of ones and zeros; later values have zeros in all of them.
    - `time`: the column of times. Without it, rows are stages as they stand.
    - `series`: the column, or columns, that name the series of a row, such as a shop. Each series
      has one row a time, and its own past: `panel_of` reads such a table, and all of this holds of
      each series by itself. Only the warm-up and the categories are those of the whole table.
    - `calendar`: what the time says: "weekday" and "month" as ones and zeros (Monday and January
      have none), "hour", "week" and "day_of_year" as a sine and a cosine that goes round once a
      day, a week or a year, "trend" in years, or in the unit of times that are numbers; "holiday",
      "day_before_holiday" and "day_after_holiday" as ones and zeros.
    - `holidays`: of which country, such as "DE", or part of one, such as "US-IL".
    - `lags` of the outcomes. Lag 1 is the latest outcome known, and lag k that of the stage k - 1
      before; where that one is not known, the latest before it stands for it.
    - `rolling`: means of so many outcomes that came last.
    - `missing`: "last" puts the last known number in a gap, and 0 where there is none yet; "keep"
      leaves NaN, for policies that take it; "refuse" makes a gap an error.
    - `repeated`: with "keep" a time may have several rows. All of them are decided before any
      outcome of that time is known; a delay and the warm-up count times. Nothing may then look
      back over rows, which may be of several series: not `lags`, not `rolling`, and no gap is
      filled from the row before. With "refuse" they are an error.
    - `delay`: the outcome of a stage is known from the decision 1 + delay stages later on.
    - `arrives`: or the column with the time at which it comes. Decisions at later times know it; it
      is never known where that is missing.
    - `decisions`: columns of what was decided; none was in a row with a gap.
    - `warm_up`: first rows, for a start, or first times where times have several rows. They are
      played, and no number counts them; they also say which categories there are. With `series`
      they are the first times of the whole table: a series that begins later counts from its first
      row on.
    - `stage`: with "day" all rows of a day are one decision. Columns that change within days become
      one for each time of day, such as "price 02:00"; all else counts days.

    >>> spec = Spec("demand", context=["price"], time="day", calendar=["weekday"], lags=[1, 7])
    >>> spec.outcome, spec.lags
    (('demand',), (1, 7))
    """

    outcome: Sequence[str] | str
    context: Sequence[str] | str = ()
    categories: Sequence[str] | str = ()
    time: str | None = None
    calendar: Sequence[Calendar] | Calendar = ()
    holidays: str = ""
    lags: Sequence[int] = ()
    rolling: Sequence[int] = ()
    missing: Missing = "last"
    repeated: Repeated = "refuse"
    delay: int = 0
    arrives: str | None = None
    decisions: Sequence[str] | str = ()
    warm_up: int = 0
    stage: Stage = "row"
    series: Sequence[str] | str = ()
    censored: Sequence[str] | str = ()

    def __post_init__(self) -> None:
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        for error in all_wrong(given):
            raise error
        for name, value in given.items():
            object.__setattr__(self, name, _FIELDS[name](name, value))


def all_wrong(given: Mapping[str, Any]) -> list[arguments.WrongError]:
    """Return the errors of some fields of a `Spec`: of each alone, or else of them together.

    >>> [error.name for error in all_wrong({"lags": [0], "missing": "first", "delay": 1})]
    ['lags', 'missing']
    """
    found, wrong = {}, []
    for name, value in given.items():
        try:
            found[name] = _FIELDS[name](name, value)
        except arguments.WrongError as error:
            wrong.append(error)
    return wrong or list(_conflicts(found))


def _conflicts(given: Mapping[str, Any]) -> Iterator[arguments.WrongError]:
    """Yield the errors of fields that do not agree with what others say."""
    arrives, warm_up = given.get("arrives"), given.get("warm_up", 0)
    if given.get("categories") and not warm_up:
        expected = "1 or more where there are 'categories': its rows say which there are"
        yield arguments.wrong("Spec", "warm_up", expected, warm_up)
    if arrives is not None and given.get("delay"):
        yield arguments.wrong("Spec", "delay", "0 where there is 'arrives'", given["delay"])
    outcomes, censored = given.get("outcome", ()), given.get("censored", ())
    if len(censored) not in (0, 1, len(outcomes)):
        expected = f"one column or rule for all outcomes, or one for each of the {len(outcomes)}"
        yield arguments.wrong("Spec", "censored", expected, censored)
    if given.get("stage") == "day":
        yield from _conflicts_of_days(given)
    yield from _conflicts_of_calendar(given)
    if given.get("series"):
        yield from _conflicts_of_series(given)
    yield from _shared_columns(given)


def _conflicts_of_days(given: Mapping[str, Any]) -> Iterator[arguments.WrongError]:
    for name, other in _NOT_OF_DAYS:
        if given.get(name, other) != other:
            expected = f"{other!r} where 'stage' is 'day'"
            yield arguments.wrong("Spec", name, expected, given[name])
    if given.get("time") is None:
        yield arguments.wrong("Spec", "time", "a column where 'stage' is 'day'", None)


def _conflicts_of_calendar(given: Mapping[str, Any]) -> Iterator[arguments.WrongError]:
    """Yield the errors of what needs dates, or holidays."""
    calendar, arrives = given.get("calendar", ()), given.get("arrives")
    needs_time = [word for word in calendar if word != "trend"]
    if given.get("time") is None and (needs_time or arrives is not None):
        what = "'arrives'" if arrives is not None else f"'calendar' {needs_time}"
        yield arguments.wrong("Spec", "time", f"a column where there is {what}", None)
    near = [word for word in calendar if word in AWAY]
    if bool(near) != bool(given.get("holidays")):
        expected = f"a country where there is 'calendar' {near}" if near else _NO_HOLIDAYS
        yield arguments.wrong("Spec", "holidays", expected, given.get("holidays", ""))


def _shared_columns(given: Mapping[str, Any]) -> Iterator[arguments.WrongError]:
    """Yield the errors of columns that have two roles."""
    time = given.get("time")
    seen: dict[str, str] = {} if time is None else {time: "time"}
    for role in _ROLES:
        for column in _listed(given.get(role)):
            if column in seen:
                yield arguments.wrong("Spec", role, f"other columns than '{seen[column]}'", column)
            seen[column] = role


def _conflicts_of_series(given: Mapping[str, Any]) -> Iterator[arguments.WrongError]:
    if given.get("time") is None:
        yield arguments.wrong("Spec", "time", "a column where there is 'series'", None)
    if given.get("repeated") == "keep":
        expected = "'refuse' where there is 'series': each has one row a time"
        yield arguments.wrong("Spec", "repeated", expected, "keep")
    roles = ("time", "outcome", "context", "decisions", "arrives")  # it may be a category as well
    taken = {name: role for role in roles for name in _listed(given.get(role))}
    for name in _listed(given["series"]):
        if name in taken:
            yield arguments.wrong("Spec", "series", f"other columns than '{taken[name]}'", name)


def _listed(names: Any) -> tuple[Any, ...]:
    return () if names is None else (names,) if isinstance(names, str) else tuple(names)


def _names(name: str, given: object) -> tuple[str, ...]:
    listed = _listed(given) if isinstance(given, Iterable) and not _is_odd(given) else (None,)
    if not all(isinstance(column, str) and column for column in listed):
        raise arguments.wrong("Spec", name, "a list of names", given)
    if len(set(listed)) < len(listed):
        raise arguments.wrong("Spec", name, "a list of different names", given)
    return listed


def _is_odd(given: object) -> bool:
    """Return True for a value that can be iterated over, though it is no list."""
    return isinstance(given, bytes | bytearray | dict | set | frozenset | type)


def _rules(name: str, given: object) -> tuple[str, ...]:
    """Return the listed texts; outcomes may share one."""
    listed = _listed(given) if isinstance(given, Iterable) and not _is_odd(given) else (None,)
    if not all(isinstance(one, str) and one.strip() for one in listed):
        expected = "columns of yes and no, or rules such as 'sold >= stock'"
        raise arguments.wrong("Spec", name, expected, given)
    return tuple(one.strip() for one in listed)


def _name(name: str, given: object) -> str | None:
    if given is None or (isinstance(given, str) and given):
        return given
    raise arguments.wrong("Spec", name, "the name of a column, or None", given)


def _outcome(name: str, given: object) -> tuple[str, ...]:
    names = _names(name, given)
    if not names:
        raise arguments.wrong("Spec", name, "one or more names of columns", given)
    return names


def _one_of(words: Any, name: str, given: object) -> object:
    if given not in get_args(words):
        listed = ", ".join(f"'{word}'" for word in get_args(words))
        raise arguments.wrong("Spec", name, f"one of {listed}", given)
    return given


def _calendar(name: str, given: object) -> tuple[str, ...]:
    found = _names(name, given)
    for word in found:
        _one_of(Calendar, name, word)
    return found


def _holidays(name: str, given: object) -> str:
    if isinstance(given, str) and (not given or is_region(given)):
        return given
    expected = "a country, such as 'DE', or a part of one, such as 'US-IL'"
    raise arguments.wrong("Spec", name, expected, given)


def _counts(name: str, given: Any) -> tuple[int, ...]:
    if isinstance(given, list | tuple) and not given:
        return ()
    found = arguments.integers("Spec", name, given, f"[1, {_LONGEST}")
    if len(set(found)) < len(found):
        raise arguments.wrong("Spec", name, "different from each other", found)
    return found


def _up_to(largest: str, name: str, given: object) -> int:
    return arguments.integer("Spec", name, given, f"[0, {largest}")


#: What each field comes to; errors name it.
_FIELDS: Mapping[str, Callable[[str, Any], Any]] = {
    "outcome": _outcome,
    "context": _names,
    "categories": _names,
    "time": _name,
    "calendar": _calendar,
    "holidays": _holidays,
    "lags": _counts,
    "rolling": _counts,
    "missing": partial(_one_of, Missing),
    "repeated": partial(_one_of, Repeated),
    "delay": partial(_up_to, _LONGEST),
    "arrives": _name,
    "decisions": _names,
    "warm_up": partial(_up_to, "1e9]"),
    "stage": partial(_one_of, Stage),
    "series": _names,
    "censored": _rules,
}
