"""How often claims of outcomes that were seen in part are untrue: results/censored_claims.md.

    python benchmarks/censored_claims.py --runs 250

Beside them, the same of who leaves out what was not seen in full, and of who takes what was sold
for what was asked for.
"""

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from censored import ADVERSARIES, Censored
from claims import in_monitor, is_untrue
from games import Game
from results_file import write, write_markdown
from statements import highest

from bocopt.core import Bounds, ShadowReport
from bocopt.guarantees import Monitor, evidence_of
from bocopt.policies.baselines import given
from bocopt.stages import Stage, review

STAGES, LOOKS, DELTAS = 200, 3, (0.05, 0.2)
POLICY, SEEN, OURS = "policy", "what was seen", "seen in part"
Handling = Callable[[Bounds], Bounds | None]


def in_part(seen: Bounds) -> Bounds | None:
    """As it was seen."""
    return seen


def left_out(seen: Bounds) -> Bounds | None:
    return seen if seen.is_exact else None


def sales_as_demand(seen: Bounds) -> Bounds | None:
    """What was seen at least is taken for what it was; of what was not seen at all, nothing."""
    return None if np.isinf(seen.low).any() else Bounds(seen.low, seen.low)


HANDLINGS: dict[str, Handling] = {
    OURS: in_part,
    "left out": left_out,
    "sales as demand": sales_as_demand,
}


def stages(game: Censored, handled: Handling) -> Iterator[Stage | None]:
    for t, (z, other) in enumerate(zip(game.z, game.other, strict=True)):
        seen = handled(Bounds(*(end[t] for end in game.seen)))
        if seen is None:
            yield None
            continue
        info, x = (ShadowReport(other[None]),), np.zeros(0)
        known = None if seen.is_exact else seen
        yield review(game.problem, t, x, given(z, ()), seen.low, info, False, known)


class Look(NamedTuple):
    """What a monitor says after some stages."""

    t: int
    delta: float
    said: str


def looks(game: Censored, handled: Handling, deltas: Sequence[float] = DELTAS) -> Iterator[Look]:
    """A few looks at monitors that have seen the same."""
    monitors = [Monitor(game.problem, shadows=[POLICY], delta=delta) for delta in deltas]
    at = set(np.linspace(len(game.z) / LOOKS, len(game.z), LOOKS).astype(int).tolist())
    for t, stage in enumerate(stages(game, handled), start=1):
        if stage is not None:
            evidence = evidence_of(game.problem, stage)
            for monitor in monitors:
                monitor.restore(monitor.update(monitor.states, evidence))
        if t in at and monitors[0].states is not None:
            for delta, monitor in zip(deltas, monitors, strict=True):
                yield Look(t, delta, str(monitor))


def untrue_kinds(name: str, handled: Handling, seed: int) -> dict[tuple[float, str], bool]:
    """One run: which kinds of claims were made at each delta, and if one was ever untrue."""
    game = ADVERSARIES[name](np.random.default_rng(seed), STAGES)
    found = dict[tuple[float, str], bool]()
    for t, delta, said in looks(game, handled):
        so_far = _judged(game.until(t))
        made = [(claim.kind, is_untrue(so_far, claim)) for claim in in_monitor(said, earned=False)]
        for kind, wrong in (*made, (SEEN, not _was_seen(game.until(t), said))):
            found[delta, kind] = found.get((delta, kind), False) | wrong
    return found


def _judged(game: Censored) -> Game:
    """The same for who judges claims; it is about all stages."""
    own = np.stack(game.problem.range(np.zeros(0), game.z), axis=-1)
    hidden = np.zeros(len(game.z), bool)
    return Game(game.paid, game.expected, own, np.empty(0), hidden, feasible=game.feasible)


_NUMBER = r"(-?[\d,.]+(?:e[+-]?\d+)?)"
_OWN = re.compile(rf"^headline: .*\(seen: (?:between {_NUMBER} and )?{_NUMBER}\)", re.MULTILINE)


def _was_seen(game: Censored, said: str) -> bool:
    """Whether the average that was paid is between what the headline says was seen."""
    match = _OWN.search(said)
    if match is None:
        return True
    high = float(match[2].replace(",", ""))
    low = float(match[1].replace(",", "")) if match[1] else high
    near = 5.001e-4 * max(abs(low), abs(high), 1e-9)
    return bool(low - near <= game.paid[:, 0].mean() <= high + near)


def counted(name: str, handling: str, runs: int) -> dict[tuple[float, str], tuple[int, int]]:
    """By delta and kind: runs in which it was claimed, and in which it was untrue."""
    made, untrue = Counter[tuple[float, str]](), Counter[tuple[float, str]]()
    for seed in range(runs):
        for kind, wrong in untrue_kinds(name, HANDLINGS[handling], seed).items():
            made[kind] += 1
            untrue[kind] += wrong
    return {kind: (made[kind], untrue[kind]) for kind in made}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=250)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    asked = [(name, handling) for name in ADVERSARIES for handling in HANDLINGS]
    with ProcessPoolExecutor(options.jobs) as pool:
        runs = {name: options.runs // (1 if name == OURS else 4) for name in HANDLINGS}
        answers = [pool.submit(counted, *each, runs[each[1]]) for each in asked]
        found = {each: answer.result() for each, answer in zip(asked, answers, strict=True)}
    rows = [
        {
            "adversary": name,
            "handling": handling,
            "delta": delta,
            "claim": kind,
            "runs": made,
            "untrue": untrue,
            "highest": round(highest(untrue, made), 5),
        }
        for (name, handling), kinds in found.items()
        for (delta, kind), (made, untrue) in sorted(kinds.items(), key=lambda item: item[0][0])
    ]
    command = f"python benchmarks/censored_claims.py --runs {options.runs}"
    write("censored_claims", {"stages": STAGES, "looks": LOOKS, "rows": rows}, command=command)
    write_markdown("censored_claims", [*_ABOUT.splitlines(), "", f"`{command}`", "", *_table(rows)])


def _table(rows: list[dict[str, Any]]) -> list[str]:
    """One line an adversary, level and claim, with all ways to handle what was not seen."""
    head = "| adversary | delta | claim | runs | untrue | at most (95%) | 1.3 delta | |"
    lines = [
        f"{head} left out | sales as demand |",
        "|---|---:|---|---:|---:|---:|---:|---|---:|---:|",
    ]
    ours = [row for row in rows if row["handling"] == OURS]
    for row in ours:
        same = [r for r in rows if all(r[k] == row[k] for k in ("adversary", "delta", "claim"))]
        others = {r["handling"]: r["untrue"] / r["runs"] for r in same}
        limit = 1.3 * row["delta"] * (row["claim"] != SEEN)
        fine = row["untrue"] == 0 if row["claim"] == SEEN else row["highest"] <= limit
        shown = (f"{others[name]:.3f}" if name in others else "-" for name in list(HANDLINGS)[1:])
        lines.append(
            f"| {row['adversary']} | {row['delta']} | {row['claim']} | {row['runs']} | "
            f"{row['untrue'] / row['runs']:.4f} | {row['highest']:.4f} | {limit:.3g} | "
            f"{'yes' if fine else 'NO'} | {' | '.join(shown)} |"
        )
    return lines


_ABOUT = f"""# How often claims of outcomes that were seen in part are untrue

{STAGES} stages a run, looked at {LOOKS} times; a run counts where a claim was untrue at any look.
Claims are read from the text as a monitor prints it, and judged by what was expected: the average
cost of all stages, what the policy in the shadow was expected to cost more, and how often decisions
are feasible. "{SEEN}" is the average cost that was paid, which must lie between what the headline
says was seen, always. What adversaries do is in `benchmarks/censored.py`.

The last two columns are the shares of untrue runs, of a quarter as many, of who leaves out stages
that were not seen in full, and of who takes what was seen at least (sales) for what it was
(demand)."""


if __name__ == "__main__":
    main()
