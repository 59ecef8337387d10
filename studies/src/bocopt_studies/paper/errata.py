"""Errata: what is wrong, open or missing in the print, what we do about it, what that moves."""

from typing import NamedTuple

from bocopt_studies.catalogue import STUDIES
from bocopt_studies.paper.settings import PRINTED
from bocopt_studies.report.blocks import Grid, Row, Section
from bocopt_studies.study import Size, Summary


class Erratum(NamedTuple):
    name: str
    in_print: str
    here: str


ERRATA = (
    Erratum(
        "E1",
        "Outcomes are shifted by +2. Then every item loses money: doing nothing earns 72 and so "
        "does the clairvoyant, so that table 1 cannot arise.",
        "`offset=1.0`, which also makes weights non-negative",
    ),
    Erratum("E2", "z starts at 0 in the supplement, at 1 in the text.", "`lower=0`"),
    Erratum(
        "E3",
        "z has no upper bound, but predicted weights can be close to 0.",
        "`upper=1000`, an explicit box",
    ),
    Erratum(
        "E4",
        "The big-M program lacks V_i <= c'z, without which it always answers the smallest z.",
        "the program itself is solved, no big M; `capped=False` shows the printed one",
    ),
    Erratum(
        "E5",
        "Weights are divided by the sum of the wrong ones.",
        "`gibbs_update`, in log space",
    ),
    Erratum(
        "E6",
        "The proposal already contains the last outcome, and the acceptance ratio counts it again.",
        '`move="printed"`, or `"corrected"`; `tests/beliefs/test_posterior.py` measures both laws',
    ),
    Erratum(
        "E7",
        "Particles are not resampled before they move: a rejected light one returns with full "
        "weight.",
        '`move="corrected"` resamples',
    ),
    Erratum(
        "E8",
        "20 particles cannot span 48 dimensions: the covariance is singular.",
        "drawn through QR factors; `LiuWest(diagonal=...)` widens it",
    ),
    Erratum(
        "E9",
        "At lambda = 1e-4 nearly every proposal is accepted.",
        '`Trace.info["acceptance"]` shows it',
    ),
    Erratum(
        "E10",
        "BMA as printed earns no more than its prior does with no learning at all; the scale of "
        "the prior matters more than the number of particles.",
        "the row Prior in the extended table; `prior_sd=1.0`",
    ),
    Erratum(
        "E11",
        "Mixability is assumed for every lambda, which is essentially impossible.",
        "`Corollary35` needs Jensen's form alone, and measures both; `AgainstOneDraw` and "
        "`ClippedRegret` need neither",
    ),
    Erratum(
        "E12",
        "A bound for the decisions taken needs no mixability, since z is known before xi.",
        "`Direct`, and sharper: `HoeffdingMixture`, `EmpiricalBernstein`",
    ),
    Erratum(
        "E13",
        "lambda in the bounds is a parameter of the proof, not the learning rate; with the "
        "printed 1e-4 the slack is about 30 per stage.",
        "`guide` says what a lam costs, and what lam* would",
    ),
    Erratum(
        "E14",
        "What is called a regret bound compares with nobody.",
        "`Comparator`, where particles were not moved; `BestArm` for the ensemble",
    ),
    Erratum(
        "E15",
        "Losses are assumed bounded, but the clairvoyant's reward is not as weights approach 0.",
        "certificates bound the cost itself, by a range known before xi; `Clipped` losses for the "
        "theorems, with the share of stages that were cut",
    ),
    Erratum(
        "E16",
        "The information set leaves out the context of the stage.",
        "all is conditional on x and z as well",
    ),
    Erratum(
        "E17",
        '"Step decay 0.99" does not say every how many steps.',
        "`decay_every=100`",
    ),
    Erratum(
        "E18",
        "Weights perturbed for DFL are negative nearly always, and the program then unbounded.",
        "`floor=1e-6`",
    ),
    Erratum(
        "E19",
        "The ± of table 1 is said to be over trials, but is smaller than what even a constant "
        "decision shows. It is the spread along time of the running average: averaged that way, "
        "ours are as small and as large as those in print.",
        "we report the spread over independent trials, and the print's statistic beside it",
    ),
    Erratum(
        "E20",
        "alpha hardly matters under the printed prior: missed scenarios already score 0.",
        "`alpha=0.9`",
    ),
    Erratum(
        "E21",
        "At the printed settings particles are renewed 0 or 1 times in 1000 stages.",
        "`lam=1e-4`; tests also run at 1e-2",
    ),
    Erratum(
        "E22",
        "The root of the squared error has no gradient where the error is 0.",
        "defined as 0 in `PtO`",
    ),
    Erratum(
        "E23",
        "Assumption 3.1(b) bounds the cost from above only, but the proof of Theorem 3.2 takes "
        "losses in [0, C]. Rewards with a minus, as in the experiment, are below any C > 0 while "
        "losses are tens: Theorems 3.2 and 3.3 are then false.",
        "C bounds losses on both sides, or there is no number: costs above 0, or C = largest less "
        "least cost, or `Clipped`. With C = 1, Theorem 3.3 is wrong in 17 of 20 trials on its "
        "stream",
    ),
    Erratum(
        "E24",
        "Assumption 3.4 is about all pi on outcomes, P(Xi); a belief is on parameters, P(Theta). W "
        "is 3 x 12, but W x is taken.",
        "beliefs on parameters, W of 12 x 3; no effect on results",
    ),
)


def section(sensitivity: Summary | None = None) -> Section:
    """Return the section: the table of errata."""
    return Section("Errata of the print", [grid(sensitivity)])


def grid(sensitivity: Summary | None = None) -> Grid:
    """The errata and, where a sensitivity study is given, the rewards that each of them moves."""
    moves = _moves(sensitivity) if sensitivity and sensitivity["trials"] > 1 else {}
    return Grid(
        title="What is wrong or open in the print, and what we do about it",
        header=["", "in print", "here", *(["moves, in reward"] if moves else [])],
        rows=[
            Row([e.name, e.in_print, e.here, *([moves.get(e.name, "")] if moves else [])])
            for e in ERRATA
        ],
        caption="Settings are the fields of `bocopt_studies.paper.settings.Settings`. What is said "
        f"of our own numbers was found at full size, {STUDIES['table1'].full}."
        + (_about_moves(sensitivity) if sensitivity and moves else ""),
        words=True,
    )


def _about_moves(sensitivity: Summary) -> str:
    size = Size.of(sensitivity)._replace(horizon=sensitivity["first_half"])
    return f" Moves: paired changes of the mean reward whose 95% interval leaves out 0, {size}."


def _moves(sensitivity: Summary) -> dict[str, str]:
    texts: dict[str, list[str]] = {}
    for row in sensitivity["rows"]:
        changes = {name: row[name]["change"]["reward"] for name in PRINTED}
        if any(change["low"] is None for change in changes.values()):
            continue  # the streams differ too: no interval, no verdict
        moved = [
            f"{name} {change['mean']:+.2f}"
            for name, change in changes.items()
            if not change["low"] <= 0 <= change["high"]
        ]
        for erratum in row["errata"]:
            text = f"{row['choice']}: {', '.join(moved) or 'no clear change'}"
            texts.setdefault(erratum, []).append(text)
    return {erratum: "; ".join(parts) for erratum, parts in texts.items()}
