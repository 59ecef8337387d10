"""Corrections: the state of an agent as if the right outcome had come in the wrong one's place.

What was decided in between stays: it was decided by what was known. What was learned from it, and
what is guaranteed, is that of the right outcomes.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bocopt.live.events import from_bytes, from_snapshot, snapshot_bytes, to_bytes
from bocopt.live.fold import Corrected, Decided, Event, Fold, Forgotten, Observed, Taught
from bocopt.live.record import Live
from bocopt.loop import Stage
from bocopt.state import Arrays


def corrected(events: Sequence[Event]) -> list[Event]:
    """Return the events with the latest right outcomes in their places, and no corrections.

    >>> import numpy as np
    >>> from bocopt.bounds import exactly
    >>> wrong, right = exactly(np.array([30.0])), exactly(np.array([3.0]))
    >>> [one.seen.low.item() for one in corrected([Observed(0, wrong), Corrected(0, right)])]
    [3.0]
    """
    right = {each.number: each.seen for each in events if isinstance(each, Corrected)}
    return [
        each._replace(seen=right[each.number])
        if isinstance(each, Observed) and each.number in right
        else each
        for each in events
        if not isinstance(each, Corrected)
    ]


def refolded(
    fold: Fold[Any], begun: Live, events: Sequence[Event]
) -> tuple[Live, dict[int, Stage]]:
    """Return the state after events, corrections in their places, and the stages of outcomes."""
    live, stages = begun, dict[int, Stage]()
    for event in corrected(events):
        if isinstance(event, Decided | Taught) and event.in_part:  # also if nothing is in part now
            live = fold.seen_in_part(live)
        live, stage = fold.apply(live, event)
        if stage is not None:
            stages[stage.t] = stage
    return live, stages


class Recent(NamedTuple):
    """The latest events of an agent, and its state before them: their outcomes can be corrected."""

    outcomes: int  # of so many of the latest decisions, at the least
    base: Live
    events: tuple[Event, ...]  # since the base
    middle: Live  # a state since, to be the base once as many outcomes have come after it
    before: int  # events before the middle
    since: int  # decisions that were closed after it
    latest: Live  # the state after all events

    @classmethod
    def begin(cls, outcomes: int, live: Live) -> "Recent":
        """Return what is kept before any event."""
        return cls(outcomes, live, (), live, 0, 0, live)

    def after(self, before: Live, live: Live, event: Event) -> "Recent":
        """Return what is kept after an event, which made the state `live` of the one before.

        It begins anew where it does not know that one: an interrupt may have come between.
        """
        if not self.outcomes or before is not self.latest:
            return Recent.begin(self.outcomes, live)
        events = (*self.events, event)
        since = self.since + isinstance(event, Observed | Forgotten)
        if since < self.outcomes:
            return self._replace(events=events, since=since, latest=live)
        rest = events[self.before :]
        return Recent(self.outcomes, self.middle, rest, live, len(rest), 0, live)

    def corrected(self, fold: Fold[Any], right: Corrected) -> tuple["Recent", Live, Stage]:
        """Return what is kept after a correction, the state then, and the stage as it was."""
        events = tuple(corrected((*self.events, right)))
        middle, early = refolded(fold, self.base, events[: self.before])
        live, late = refolded(fold, middle, events[self.before :])
        kept = self._replace(events=events, middle=middle, latest=live)
        return kept, live, (early | late)[right.number]

    def to_arrays(self, fold: Fold[Any]) -> Arrays:
        """Return arrays for a file; none where there is nothing to correct."""
        if not self.events:
            return {}
        parts = [snapshot_bytes(fold, self.base), *map(to_bytes, self.events)]
        return {
            "recent": np.frombuffer(b"".join(parts), np.uint8),
            "recent.sizes": np.array([len(part) for part in parts]),
            "recent.counts": np.array([self.before, self.since]),
        }

    @classmethod
    def from_arrays(cls, outcomes: int, fold: Fold[Any], live: Live, arrays: Arrays) -> "Recent":
        """Return what was kept in a file beside the state `live`."""
        if "recent" not in arrays or not outcomes:
            return cls.begin(outcomes, live)
        ends = np.cumsum(arrays["recent.sizes"])[:-1]
        base, *rest = (part.tobytes() for part in np.split(arrays["recent"], ends))
        events = tuple(from_bytes(part, fold.problem) for part in rest)
        before, since = arrays["recent.counts"].tolist()
        begun = from_snapshot(base, fold, live.seed)
        middle, _ = refolded(fold, begun, events[:before])
        return cls(outcomes, begun, events, middle, before, since, live)

    def holds(self, live: Live, number: int) -> bool:
        """Return whether the outcome of a decision can be corrected where `live` is known."""
        outcomes = (each for each in self.events if isinstance(each, Observed))
        return live is self.latest and any(each.number == number for each in outcomes)
