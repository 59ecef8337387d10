"""Which columns of a table mean what, and what is known when."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from bocopt import arguments

Calendar = Literal["hour", "weekday", "week", "day_of_year", "month", "trend"]
Missing = Literal["last", "keep", "refuse"]
Repeated = Literal["refuse", "keep"]

_ROLES = ("outcome", "context", "categories", "decisions", "arrives")  # of which a column has one
_LONGEST = "1e6]"  # stages, that anything looks back or waits


@dataclass(frozen=True)
class Spec:
    """How to read a table: a row is a stage, at which something is decided.

    - `outcome`: the columns of xi. A row with a gap in one of them has no outcome: nothing is
      learned from it.
    - `context`: columns of numbers that are known when the decision of their row is taken.
    - `categories`: columns of texts or numbers, known likewise. Each value among the first
      `warm_up` rows gets a column of ones and zeros; later values have zeros in all of them.
    - `time`: the column of times. Without it, rows are stages as they stand.
    - `calendar`: what the time says: "weekday" and "month" as ones and zeros (Monday and January
      have none), "hour", "week" and "day_of_year" as a sine and a cosine that goes round once a
      day, a week or a year, "trend" in years, or in the unit of times that are numbers.
    - `lags` of the outcomes. Lag 1 is the latest outcome known, and lag k that of the stage k - 1
      before; where that one is not known, the latest before it stands for it.
    - `rolling`: means of so many outcomes that came last.
    - `missing`: "last" puts the last known number in a gap, and 0 where there is none yet; "keep"
      leaves NaN, for policies that take it; "refuse" makes a gap an error.
    - `repeated`: with "keep" a time may have several rows. All of them are decided before any
      outcome of that time is known, and a delay counts times. With "refuse" they are an error.
    - `delay`: the outcome of a stage is known from the decision 1 + delay stages later on.
    - `arrives`: or the column with the time at which it comes. Decisions at later times know it; it
      is never known where that is missing.
    - `decisions`: columns of what was decided; none was in a row with a gap.
    - `warm_up`: first stages, for a start.

    >>> spec = Spec("demand", context=["price"], time="day", calendar=["weekday"], lags=[1, 7])
    >>> spec.outcome, spec.lags
    (('demand',), (1, 7))
    """

    outcome: Sequence[str] | str
    context: Sequence[str] | str = ()
    categories: Sequence[str] | str = ()
    time: str | None = None
    calendar: Sequence[Calendar] | Calendar = ()
    lags: Sequence[int] = ()
    rolling: Sequence[int] = ()
    missing: Missing = "last"
    repeated: Repeated = "refuse"
    delay: int = 0
    arrives: str | None = None
    decisions: Sequence[str] | str = ()
    warm_up: int = 0

    def __post_init__(self) -> None:
        for name in ("outcome", "context", "categories", "decisions"):
            self._set(name, _names(name, getattr(self, name)))
        if not self.outcome:
            raise arguments.wrong("Spec", "outcome", "one or more names of columns", self.outcome)
        for name in ("time", "arrives"):
            self._set(name, _name(name, getattr(self, name)))
        self._set("calendar", _names("calendar", self.calendar))
        for word in self.calendar:
            _one_of("calendar", word, Calendar)
        for name in ("lags", "rolling"):
            self._set(name, _counts(name, getattr(self, name)))
        _one_of("missing", self.missing, Missing)
        _one_of("repeated", self.repeated, Repeated)
        self._set("delay", arguments.integer("Spec", "delay", self.delay, f"[0, {_LONGEST}"))
        self._set("warm_up", arguments.integer("Spec", "warm_up", self.warm_up, "[0, 1e9]"))
        self._check_together()

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_together(self) -> None:
        """What one says must go with what others say."""
        if self.categories and not self.warm_up:
            expected = "1 or more where there are 'categories': its rows say which there are"
            raise arguments.wrong("Spec", "warm_up", expected, self.warm_up)
        if self.arrives is not None and self.delay:
            raise arguments.wrong("Spec", "delay", "0 where there is 'arrives'", self.delay)
        needs_time = [word for word in self.calendar if word != "trend"]
        if self.time is None and (needs_time or self.arrives is not None):
            what = "'arrives'" if self.arrives is not None else f"'calendar' {needs_time}"
            raise arguments.wrong("Spec", "time", f"a column where there is {what}", None)
        seen: dict[str, str] = {} if self.time is None else {self.time: "time"}
        for role in _ROLES:
            for column in _listed(getattr(self, role)):
                if column in seen:
                    expected = f"other columns than '{seen[column]}'"
                    raise arguments.wrong("Spec", role, expected, column)
                seen[column] = role


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
    """What can be iterated over, though it is no list."""
    return isinstance(given, bytes | bytearray | dict | set | frozenset | type)


def _name(name: str, given: object) -> str | None:
    if given is None or (isinstance(given, str) and given):
        return given
    raise arguments.wrong("Spec", name, "the name of a column, or None", given)


def _one_of(name: str, given: object, words: Any) -> None:
    if given not in get_args(words):
        listed = ", ".join(f"'{word}'" for word in get_args(words))
        raise arguments.wrong("Spec", name, f"one of {listed}", given)


def _counts(name: str, given: Any) -> tuple[int, ...]:
    if isinstance(given, list | tuple) and not given:
        return ()
    found = arguments.integers("Spec", name, given, f"[1, {_LONGEST}")
    if len(set(found)) < len(found):
        raise arguments.wrong("Spec", name, "different from each other", found)
    return found
