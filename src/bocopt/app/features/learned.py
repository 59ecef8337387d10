"""Fields that a featuriser learned from the start of a table: checked, and written as JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, get_args

from bocopt import arguments
from bocopt.app.faults import FaultsError
from bocopt.app.features.category import MOST_CATEGORIES, Category
from bocopt.app.features.public_holidays import version
from bocopt.app.features.spec import Spec
from bocopt.app.features.spec import all_wrong as wrong_in_spec
from bocopt.app.reading.times import Kind

_VERSION = 1  # of what is written
_KEYS = ("version", "spec", "kind", "zoned", "origin", "categories")
#: Fields that old texts have not, which are written where they are not this.
_LATER = {"holidays": "", "stage": "row", "series": (), "censored": ()}
_HOLIDAYS = "holidays"  # the version of the library, where there are any
_OWNER = "Featuriser"


def all_wrong(given: Mapping[str, Any]) -> list[arguments.WrongError]:
    """Return the errors of the fields of a `Featuriser`: of each alone, or else of them together.

    >>> fields = {"spec": 3, "kind": "day", "zoned": False, "origin": 0, "categories": ()}
    >>> [error.name for error in all_wrong(fields)]
    ['spec', 'kind']
    """
    return list(_each_wrong(**given)) or list(_conflicts(**given))


def _each_wrong(
    spec: Any, kind: Any, zoned: Any, origin: Any, categories: Any
) -> Iterator[arguments.WrongError]:
    if not isinstance(spec, Spec) or spec.series:
        expected = "a Spec without 'series'" if isinstance(spec, Spec) else "a Spec"
        yield arguments.wrong(_OWNER, "spec", expected, spec)
    if kind not in get_args(Kind):
        listed = ", ".join(f"'{word}'" for word in get_args(Kind))
        yield arguments.wrong(_OWNER, "kind", f"one of {listed}", kind)
    if not isinstance(zoned, bool):
        yield arguments.wrong(_OWNER, "zoned", "True or False", zoned)
    try:
        _check_origin(kind, origin)
    except arguments.WrongError as error:
        yield error
    for one in categories if isinstance(categories, list | tuple) else [categories]:
        if not isinstance(one, Category) or not _is_category(*one):
            expected = f"Categories, each with up to {MOST_CATEGORIES} different rising texts"
            yield arguments.wrong(_OWNER, "categories", expected, one)


def _check_origin(kind: Any, origin: Any) -> None:
    """Raise an error where the first time is no number, or no count of microseconds."""
    if kind == "number":
        arguments.number(_OWNER, "origin", origin, "(-inf, inf)")
    else:
        arguments.integer(_OWNER, "origin", origin, "[-1e17, 1e18]")


def _is_category(name: Any, values: Any, numbers: Any) -> bool:
    texts = isinstance(values, tuple) and all(isinstance(v, str) and v for v in values)
    rising = texts and list(values) == sorted({*values}) and len(values) <= MOST_CATEGORIES
    return rising and isinstance(name, str) and isinstance(numbers, bool)


def _conflicts(
    spec: Spec, kind: Kind, zoned: bool, origin: float, categories: Sequence[Category]
) -> Iterator[arguments.WrongError]:
    names = tuple(one.name for one in categories)
    if names != tuple(spec.categories):
        expected = f"those of the columns {list(spec.categories)}, in this order"
        yield arguments.wrong(_OWNER, "categories", expected, list(names))
    if zoned and kind != "moment":
        yield arguments.wrong(_OWNER, "zoned", f"False where times are of kind '{kind}'", zoned)
    if spec.time is None and kind != "number":
        yield arguments.wrong(_OWNER, "kind", "'number' where the Spec has no 'time'", kind)
    if spec.stage != "row":
        yield arguments.wrong(_OWNER, "spec", "one whose 'stage' is 'row', as of a Series", spec)
    needs_dates = [word for word in spec.calendar if word != "trend"]
    if needs_dates and kind == "number":
        expected = f"one of dates, for 'calendar' {needs_dates}"
        yield arguments.wrong(_OWNER, "kind", expected, kind)


def to_text(
    spec: Spec, kind: Kind, zoned: bool, origin: float, categories: Sequence[Category]
) -> str:
    """Return the fields of a `Featuriser` as JSON."""
    listed = [category._asdict() for category in categories]
    said = {name: value for name, value in asdict(spec).items() if _LATER.get(name, ...) != value}
    written = (_VERSION, said, kind, zoned, origin, listed)
    by = {_HOLIDAYS: version()} if spec.holidays else {}
    return json.dumps(dict(zip(_KEYS, written, strict=True)) | by)


def from_text(text: str) -> dict[str, Any]:
    """Return the fields that were written; an error lists all that is wrong with them."""
    if not isinstance(text, str):
        raise arguments.wrong("Featuriser.from_json", "text", "a text", text)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FaultsError(f"A featuriser is not JSON: {error}.") from error
    if not isinstance(found, dict) or found.get("version") != _VERSION:
        raise FaultsError(f'A featuriser in JSON must be an object with "version": {_VERSION}.')
    known = (*_KEYS, _HOLIDAYS)
    faults = [f"There is no '{key}' in a featuriser." for key in found if key not in known]
    spec, wrong = _spec_from(found.get("spec"))
    given = {key: found.get(key) for key in ("kind", "zoned", "origin")}
    given |= {"spec": spec or Spec("none"), "categories": _categories_from(found)}
    errors = all_wrong(given) if spec else list(_each_wrong(**given))
    faults += [*wrong, *map(str, errors), *_other_holidays(spec, found)]
    if faults:
        raise FaultsError(*faults)
    return given


def _other_holidays(spec: Spec | None, found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fault of holidays that another version of the library made, if there is one."""
    made, here = found.get(_HOLIDAYS), version() if spec and spec.holidays else None
    if made != here:
        yield (
            f"A featuriser was made with version {made} of 'holidays', and {here} is installed: "
            "make it anew, of its table."
        )


def _spec_from(found: Any) -> tuple[Spec | None, list[str]]:
    """Return the Spec, or None and all that is wrong with it."""
    if not isinstance(found, dict):
        return None, [str(arguments.wrong(_OWNER, "spec", "an object", found))]
    names = [field.name for field in fields(Spec)]
    wrong = [f"There is no '{key}' in a Spec." for key in found if key not in names]
    wrong += map(str, wrong_in_spec({"outcome": None} | {n: found[n] for n in names if n in found}))
    return (None, wrong) if wrong else (Spec(**found), [])


def _categories_from(found: Mapping[str, Any]) -> list[Any]:
    """Return the categories; what is none is left as it is."""
    listed = found.get("categories")
    return [_category_from(one) for one in listed] if isinstance(listed, list) else [listed]


def _category_from(found: Any) -> Any:
    if not isinstance(found, dict) or found.keys() != {*Category._fields}:
        return found
    values = found["values"]
    return Category(**(found | {"values": tuple(values) if isinstance(values, list) else values}))
