"""A note on outcomes of a table that equal what was decided then: they may be sales, not demand."""

from collections.abc import Iterator, Sequence

import numpy as np

from bocopt.app.features.spec import Spec
from bocopt.bounds import exactly
from bocopt.core import Array
from bocopt.live.sales import DELTA, Suspicion, after, begin, suspicions

_FEW = 0.01  # of the outcomes: if fewer equal what was decided, nobody asks


def suspected(now: Array | None, xi: Array, of: int = 1) -> list[Suspicion]:
    """Return the components whose outcomes (T, m) look like sales beside what was decided (T, d).

    Of so many series, all together are suspected wrongly with a chance of `sales.DELTA` at most.
    """
    if now is None or now.shape != xi.shape:
        return []
    known = np.isfinite(now) & np.isfinite(xi)
    if not ((now == xi) & known).sum(axis=0).max(initial=0) > _FEW * len(xi):
        return []
    sales = begin(xi.shape[1])
    for z, outcome in zip(now, xi, strict=True):
        if np.isfinite(z).all():
            sales = after(sales, z, exactly(outcome))
    return suspicions(sales, DELTA / of)


def sales_notes(spec: Spec, now: Array | None, xi: Array) -> Iterator[str]:
    """Yield a question to each outcome of a series that looks like sales, and what to say then."""
    for each in [] if spec.censored else suspected(now, xi):
        yield (
            f"{each.equal / each.n:.0%} of the latest {each.n:,} outcomes of "
            f"'{spec.outcome[each.component]}' are exactly what was decided, and none is above. "
            f"{_question(spec, each.component)}"
        )


def sales_notes_of_panel(spec: Spec, series: Sequence[tuple[Array | None, Array]]) -> Iterator[str]:
    """Yield the question to several series, of which each has decisions (T, d), outcomes (T, m)."""
    if spec.censored:
        return
    found = [suspected(now, xi, len(series)) for now, xi in series]
    for component, name in enumerate(spec.outcome):
        many = sum(any(each.component == component for each in own) for own in found)
        if many:
            yield (
                f"In {many} of {len(series)} series, outcomes of '{name}' are often exactly what "
                f"was decided, and none is above. {_question(spec, component)}"
            )


def _question(spec: Spec, component: int) -> str:
    rule = f"{spec.outcome[component]} >= {spec.decisions[component]}"
    return f'Are these sales, cut off at the stock? Then say censored = "{rule}" in [data].'
