"""Streams that need a person, and why: from numbers alone, in words that can be acted on."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bocopt.app.page.numbers import percent, target
from bocopt.app.service.compared import Better
from bocopt.app.service.page.times import length
from bocopt.app.service.stores import StreamSummary
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.app.service.summaries import read, sales_questions
from bocopt.guarantees import Feasibility
from bocopt.guarantees.feasibility import Counts

_FULL = 0.9  # of max_open
_LONG = 10.0  # times as long as usual
_SHORTEST = 600.0  # seconds that are never long
_DAY = 86400.0  # without a first outcome
_SOME = 10  # decisions from which their pace is known


class Concern(NamedTuple):
    """A problem that a person should look at; the least rank comes first."""

    rank: int
    short: str
    words: str


class StreamConcerns(NamedTuple):
    """A stream, and what is wrong with it, the worst first."""

    standing: StreamSummary
    concerns: tuple[Concern, ...]
    below: bool = False  # whether it was feasible less often than asked so far, surely or not

    @property
    def rank(self) -> int:
        """Return the rank of the worst concern; 99 if there is none."""
        return self.concerns[0].rank if self.concerns else 99


def judged(
    standings: Sequence[StreamSummary],
    templates: Mapping[str, StreamTemplate],
    damaged: Mapping[str, str],
    now: float,
    better: Sequence[Better] = (),
    *,
    asked: int | None = None,
    delta: float = 0.05,
) -> list[StreamConcerns]:
    """Return streams of known kinds, the most urgent first; `better` is of all streams.

    `asked` is how many streams have a target, where these are not all. With a chance of `delta` at
    most, any stream is told to be feasible too rarely that is not; `better` is of the same delta.
    """
    known = [each for each in standings if each.problem in templates]
    asked = with_target([each.problem for each in known], templates) if asked is None else asked
    highs = _most_feasible(known, templates, delta / max(asked, 1))
    shadows: dict[str, list[Better]] = {}
    for one in better:
        shadows.setdefault(one.stream, []).append(one)
    found = []
    for each, high in zip(known, highs, strict=True):
        own, damage = templates[each.problem], damaged.get(each.id)
        feasible = _feasibility(each, own, high, asked, delta)
        some = _of_shadows(shadows.get(each.id, ()), delta)
        concerns = _concerns(each, own, feasible, damage, now, some)
        found.append(StreamConcerns(each, tuple(concerns), _below(each, own)))
    return sorted(found, key=lambda one: (one.rank, one.standing.id))


def with_target(streams: Iterable[str], templates: Mapping[str, StreamTemplate]) -> int:
    """Return how many of the streams, given by their kinds, have a target alpha."""
    known = (templates[template] for template in streams if template in templates)
    return sum(template.problem.risk.alpha is not None for template in known)


def _most_feasible(
    known: Sequence[StreamSummary], templates: Mapping[str, StreamTemplate], delta: float
) -> list[float]:
    """The largest believable feasibility of each; 1 where more than alpha was seen.

    Each holds but for a chance of `delta`, the share of one of the streams that have a target.
    Decisions without an outcome count as feasible, whether they wait or were given up, and so do
    those of whose outcome a part was seen.
    """
    highs = np.ones(len(known))
    below = [i for i, each in enumerate(known) if _below(each, templates[each.problem])]
    if below:
        t = np.array([float(known[i].known) for i in below])
        met = np.array([float(known[i].feasibles) for i in below])
        missing = np.array([float(_without(known[i])) for i in below])
        guarantee = Feasibility(delta=delta)
        least, _ = guarantee.interval(Counts.of(t, t - met), missing)
        highs[below] = 1.0 - least
    return [float(high) for high in highs]


def _below(each: StreamSummary, template: StreamTemplate) -> bool:
    alpha = template.problem.risk.alpha
    return alpha is not None and each.feasibles < alpha * each.known


def _without(each: StreamSummary) -> int:
    """Its decisions without an outcome that was seen in full."""
    return max(each.decisions - each.known, 0)


def _concerns(
    each: StreamSummary,
    template: StreamTemplate,
    feasible: Concern | None,
    damage: str | None,
    now: float,
    better: Sequence[Concern],
) -> list[Concern]:
    """The worst first."""
    parts = (
        _damage(damage),
        feasible,
        _full(each, template),
        _overdue(each, template, now),
        _sales(each, template),
        *better,
        _quiet(each, now),
    )
    return [part for part in parts if part is not None]


def _damage(damage: str | None) -> Concern | None:
    return None if damage is None else Concern(0, "not available", damage)


def _feasibility(
    each: StreamSummary, template: StreamTemplate, high: float, asked: int, delta: float
) -> Concern | None:
    alpha = template.problem.risk.alpha
    if alpha is None or high >= alpha:
        return None
    without = _without(each)
    lacks = "without an outcome" if each.known == each.outcomes else "without one seen in full"
    whatever = f", whatever comes of the {without:,} {lacks}" if without else ""
    sure = f"with {target(1.0 - delta)} confidence"
    together = f" for all {asked:,} streams with a target together" if asked > 1 else ""
    words = (
        f"Decisions are feasible too rarely: in {percent(each.feasibles / each.known)}% of "
        f"{each.known:,} outcomes, at most {percent(high)}% {sure}{together}{whatever}, and "
        f"{target(alpha)} was asked for."
    )
    return Concern(1, "below target", words)


def _full(each: StreamSummary, template: StreamTemplate) -> Concern | None:
    most = template.limits.max_open
    if each.open < _FULL * most:
        return None
    words = f"{each.open:,} decisions wait for their outcome; at {most:,} new ones are refused."
    return Concern(2, "almost full", words)


def _overdue(each: StreamSummary, template: StreamTemplate, now: float) -> Concern | None:
    if each.oldest is None:
        return None
    waits, expire = now - each.oldest, template.limits.expire
    usual = max(_LONG * each.delay, _SHORTEST) if each.delay is not None else _DAY
    if waits <= (usual if expire is None else expire):
        return None
    words = f"An outcome is overdue: the oldest of {each.open:,} open is {length(waits)} old"
    if expire is not None:
        words += f", and is given up after {length(expire)}."
    elif each.delay is not None:
        words += f"; the latest outcome came {length(each.delay)} after its decision."
    else:
        words += ", and there has never been one."
    return Concern(3, "overdue", words)


def _sales(each: StreamSummary, template: StreamTemplate) -> Concern | None:
    asked = sales_questions(template.outcomes, read(each.told)) if '"sales"' in each.told else []
    return Concern(3, "sales?", " ".join(asked)) if asked else None


def _of_shadows(better: Sequence[Better], delta: float) -> list[Concern]:
    """Return the concerns about better shadows: those without an alarm, and those with one."""
    promise = (
        f"Of all shadows that are listed so, over all streams, {target(delta)} at most are "
        "expected not to be better on average."
    )
    found, begin = [], "Better than what decides, on average so far:"
    said = "; ".join(_average(one) for one in better if one.shown.alarm is None)
    if said:
        found.append(Concern(4, "shadow is better", f"{begin} {said}. Promote it? {promise}"))
    late = [one for one in better if one.shown.alarm is not None]
    if late:
        said = "; ".join(f"{_average(one)}, but {one.shown.lately('it')}" for one in late)
        words = f"{begin} {said}. Look before you promote it. {promise}"
        found.append(Concern(5, "shadow was better", words))
    return found


def _average(one: Better) -> str:
    return f"{one.name} (over {one.shown.stages:,} compared stages)"


def _quiet(each: StreamSummary, now: float) -> Concern | None:
    if each.last is None or each.decisions < _SOME:
        return None
    pace, silent = (each.last - each.created) / each.decisions, now - each.last
    if silent <= max(_LONG * pace, _SHORTEST):
        return None
    words = f"Nothing came for {length(silent)}; before, there was a decision every {length(pace)}."
    return Concern(6, "quiet", words)
