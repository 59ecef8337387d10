"""A shared prior for new streams, fitted to the log of all streams of one kind."""

from pathlib import Path

import numpy as np

from bocopt.app.service.config import Config
from bocopt.app.service.refolding import right_of
from bocopt.app.service.replay import chosen, rows_of
from bocopt.app.service.stores import Store
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.core import Array
from bocopt.live.events import from_bytes
from bocopt.live.fold import Decided, Observed, Taught
from bocopt.models import SharedPrior

_FEWEST = 2  # outcomes of a stream that say something of it


def fitted(config: Config, store: Store, case: str | None, out: Path) -> SharedPrior:
    """Fit it to all streams of a kind, and write it to a file."""
    template = config.templates[_name(config, case)]
    found = [
        _outcomes(template, store, declared.id)
        for declared in chosen(config, store, None)
        if declared.problem == template.name
    ]
    known = [rows for rows in found if len(rows[1]) >= _FEWEST]
    if len(known) < 2:
        raise ValueError(
            f"Two streams like {template.name!r} with {_FEWEST} outcomes or more are needed, to "
            f"see what they have in common. Got {len(known)} instead."
        )
    prior = SharedPrior.of(known)
    prior.save(out)
    return prior


def _name(config: Config, case: str | None) -> str:
    if case is None and len(config.templates) == 1:
        return next(iter(config.templates))
    if case not in config.templates:
        expected = f"must be one of {', '.join(config.templates)}"
        raise ValueError(f"--case {expected}, of {config.path}. Got {case!r} instead.")
    return case


def _outcomes(template: StreamTemplate, store: Store, stream: str) -> tuple[Array, Array]:
    """(n, k), (n, m): contexts and outcomes as they became known, those of lessons too."""
    right = right_of(template, [row for row, _ in store.corrections(stream)])
    contexts: dict[int, Array] = {}
    x, xi = list[Array](), list[Array]()
    for row in rows_of(store, stream):
        event = from_bytes(row.body, template.problem)
        if isinstance(event, Decided):
            contexts[event.number] = event.waiting.x
        elif isinstance(event, Observed):
            x.append(contexts[event.number])
            xi.append(right.get(event.number, event.seen).finite)
        elif isinstance(event, Taught):
            x.append(event.x)
            xi.append(event.seen.finite)
    return np.array(x), np.array(xi)
