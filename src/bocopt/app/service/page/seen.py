"""The data of a stream's page, read from the log alone and never all of it."""

from typing import NamedTuple

from bocopt.app.page.numbers import thinned
from bocopt.app.service.stores import Configured, EventRow, OutcomeTotals, Store
from bocopt.app.service.stream_template import StreamTemplate

_POINTS = 200  # of a line
_CALIBRATED = 500  # outcomes that a histogram counts
_LATEST = 12  # decisions in the table
_WAITING = 12  # that are listed


class StreamView(NamedTuple):
    """A stream, as far as its page shows it."""

    stream: str
    template: StreamTemplate
    seq: int  # of the latest event
    last: OutcomeTotals | None
    drawn: list[OutcomeTotals]  # outcomes, evenly
    back: int  # so many outcomes are averaged, where only the latest are
    before: dict[int, OutcomeTotals]  # those so far before the ones that are drawn, by n
    recent: list[OutcomeTotals]
    waiting: list[tuple[int, float]]  # the oldest
    open: int
    events: list[EventRow]  # of the latest decisions
    outcomes: dict[int, OutcomeTotals]  # of them
    decisions: int
    taught: int  # lessons, of which nobody decided any
    configured: list[Configured]  # who decided and was compared, since when

    @property
    def given_up(self) -> int:
        """Decisions whose outcome nobody waits for any more."""
        outcomes = 0 if self.last is None else self.last.n
        return max(self.decisions - outcomes - self.open, 0)

    @property
    def in_part(self) -> int:
        """Outcomes that were not seen in full: what came of these decisions is not known."""
        return 0 if self.last is None else self.last.n - self.last.known

    @property
    def in_full(self) -> list[OutcomeTotals]:
        """Those that are drawn from the first on that was seen in full."""
        return [each for each in self.drawn if each.known]


def seen(reader: Store, template: StreamTemplate, stream: str) -> StreamView:
    """Read it; the events come first, so that no page claims more than it shows."""
    seq = reader.last_seq(stream)
    last = reader.last_stage(stream)
    n = 0 if last is None else last.n
    drawn, before = _drawn(reader, stream, n)
    newest = reader.last_decision(stream)
    first = max(newest - _LATEST + 1, 0)
    outcomes = reader.stages_of(stream, first, newest)
    waiting = reader.waiting(stream, template.limits.max_open)
    return StreamView(
        stream=stream,
        template=template,
        seq=seq,
        last=last,
        drawn=drawn,
        back=window(n),
        before=before,
        recent=reader.stages(stream, max(n - _CALIBRATED, 0), _CALIBRATED),
        waiting=waiting[:_WAITING],
        open=len(waiting),
        events=reader.events_of(stream, first, newest),
        outcomes={each.decision: each for each in outcomes},
        decisions=newest + 1,
        taught=reader.lessons(stream),
        configured=reader.configurations(stream),
    )


def _drawn(
    reader: Store, stream: str, n: int
) -> tuple[list[OutcomeTotals], dict[int, OutcomeTotals]]:
    """Return the totals at the points of a line, and by n those a window before each."""
    places, back = [1 + place for place in thinned(n, _POINTS)] if n else [], window(n)
    earlier = [place - back for place in places if place > back]
    at = {each.n: each for each in reader.stages_at(stream, sorted({*places, *earlier}))}
    drawn = [at[place] for place in places if place in at]
    return drawn, {place: at[place] for place in earlier if place in at}


def window(n: int) -> int:
    """Return how many of n outcomes count as the latest: a round number, about a tenth of n.

    >>> window(7), window(300), window(100_000)
    (10, 20, 1000)
    """
    sizes = (10, 20, 50, 100, 200, 500, 1000)
    return max((size for size in sizes if size <= n / 10), default=sizes[0])
