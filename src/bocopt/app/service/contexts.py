"""Contexts as clients send them, in order or by name, checked and made arrays."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.app.features.memory import FeaturiserState
from bocopt.app.features.rows import TableRow, learn_row
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.columns import wrong_names
from bocopt.core import Array, Bounds
from bocopt.live.fold import Decided, Event, Observed, Taught
from bocopt.live.record import Live
from bocopt.state import CheckpointError


class Context(NamedTuple):
    """The context x (k) of a decision or of a lesson, and the fields that it was made of."""

    x: Array
    row: str = ""  # the named fields that x was made of, as JSON; empty where x came as it is
    missing: tuple[str, ...] = ()  # fields that were not there


def row_of(given: Mapping[str, Any]) -> str:
    """Named fields as one text: the same for the same fields, whatever their order."""
    return json.dumps(dict(given), sort_keys=True, separators=(",", ":"))


def context_of(
    template: StreamTemplate, live: Live, features: FeaturiserState | None, owner: str, given: Any
) -> Context:
    """Return the checked context of a decision or lesson; a ValueError says all that is wrong."""
    if template.featuriser is not None:
        assert features is not None
        if not isinstance(given, Mapping):
            fields = ", ".join(f"'{n}': {what}" for n, what in template.featuriser.fields.items())
            expected = f"an object of named fields ({fields})"
            raise arguments.wrong(owner, "x", expected, given)
        _, x = template.featuriser.decide(features, given)
        x = template.fold.context(owner, live, x)
        return Context(x, row_of(given), template.featuriser.missing(given))
    if isinstance(given, Mapping):
        given = _in_order(owner, given, template.contexts)
    x = template.fold.context(owner, live, given)
    if template.limits.context not in (None, len(x)):
        wanted = f"of {template.limits.context} numbers, as the configuration file says"
        raise arguments.wrong(owner, "x", wanted, given)
    return Context(x)


def _in_order(owner: str, given: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    if not names:
        expected = "a list of numbers, as [cases.NAME] does not name them by 'context'"
        raise arguments.wrong(owner, "x", expected, dict(given))
    if wrong := wrong_names(given, names):
        listed = ", ".join(f"'{name}'" for name in names)
        raise arguments.wrong(owner, "x", f"an object with {listed} ({wrong})", dict(given))
    return [given[name] for name in names]


def features_after(
    template: StreamTemplate, live: Live, features: FeaturiserState | None, event: Event
) -> FeaturiserState | None:
    """Return the featuriser's state after an event; `live` is the state before it."""
    if template.featuriser is None or features is None:
        return features
    if isinstance(event, Observed):
        return template.featuriser.learn(features, event.number + live.taught, event.seen.recorded)
    if not isinstance(event, Decided | Taught):
        return features
    if not event.row:
        raise CheckpointError(
            f"It has no named fields, of which [cases.{template.name}.data] makes contexts."
        )
    fields = json.loads(event.row)
    after, _ = template.featuriser.decide(features, fields)
    if isinstance(event, Taught):
        row = TableRow(fields, event.seen.recorded, event.came)
        return learn_row(template.featuriser, after, live.stage, row)
    return after


def lesson_row(row: TableRow) -> tuple[dict[str, Any], Array | Bounds, str | None]:
    """A row of a table as it is taught: NaN in all of an outcome that never came."""
    if row.seen is not None:
        return dict(row.fields), row.seen, row.came
    xi = np.full(len(row.xi), np.nan) if np.isnan(row.xi).any() else row.xi
    return dict(row.fields), xi, row.came
