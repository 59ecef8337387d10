"""Certificates and their words: a guarantee at a stage, and the contract of all that give one."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from bocopt import arguments
from bocopt.core import ArmsReport, Array, BeliefReport, BoolArray, LossBounds, LossReport, Sense
from bocopt.guarantees.phrases import amount, between, on, verb

_UNKNOWN, _YES, _NO = np.array(np.nan), np.array(True), np.array(False)
NO_RANGE = "No range was known before xi"
IN_PART = "The outcome was seen in part"
LATE = (
    "an outcome that came late or never depends neither on when it came nor on others that were "
    "open with it, given what was known at its decision"
)


#: What is known of a belief or of arms where there are none.
NO_BELIEF = BeliefReport(
    LossReport(*(_UNKNOWN,) * 6), LossBounds(*(_UNKNOWN,) * 3), intact=_UNKNOWN
)
NO_ARMS = ArmsReport(*(_UNKNOWN,) * 4)
S = TypeVar("S")


class Shadow(NamedTuple):
    """Cost of a policy that is not followed, and the range of its difference to what was paid."""

    cost: Array  # ()
    low: Array  # () least that this, less what was paid, could have been, known before xi
    high: Array  # () most
    least: Array = _UNKNOWN  # () least that it can have been, by what was seen; NaN: costs show it
    most: Array = _UNKNOWN  # ()

    def where(self, came: BoolArray) -> "Shadow":
        """Return the same but for stages whose outcome never came: anything in its range."""
        least, most = (np.where(came, np.nan, end) for end in (self.low, self.high))
        return self._replace(least=least, most=most)


class Evidence(NamedTuple):
    """Numbers of one stage for guarantees; leading axes are free, NaN where one is missing."""

    cost: Array  # () what was paid; NaN where what was seen does not show it
    low: Array = _UNKNOWN  # () least that could have been paid, known before xi
    high: Array = _UNKNOWN  # () most, likewise
    possible: BoolArray = _YES  # () whether xi is one that the range was meant for
    feasible: BoolArray = _YES  # ()
    loss: Array = _UNKNOWN  # () regret of the decision taken
    belief: BeliefReport = NO_BELIEF
    arms: ArmsReport = NO_ARMS
    shadows: tuple[Shadow, ...] = ()
    stale: BoolArray = _NO  # () whether the belief had changed since the decision
    late: BoolArray = _NO  # () whether an earlier outcome was unknown, or a later one known
    least: Array = _UNKNOWN  # () least that can have been paid, by what was seen; NaN: `cost` was
    most: Array = _UNKNOWN  # () most, likewise
    undecided: BoolArray = _NO  # () whether it may have been feasible, and infeasible
    in_part: BoolArray = _NO  # () whether the outcome was seen in part, or never came

    @property
    def paid(self) -> tuple[Array | BoolArray, ...]:
        """What kernels read of the decision taken."""
        return self.cost, self.least, self.most, self.low, self.high, self.possible, self.late


def shadow_of(evidence: Evidence, number: int) -> Shadow:
    """Return the shadow of this number; NaN where there is none."""
    if len(evidence.shadows) > number:
        return evidence.shadows[number]
    return Shadow(*(np.full(evidence.cost.shape, np.nan),) * 3)


class Difference(NamedTuple):
    """Per compared stage; negative where the other one is better."""

    seen: Array  # () the average of the stages that show it; NaN where none does
    low: Array  # () least that is believable of the average expected difference
    high: Array  # () most
    since: Array  # () the compared stage since which it is known on which side of 0 it is; else NaN
    least: Array = _UNKNOWN  # () least that the average of all can have been, by what was seen
    most: Array = _UNKNOWN  # () most


class Certificate(NamedTuple):
    """An upper bound on an average risk, which holds but for a chance of delta.

    Numbers are per stage. Where the guarantee does not apply, `bound` and `slack` are NaN; `note`
    says why, or why the bound is vacuous, or what else should be known. Of a comparison,
    `difference` has both sides.
    """

    name: str
    risk: str  # what is bounded
    value: Array  # () what was seen; the most that it can have been where that was in part
    bound: Array  # ()
    slack: Array  # () bound - value
    delta: float
    assumptions: tuple[str, ...]
    vacuous: BoolArray  # () whether the bound says no more than the range does
    applicable: BoolArray  # ()
    note: str = ""
    reward: str = ""  # what is bounded, where costs are rewards; empty if it is no cost
    other: str = ""  # who is compared with what decides
    difference: Difference | None = None
    refuted: BoolArray = _NO  # () whether the note says that a target is surely missed
    least: Array = _UNKNOWN  # () the least that `value` can have been; NaN where all was seen

    def words(self, sense: Sense = Sense.MINIMISE, unit: str = "") -> str:
        """Return the certificate in words; of several trials, only how many have it. With
        `MAXIMISE`, a cost is shown as a reward. `unit` is that of costs, such as "EUR".
        """
        if self.bound.ndim:
            return f"{self.name}: {int(self.applicable.sum())} of {self.bound.size} trials have it."
        if not self.applicable:
            return f"{self.name}: not applicable. {self.note}"
        provided = f", provided that {self.conditions}" if self.assumptions else ""
        vacuous = " Vacuous." if self.vacuous and self.difference is None else ""
        return f"{self.name}: {self.claim(sense, unit)}{provided}.{vacuous} {self.note}".strip()

    @property
    def conditions(self) -> str:
        """The assumptions that the claim rests on, joined by semicolons."""
        return "; ".join(self.assumptions)

    def claim(self, sense: Sense = Sense.MINIMISE, unit: str = "") -> str:
        """Return in words, for one trial, what is sure if the conditions hold."""
        cost = self.reward or self.difference is not None  # and no share of decisions, say
        unit = f" {unit}" if unit and cost else ""
        sure = "surely" if self.delta == 0 else f"with {100 * (1 - self.delta):g}% confidence"
        if self.difference is not None:
            said = f"{sure}, at all times at once, {difference_in_words(self, sense, unit)}"
        elif sense is Sense.MAXIMISE and self.reward:
            seen = spread_in_words(-self.value, -self.least, unit)
            said = f"{sure} the {self.reward} is at least {-self.bound:.4g}{unit} (seen: {seen})"
        else:
            seen = spread_in_words(self.least, self.value, unit)
            said = f"{sure} the {self.risk} is at most {self.bound:.4g}{unit} (seen: {seen})"
        return f"{said[0].upper()}{said[1:]}"


def spread_in_words(low: Array, high: Array, unit: str = "") -> str:
    """Return in words, for one trial, between what a number was seen to be.

    An end that is NaN is the other one: it was seen in full.

    >>> spread_in_words(np.array(1.0), np.array(2.0), " EUR")
    'between 1 EUR and 2 EUR'
    >>> spread_in_words(np.array(np.nan), np.array(2.0))
    '2'
    """
    least, most = (
        f"{end:.4g}{unit}" for end in np.where(np.isnan([low, high]), [high, low], [low, high])
    )
    return most if least == most else f"between {least} and {most}"


def difference_in_words(found: Certificate, sense: Sense, unit: str = "") -> str:
    """Return in words, for one trial, the interval of a difference and the verdict on it.

    `unit` begins with a space.
    """
    assert found.difference is not None
    d = found.difference
    interval = between(float(d.low), float(d.high), sense, unit)
    seen = amount(float(d.seen), sense, unit)
    if not np.isnan(found.least):
        seen = between(float(d.least), float(d.most), sense, unit)
    than = "a stage on average than the decisions taken"
    return f"{found.other} {verb(sense)} {interval} {than} (seen: {seen}): {verdict(d)}"


def verdict(found: Difference) -> str:
    """Return in words, for one trial, which is better on average so far, not lately."""
    if np.isnan(found.since):
        return "neither is better" if found.low == 0 == found.high else "which is better is open"
    side = "better" if found.high <= 0 else "worse"
    return f"{side} on average, known since compared stage {int(found.since)}"


class Guarantee(Protocol[S]):
    """One fold over stages: the same live and afterwards, bit for bit."""

    def init(self, lead: tuple[int, ...]) -> S:
        """Return the state before any stage, with leading axes `lead`."""
        ...

    def step(self, state: S, evidence: Evidence) -> S:
        """Return the state after one more stage."""
        ...

    def certificate(self, state: S) -> Certificate:
        """Return the certificate of the stages so far."""
        ...


@runtime_checkable
class TwoSided(Protocol):
    """A guarantee that bounds its risk from below as well."""

    def interval(self, state: Any) -> tuple[Array, Array]:
        """Return the least and the largest risk that is believable, each ()."""
        ...


@runtime_checkable
class Summed(Protocol):
    """A guarantee whose state is that of every other one with the same `sums`."""

    @property
    def sums(self) -> Hashable:
        """Key of the state: guarantees with equal keys share one."""
        ...


def nan_is_no_news() -> np.errstate:
    """While guarantees are folded: it stands where there is nothing."""
    return np.errstate(divide="ignore", over="ignore", invalid="ignore")


def certify(guarantee: Guarantee[Any], stages: Iterable[Evidence]) -> Certificate:
    """The certificate after all these stages, at least one."""
    arguments.kind("certify", "guarantee", guarantee, Guarantee)
    state = folded(guarantee, arguments.each("certify", "stages", stages, Evidence))
    if state is None:
        raise ValueError("There are no stages to certify.")
    return guarantee.certificate(state)


def folded(guarantee: Guarantee[Any], stages: Iterable[Evidence]) -> Any:
    """The state after all these stages; None where there are none."""
    state = None
    for evidence in stages:
        if state is None:
            state = guarantee.init(evidence.cost.shape)
        with nan_is_no_news():
            state = guarantee.step(state, evidence)
    return state


def certificate(
    name: str,
    risk: str,
    *,
    value: Array,
    slack: Array,
    trivial: Array,
    delta: float,
    assumptions: tuple[str, ...],
    broken: Mapping[str, Array],
    failed: BoolArray = _NO,
    if_vacuous: str = "",
    note: str = "",
    reward: str = "",
    other: str = "",
    difference: Difference | None = None,
    certain: BoolArray = _NO,
    least: Array = _UNKNOWN,
) -> Certificate:
    """value + slack, or nothing where it does not apply.

    `broken` counts the stages that broke an assumption, by which; `failed` is for other causes,
    which `note` tells. `reward` is what the risk is called where costs are rewards. A bound is not
    vacuous where all was `certain` before the outcomes.
    """
    value, slack = np.asarray(value), np.asarray(slack)
    fine = np.isfinite(value) & np.isfinite(slack) & ~failed
    for count in broken.values():
        fine = fine & (count == 0)
    bound = np.where(fine, value + slack, np.nan)
    vacuous = (bound >= trivial) & ~certain
    notes = [f"{why} {on(count)}." for why, count in broken.items() if count.any()]
    if not (notes or fine.all() or failed.any()):
        notes.append("What it needs was not shown, or is not a finite number.")
    if vacuous.any() and if_vacuous:
        notes.append(if_vacuous)
    if note:
        notes.append(note)
    return Certificate(
        name=name,
        risk=risk,
        value=value,
        bound=bound,
        slack=np.where(fine, slack, np.nan),
        delta=delta,
        assumptions=assumptions,
        vacuous=np.asarray(vacuous),
        applicable=np.asarray(fine),
        note=" ".join(notes),
        reward=reward,
        other=other,
        difference=difference,
        least=np.broadcast_to(least, value.shape),
    )
