"""How far a long command has come: a bar on a terminal, a line now and then in files and pipes."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Protocol

import typer

from bocopt.app.text import plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichProgress

_EVERY = 5.0  # seconds between lines, which grow with the time that has passed
_LONGEST = 30.0
_SHARE = 1 / 20  # of the time that has passed
_MARKS = 8  # lines, over which the speed is taken
_KNOWN, _PART = 3, 0.01  # stages, and of all, before which no speed is told: the first may compile


class Progress(Protocol):
    """Progress of a command while it works."""

    def begin(self, what: str, stages: int, done: int | None = None) -> None:
        """So many stages are to be played; those done are told at once, or by the next advance."""

    def say(self, what: str) -> None:
        """Say in a word or two what is being done."""

    def advance(self, stages: int) -> None:
        """So many more are done."""


@contextmanager
def progress(title: str, total: int | None = None, unit: str = "stage") -> Iterator[Progress]:
    """A bar over all stages, if their number is known; or lines on the standard error."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        with _rich(console, f"{unit}s") as rich:
            yield _Bar(rich, total)
        return
    lines = _Lines(title, unit)
    with lines.shown_meanwhile():
        yield lines


class _Bar:
    def __init__(self, rich: "RichProgress", total: int | None) -> None:
        self._rich, self._total = rich, total
        self._bar = rich.add_task("playing", total=total)

    def begin(self, what: str, stages: int, done: int | None = None) -> None:
        self.say(what)
        if self._total is None:
            self._rich.reset(self._bar, total=stages, completed=done or 0)

    def say(self, what: str) -> None:
        self._rich.update(self._bar, description=what)

    def advance(self, stages: int) -> None:
        self._rich.advance(self._bar, stages)


class _Lines:
    """A line when something begins, and every few seconds, however long a stage takes."""

    def __init__(self, title: str, unit: str) -> None:
        self._title, self._unit = title, unit
        self._what, self._done, self._total = "starting", 0, 0
        self._began = self._asked = time.monotonic()
        self._marks: deque[tuple[float, int]] = deque(maxlen=_MARKS)
        self._over = Event()

    def begin(self, what: str, stages: int, done: int | None = None) -> None:
        self._marks.clear()
        self._what, self._done, self._total = what, done or 0, stages
        self._asked = time.monotonic()
        if done is not None:
            self._mark()
        self._print()

    def say(self, what: str) -> None:
        self._what = what
        self._print()

    def advance(self, stages: int) -> None:
        self._done += stages
        if stages and not self._marks:  # what was played before says nothing of the speed
            self._mark()

    @contextmanager
    def shown_meanwhile(self) -> Iterator[None]:
        """Lines are printed meanwhile."""
        teller = Thread(target=self._print_until_over, daemon=True)
        teller.start()
        try:
            yield
        finally:
            self._over.set()
            teller.join()

    def _print_until_over(self) -> None:
        while not self._over.wait(self._pause()):
            self._print()
            if self._marks:
                self._mark()

    def _pause(self) -> float:
        passed = time.monotonic() - self._began
        return max(_EVERY, min(_LONGEST, _SHARE * passed))

    def _mark(self) -> None:
        self._marks.append((time.monotonic(), self._done))

    def _print(self) -> None:
        left = None
        if self._marks:
            since, done = self._marks[0]
            now = self._done  # once: it may grow meanwhile
            if now >= done + max(_KNOWN, _PART * self._total):
                left = (self._total - now) * (time.monotonic() - since) / (now - done)
        said = line(self._title, self._what, self._done, self._total, left, self._unit)
        passed = time.monotonic() - self._asked
        if self._total and not self._done and passed >= _EVERY:
            said += f", {_in_words(passed)} so far: machine code may have to be compiled first"
        with suppress(OSError):  # nobody reads on: the work is done all the same
            typer.echo(plain(said), err=True)


def line(
    title: str, what: str, done: int, total: int, left: float | None, unit: str = "stage"
) -> str:
    """How far it is, in words; `left` are seconds, where they are known.

    >>> line("shop", "Ensemble", 120, 500, 100.0)
    'shop: Ensemble, stage 120 of 500 (24%), about 2 min left'
    >>> line("shop", "connecting", 0, 0, None)
    'shop: connecting'
    >>> line("shop", "playing", 500, 500, 0.0)
    'shop: all 500 stages are done, the results are made of them'
    """
    if not total:
        return f"{title}: {what}"
    if done >= total:
        return f"{title}: all {total:,} {unit}s are done, the results are made of them"
    far = f"{title}: {what}, {unit} {done:,} of {total:,} ({100 * done // total}%)"
    return far if left is None else f"{far}, about {_in_words(left)} left"


def _in_words(seconds: float) -> str:
    """
    >>> [_in_words(seconds) for seconds in (3.2, 100, 9000)]
    ['4 s', '2 min', '2.5 h']
    """
    if seconds < 59.5:
        return f"{int(seconds) + 1} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _rich(console: "Console", units: str) -> "RichProgress":
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class RateColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="progress.data.speed")

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(units),
        RateColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )
