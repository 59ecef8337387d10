"""View of a study for its page: which stages count, and what the first policy is compared with."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bocopt.app.findings import Findings, Played
from bocopt.app.page.markup import Names
from bocopt.app.page.numbers import target, thinned
from bocopt.core import Array, IntArray


@dataclass(frozen=True, eq=False)
class ReportView:
    """View of findings. Stages count after the warm-up, where all policies with costs have one."""

    findings: Findings
    names: Names

    @property
    def axis(self) -> str:
        """Return the name of the axis below the charts."""
        return "time"

    @property
    def sure(self) -> str:
        """The confidence of what holds at all times, in percent."""
        return target(1.0 - self.findings.delta)

    @cached_property
    def stages(self) -> IntArray:
        """Return the numbers (n) of the stages that count."""
        known = [np.isfinite(played.cost) for played in self.findings.played.values()]
        costly = [policy for policy in known if policy.any()]  # one without any cost stops no other
        if not costly:
            return np.zeros(0, np.int64)
        counts = np.logical_and.reduce(costly)
        counts[: self.findings.warm_up] = False
        return np.flatnonzero(counts)

    @cached_property
    def left_out(self) -> int:
        """Return how many stages after the warm-up have an outcome, but do not count."""
        came = np.asarray(np.isfinite(self.findings.series.xi).all(axis=-1))
        return int(came[self.findings.warm_up :].sum()) - len(self.stages)

    @cached_property
    def in_part(self) -> int:
        """Return after how many decisions that count the outcome was seen in part."""
        return int(self.findings.series.in_part[self.findings.warm_up :].sum())

    def missing(self, played: Played) -> IntArray:
        """Return the stages after the warm-up of which it is not known if what was decided was
        feasible: the outcome never came, or what was seen of it does not show it.
        """
        absent = np.asarray(np.isnan(self.findings.series.xi).any(axis=-1))
        absent = absent & np.isnan(played.feasible)
        absent[: self.findings.warm_up] = False
        return np.flatnonzero(absent & np.isfinite(played.z).all(axis=-1))

    @cached_property
    def judged(self) -> IntArray:
        """Return the stages that count, and those of which what was seen shows feasibility."""
        shown = np.isfinite([one.feasible for one in self.findings.played.values()]).all(axis=0)
        shown &= self.findings.series.in_part
        shown[: self.findings.warm_up] = False
        return np.union1d(self.stages, np.flatnonzero(shown))

    @cached_property
    def drawn(self) -> IntArray:
        """Return the numbers (n) of the stages that charts show, evenly among those that count."""
        return self.stages[thinned(len(self.stages))]

    @cached_property
    def first(self) -> str:
        """Return the policy that the page is about."""
        policies = list(self.findings.played)
        others = [policy for policy in policies if policy != self.findings.now]
        return (others or policies)[0]

    @cached_property
    def reference(self) -> str | None:
        """Return what is done now, or else the best of the others; None where there are none."""
        f = self.findings
        if f.now is not None:
            return f.now if f.now != self.first else None
        left = [policy for policy in f.played if policy not in f.compared]
        if f.compared and len(left) == 1:  # then all others were compared with it
            return left[0] if left[0] != self.first else None
        others = [policy for policy in f.played if policy != self.first]
        return min(others, key=self._paid, default=None)

    def _paid(self, policy: str) -> float:
        mean = self.mean(self.findings.played[policy].cost)
        return np.inf if np.isnan(mean) else mean

    @property
    def played(self) -> Played:
        """Return the decisions of the first policy, and what came of them."""
        return self.findings.played[self.first]

    @property
    def certified(self) -> bool:
        """Return True if there are comparisons by intervals that hold at all times."""
        return self.reference is not None and bool(self.findings.compared)

    @property
    def ordered(self) -> list[str]:
        """Return the policies: the first, then the others, then what it is compared with."""
        last = [] if self.reference is None else [self.reference]
        others = [p for p in self.findings.played if p not in (self.first, *last)]
        return [self.first, *others, *last]

    def mean(self, values: Array) -> float:
        """Return the mean of values (T) over the stages that count; NaN where none is known."""
        counted = values[self.stages]
        known = counted[np.isfinite(counted)]
        return float(known.mean()) if known.size else float("nan")

    def shown(self, cost: Array) -> Array:
        """Return costs, or rewards where they are earned."""
        return np.asarray(self.findings.sense.sign * cost)

    @cached_property
    def times(self) -> tuple[str, ...]:
        """Return the times (T) as short as can be: without a midnight that all of them share."""
        times = self.findings.series.time
        for midnight in ("T00:00:00", " 00:00:00", "T00:00", " 00:00"):
            if times and all(time.endswith(midnight) for time in times):
                return tuple(time.removesuffix(midnight) for time in times)
        return times
