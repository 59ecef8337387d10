"""Tightness of certificates on the paper's stream: their slack, and whether they apply."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bocopt import Ensemble
from bocopt.app.text import count
from bocopt.beliefs import for_horizon
from bocopt.core import Array, BoolArray, Policy
from bocopt.guarantees import (
    BestArm,
    Comparator,
    Corollary35,
    Direct,
    EmpiricalBernstein,
    Guarantee,
    HoeffdingMixture,
    Theorem32,
    Theorem33,
)
from bocopt.losses import Clipped
from bocopt.paper import PaperStream
from bocopt_studies.guarantees.certify import Certify
from bocopt_studies.paper.settings import Settings, policies_of, problem_of
from bocopt_studies.report.blocks import Chart, Curve, Grid, Row, Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.work.task import Record, Task

BMA, CLIPPED, BGS, ENSEMBLE = "BMA", "BMA, losses clipped at 100", "BGS", "Ensemble"
PRINTED, CUT = 1e-4, 100.0
_SCALE = 160.0  # declared
_HORIZON = 1000  # that lam* is for, and that the ensemble plays
_AT = (100, 1000, 10_000)
_BOX = 4 * 12 * 1000 + 3 * 24  # what the paper's box lets a decision earn
_FIRST = 50  # stage shown in the charts: before, bounds are far away


def _decisions() -> dict[str, Guarantee[Any]]:
    return {
        "direct, printed lam": Direct(lam=PRINTED),
        "direct, lam* for 1000 stages of range 160": Direct(lam=for_horizon(_HORIZON, _SCALE)),
        "Hoeffding mixture": HoeffdingMixture(),
        "empirical Bernstein, declared 160": EmpiricalBernstein(scale=_SCALE),
        "empirical Bernstein, declared 240": EmpiricalBernstein(scale=240.0),
        f"empirical Bernstein, declared {_BOX:,} (the box)": EmpiricalBernstein(scale=_BOX),
    }


_CHARTED = (
    "headline",
    "Hoeffding mixture",
    "direct, lam* for 1000 stages of range 160",
    "feasibility",
)
_ABOUT_DECISIONS = ("headline", "feasibility", *_decisions())


def _beliefs() -> dict[str, Guarantee[Any]]:
    best = for_horizon(_HORIZON, CUT)
    return {
        "Theorem 3.2, printed lam (Gibbs minimum)": Theorem32(lam=PRINTED, scale=CUT),
        "Theorem 3.2, lam*": Theorem32(lam=best, scale=CUT),
        "Theorem 3.3, printed lam": Theorem33(lam=PRINTED, scale=CUT),
        "Theorem 3.3, lam*": Theorem33(lam=best, scale=CUT),
        "Corollary 3.5, lam*": Corollary35(lam=best, scale=CUT),
        "comparator, printed lam": Comparator(lam=PRINTED, scale=CUT),
    }


def _guarantees(policy: str) -> dict[str, Guarantee[Any]]:
    if policy == CLIPPED:
        return _beliefs()
    return _decisions() | ({"best arm": BestArm()} if policy == ENSEMBLE else {})


def policies() -> dict[str, Policy[Any]]:
    """Return BMA, BMA on clipped losses, BGS and the ensemble, by name."""
    printed = policies_of(Settings())
    bma: Any = printed[BMA]
    clipped = replace(bma.sampler, loss=Clipped(bma.sampler.loss, at=CUT))
    return {
        BMA: bma,
        CLIPPED: replace(bma, sampler=clipped),
        BGS: printed[BGS],
        ENSEMBLE: Ensemble(bma.problem),
    }


def _stages_of(policy: str, size: Size) -> int:
    return min(size.horizon, _HORIZON) if policy == ENSEMBLE else size.horizon


def _at(horizon: int) -> tuple[int, ...]:
    """Stages shown: 150, evenly on a logarithmic axis, and those of the tables."""
    even = np.geomspace(1, horizon, 150).round().astype(int).tolist()
    return tuple(sorted({*even, *(t for t in _AT if t <= horizon)}))


def tasks(size: Size) -> dict[str, Task]:
    """Return the task that certifies each policy, by name."""
    found: dict[str, Task] = {}
    for name, policy in policies().items():
        horizon = _stages_of(name, size)
        found[name] = Certify(
            policy=policy,
            problem=problem_of(Settings()),
            stream=PaperStream(),
            seeds=size.seeds,
            horizon=horizon,
            guarantees=tuple(_guarantees(name).items()),
            scale=_SCALE,
            law=PaperStream(),
            at=_at(horizon),
            noted=_HORIZON,
        )
    return found


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return each policy's true risks, certificates and curves for the charts."""
    return {**size._asdict(), "policies": {n: _policy(size, n, r) for n, r in records.items()}}


def _policy(size: Size, name: str, record: Record) -> Summary:
    at = _at(_stages_of(name, size))
    names = [key.removesuffix("/bound") for key in record if key.endswith("/bound")]
    return {
        "stages": at,
        "true": {measure: _curve(record[f"true_{measure}"]) for measure in ("cost", "infeasible")},
        "certificates": {guarantee: _certificate(record, guarantee, at) for guarantee in names},
        "curves": {
            guarantee: {part: _curve(record[f"{guarantee}/{part}"]) for part in ("value", "bound")}
            for guarantee in _CHARTED
            if name == BMA
        },
    }


def _certificate(record: Record, name: str, at: tuple[int, ...]) -> Summary:
    value, bound, vacuous = (record[f"{name}/{part}"] for part in ("value", "bound", "vacuous"))
    noted = at.index(min(_HORIZON, at[-1]))
    true = record["true_infeasible" if name == "feasibility" else "true_cost"]
    return {
        "after": {
            str(t): {
                "slack": _mean((bound - value)[:, at.index(t)]),
                "sd": _sd((bound - value)[:, at.index(t)]),
                "applicable": int(np.isfinite(bound[:, at.index(t)]).sum()),
                "vacuous": int(vacuous[:, at.index(t)].sum()),
            }
            for t in sorted({*_AT, at[-1]})
            if t in at
        },
        "note": _note(record[f"{name}/note"], bound[:, noted], vacuous[:, noted]),
        "failed": int((true > bound).any(axis=-1).sum()) if name in _ABOUT_DECISIONS else None,
    }


def _note(notes: Any, bound: Array, vacuous: BoolArray) -> str:
    """Return the note on the first trial whose bound is missing or vacuous, else on trial 0."""
    trial = int((np.isnan(bound) | vacuous).argmax())
    return f"trial {trial}: {notes[trial]}" if notes[trial] else ""


def _curve(values: Array) -> list[float | None]:
    return [_mean(column) for column in values.T]


def _mean(values: Array) -> float | None:
    """Over the trials that have a number."""
    known = values[np.isfinite(values)]
    return float(f"{known.mean():.6g}") if known.size else None


def _sd(values: Array) -> float | None:
    known = values[np.isfinite(values)]
    return float(f"{known.std(ddof=1):.3g}") if known.size > 1 else None


def show(summary: Summary) -> Section:
    """Return the section: a table for each policy, and BMA's charts of reward and feasibility."""
    return Section(
        "Certificates on the paper's stream",
        [
            *(_table(summary, name) for name in (BMA, CLIPPED, BGS, ENSEMBLE)),
            _cost_chart(summary),
            _feasibility_chart(summary),
        ],
    )


def _table(summary: Summary, policy: str) -> Grid:
    found = summary["policies"][policy]
    stages = list(next(iter(found["certificates"].values()))["after"])
    noted = min(_HORIZON, found["stages"][-1])
    size = Size.of(summary)._replace(horizon=found["stages"][-1])
    reward = -found["true"]["cost"][-1]
    failed = sum(c["failed"] or 0 for c in found["certificates"].values())
    return Grid(
        title=f"{policy}: slack per stage",
        header=["certificate", *(f"T = {int(t):,}" for t in stages), f"said after {noted:,}"],
        rows=[
            Row([name, *(_cell(c["after"][t], summary["trials"]) for t in stages), c["note"]])
            for name, c in found["certificates"].items()
        ],
        caption=f"Mean ± sd over the trials in which it applies, of {size}; delta = "
        f"0.05. The true expected reward a stage was {reward:.2f} after {found['stages'][-1]:,}; "
        f"bounds on decisions failed {count(failed, 'time')}, at the "
        f"{count(len(found['stages']), 'stage')} seen.",
        words=True,
    )


def _cell(after: Mapping[str, Any], trials: int) -> str:
    if not after["applicable"]:
        return "not applicable"
    digits = 3 if after["slack"] < 1 else 2 if after["slack"] < 100 else 0
    sd = "" if after["sd"] is None else f" ± {after['sd']:,.{digits}f}"
    parts = [f"{after['slack']:,.{digits}f}{sd}"]
    if after["applicable"] < trials:
        parts.append(f"applies in {after['applicable']} of {trials}")
    if after["vacuous"]:
        parts.append("vacuous" if after["vacuous"] == trials else f"vacuous in {after['vacuous']}")
    return ", ".join(parts)


def _cost_chart(summary: Summary) -> Chart:
    found = summary["policies"][BMA]
    return Chart(
        name="guarantees-reward",
        title="What BMA earns, with 95% confidence",
        y_label="average reward so far",
        curves=[
            _shown("true expectation", found, found["true"]["cost"], -1),
            _shown("seen", found, found["curves"]["headline"]["value"], -1),
            *(
                _shown(name.split(" for ")[0], found, found["curves"][name]["bound"], -1)
                for name in _CHARTED[:-1]
            ),
        ],
        logarithmic=True,
        caption=f"Mean over {count(summary['trials'], 'trial')}. The headline bets in units of a "
        "declared range of 160.",
    )


def _feasibility_chart(summary: Summary) -> Chart:
    found = summary["policies"][BMA]
    one = found["curves"]["feasibility"]
    return Chart(
        name="guarantees-feasibility",
        title="How often BMA is feasible, with 95% confidence",
        y_label="feasible, on average so far",
        curves=[
            _shown("true chance", found, [1 - v for v in found["true"]["infeasible"]], 1),
            _shown("seen", found, [1 - v for v in one["value"]], 1),
            _shown("at least", found, [None if v is None else 1 - v for v in one["bound"]], 1),
        ],
        logarithmic=True,
        caption=f"Mean over {count(summary['trials'], 'trial')}; alpha = 0.9 was asked for.",
    )


def _shown(label: str, found: Summary, values: list[float | None], sign: int) -> Curve:
    """Return a curve from the stage on which bounds come into sight, without missing values."""
    first = _FIRST if found["stages"][-1] > 2 * _FIRST else 1
    points = [
        (t, sign * value)
        for t, value in zip(found["stages"], values, strict=True)
        if t >= first and value is not None
    ]
    return Curve(label, *(list(part) for part in zip(*points, strict=True)))
