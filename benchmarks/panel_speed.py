"""What panels cost: stages, a whole backtest, M5's size whole, nights; and others beside.

python benchmarks/panel_speed.py                  all parts, about half an hour on two idle cores
python benchmarks/panel_speed.py --part lockstep  one part; what other parts found stays
python benchmarks/panel_speed.py --small          sizes that only show that it works; keeps nothing

It writes benchmarks/results/panel_speed.{json,md} after each part. Run it where nothing else runs.

lockstep   a stage is a decision (a newsvendor) and the lesson of its outcome, with 12 contexts, by
           one process; the first stages, in which kernels are loaded, are not counted. A minute.
backtest   `bocopt backtest --jobs 2`: 1,000 series of 1,000 days, four policies, the report and all
           files, from a table. About four minutes.
whole      a panel of M5's size (30,490 series, 1,941 days, 12 contexts; made up) on two processes,
           from arrays to decisions and totals: all series, in ten parts one after the other, each
           of which is kept. A run begins none after eight minutes; the same command goes on.
nights     `bocopt decide --learn` for two numbers of series: what a night takes and keeps. About
           three minutes. `python benchmarks/panel_nightly.py` simulates 10^7 series with it.
beside     LightGBM quantiles, AutoETS of statsforecast and a model of river on some series of the
           same panel of M5's size, all days: CPU, and for all series at the same pace. Rivals whose
           library is missing are left out, and said to be. About eight minutes.
"""

import argparse
import json
import os
from collections.abc import Iterator
from typing import Any

from panel_parts import backtested, lockstep, nights, whole
from panel_parts.beside import beside
from panel_parts.page import lines
from results_file import RESULTS, write, write_markdown

PARTS = {
    "lockstep": lockstep.measured,
    "backtest": backtested.measured,
    "whole": whole.measured,
    "nights": nights.measured,
    "beside": beside,
}


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--part", choices=PARTS)
    asked.add_argument("--small", action="store_true")
    asked.add_argument("--fresh", action="store_true", help="forget what the parts found before")
    words = asked.parse_args()
    kept = RESULTS / "panel_speed.json"
    numbers: dict[str, Any] = {}
    if kept.exists() and not words.small:
        numbers = json.loads(kept.read_text())
        numbers = {name: numbers[name] for name in PARTS if name in numbers}
    names = [words.part] if words.part else list(PARTS)
    if words.fresh:
        numbers = {name: one for name, one in numbers.items() if name not in names}
    for name in names:
        for found in run(name, numbers.get(name), small=words.small):
            numbers[name] = found
            if not words.small:
                write("panel_speed", {part: numbers[part] for part in PARTS if part in numbers})
        print(json.dumps({name: numbers[name]}, indent=2), flush=True)
    if words.small:
        print("\n".join(lines(numbers)))
    else:
        write_markdown("panel_speed", list(lines(numbers)))


def run(name: str, before: Any, *, small: bool) -> Iterator[Any]:
    """Yield what is known of a part, as it goes on, with how busy the machine was before."""
    load = os.getloadavg()[0]
    for found in PARTS[name](before, small):
        yield {**found, "load before": load}


if __name__ == "__main__":
    main()
