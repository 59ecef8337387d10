"""Check every cell that a Spec names before anything is made of it, and tell all faults at once."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bocopt.app.features.censoring import checks as checks_of_censored
from bocopt.app.features.repeats import refuse_gaps
from bocopt.app.features.spec import Spec
from bocopt.app.features.stages import Due, Stages, due_of, stages_of
from bocopt.app.reading.columns import Table, TableError, all_of
from bocopt.app.reading.times import times_of
from bocopt.core import Array

LARGEST = 1e100  # in size, that a number may be


class Checked(NamedTuple):
    """A table that can be used."""

    frame: Table  # its numbers are numbers
    stages: Stages
    due: Due


def checked(frame: Table, spec: Spec) -> Checked:
    """Return the table with its rows as stages; one error lists all that is wrong with them."""
    if frame.broken is None and len(frame) == 1:
        raise TableError(f"{frame.path} has one row: two or more expected.")
    whole = replace(frame, broken=None)
    numbers = (*spec.outcome, *spec.context, *spec.decisions)
    checks: list[Callable[[], Any]] = [partial(usable_numbers, whole, name) for name in numbers]
    if spec.missing == "refuse":
        names = (*spec.context, *spec.categories)
        checks += [partial(refuse_gaps, whole, spec, name) for name in names]
    else:
        checks += [partial(whole.column, name) for name in spec.categories]
    checks += checks_of_censored(whole, spec)
    (stages, due), *found = all_of([partial(_timed, frame, whole, spec), *checks])
    columns = {**whole.columns, **dict(zip(numbers, found, strict=False))}
    _check_length(whole, spec, stages)
    return Checked(replace(whole, columns=columns), stages, due)


def _timed(broken: Table, frame: Table, spec: Spec) -> tuple[Stages, Due]:
    """Return the stages, and when outcomes are due; an error lists broken lines as well."""
    if broken.broken is not None and not len(frame):
        raise broken.broken
    checks: list[Callable[[], Any]] = [
        partial(stages_of, frame, spec),
        broken.refuse_broken,
    ]
    if spec.arrives is not None:
        checks.append(partial(times_of, frame, spec.arrives, gaps=True))
    stages, _, *came = all_of(checks)
    return stages, due_of(frame, spec, stages, came[0] if came else None)


def usable_numbers(frame: Table, name: str) -> Array:
    """Return a column of numbers that are not too large; NaN where one is missing."""
    values, others = frame.values(name)
    size = np.abs(values)
    if others.any() or (size > LARGEST).any():
        expected = f"a number up to {LARGEST:g} in size"
        all_of(
            [
                partial(frame.refuse_texts, name, others),
                partial(frame.refuse, name, np.isinf(size), "a finite number"),
                partial(frame.refuse, name, (size > LARGEST) & np.isfinite(size), expected),
            ]
        )
    return values


def _check_length(frame: Table, spec: Spec, stages: Stages) -> None:
    there = int(stages.moments[-1]) + 1
    if there <= spec.warm_up:
        raise TableError(
            f"{frame.path} has {there} {stages.unit}: more expected than the {spec.warm_up} of "
            "the 'warm_up'."
        )
