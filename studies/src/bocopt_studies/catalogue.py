"""Every study, in the order of the report: its name, what it is for, how large and where it is.

Light: the command line reads this table, and imports a study only when it is run.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bocopt_studies.study import Size, Study


class StudyGroup(NamedTuple):
    """Studies that one command runs together."""

    command: str
    help: str


GROUPS: Mapping[str, StudyGroup] = {
    "paper": StudyGroup("all", "The whole paper, and a report."),
    "posterior": StudyGroup("posterior", "Beyond the paper, the exact posterior: all of these."),
    "learning": StudyGroup("learning", "Beyond the paper, the default learner: all of these."),
    "guarantees": StudyGroup("guarantees", "Beyond the paper, certificates: all of these."),
    "problems": StudyGroup("problems", "Beyond the paper, other problems: both of these."),
}

TUNING_SEED = 1000  # what is tuned is tuned on other trials


def _halved(full: Size) -> Size:
    """The paper tunes on a fifth of the trials and half of the stages."""
    return full.part(percent=50)


def _with_a_change(full: Size) -> Size:
    fewer = full.part(percent=60)
    return fewer._replace(horizon=max(2, fewer.horizon))  # a stage before it and one after


STUDIES: Mapping[str, Study] = {
    study.name: study
    for study in (
        Study(
            "table1",
            "Table 1, beside the print and with honest baselines.",
            "paper",
            "table1",
        ),
        Study(
            "figure1",
            "Figure 1: reward and feasibility over time.",
            "paper",
            "figure1",
        ),
        Study(
            "figure-s1",
            "Supplementary figure 1: the learning rate of PtO.",
            "paper",
            "figure_s1",
            _halved,
        ),
        Study(
            "figure-s2",
            "Supplementary figure 2: the learning rate of DFL.",
            "paper",
            "figure_s2",
            _halved,
        ),
        Study(
            "sensitivity",
            "What each errata choice does to each policy.",
            "paper",
            "sensitivity",
            Size.part,
        ),
        Study(
            "readings",
            "Which reading of the print fits its table 1.",
            "paper",
            "readings",
        ),
        Study(
            "posterior-accuracy",
            "Samplers against a known posterior.",
            "posterior",
            "accuracy",
            lambda full: full.part(percent=10),
        ),
        Study(
            "posterior-forgetting",
            "The same while a window slides or losses fade.",
            "posterior",
            "forgetting",
            lambda full: full.part(25, percent=3),
        ),
        Study(
            "posterior-tuning",
            "The scale of the prior and the learning rate.",
            "posterior",
            "tuning",
            lambda full: full.part()._replace(seed=TUNING_SEED),
        ),
        Study(
            "posterior-repairs",
            "What each repair of the sampler brings.",
            "posterior",
            "repairs",
        ),
        Study(
            "posterior-converged",
            "Whether another sampler changes that.",
            "posterior",
            "better_sampler",
            Size.part,
        ),
        Study(
            "posterior-knapsack",
            "The knapsack's posterior against a long reference.",
            "posterior",
            "knapsack",
            lambda full: full.part(10, percent=30),
        ),
        Study(
            "posterior-regimes",
            "Recovery from a change of regime.",
            "posterior",
            "regimes",
            _with_a_change,
        ),
        Study(
            "learning-table",
            "Table 1 with the ensemble and its members.",
            "learning",
            "table",
        ),
        Study(
            "learning-streams",
            "Four streams: the best member, calibration.",
            "learning",
            "streams",
            Size.part,
        ),
        Study(
            "learning-worlds",
            "Nine worlds with known laws, beside forests and other rivals.",
            "learning",
            "known_laws",
            lambda full: full.part(10, percent=60),
        ),
        Study(
            "learning-data",
            "Eight real data sets, beside forests and other rivals.",
            "learning",
            "real_data",
            lambda full: full.part(50)._replace(horizon=min(1000, full.horizon)),
        ),
        Study(
            "guarantees-tightness",
            "What certificates say on the paper's stream.",
            "guarantees",
            "tightness",
            lambda full: full.part(percent=1000),
        ),
        Study(
            "guarantees-coverage",
            "How often they fail where the truth is known.",
            "guarantees",
            "coverage",
            lambda full: full._replace(trials=100 * full.trials, horizon=min(300, full.horizon)),
        ),
        Study(
            "guarantees-belief",
            "The belief's certificates: slack, applicability, coverage.",
            "guarantees",
            "belief",
            Size.part,
        ),
        Study(
            "guarantees-comparison",
            "Since when a policy is surely better than another.",
            "guarantees",
            "versus",
        ),
        Study(
            "problems-classes",
            "Seven classes of problems, beside the conditional optimum.",
            "problems",
            "classes",
            lambda full: full.part(16, percent=10),
        ),
        Study(
            "problems-paths",
            "SPO+ and others on the polynomial shortest paths.",
            "problems",
            "paths",
            lambda full: full.part(10, percent=50),
        ),
    )
}


def studies_of(command: str) -> Sequence[Study]:
    """Return the studies of a group's command, or the one that the command names."""
    groups = {group.command: name for name, group in GROUPS.items()}
    if command not in groups:
        return [STUDIES[command]]
    return [study for study in STUDIES.values() if study.group == groups[command]]
