"""A history from a table, taught to a stream of a service: each row once, wherever it stops.

The lessons of a stream are one sequence, and a table is that sequence: its n-th row is lesson n. So
the log itself says where to go on, whatever ended the command, and a table that has grown is gone
on with at its new rows. A table that does not begin with what was taught is refused.
"""

import difflib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from bocopt.abilities import TakesMissing
from bocopt.app.case_file import ID
from bocopt.app.features.prepare import series_of
from bocopt.app.features.rows import rows_of
from bocopt.app.features.spec import Spec
from bocopt.app.reading.columns import Table, TableError, all_of
from bocopt.app.service.commands import Create, Query, RefusedError, Reply, Teach
from bocopt.app.service.config import Config
from bocopt.app.service.contexts import lesson_row, row_of
from bocopt.app.service.engine import Engine
from bocopt.app.service.machine import numeric_fingerprint
from bocopt.app.service.registry import Registry
from bocopt.app.service.shard import Shard
from bocopt.app.service.stores import Store, open_store
from bocopt.app.service.stream_cache import StreamCache
from bocopt.app.service.stream_state import lesson_place
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.app.text import count
from bocopt.bounds import exactly
from bocopt.core import Array, Bounds
from bocopt.live.events import from_bytes
from bocopt.live.fold import Taught
from bocopt.wrappers import promises

_AT_ONCE = 64  # rows that are committed together
_READ = 1000  # lessons that are compared at once


class Names(NamedTuple):
    """Columns of a table; None for those that the stream's declaration names."""

    x: Sequence[str] | None = None
    xi: Sequence[str] | None = None


class Lesson(NamedTuple):
    """One row of a table."""

    x: Any  # numbers in order, or named fields where the stream makes contexts of them
    xi: Array | Bounds  # (m) NaN in all of one that never came, where such rows count
    came: str | None = None

    def is_in(self, event: Taught) -> bool:
        """Return True if a logged lesson has the same context or fields, and the same outcome."""
        if isinstance(self.x, Mapping):
            same = event.row == row_of(self.x) and event.came == self.came
        else:
            same = np.array_equal(event.x, self.x, equal_nan=True)
        seen = self.xi if isinstance(self.xi, Bounds) else exactly(self.xi)
        return same and np.array_equal(event.seen, seen, equal_nan=True)


class HistoryRows(NamedTuple):
    """Lessons to teach, with the file and the place in it of each, for error messages."""

    path: str
    where: Sequence[str]  # "line 3", say, of each
    lessons: Sequence[Lesson]


class Imported(NamedTuple):
    """Counts of an import: rows of the table, lessons before it, decisions of the stream."""

    stream: str
    rows: int  # of the table
    before: int  # lessons that there were
    decisions: int  # that were taken on the stream

    @property
    def words(self) -> str:
        """
        >>> print(Imported("shop", 500, 300, 0).words)
        Taught 200 rows to 'shop', after 300 that it knew. None counts as a decision.
        """
        new = max(0, self.rows - self.before)
        if not new:
            known = count(self.before, "row")
            return f"Nothing to do: {self.stream!r} was taught {known}, which begin with these."
        after = f", after {self.before} that it knew" if self.before else ""
        said = f"Taught {count(new, 'row')} to {self.stream!r}{after}. None counts as a decision."
        if not self.decisions:
            return said
        own = count(self.decisions, "decision")
        return f"{said} It has taken {own} itself: what came of these must not be in the table too."


class ProgressHook(Protocol):
    """Hears how far it is."""

    def begin(self, what: str, stages: int, done: int | None = None) -> None:
        """Start a count of `stages` steps, of which `done` are done."""
        ...

    def advance(self, stages: int) -> None:
        """Add steps that were done to the count."""
        ...


def imported(
    config: Config,
    frame: Table,
    stream: str,
    names: Names,
    case: str | None,
    progress: Callable[[], AbstractContextManager[ProgressHook]],
) -> Imported:
    """Check all of a table, then teach it; nothing is taught where something is wrong."""
    store = open_store(config.store, config.folder)
    try:
        template = _template(config, store, stream, case)
        rows = columns(frame, template, names)
        with opened(config, store) as engine:
            _one(engine, Create(stream, case))
            with progress() as shown:
                return taught(engine, store, template, stream, rows, shown)
    finally:
        store.close()


def _template(config: Config, store: Store, stream: str, case: str | None) -> StreamTemplate:
    """Return the template of a stream that exists or is to begin; a ValueError if unknown."""
    there = store.stream(stream)
    name = case or (stream if there is None else there.problem)
    if name not in config.templates:
        known = [*(each.id for each in store.streams()), *config.templates]
        near = difflib.get_close_matches(name, known, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        what = f"no [cases.{name}] in {config.path}" if case else f"no stream {stream!r}"
        raise ValueError(f"There is {what}.{hint} A new one needs --case NAME, one of the file's.")
    if not ID.fullmatch(stream):
        raise ValueError(f"The stream {stream!r} must match {ID.pattern}.")
    return config.templates[name]


def columns(frame: Table, template: StreamTemplate, names: Names) -> HistoryRows:
    """Return the lessons of a table; one error names all that is wrong with its columns."""
    if template.featuriser is not None:
        return _fields(frame, template, template.featuriser.spec, names)
    dims, policy = template.problem.dims, template.fold.policy
    wide = dims.x if template.limits.context is None else template.limits.context
    gaps = dims.x is None and promises(policy, TakesMissing)
    x = _named(names.x, template.contexts, "x", "context", wide)
    xi = _named(names.xi, template.outcomes, "xi", "outcome", dims.xi)
    read = [partial(_numbers, frame, name, gaps) for name in x]
    read += [partial(_numbers, frame, name, False) for name in xi]
    found = all_of(read)
    parts = found[: len(x)], found[len(x) :]
    contexts, outcomes = (np.array(part).reshape(-1, len(frame)).T for part in parts)
    rows = zip(contexts.copy(), outcomes.copy(), strict=True)
    where = [f"{frame.place} {place}" for place in frame.places]
    return HistoryRows(frame.path, where, [Lesson(x, xi) for x, xi in rows])


def _fields(frame: Table, template: StreamTemplate, spec: Spec, names: Names) -> HistoryRows:
    """Return the lessons in time order, with contexts of named fields, read as the case's data."""
    if names.x is not None or names.xi is not None:
        raise ValueError(
            f"[cases.{template.name}.data] says which columns are read: leave out --x and --xi."
        )
    series = series_of(frame, spec)  # which tells all that is wrong with the table
    where = [f"{frame.place} {line}" for line in series.lines]
    return HistoryRows(
        frame.path, where, [Lesson(*lesson_row(row)) for row in rows_of(frame, spec)]
    )


def _named(
    given: Sequence[str] | None, declared: Sequence[str], what: str, key: str, wide: int | None
) -> Sequence[str]:
    """The columns of x or xi, by the command or by the declaration."""
    if given is None and not declared and wide != 0:
        raise ValueError(
            f"Which columns are {what}? Say --{what} a,b,c, or name them in the declaration of the "
            f'stream: {key} = ["a", "b", "c"].'
        )
    found = declared if given is None else given
    if wide not in (None, len(found)):
        raise ValueError(
            f"{what} has {count(wide or 0, 'number')}, so --{what} must name as many columns. Got "
            f"{', '.join(found) or 'none'} instead."
        )
    return found


def _numbers(frame: Table, name: str, gaps: bool) -> Array:
    """A column, or an error with all cells of it that are wrong."""
    values, others = frame.values(name)
    missing = np.isnan(values) & ~others & (not gaps)
    hint = " Leave out rows that are not whole: they teach nothing."
    all_of(
        (
            lambda: frame.refuse_texts(name, others),
            lambda: frame.refuse(name, missing, "a number", hint),
            lambda: frame.refuse(name, np.isinf(values), "a finite number"),
        )
    )
    return values


@contextmanager
def opened(config: Config, store: Store) -> Iterator[Engine]:
    """An engine in this process that nobody else asks; it leaves snapshots."""
    registry = Registry(store, config.templates, numeric_fingerprint())
    registry.open(time.time())
    engine = Engine(
        store, registry, [Shard(store, StreamCache(store, config.templates, config.held))]
    )
    try:
        yield engine
    finally:
        engine.stop()


def taught(
    engine: Engine,
    store: Store,
    template: StreamTemplate,
    stream: str,
    rows: HistoryRows,
    shown: ProgressHook,
) -> Imported:
    """Teach what comes after the lessons that there are, which the rows must begin with."""
    known, many = _one(engine, Query(stream, "summary")).body, len(rows.lessons)
    before = int(known["taught"])
    _check_the_same(store, template, stream, rows, min(before, many))
    shown.begin("rows", many, min(before, many))
    for first in range(before, many, _AT_ONCE):
        some = range(first, min(first + _AT_ONCE, many))
        answers = engine.step([Teach(stream, i, *rows.lessons[i]) for i in some])
        refused = next((each for each in answers if isinstance(each, RefusedError)), None)
        if refused is not None:
            raise refused
        shown.advance(len(some))
    return Imported(stream, many, before, int(known["decisions"]))


def _check_the_same(
    store: Store, template: StreamTemplate, stream: str, rows: HistoryRows, many: int
) -> None:
    """Check that the first rows equal the lessons logged; a TableError at one that differs."""
    for first in range(0, many, _READ):
        last = min(first + _READ, many) - 1
        found = store.events_of(stream, lesson_place(last), lesson_place(first))
        for row in reversed(found):  # their places fall
            event = from_bytes(row.body, template.problem)
            assert isinstance(event, Taught)
            i = event.number
            if not rows.lessons[i].is_in(event):
                raise TableError(
                    f"{rows.path}, {rows.where[i]}: the row that {stream!r} was "
                    f"taught as its lesson {i} expected, another one found. A table may only grow "
                    "at its end; nothing was taught."
                )


def _one(engine: Engine, command: Create | Query) -> Reply:
    [answer] = engine.step([command])
    if isinstance(answer, RefusedError):
        raise answer
    return answer
