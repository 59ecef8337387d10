"""The record of a run: arrays with a stage axis, CSV, and summaries over trials."""

import csv
import io
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bocopt import arguments
from bocopt.abilities import TakesMissing
from bocopt.columns import columns_of
from bocopt.core import Array, BoolArray, IntArray, Policy, Problem, Sense, Status
from bocopt.figures import StageValues, draw_means
from bocopt.file import replace
from bocopt.loop import Stage, run
from bocopt.policies.matching import policy_of, problem_of
from bocopt.streams import Replay
from bocopt.wrappers import promises

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What numbers are spread over, where all trials saw the same x and xi.
ONE_SERIES = "policy seeds on one series"
#: Statuses of decisions that another solver or a higher limit could improve.
_CUT_SHORT = (Status.LIMIT, Status.FALLBACK)


class MeanSd(NamedTuple):
    """Mean and standard deviation (ddof 1) over trials; NaN where there are too few.

    Trials on one series differ by their policies' seeds alone: `Trace.spread_over` tells.
    """

    mean: float
    sd: float


@dataclass(frozen=True, eq=False)
class Trace:
    """Leading axes are those of the seeds; the stage axis T follows them."""

    sense: Sense
    x: Array  # (T, k)
    z: Array  # (T, d)
    xi: Array  # (T, m)
    cost: Array  # (T)
    feasible: BoolArray  # (T)
    hindsight: Array  # (T) the least cost, had xi been known
    solvable: BoolArray  # (T) whether any decision would have been feasible
    value: Array  # (T) the cost that the program promised
    status: IntArray  # (T) of the program that was solved, a Status
    gap: Array  # (T) how far its z may be from optimal
    info: Mapping[str, Array]  # (T) each, or (n, T) where there are several numbers
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of the numbers of x, z, xi

    def __repr__(self) -> str:
        """Return stages, trials, mean cost or reward, and feasibility; `summary` has more."""
        trials = self.cost.size // max(self.horizon, 1)
        shown = f"{self.horizon} stages" + f" x {trials} trials" * (trials > 1)
        mean = self.sense.sign * float(self.cost.mean()) if self.cost.size else float("nan")
        feasible = float(self.feasible.mean()) if self.cost.size else float("nan")
        return f"<Trace: {shown}, {self.sense.value} {mean:.4g} a stage, feasible {feasible:.3f}>"

    @property
    def horizon(self) -> int:
        """Number T of stages."""
        return int(self.cost.shape[-1])

    @property
    def reward(self) -> Array:
        """Reward (T): minus the cost."""
        return -self.cost

    @property
    def regret(self) -> Array:
        """Regret (T): what was paid above the hindsight optimum."""
        return self.cost - self.hindsight

    @property
    def rejuvenations(self) -> Array:
        """Number () of times that particles were renewed; 0 for a policy that has none."""
        never = np.zeros(self.cost.shape)
        total: Array = self.info.get("rejuvenated", never).sum(axis=-1)
        return total

    @property
    def spread_over(self) -> str:
        """Name of what standard deviations in `summary` are over: trials, or only policy seeds."""
        x, xi = (a.reshape(-1, *a.shape[-2:]) for a in (self.x, self.xi))
        pairs = [(a, np.broadcast_to(a[:1], a.shape)) for a in (x, xi)]
        same = len(x) > 1 and all(np.array_equal(*pair, equal_nan=True) for pair in pairs)
        return ONE_SERIES if same else "trials"

    def shares(self) -> dict[str, Array]:
        """Return the share () of decisions of each Status that occurs, by name, per trial."""
        shares = {status.name: (self.status == status).mean(axis=-1) for status in Status}
        return {name: share for name, share in shares.items() if share.any()}

    def arrays(self) -> dict[str, Array]:
        """The numbers of each stage by name, each (T): what the CSV holds."""
        return {
            self.sense.value: self.sense.sign * self.cost,
            "feasible": self.feasible.astype(np.float64),
            f"hindsight_{self.sense.value}": self.sense.sign * self.hindsight,
            "solvable": self.solvable.astype(np.float64),
            "regret": self.regret,
            **{f"z{j}": self.z[..., j] for j in range(self.z.shape[-1])},
            f"promised_{self.sense.value}": self.sense.sign * self.value,
            "gap": self.gap,
            "status": self.status.astype(np.float64),
            **self._info_by_number(),
        }

    def _info_by_number(self) -> dict[str, Array]:
        """Return what the policy learned by name; of several numbers, each under its own name."""
        numbers = {}
        for name, values in self.info.items():
            if values.ndim == self.cost.ndim:
                numbers[name] = values.astype(np.float64)
            else:
                for j in range(values.shape[-2]):
                    numbers[f"{name}{j}"] = values[..., j, :].astype(np.float64)
        return numbers

    def to_csv(self, path: str | Path) -> None:
        """One row per trial and stage; an empty cell where a number does not exist.

        The file is UTF-8, and replaced at once or not at all.
        """
        columns = {name: a.reshape(-1, self.horizon) for name, a in self.arrays().items()}
        trials = next(iter(columns.values())).shape[0]
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(["trial", "stage", *map(no_formula, columns)])
        for trial in range(trials):
            for t in range(self.horizon):
                cells = (column[trial, t] for column in columns.values())
                writer.writerow([trial, t, *("" if np.isnan(c) else repr(float(c)) for c in cells)])
        replace(path, text.getvalue().encode("utf-8", "backslashreplace"))

    def averages(self) -> dict[str, Array]:
        """Return time averages () over all stages and over the last half, by name, per trial."""
        shown = {
            self.sense.value: self.sense.sign * self.cost,
            "feasibility": self.feasible.astype(np.float64),
        }
        return averages(shown)

    def plot(self, ax: "Axes | None" = None, *, unit: str = "") -> "Axes":
        """Draw the cost or reward averaged over the stages so far, beside the best in hindsight.

        Of several trials, the line is their mean and the band has the middle 80% of them. Without
        `ax`, it is a figure of its own; `unit` is that of a cost, say "EUR". It needs matplotlib,
        the extra `plot`. Returns the axes: `trace.plot().figure.savefig("run.pdf")`.
        """
        word = self.sense.value
        curves = [StageValues(word, self.sense.sign * self.cost)]
        if np.isfinite(self.hindsight).all():
            curves.append(StageValues("in hindsight", self.sense.sign * self.hindsight))
        y_label = f"mean {word} per stage so far" + f" ({unit})" * bool(unit)
        return draw_means("Trace.plot", curves, ax, y_label, self.spread_over)

    def summary(self) -> dict[str, MeanSd]:
        """The averages, and the shares of decisions that are not optimal, where there are any.

        With their spread over trials, or what `spread_over` says instead.
        """
        others = {
            f"share_{name.lower()}": share
            for name, share in self.shares().items()
            if name != Status.OPTIMAL.name
        }
        return {name: mean_sd(values) for name, values in (self.averages() | others).items()}


def no_formula(name: str) -> str:
    """A heading that no spreadsheet computes.

    >>> no_formula("=1+1")
    "'=1+1"
    """
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name


def backtest(
    policy: Policy[Any] | Problem,
    x: Any,
    xi: Any,
    *,
    problem: Problem | None = None,
    seeds: Any = 0,
    hindsight: bool = True,
) -> Trace:
    """Play a policy on the past: contexts (T, k), None where there are none, and outcomes (T, m).

    Both are arrays, data frames, or dictionaries of columns, whose names the trace then has.

    Each decision is taken before its outcome is shown. A problem alone is left to the default
    learner. The rest is as in `run`, and as in `record` it warns of decisions that were cut short.

    >>> from bocopt.policies import SampleAverage
    >>> from bocopt.problems import Newsvendor
    >>> bakery = Newsvendor(unit_cost=[1.0], price=[3.0])
    >>> policy = SampleAverage(bakery, initial_decision=[5.0])
    >>> backtest(policy, None, [[4.0], [7.0], [6.0]]).z.tolist()
    [[5.0], [4.0], [7.0]]
    """
    policy = policy_of("backtest", policy)
    problem = problem_of("backtest", problem, policy)
    if x is None:
        past = columns_of("backtest", "xi", xi, wanted="rows").values
        past = arguments.array("backtest", "xi", past, (None, None))
        x = np.zeros((*past.shape[:-1], 0))
    stream = Replay(x, xi, gaps=promises(policy, TakesMissing))
    stages = run(policy, stream, problem=problem, seeds=seeds, hindsight=hindsight)
    return _warned(stacked(stages, problem.sense))


def record(stages: Iterable[Stage], sense: Sense) -> Trace:
    """Run to the end and stack what was seen; warns where many decisions were cut short."""
    arguments.kind("record", "sense", sense, Sense)
    return _warned(stacked(arguments.each("record", "stages", stages, Stage), sense))


def _warned(trace: Trace) -> Trace:
    cut = cut_short(trace.status)
    if cut.sum() >= 10 and cut.mean() > 0.1:
        warnings.warn(
            "More than a tenth of the decisions stopped at the solver's limit or fell back: their "
            "costs may say more of the solver than of the policy. See Trace.shares().",
            stacklevel=3,
        )
    return trace


def cut_short(status: IntArray) -> BoolArray:
    """Return which decisions stopped at a limit or fell back.

    >>> cut_short(np.array([Status.OPTIMAL, Status.LIMIT]))
    array([False,  True])
    """
    return np.isin(status, _CUT_SHORT)


def stacked(stages: Iterable[Stage], sense: Sense) -> Trace:
    """The record of a run, without a warning."""
    seen = list(stages)
    if not seen:
        raise ValueError("There are no stages to record.")

    def stack(path: str, core: int = 0) -> NDArray[Any]:
        """Return a part of all stages along a new stage axis, before its last `core` axes."""
        return np.stack(list(map(attrgetter(path), seen)), axis=-1 - core)

    return Trace(
        sense=sense,
        x=stack("x", 1),
        z=stack("decision.solution.z", 1),
        xi=stack("xi", 1),
        cost=stack("cost"),
        feasible=stack("feasible"),
        hindsight=stack("hindsight"),
        solvable=stack("solvable"),
        value=stack("decision.solution.value"),
        status=stack("decision.solution.status"),
        gap=stack("decision.solution.gap"),
        info={n: np.stack([s.info[n] for s in seen], axis=-1) for n in seen[0].info},
        names=dict(seen[0].names or {}),
    )


def mean_sd(values: Array) -> MeanSd:
    """Mean and spread over trials of one number per trial.

    >>> mean_sd(np.array([1.0, 3.0])).mean
    2.0
    """
    flat = np.ravel(values)
    sd = float(flat.std(ddof=1)) if flat.size > 1 else float("nan")
    return MeanSd(float(flat.mean()), sd)


def averages(values: Mapping[str, Array]) -> dict[str, Array]:
    """Return averages () of series (T) over all stages and over the last half, at least one.

    >>> {name: float(a) for name, a in averages({"cost": np.array([1.0, 2.0, 6.0])}).items()}
    {'cost': 3.0, 'cost_last': 6.0}
    """
    found = {}
    for name, series in values.items():
        found[name] = series.mean(axis=-1)
        found[f"{name}_last"] = last_half(series).mean(axis=-1)
    return found


def last_half(series: Array) -> Array:
    """Return the last half of the stages of a series (T), at least one."""
    return series[..., -max(1, series.shape[-1] // 2) :]
