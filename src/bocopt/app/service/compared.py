"""Shadows beside what decides, over all streams at once: which may be called better, since when.

Each stream's comparison holds at its own level. Whom to promote is a question to all of them: see
`bocopt.guarantees.many` for what is promised of the answer, and what every shadow that was ever
declared takes of it.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from bocopt.abilities import AlarmsOfShadow, WeighsShadow
from bocopt.app.service.stores import Configured, StreamSummary
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.guarantees import Worsening, discoveries
from bocopt.guarantees.many import share
from bocopt.live.record import Live
from bocopt.wrappers import has

_LARGEST = 1e6  # a log e-value that stands for those without end


class ShadowStatus(NamedTuple):
    """A shadow after the latest outcome, as far as it was compared."""

    log_e: float  # evidence that it is better, on average over these stages
    stages: int  # compared
    alarm: int | None  # the compared stage of an alarm that it costs more lately

    def lately(self, name: str) -> str:
        """Return a sentence on the alarm that it costs more lately; empty without an alarm."""
        if self.alarm is None:
            return ""
        often = round(1 / Worsening().rate)
        return (
            f"{name} has cost more lately (alarm at compared stage {self.alarm:,}; false alarms "
            f"come once in {often:,} stages at most, on average)"
        )


class Better(NamedTuple):
    """A shadow of a stream that may be called better than what decides, on average so far."""

    stream: str
    name: str
    shown: ShadowStatus


class Since(NamedTuple):
    """The decision from which a stream's shadows are compared, and flags for the text on it."""

    decision: int  # the first of this configuration
    before: bool  # whether there are decisions of others before it
    between: bool  # whether there are some after it

    @property
    def words(self) -> str:
        """Return a sentence for users: since which decision the shadows are compared."""
        if not self.before:
            said = "Compared since the first decision."
        else:
            said = (
                f"Compared since decision {self.decision:,}; before, another configuration decided "
                "or was compared, and its decisions do not count here."
            )
        return said + " Nor do those that others took in between." * self.between


def shown(template: StreamTemplate, live: Live) -> dict[str, Any]:
    """Return each shadow's log e-value, stages and alarm as plain data for `read`; may be empty."""
    pairs: list[tuple[Any, Any]]
    pairs = list(zip(template.fold.monitor.guarantees, live.watched or (), strict=False))
    lately = {g.shadow: (g, state) for g, state in pairs if has(g, AlarmsOfShadow)}
    found = dict[str, Sequence[float | None]]()
    for g, state in pairs:
        if has(g, WeighsShadow):
            watch, watched = lately[g.shadow]
            log_e, alarm = float(g.log_evidence(state)), float(watch.alarm(watched))
            if log_e > -math.inf:
                least = math.floor(1e3 * min(log_e, _LARGEST)) / 1e3
                found[g.name] = least, watch.stages(watched), None if alarm != alarm else int(alarm)
    return {"compared": {"by": template.fold.by, "shadows": found}} if found else {}


def read(template: StreamTemplate, summary: Mapping[str, Any]) -> dict[str, ShadowStatus]:
    """Return the status of each shadow; empty if another configuration wrote the numbers."""
    found = summary.get("compared")
    if not isinstance(found, dict) or found.get("by") != template.fold.by:
        return {}
    return {name: ShadowStatus(*numbers) for name, numbers in found["shadows"].items()}


def since(configured: Sequence[Configured], by: str) -> Since:
    """Return the first decision of configuration `by`, and whether others decided around it."""
    own = [each for each in configured if each.by == by]
    first = min((each.decision for each in own), default=0)
    others = [each.decision for each in configured if each.by != by]
    return Since(first, first > 0, any(each > first for each in others))


def better(
    standings: Sequence[tuple[StreamSummary, Mapping[str, Any]]],
    configured: Iterable[Configured],
    templates: Mapping[str, StreamTemplate],
    delta: float,
) -> tuple[int, list[Better]]:
    """Return how many shadows were ever compared, and those that may be called better.

    `standings` are of all streams, each with what was told of it; `configured` is in order. Of
    those that are called better, a share of `delta` at most is expected not to be.
    """
    history = {s: _generations(some) for s, some in groupby(configured, lambda c: c.stream)}
    many = sum(of for each in history.values() for _, of in each.values())
    found, shares = list[Better](), list[float]()
    for standing, summary in standings:
        template = templates.get(standing.problem)
        if template is None:
            continue
        generation, of = history.get(standing.id, {}).get(template.fold.by, (0, 0))
        if generation:  # else it is not in the log who is compared
            own = [Better(standing.id, *each) for each in read(template, summary).items()]
            found += own
            shares += [share(generation, of) / len(standings)] * len(own)
    believed = discoveries(np.array([b.shown.log_e for b in found]), np.array(shares), delta)
    return many, [each for each, sure in zip(found, believed, strict=True) if sure]


def _generations(configured: Iterable[Configured]) -> dict[str, tuple[int, int]]:
    """Return the place, from 1, of each configuration with shadows, and how many it has."""
    found: dict[str, tuple[int, int]] = {}
    for by, of in _with_shadows(configured):
        found.setdefault(by, (len(found) + 1, of))
    return found


def _with_shadows(configured: Iterable[Configured]) -> Iterator[tuple[str, int]]:
    for each in configured:
        of = len(json.loads(each.about).get("shadows", ()))
        if of:
            yield each.by, of
