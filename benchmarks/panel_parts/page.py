"""The page of what panels cost, from the numbers of those parts that were measured."""

from collections.abc import Iterator
from typing import Any

from panel_made import DAYS, SERIES

NAMES = {"lightgbm": "LightGBM", "statsforecast": "AutoETS", "river": "river"}


def lines(numbers: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield from ["# What panels cost", "", "`python benchmarks/panel_speed.py`, part by part.", ""]
    pages = {"lockstep": _stages, "backtest": _backtest, "whole": _whole, "nights": _nights}
    for name, page in {**pages, "beside": _beside}.items():
        if name in numbers:
            yield from [*page(numbers[name]), f"Load of the machine before: {_load(numbers[name])}"]
            yield ""


def _load(found: dict[str, Any]) -> str:
    return f"{found['load before']:.1f}."


def _stages(found: dict[str, Any]) -> Iterator[str]:
    yield "| policy | series | µs a decision | µs a lesson | series-stages/s a core | kB a series |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name, row in found.items():
        if isinstance(row, dict):
            yield (
                f"| {name} | {row['series']:,} | {row['microseconds a decision']:.1f} | "
                f"{row['microseconds a lesson']:.1f} | "
                f"{row['series-stages a second of a core']:,.0f} | "
                f"{row['bytes a series, saved'] / 1e3:.1f} |"
            )
    yield from ["", "12 contexts; CPU of one process. The model across series is fitted meanwhile."]


def _backtest(found: dict[str, Any]) -> Iterator[str]:
    yield (
        f"**A backtest** of {found['series']:,} series of {found['days']:,} days, "
        f"{found['policies']} policies, from its table to its report, on two cores: "
        f"{_taken(found)}, {found['gigabytes, of the largest process']:.1f} GB in the largest of "
        f"its processes; {found['bytes written'] / 1e6:,.0f} MB written."
    )


def _taken(found: dict[str, Any]) -> str:
    return f"{found['seconds']:,.0f} s by the clock, {found['seconds of CPU']:,.0f} s of CPU"


def _whole(found: dict[str, Any]) -> Iterator[str]:
    yield (
        f"**M5's size**, {found['series']:,} series of {found['days']:,} days and "
        f"{found['contexts']} contexts, from arrays to decisions and totals, on "
        f"{found['processes']} processes: {_taken(found)}, "
        f"{found['series-stages a second of a core']:,.0f} series-stages a second of a core, "
        f"{found['gigabytes, at most, of both processes']:.1f} GB in both processes, "
        f"{found['bytes a series'] / 1e3:.1f} kB a series. Played in parts of the series, one "
        f"after the other: {found['parts played']}."
    )


def _nights(found: dict[str, Any]) -> Iterator[str]:
    yield "| a night of `bocopt decide --learn` | s | s of CPU | GB | MB kept |"
    yield "|---|---:|---:|---:|---:|"
    for series, row in found["nights"].items():
        yield (
            f"| {int(series):,} series | {row['seconds']:.1f} | {row['seconds of CPU']:.1f} | "
            f"{row['gigabytes']:.2f} | {row['bytes kept'] / 1e6:.1f} |"
        )
    yield ""


def _beside(found: dict[str, Any]) -> Iterator[str]:
    yield f"| others, a quantile a stage | series | s of CPU | hours of CPU for {SERIES:,} series |"
    yield "|---|---:|---:|---:|"
    for library, row in found.items():
        if not isinstance(row, dict):
            continue
        name = NAMES[library]
        if "not measured" in row:
            yield f"| {name} | | | {row['not measured']} |"
            continue
        hours = row["hours of CPU, all series and days"]
        yield (
            f"| {name} {row['version']} | {row['series']} | {row['seconds of CPU']:,.1f} | "
            f"{hours:,.1f} |"
        )
    yield from ["", f"All {DAYS:,} days; fitted anew every 28 days where they are fitted."]
