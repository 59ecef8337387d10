"""Laws beside those of `bocopt.checks`: of functions of arrays, what has states, and of risks."""

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

from bocopt import Status, integer, minimise, pos, program, recourse
from bocopt.core import Array, Risk
from bocopt.numeric.history import History
from bocopt.state import flatten, rebuild


def visible(state: Any) -> list[Array]:
    """The arrays of a state: of a history its rows, not the spare room that states share."""
    if isinstance(state, History):
        return [state.rows]
    if isinstance(state, tuple | list):
        return [leaf for part in state for leaf in visible(part)]
    return [np.asarray(state)]


def same(left: Any, right: Any) -> bool:
    """Bit for bit, in all that is visible; NaN equals NaN."""
    return all(
        one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        for one, other in zip(visible(left), visible(right), strict=True)
    )


def from_parts(template: Any, arrays: dict[str, Array], name: str = "state") -> Any:
    """The nested tuple of these arrays, named as `flatten` does, of whatever shapes."""
    if not isinstance(template, tuple):
        return arrays[name]
    fields: Any = getattr(template, "_fields", range(len(template)))
    parts = [
        from_parts(part, arrays, f"{name}.{field}")
        for field, part in zip(fields, template, strict=True)
    ]
    return type(template)(*parts) if hasattr(template, "_fields") else tuple(parts)


def copied(state: Any) -> list[Array]:
    return [leaf.copy() for leaf in visible(state)]


def assert_pure_and_free_of_leading_axes(function: Callable[..., Any], *batch: Array) -> None:
    """Each argument has one leading axis; what is alone gets the same bits as in the batch."""
    before = copied(batch)
    together = function(*batch)
    assert same(function(*batch), together)
    assert same(batch, before)
    for i in range(len(batch[0])):
        alone = visible(function(*(array[i] for array in batch)))
        assert same(alone, [leaf[i] for leaf in visible(together)])


Trial = int | slice
ALL = slice(None)  # trials at once


class Fold(NamedTuple):
    """What goes from state to state."""

    begin: Callable[[Trial], Any]  # -> state
    step: Callable[[Any, int, Trial], Any]  # state, stage -> state
    show: Callable[[Any, int, Trial], Any]  # likewise -> arrays with the leading axis of the trials
    trials: int
    stages: int


def assert_trials_are_apart(fold: Fold) -> None:
    """A trial alone shows the same bits as inside a batch."""
    together = _shown(fold, ALL)
    for i in range(fold.trials):
        for alone, batch in zip(_shown(fold, i), together, strict=True):
            assert same(alone, [leaf[i] for leaf in batch])


def _shown(fold: Fold, trial: Trial) -> list[list[Array]]:
    state, shown = fold.begin(trial), []
    for t in range(fold.stages):
        state = fold.step(state, t, trial)
        shown.append(copied(fold.show(state, t, trial)))
    return shown


def assert_steps_are_pure(fold: Fold) -> None:
    """A step leaves its state as it was, also after later ones, and is the same when repeated."""
    state = fold.begin(ALL)
    for t in range(fold.stages):
        before = copied(state)
        after = fold.step(state, t, ALL)
        kept = copied(after)
        fold.show(after, t, ALL)
        fold.step(state, (t + 1) % fold.stages, ALL)  # a branch
        assert same(after, kept)
        assert same(fold.step(state, t, ALL), kept)
        assert same(state, before)
        state = after


def assert_goes_on_from_its_arrays(fold: Fold) -> None:
    """A state that is rebuilt from its arrays goes on with the same bits."""
    state = restored = template = fold.begin(ALL)
    for t in range(fold.stages):
        arrays = {name: leaf.copy() for name, leaf in flatten(restored).items()}
        state, restored = fold.step(state, t, ALL), fold.step(rebuild(template, arrays), t, ALL)
        assert same(state, restored)
        assert same(fold.show(state, t, ALL), fold.show(restored, t, ALL))


def assert_the_value_is_what_its_tail_means_say(risk: Any) -> None:
    """By its definition, the mean of a share of outcomes is the least t + E (cost - t)^+ / share.

    The least is at one of the costs. Some costs are tied, some scenarios have no weight.
    """
    rng = np.random.default_rng(3)
    for _ in range(50):
        costs = rng.normal(0, 4, int(rng.integers(1, 9))).round(int(rng.integers(0, 3)))
        w = rng.dirichlet(np.ones(len(costs)))
        w = np.where((rng.random(len(w)) < 0.2) & (w < 0.5), 0.0, w)
        w /= w.sum()
        exact = 0.0
        for weight, share in risk.tail_means:
            levels = [t + w @ np.maximum(costs - t, 0.0) / share for t in costs] if share else []
            exact += weight * min(levels, default=costs[w > 0].max())
        assert float(risk.value(costs, w)) == pytest.approx(exact, abs=1e-9)


def assert_declared_programs_are_best_under(risk: Risk) -> None:
    """What a program decides costs as little under the risk as the best of all decisions."""
    scenarios = np.array([[0.0, 2.0], [1.5, 1.0], [3.0, 0.5], [2.0, 2.5], [0.5, 3.0]])
    w = np.array([0.3, 0.1, 0.25, 0.15, 0.2])
    for name, one in _programs(risk).items():
        found = one.solve(scenarios, w, np.zeros(0))
        assert one.risk.met(one.violation(np.zeros(0), found.z, scenarios), w), name
        values = []
        for point in product(range(4), repeat=2):
            z = np.array(point, np.float64)
            cost, violation = one.judge(np.zeros(0), z, scenarios)
            if one.risk.met(violation, w):
                values.append(float(risk.value(cost, w)))
        assert found.status == Status.OPTIMAL, name
        assert float(found.value) == pytest.approx(min(values), abs=1e-6), name
        assert len({round(value, 6) for value in values}) > 3, name


def _programs(risk: Risk) -> dict[str, Any]:
    """Of two integers of four values: for each way in which a risk of costs is written."""
    z = integer(2, upper=3)

    @program(xi=2, risk=risk, z=z)
    def linear(xi: Any, z: Any) -> Any:
        return minimise((xi - 1.4) @ z + 0.1 * z[0]), z.sum() >= 2

    @program(xi=2, risk=risk, z=z)
    def hinges(xi: Any, z: Any) -> Any:
        return minimise(z.sum() + 2.5 * pos(xi - z).sum())

    @program(xi=2, risk=risk, z=z, short=recourse(2))
    def stages(xi: Any, z: Any, short: Any) -> Any:
        return minimise(z[0] + 1.1 * z[1] + [4, 3] @ short), z + short >= xi

    @program(xi=2, risk=risk, infeasible_objective=9.0, z=z)
    def limits(xi: Any, z: Any) -> Any:
        return minimise(8 - (1.2 + 0.1 * xi[0]) * z[0] - z[1]), xi @ z <= 6.5

    return {"linear": linear, "hinges": hinges, "stages": stages, "limits": limits}
