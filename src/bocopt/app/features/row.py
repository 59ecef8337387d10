"""One row as a program sends it: named fields, checked all at once."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.app.features.category import GAP, Category
from bocopt.app.features.censoring import columns_of_censored
from bocopt.app.features.checked import LARGEST
from bocopt.app.features.spec import Spec
from bocopt.app.reading.cells import hint_for, number_from
from bocopt.app.reading.times import Kind, Time, time_of, words_of
from bocopt.core import Array, IntArray

Row = Mapping[str, object]


class Read(NamedTuple):
    """Values that were read from a row."""

    time: Time | None  # None where there is no column of times, or the field is wrong
    numbers: Array  # (contexts) NaN for a gap
    codes: IntArray  # (categories)
    gaps: tuple[str, ...]  # the names of contexts and categories that are missing


def check_row(owner: str, row: object) -> None:
    """Refuse what has no named fields."""
    if not isinstance(row, Mapping):
        raise arguments.wrong(owner, "row", "a mapping of names to values", row)


def read_row(
    row: Row, spec: Spec, kind: Kind, categories: Sequence[Category]
) -> tuple[Read, list[str]]:
    """Return the values of a row, and all that is wrong with its fields."""
    faults = list(_unknown(row, spec))
    time = None
    if spec.time is not None:
        time = time_of(row.get(spec.time), kind)
        if time is None:
            faults.append(wrong_field(row, spec.time, words_of(kind)))
    numbers = {name: _number(row, name, faults) for name in spec.context}
    codes = {one.name: _code(row, one, faults) for one in categories}
    gaps = [name for name, number in numbers.items() if number is not None and np.isnan(number)]
    gaps += [name for name, code in codes.items() if code == GAP]
    values = np.array([*numbers.values()], np.float64)  # None, of a fault, is NaN
    places = np.array([GAP if code is None else code for code in codes.values()], np.int64)
    return Read(time, values, places, tuple(gaps)), faults


def numbers_of(row: Row, names: Sequence[str]) -> tuple[Array, list[str]]:
    """Return the numbers (names) of some fields, NaN for a gap, and all that is wrong with them."""
    faults = [_no_field(name, names) for name in row if name not in names]
    return np.array([_number(row, name, faults) for name in names], np.float64), faults


def wrong_field(row: Row, name: str, expected: str) -> str:
    """Return a message on a field that is not what was expected, or is missing."""
    value = row.get(name)
    if is_nothing(value):
        return f"The field '{name}' is missing: {expected} expected."
    hint = hint_for(value) if isinstance(value, str) and "number" in expected else ""
    return f"The field '{name}' must be {expected}. Got {value!r:.80} instead.{hint}"


def is_nothing(value: object) -> bool:
    """Return True if the value of a field is empty, or None."""
    return value is None or (isinstance(value, str) and not value.strip())


def _unknown(row: Row, spec: Spec) -> Iterator[str]:
    known = [*([spec.time] if spec.time else []), *spec.context, *spec.categories]
    later = {*spec.outcome, *spec.decisions, *([spec.arrives] if spec.arrives else [])}
    later |= {*columns_of_censored(spec)}
    for name, value in row.items():
        if name in known:
            continue
        if name not in later:
            yield _no_field(name, known)
        elif not is_nothing(value):
            yield f"The field '{name}' is not known before the decision: leave it out."


def _no_field(name: object, known: Sequence[str]) -> str:
    near = get_close_matches(str(name), known, 1)
    listed = ", ".join(f"'{one}'" for one in known) or "none"
    hint = f"Is '{near[0]}' meant?" if near else f"There are: {listed}."
    return f"There is no field {name!r:.80}. {hint}"


def _number(row: Row, name: str, faults: list[str]) -> float | None:
    number = number_from(row.get(name))
    if number is None or abs(number) > LARGEST:
        faults.append(wrong_field(row, name, f"a number up to {LARGEST:g} in size"))
        return None
    return number


def _code(row: Row, category: Category, faults: list[str]) -> int | None:
    value = row.get(category.name)
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return GAP
    text = category.text(value)
    if text is None:
        faults.append(wrong_field(row, category.name, "a text or a number"))
        return None
    return category.code(text)
