"""Findings of a study: all that its report shows."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from bocopt.app.features.series import Panel, Series
from bocopt.compared import Compared
from bocopt.core import Array, BoolArray, IntArray, Sense


class Played(NamedTuple):
    """Decisions of one policy at every stage, and what came of them; NaN where no outcome came."""

    z: Array  # (T, d)
    cost: Array  # (T)
    feasible: Array  # (T) 1 or 0
    hindsight: Array  # (T) the least cost for whoever knows the outcome
    status: IntArray  # (T) of the solver
    info: Mapping[str, Array]  # (T, ...) by name, what the policy learned: `Stage.info`
    said: tuple[str, ...]  # by its monitor, after the last stage: a sentence each


class Decisions(NamedTuple):
    """Decisions for new rows, as columns of a table with a row for each of them."""

    stages: tuple[int, ...]  # their numbers, after those of the table
    columns: Mapping[str, list[Any]]  # the time where there is one, the decision, its status


class Findings(NamedTuple):
    """Findings on all policies on one series."""

    title: str
    unit: str  # of costs, such as EUR; may be empty
    sense: Sense
    alpha: float | None  # the feasibility that is asked for, if any
    series: Series
    warm_up: int  # first stages that are played, and that no number counts
    now: str | None  # the name of what is done now, among the policies
    played: Mapping[str, Played]  # by policy
    compared: Mapping[str, Compared]  # by policy, with what is done now: after the warm-up
    code: str  # how to take the first policy into use
    delta: float = 0.05  # the chance that what is said to hold at all times does not


class Discoveries(NamedTuple):
    """Series (n) in which a policy is named better or worse than another, on average so far.

    By e-BH: of the series that are named, a share of `delta` at most is expected to be wrong.
    """

    policy: str
    reference: str
    delta: float
    log_e: Array  # (n, 2) evidence that it is better, and that it is worse; -inf where is none
    better: BoolArray  # (n)
    worse: BoolArray  # (n)
    unrecorded: int = 0  # decisions that are left out, as one of the two is not known


class PanelFindings(NamedTuple):
    """Results of all policies on each series of a panel, and in all."""

    totals: Findings  # a stage is a time: what all series paid that decided at it
    panel: Panel
    each: tuple[Mapping[str, Played], ...]  # of each series, in its order: by policy
    counts: tuple[BoolArray, ...]  # of each series: (T) the decisions that totals are made of
    discoveries: Discoveries | None = None  # of the first policy; None where it is the only one
    across: tuple[str, ...] = ()  # policies that are given what a model of all series expects
    coupled: bool = False  # whether costs of a series are those of all series of its time
