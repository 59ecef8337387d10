"""Why a decision was taken: what it and others were expected to bring, under the same scenarios."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bocopt.abilities import HasArms, HasShadows, LooksUp, UnderScenarios
from bocopt.core import Array, Policy, Problem, Sense, Status, judge
from bocopt.live.fold import Decided, Fold
from bocopt.live.record import Live
from bocopt.wrappers import find, scenarios_of

_LEAST = 1e-12  # of a share that counts as met, as a problem does
_HELD = 16  # latest decisions of an agent that can be explained whatever was learned since
_SHOWN = 6  # of many numbers or candidates, in words


Known = tuple[Live, Decided]  # what was known when it was decided, and the decision


class NoExplanationError(ValueError):
    """There is nothing to compare a decision with: its message says why."""


class Arm(NamedTuple):
    """The arm of an ensemble whose decision was taken."""

    name: str
    weight: float  # before the outcome
    own_scenarios: bool  # whether it decided under the scenarios that all are judged under


class Candidate(NamedTuple):
    """A decision that could have been taken, and what it was expected to bring.

    `what` is "taken", "one more" or "one less" of the number `name`, or the decision of the "arm"
    or the "shadow" of this name.
    """

    what: str
    name: str
    z: Array  # (d)
    expected: float  # cost or reward, as the problem shows it
    feasibility: float  # share of the scenarios

    def __str__(self) -> str:
        of = {"taken": "", "one more": " of", "one less": " of"}.get(self.what, "")
        return f"{self.what}{of} {self.name}".strip()


class Explanation(NamedTuple):
    """A decision beside its neighbours, and beside what arms and shadows would have decided.

    The first candidate is what was taken. `print` tells it in words.
    """

    id: int
    x: Array  # (k)
    names: Mapping[str, Sequence[str]]  # of the numbers of x and z
    scenarios: int
    sense: Sense
    alpha: float | None  # the share of scenarios in which z was to be feasible
    status: Status
    arm: Arm | None
    candidates: tuple[Candidate, ...]
    look_up: float | None = None  # how much worse it was expected to be than what looks up nowhere

    @property
    def taken(self) -> Candidate:
        """The candidate that was decided."""
        return self.candidates[0]

    @property
    def better(self) -> tuple[Candidate, ...]:
        """The candidates that were expected to bring more and meet the target, the best first."""
        found = [each for each in self._rivals if meets(each.feasibility, self.alpha)]
        return tuple(sorted(found, key=lambda each: -self._gain(each)))

    @property
    def _rivals(self) -> list[Candidate]:
        return [each for each in self.candidates[1:] if self._gain(each) > 0]

    def _gain(self, each: Candidate) -> float:
        return gain(self.sense, each.expected, self.taken.expected)

    def __str__(self) -> str:
        """Return in words the decision, who took it, what it was to bring, and better ones."""
        z, x = _listed(self.names["z"], self.taken.z), _listed(self.names["x"], self.x)
        bare = len(self.names["x"]) != len(self.x)
        given = f", given {f'x = ({x})' if bare else x}" * bool(x)
        lines = [f"Decision {self.id}: {z}{given}.", self._chosen(), self._expected()]
        return "\n".join(lines)

    def _chosen(self) -> str:
        if self.look_up is not None:
            word = "cost {:.3g} more" if self.sense is Sense.MINIMISE else "bring {:.3g} less"
            return (
                "Taken to see more of what comes, beyond what was seen so far: it was expected to "
                f"{word.format(self.look_up + 0.0)} than what would else be decided."
            )
        if self.arm is None:
            return f"Its status: {self.status.message}."
        by = f"Taken by the arm '{self.arm.name}' (weight {100 * self.arm.weight:.0f}%)"
        if self.arm.own_scenarios:
            return f"{by}: {self.status.message}."
        return (
            f"{by}: {self.status.message}. That is under the outcomes that this arm goes by; "
            "below, all are judged under the model's scenarios."
        )

    def _expected(self) -> str:
        word, taken = self.sense.value, self.taken
        more, verb = ("less", "cost") if self.sense is Sense.MINIMISE else ("more", "bring")
        said = f"Expected {word} {taken.expected + 0.0:.4g} under {self.scenarios:,} scenarios"
        met = ""
        if self.alpha is not None:
            shares = f"{100 * taken.feasibility:.3g}% of them, target {100 * self.alpha:g}%"
            said, met = f"{said}, feasible in {shares}", " and meet the target"
            if not meets(taken.feasibility, self.alpha):
                return f"{said}: it misses the target."
        if self.better:
            shown = ", ".join(f"{e} ({e.expected:.4g})" for e in self.better[:_SHOWN])
            left = len(self.better) - _SHOWN
            rest = f" and {left} others" if left > 0 else ""
            return f"{said}.\nThese would {verb} {more}{met}: {shown}{rest}."
        if self._rivals:
            return f"{said}.\nWhat would {verb} {more} misses the target."
        return f"{said}.\nNothing that it was compared with would {verb} {more}."


def gain(sense: Sense, expected: float | None, taken: float) -> float:
    """Return by how much it is better than what was taken, beyond rounding; -inf if unknown.

    >>> gain(Sense.MAXIMISE, 12.0, 10.0), gain(Sense.MINIMISE, 12.0, 10.0)
    (2.0, -2.0)
    """
    if expected is None or not np.isfinite(expected):
        return float("-inf")
    found = -sense.sign * (expected - taken)
    near = 1e-9 * max(abs(taken), 1.0)
    return 0.0 if abs(found) <= near else float(found)


def meets(feasibility: float, alpha: float | None) -> bool:
    """Return whether a decision is feasible as often as it is to be.

    >>> meets(0.9, 0.9), meets(0.8, 0.9), meets(0.8, None)
    (True, False, True)
    """
    return alpha is None or feasibility >= alpha - _LEAST


def explained(
    fold: Fold[Any], live: Live, event: Decided, names: Mapping[str, Sequence[str]]
) -> Explanation:
    """The explanation of a decision, by what was known when it was taken.

    `names` has those of the numbers of z, one for each; those of x may be missing.
    """
    waiting, problem, policy, state = (
        event.waiting,
        fold.problem,
        fold.playing(live.in_part),
        live.state,
    )
    x, solution, memo = waiting.x, waiting.decision.solution, waiting.decision.memo
    scenarios, w = _scenarios(policy, state, event)
    candidates = [("taken", "", solution.z), *_neighbours(names["z"], solution.z)]
    arm, look_up = None, None
    if (event.by, event.in_part) == (fold.by, live.in_part):  # else the memo is another policy's
        candidates += _others(policy, memo, state)
        look_up = _look_up(policy, memo, state, solution.z)
        arm = _arm(policy, memo, state) if look_up is None else None
    expected = _expected(problem, x, np.stack([z for *_, z in candidates]), scenarios, w)
    return Explanation(
        id=event.number,
        x=x,
        names={"x": (), **names},
        scenarios=len(w),
        sense=problem.sense,
        alpha=problem.risk.alpha,
        status=Status(int(solution.status)),
        arm=arm,
        candidates=tuple(
            Candidate(*one, *numbers) for one, numbers in zip(candidates, expected, strict=True)
        ),
        look_up=look_up,
    )


def _look_up(policy: Policy[Any], memo: Any, state: Any, z: Array) -> float | None:
    found = find(policy, LooksUp, state, memo)
    price = None if found is None else found.part.look_up_price(found.memo, z)
    return None if price is None else float(price)


def with_latest(taken: Mapping[int, Known], live: Live, event: Decided) -> dict[int, Known]:
    """The latest decisions with one more, and without the oldest where there are too many."""
    after = {**taken, event.number: (live, event)}
    return dict(list(after.items())[-_HELD:])


def known_at(number: int, live: Live, taken: Mapping[int, Known]) -> Known:
    """A decision with what was known when it was taken, as far as that is held."""
    if number in taken:
        return taken[number]
    waiting = live.open.get(number)
    if waiting and int(waiting.learned) == live.learned and int(waiting.taught) == live.taught:
        return live, Decided(number, waiting, in_part=live.in_part)
    raise NoExplanationError(
        f"What was known at decision {number} is no longer held: an agent holds it for the latest "
        f"{_HELD} decisions since it was made or loaded, and for all until it learns more."
    )


def _scenarios(policy: Policy[Any], state: Any, event: Decided) -> tuple[Array, Array]:
    stage = event.number + int(event.waiting.taught)
    found = scenarios_of(policy, state, stage, event.waiting.x)
    if found is None:
        has_any = find(policy, UnderScenarios) is not None
        why = "no outcome was known yet" if has_any else f"{type(policy).__name__} has none"
        raise NoExplanationError(f"Decision {event.number} was not taken under scenarios: {why}.")
    return found


def _neighbours(names: Sequence[str], z: Array) -> Iterator[tuple[str, str, Array]]:
    for i, name in enumerate(names):
        for what, step in (("one more", 1.0), ("one less", -1.0)):
            yield what, name, z + step * np.eye(len(z))[i]


def _others(
    policy: Policy[Any], memo: tuple[Any, ...], then: Any
) -> Iterator[tuple[str, str, Array]]:
    """Yield the decisions of shadows and arms, each with its kind and its name."""
    if shadowed := find(policy, HasShadows, then, memo):
        for name, z in shadowed.part.shadow_decisions(shadowed.memo):
            yield "shadow", name, z
    if found := find(policy, HasArms, then, memo):
        for name, z in found.part.arm_decisions(found.memo):
            yield "arm", name, z


def _arm(policy: Policy[Any], memo: tuple[Any, ...], then: Any) -> Arm | None:
    """Return the arm whose decision was taken, or None: only the model's is under its scenarios."""
    found = find(policy, HasArms, then, memo)
    if found is None:
        return None
    name, names = found.part.arm_taken(found.memo), found.part.arm_names
    weights = dict(zip(names, found.state.info.arm_weights.tolist(), strict=True))
    return Arm(name, weights[name], name == names[0])


def _expected(
    problem: Problem, x: Array, z: Array, scenarios: Array, w: Array
) -> list[tuple[float, float]]:
    """Return what each z (n, d) brings on average at x (k), under scenarios (s, m) with weights
    (s), and how often it is feasible.
    """
    costs, violations = judge(problem, x, z[:, None, :], scenarios)
    means = problem.sense.sign * (w * costs).sum(axis=-1)
    shares = (w * (violations <= 0)).sum(axis=-1)
    return list(zip(means.tolist(), shares.tolist(), strict=True))


def _listed(names: Sequence[str], values: Array) -> str:
    """Numbers by their names, where there are as many."""
    named = len(names) == len(values)
    shown = [
        f"{names[i]} = {value:.4g}" if named else f"{value:.4g}"
        for i, value in enumerate(values.tolist()[:_SHOWN])
    ]
    left = len(values) - _SHOWN
    return ", ".join(shown) + (f" and {left} more" if left > 0 else "")
