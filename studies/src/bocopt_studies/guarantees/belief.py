"""The belief's certificates: how tight they are, whether they apply, and whether they hold."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bocopt.app.text import count
from bocopt.beliefs import for_horizon
from bocopt.core import Array
from bocopt.guarantees import AgainstOneDraw, Corollary35, Guarantee, OneDraw, Theorem32, Theorem33
from bocopt.paper import PaperStream
from bocopt_studies.guarantees.certify_belief import (
    APART,
    DECISION,
    DRAW,
    UPDATED,
    CertifyBelief,
    CoverAnytime,
)
from bocopt_studies.guarantees.cover import DELTAS, Cover
from bocopt_studies.guarantees.coverage import proportion
from bocopt_studies.guarantees.simulated_losses import LOSSES, certificates
from bocopt_studies.guarantees.tightness import CLIPPED, CUT, policies
from bocopt_studies.paper.settings import Settings, problem_of
from bocopt_studies.report.blocks import Grid, Row, Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.work.task import Record, Task

_STREAM, _BATCH = "the paper's stream", "parameters with a coin each, all posteriors"
_RUNS, _LONGEST = 50, 200  # runs of a simulation for each trial, and the stages of one
_AT = (100, 1000)
_HALVES = ("one draw, delta / 2", "against one draw, delta / 2")
_BOTH = "one draw and against one draw, delta / 2 each"
_E23 = "Theorem 3.3 as printed, C = 1 (E23)"  # any C > 0 bounds costs that are negative
_TRUE = {
    "Theorem 3.2, lam*": UPDATED,
    "updated beliefs, by bets": UPDATED,
    "Theorem 3.3, lam*": DRAW,
    _E23: DRAW,
    "one draw, by bets": DRAW,
    "Corollary 3.5, lam*": DECISION,
    _BOTH: DECISION,
    "clipped regret": DECISION,
    "against one draw": APART,
}


def _guarantees() -> dict[str, Guarantee[Any]]:
    best, half = for_horizon(1000, CUT), 0.05 / 2
    return {
        "Theorem 3.2, lam*": Theorem32(lam=best, scale=CUT),
        "updated beliefs, by bets": certificates(CUT)["updated beliefs, by bets"],
        "Theorem 3.3, lam*": Theorem33(lam=best, scale=CUT),
        "one draw, by bets": certificates(CUT)["one draw, by bets"],
        "Corollary 3.5, lam*": Corollary35(lam=best, scale=CUT),
        "clipped regret": certificates(CUT)["clipped regret"],
        "against one draw": certificates(CUT)["against one draw"],
        _HALVES[0]: OneDraw(scale=CUT, delta=half),
        _HALVES[1]: AgainstOneDraw(scale=CUT, delta=half),
    }


def _at(horizon: int) -> tuple[int, ...]:
    even = np.geomspace(1, horizon, 60).round().astype(int).tolist()
    return tuple(sorted({*even, *(t for t in _AT if t <= horizon)}))


def tasks(size: Size) -> dict[str, Task]:
    """Return the tasks by name: the paper's stream, each simulation and the batch."""
    runs, short = range(_RUNS * size.trials), min(size.horizon, _LONGEST)
    seeds = tuple(size.seed + i for i in runs)
    policy: Any = policies()[CLIPPED]
    return {
        _STREAM: CertifyBelief(
            policy=policy,
            problem=problem_of(Settings()),
            stream=PaperStream(),
            law=PaperStream(),
            cap=CUT,
            seeds=size.seeds,
            horizon=size.horizon,
            guarantees=tuple(_guarantees().items()),
            at=_at(size.horizon),
        ),
        **{name: Cover(simulation=name, seeds=seeds, horizon=short) for name in LOSSES},
        _BATCH: CoverAnytime(seeds=seeds, horizon=short),
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return slacks on the paper's stream, rates of failure, and the means of the batch."""
    stream = dict(records[_STREAM])
    stream |= {
        f"{_BOTH}/{part}": stream[f"{_HALVES[0]}/{part}"] + stream[f"{_HALVES[1]}/{part}"]
        for part in ("value", "bound")
    }
    at, batch = _at(size.horizon), records[_BATCH]
    drawn = stream["one draw, by bets/value"]
    stream |= {f"{_E23}/value": drawn, f"{_E23}/bound": drawn + _price(1.0, at)}
    names = [n for n in (*_guarantees(), _BOTH, _E23) if n not in _HALVES]
    covered = _covered({name: records[name] for name in records if name != _STREAM})
    return {
        **size._asdict(),
        "runs": _RUNS * size.trials,
        "run stages": min(size.horizon, _LONGEST),
        "stages": at,
        "stream": {name: _row(stream, name, at) for name in names},
        "pays": int((stream["against one draw/bound"][:, -1] < 0).sum()),
        "covered": covered,
        "intervals above delta": sum(row["low"] > row["delta"] for row in covered),
        "batch": {
            name: float(batch[name].mean())
            for name in ("slack/offline", "slack/anytime", "bound/offline", "bound/anytime")
        },
    }


def _covered(simulations: Mapping[str, Record]) -> list[dict[str, Any]]:
    """Return how often each certificate failed in each simulation, beside its delta."""
    ends = tuple(f"/{delta:g}" for delta in DELTAS)
    return [
        {
            "simulation": simulation,
            "certificate": name.rsplit("/", 1)[0],
            "delta": float(name.rsplit("/", 1)[1]),
            **proportion(used > 1),
            "used": float(np.quantile(used, 1 - float(name.rsplit("/", 1)[1]))),
        }
        for simulation, record in simulations.items()
        for name, used in record.items()
        if name.endswith(ends)
    ]


def _price(scale: float, at: tuple[int, ...]) -> Array:
    """Theorem 3.3's slack a stage at lam* for 1000 stages, after the stages `at`."""
    best = for_horizon(1000, scale)
    price: Array = best * scale**2 / 8 + np.log(1 / 0.05) / (best * np.array(at))
    return price


def _row(record: Record, name: str, at: tuple[int, ...]) -> Summary:
    value, bound = record[f"{name}/value"], record[f"{name}/bound"]
    slack, wrong = bound - value, None
    if name in _TRUE:
        true = record[f"true/{_TRUE[name]}"]
        above = true > bound
        if f"{name}/low" in record:
            above = above | (true < record[f"{name}/low"])
        wrong = int(above.any(axis=-1).sum())
    return {
        "seen": float(value[:, -1].mean()),
        "after": {
            str(t): {
                "slack": _mean(slack[:, at.index(t)]),
                "applicable": int(np.isfinite(slack[:, at.index(t)]).sum()),
            }
            for t in sorted({*_AT, at[-1]})
            if t in at
        },
        "wrong": wrong,
        "true": float(record[f"true/{_TRUE[name]}"][:, -1].mean()) if name in _TRUE else None,
    }


def _mean(values: Array) -> dict[str, float] | None:
    """Over the trials that have a number."""
    known = values[np.isfinite(values)]
    if not known.size:
        return None
    sd = float(known.std(ddof=1)) if known.size > 1 else 0.0
    return {"mean": float(known.mean()), "sd": sd}


def show(summary: Summary) -> Section:
    """Return the section: the stream's table, the batch in words, and the failures."""
    return Section(
        "The belief's certificates", [_stream(summary), _batch(summary), _cover(summary)]
    )


def _stream(summary: Summary) -> Grid:
    rows, trials = summary["stream"], summary["trials"]
    stages = list(next(iter(rows.values()))["after"])
    slacks = [f"slack, T = {int(t):,}" for t in stages]
    return Grid(
        title=f"BMA on the paper's stream, losses clipped at 100: {Size.of(summary)}",
        header=[
            "certificate",
            *slacks,
            "seen",
            "true",
            "wrong",
        ],
        rows=[
            Row(
                [
                    name,
                    *(_slack(row["after"][t], trials) for t in stages),
                    f"{row['seen']:.2f}",
                    "-" if row["true"] is None else f"{row['true']:.2f}",
                    "-" if row["wrong"] is None else f"{row['wrong']} of {trials}",
                ]
            )
            for name, row in rows.items()
        ],
        caption="Loss per stage; mean ± sd of the slack over the trials in which it applies; delta "
        "= 0.05. *Wrong*: trials in which the true risk, by 32 draws a stage from the law, was "
        f"outside at any of the {len(summary['stages'])} stages looked at. That the aggregated "
        f"decision loses less than one draw from the belief is certain in {summary['pays']} of "
        f"{count(trials, 'trial')}.",
        words=True,
    )


def _slack(after: Mapping[str, Any], trials: int) -> str:
    if after["slack"] is None:
        return "not applicable"
    said = f"{after['slack']['mean']:.2f} ± {after['slack']['sd']:.2f}"
    if after["applicable"] == trials:
        return said
    return f"{said}, applies in {after['applicable']} of {trials}"


def _batch(summary: Summary) -> str:
    found = summary["batch"]
    return (
        f"A batch of {summary['run stages']} outcomes and parameters with a coin each, each bound "
        f"with its own best posterior, mean of {summary['runs']:,} runs: `offline` (Catoni, lam* "
        f"of a batch of this size) {found['bound/offline']:.3f}, `anytime` "
        f"{found['bound/anytime']:.3f} (slack {found['slack/offline']:.3f} and "
        f"{found['slack/anytime']:.3f}), which holds for all times and posteriors at once."
    )


def _cover(summary: Summary) -> Grid:
    pairs = dict.fromkeys((row["simulation"], row["certificate"]) for row in summary["covered"])
    found = {(r["simulation"], r["certificate"], r["delta"]): r for r in summary["covered"]}
    return Grid(
        title=f"Failures: {summary['runs']:,} runs of {summary['run stages']} stages",
        header=[
            "simulation: certificate",
            *(part for delta in DELTAS for part in (f"failed, delta = {delta:g}", "used")),
        ],
        rows=[
            Row([": ".join(pair), *(c for d in DELTAS for c in _cells(found[(*pair, d)]))])
            for pair in pairs
        ],
        caption="Share of runs that were wrong at any stage, with the 95% interval of Clopper and "
        "Pearson. *Used*: the share of the slack that would have met delta exactly. Chances are "
        "chosen by an adversary that knows how lucky each risk was so far. Intervals above their "
        f"delta: {summary['intervals above delta']} of {len(summary['covered'])}.",
    )


def _cells(row: Mapping[str, Any]) -> tuple[str, str]:
    return f"{row['mean']:.4f} [{row['low']:.4f}, {row['high']:.4f}]", f"{row['used']:.2f}"
