"""How often printed sentences are untrue, with adversaries: benchmarks/results/statements.md.

    python benchmarks/statements.py --runs 400

Each run is looked at three times, at a third, two thirds and all of its stages; it counts as untrue
where a claim of one kind was, at any of them, beyond what its last printed place rounds away. Where
some kind of claim was made in few runs, more are played, whether they were true or not.
"""

import argparse
import json
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from adversaries import ADVERSARIES
from alarms import ALARMS, SHOPS, Alarms, Counted
from claims import ROUGHLY, in_monitor, is_untrue
from panel_claims import PANEL_ALARMS
from panel_sums import sums_of_panels
from printed import certified, claims, on_page
from results_file import RESULTS, write, write_markdown
from scipy.stats import beta

STAGES, LOOKS, DELTAS = 200, 3, (0.05, 0.2)
MORE = 4  # times as many runs, at most, where some kind of claim is rare
ANY = "any line of a monitor"  # claimed with 1 less all deltas: headline, feasibility, comparison


def untrue_kinds(name: str, delta: float, seed: int) -> dict[str, bool]:
    """One run: which kinds of claims were made, and whether one was ever untrue."""
    rng = np.random.default_rng(seed)
    game, found = ADVERSARIES[name](rng, STAGES).decided(rng), dict[str, bool]()
    for t in np.linspace(STAGES / LOOKS, STAGES, LOOKS).astype(int):
        seen = game.until(int(t))
        made = claims(seen, delta)
        said, certificates = certified(seen, delta)
        made += on_page(seen, certificates, delta)
        if not game.hidden.any():
            lines = in_monitor(said, game.earned)
            made += lines
            found[ANY] = found.get(ANY, False) | any(is_untrue(seen, each) for each in lines)
        for claim in made:
            found[claim.kind] = found.get(claim.kind, False) | is_untrue(seen, claim)
    return found


def allowed(kind: str, delta: float) -> float:
    if kind == ROUGHLY:
        return 1.0
    return 3.0 * delta if kind == ANY else delta


def highest(untrue: int, runs: int) -> float:
    """The upper end of the 95% interval of Clopper and Pearson."""
    return float(beta.ppf(0.975, untrue + 1, runs - untrue)) if untrue < runs else 1.0


def counted(name: str, delta: float, runs: int, most: int = 0) -> dict[str, tuple[int, int]]:
    """By kind: runs in which it was claimed, and in which it was untrue.

    More than `runs`, but not than `most`, are played until each kind was claimed often enough. How
    often one was untrue does not count there, so that runs do not end when it suits.
    """
    made, untrue, seed = Counter[str](), Counter[str](), 0
    while seed < runs or (
        seed < most and any(too_few(n, 1.3 * allowed(kind, delta)) for kind, n in made.items())
    ):
        for kind, wrong in untrue_kinds(name, delta, seed).items():
            made[kind] += 1
            untrue[kind] += wrong
        seed += 1
    return {kind: (made[kind], untrue[kind]) for kind in made}


def too_few(runs: int, limit: float) -> bool:
    """Whether none untrue, of so many, would not show that it is at most the limit."""
    return limit < 1.0 and highest(0, runs) > limit


def of_game(name: str, delta: float, runs: int) -> list[Counted]:
    found = counted(name, delta, runs, MORE * runs)
    return [Counted(name, delta, kind, *each, allowed(kind, delta)) for kind, each in found.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument(
        "--only", default="", help="what names begin with, with commas; others stay as they are"
    )
    options = parser.parse_args()
    others = (*ALARMS, *PANEL_ALARMS, sums_of_panels)
    jobs: list[Alarms] = [*(partial(of_game, name) for name in ADVERSARIES), *others]
    names = [*ADVERSARIES, *(job.__name__ for job in others)]
    only = tuple(options.only.split(","))
    chosen = [job for name, job in zip(names, jobs, strict=True) if name.startswith(only)]
    with ProcessPoolExecutor(options.jobs) as pool:
        asked = [pool.submit(job, delta, options.runs) for job in chosen for delta in DELTAS]
        found = [each for one in asked for each in one.result()]
    command = f"python benchmarks/statements.py --runs {options.runs}"
    command += f' --only "{options.only}"' * bool(options.only)
    commands = {each.adversary: command for each in found}
    if options.only:
        found, commands = _with_others(found, commands)
    numbers = [
        each._asdict() | {"highest": round(most(each), 5), "command": commands[each.adversary]}
        for each in found
    ]
    write("statements", {"stages": STAGES, "looks": LOOKS, "rows": numbers}, command=command)
    head = (
        "| adversary | delta | claim | runs | untrue | at most (95%) | 1.3 of what is allowed | |"
    )
    rows = [_row(each) for each in found]
    write_markdown(
        "statements",
        [
            _ABOUT,
            "",
            *_origins(commands),
            "",
            head,
            "|---|---:|---|---:|---:|---:|---:|---|",
            *rows,
        ],
    )


def most(each: Counted) -> float:
    """How often it may be untrue, with 97.5% confidence."""
    return highest(each.untrue, each.runs)


def _with_others(
    found: list[Counted], commands: dict[str, str]
) -> tuple[list[Counted], dict[str, str]]:
    """In the place of those in the file that are of the same adversary."""
    games = list(ADVERSARIES)
    rows = json.loads((RESULTS / "statements.json").read_text())["rows"]
    others = [row for row in rows if row["adversary"] not in commands]
    before = [Counted(*(row[name] for name in Counted._fields)) for row in others]
    place = {name: i for i, name in enumerate(games)}
    both = sorted([*before, *found], key=lambda each: place.get(each.adversary, len(games)))
    return both, {row["adversary"]: row["command"] for row in others} | commands


def _origins(commands: dict[str, str]) -> list[str]:
    """Which command gave the rows of which adversaries."""
    by: dict[str, list[str]] = {}
    for adversary, command in commands.items():
        by.setdefault(command, []).append(adversary)
    often = max(by, key=lambda command: len(by[command]))
    others = (
        f"`{command}`: rows of {'; '.join(by[command])}." for command in by if command != often
    )
    return [f"`{often}`: all other rows." if len(by) > 1 else f"`{often}`: all rows.", *others]


def _row(each: Counted) -> str:
    limit = 1.3 * each.allowed
    fine = "yes" if most(each) <= limit else "too few" if too_few(each.runs, limit) else "NO"
    share = f"{each.untrue / each.runs:.4f}"
    ends = (f"{limit:.4g}", fine) if each.claim != ROUGHLY else ("-", "reported")
    shown = f"{each.runs:,}", share, f"{most(each):.4f}", *ends
    return f"| {each.adversary} | {each.delta:g} | {each.claim} | {' | '.join(shown)} |"


_ABOUT = f"""# How often printed sentences are untrue

{STAGES} stages a run, looked at {LOOKS} times; a run counts where a claim was untrue at any look.
Claims are read from the text as it is printed: the large sentence of a report and its section on
feasibility, the words of a comparison, the lines of a monitor with their notes, the page of a
stream of a service, and what its address for certificates answers. That something is "known since
compared stage N" counts as a claim of every stage since.
What adversaries do is in `benchmarks/adversaries.py`. "{ANY}" is claimed with 1 - 3 delta, all else
with 1 - delta. An interval of a bootstrap holds "roughly" by its own words, at 95%: how often it
does not is reported, and not judged.

"runs" are those in which there was a claim of that kind. Where a kind was claimed so rarely that
none untrue would say nothing, up to {MORE} times as many runs were played; how many were untrue has
no say in that.

The last rows are of `benchmarks/panel_claims.py` and `benchmarks/panel_sums.py`, which say what
counts there, and of `benchmarks/alarms.py`: what an outlook says of the next whole block, and
alarms where nothing is wrong. Of a fleet, one alarm at any stream and look counts; those that are
feasible as often as asked have {SHOPS} streams. A watch promises no confidence, but how often false
alarms come: once in 1,000 stages. A percent of a profit is told where it is sure that anything
was earned at all, and an amount before: "share of a profit" is where that becomes known during most
runs, "share of a small profit" where only luck shows it."""


if __name__ == "__main__":
    main()
