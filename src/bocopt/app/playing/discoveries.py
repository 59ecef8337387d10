"""Series in which a policy may be called better, or worse, than another: by e-BH over all of them.

Each series has two hypotheses: that the policy was no better, and that it was no worse, on average
over its decisions so far. `bocopt.guarantees.many` says what is promised of those that are refuted,
at every time at which one looks, however series depend on each other.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bocopt.app.features.series import Panel, Series
from bocopt.app.findings import Discoveries, Played
from bocopt.app.playing.verdict import Both, both
from bocopt.core import Array, IntArray, Problem
from bocopt.guarantees import Comparison, Evidence, discoveries
from bocopt.guarantees.certificate import Shadow, nan_is_no_news

_TOGETHER = 1024  # series that are folded together: more would be no faster, and need more memory


def discoveries_of(
    problem: Problem,
    panel: Panel,
    reference: str,
    policy: str,
    each: Sequence[Mapping[str, Played]],
    *,
    delta: float,
) -> Discoveries:
    """Return the series (n) in which a policy is named better or worse than the reference.

    Of the series that are named, a share of delta at most is expected to be named wrongly. An
    outcome that never came counts at its worst for either side.
    """

    def compared(series: Series, played: Mapping[str, Played]) -> Both:
        """Return the decisions of a series that both took after the warm-up."""
        return both(problem, series, played[reference], played[policy], series.warm_up)

    found, unrecorded = [], 0
    for low in range(0, len(each), _TOGETHER):
        some = slice(low, low + _TOGETHER)
        pairs = [compared(*one) for one in zip(panel.series[some], each[some], strict=True)]
        unrecorded += sum(pair.unrecorded for pair in pairs)
        times = [at[pair.at] for at, pair in zip(panel.at[some], pairs, strict=True)]
        found.append(_log_evidence(pairs, times))
    log_e = np.concatenate(found)
    named = discoveries(log_e.ravel(), np.full(log_e.size, 1.0 / log_e.size), delta)
    better, worse = named.reshape(log_e.shape).T
    return Discoveries(policy, reference, delta, log_e, better, worse, unrecorded)


def _log_evidence(pairs: Sequence[Both], times: Sequence[IntArray]) -> Array:
    """Return log e-values (n, 2) that the second of two policies is better, and that it is worse.

    times       (n) of (T) the numbers of the times of the decisions that are compared
    """
    one = Comparison()
    state = one.init((len(pairs),))
    with nan_is_no_news():
        for rows, evidence in _by_time(pairs, times):
            state[rows] = one.step(state[rows], evidence)
        sides = [one.log_evidence(state, worse=worse) for worse in (False, True)]
    return np.stack(sides, axis=-1)


def _by_time(
    pairs: Sequence[Both], times: Sequence[IntArray]
) -> Iterator[tuple[IntArray, Evidence]]:
    """Yield the series that have a decision at a time, and its evidence, time by time."""
    rows = np.repeat(np.arange(len(pairs)), [len(at) for at in times])
    order = np.argsort(np.concatenate(times), kind="stable")
    own, others, low, high, least, most, possible = (
        np.concatenate(parts)[order]
        for parts in zip(
            *(
                (
                    pair.pair.own.value,
                    pair.others,
                    pair.pair.difference.low,
                    pair.pair.difference.high,
                    *pair.ends,
                    pair.possible,
                )
                for pair in pairs
            ),
            strict=True,
        )
    )
    begins = np.flatnonzero(np.diff(np.concatenate(times)[order])) + 1
    for at in np.split(np.arange(len(order)), begins):
        if at.size:  # a series has a time once
            shadow = Shadow(*(part[at] for part in (others, low, high, least, most)))
            yield rows[order[at]], Evidence(own[at], possible=possible[at], shadows=(shadow,))
