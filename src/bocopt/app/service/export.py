"""A stream's decisions and outcomes as a table: the log of a service is data for a study."""

import csv
import io
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from bocopt import file
from bocopt.app.service.config import Config
from bocopt.app.service.refolding import right_of
from bocopt.app.service.replay import chosen, rows_of
from bocopt.app.service.stores import OutcomeTotals, Store
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.core import Bounds, Status
from bocopt.live.events import from_bytes
from bocopt.live.fold import Corrected, Decided, Forgotten, Observed


def exported(config: Config, store: Store, stream: str, out: Path) -> int:
    """Write it, at once or not at all; how many decisions there are."""
    write = {".csv": _csv, ".parquet": _parquet}.get(out.suffix)
    if write is None:
        raise ValueError(f"FILE must end in .csv or .parquet. Got {str(out)!r} instead.")
    for declared in chosen(config, store, stream):
        rows = list(_decisions(config.templates[declared.problem], store, stream))
        file.replace(out, write(rows))
        return len(rows)
    raise ValueError(f"[cases.*] in {config.path} declares nothing that {stream!r} is like.")


def _decisions(template: StreamTemplate, store: Store, stream: str) -> Iterator[dict[str, Any]]:
    """In the order in which they were taken; empty where an outcome is not known. No lessons."""
    costs = {each.decision: each for each in store.stages(stream)}
    right = right_of(template, [row for row, _ in store.corrections(stream)])
    found: dict[int, dict[str, Any]] = {}
    for row in rows_of(store, stream):
        event = from_bytes(row.body, template.problem)
        if isinstance(event, Decided):
            found[event.number] = _columns(template, event) | {"decided": _time(row.at)}
        elif isinstance(event, Observed):
            xi = _seen(right.get(event.number, event.seen))
            came = xi | _came(costs.get(event.number)) | {"observed": _time(row.at)}
            found[event.number] |= came
        elif isinstance(event, Corrected):
            found[event.number]["corrected"] = _time(row.at)
        elif isinstance(event, Forgotten):
            found[event.number]["forgotten"] = _time(row.at)
    names = _names(template, found)
    for each in found.values():
        yield {name: each.get(name) for name in names}


def _came(totals: OutcomeTotals | None) -> dict[str, Any]:
    if totals is None:
        return {}
    feasible = None if totals.feasible is None else bool(totals.feasible)
    return {"cost": totals.cost, "feasible": feasible, "hindsight": totals.hindsight}


def _seen(seen: Bounds) -> dict[str, float]:
    """Return an outcome by column: a number that was seen, or the ends of it that are known."""
    found = dict[str, float]()
    for i, (low, high) in enumerate(zip(seen.low.tolist(), seen.high.tolist(), strict=True)):
        ends = {f"xi{i}_at_least": low, f"xi{i}_at_most": high}
        known = {end: value for end, value in ends.items() if math.isfinite(value)}
        found |= {f"xi{i}": low} if low == high else known
    return found


def _columns(template: StreamTemplate, event: Decided) -> dict[str, Any]:
    solution = event.waiting.decision.solution
    x = {f"x{i}": value for i, value in enumerate(event.waiting.x.tolist())}
    z = dict(zip(template.names, solution.z.tolist(), strict=True))
    return {"decision": event.number, **x, **z, "status": Status(int(solution.status)).name}


def _names(template: StreamTemplate, found: dict[int, dict[str, Any]]) -> list[str]:
    """The same columns for all, whatever is known."""
    width = max(
        (sum(n.startswith("x") and n[1:].isdecimal() for n in e) for e in found.values()), default=0
    )
    return [
        "decision",
        "decided",
        *(f"x{i}" for i in range(width)),
        *template.names,
        "status",
        "observed",
        *_outcomes(template, found),
        *(["corrected"] if any("corrected" in each for each in found.values()) else []),
        "cost",
        "feasible",
        "hindsight",
        "forgotten",
    ]


def _outcomes(template: StreamTemplate, found: dict[int, dict[str, Any]]) -> list[str]:
    """Return the columns of outcomes; those of bounds only where there are any."""
    there = {name for each in found.values() for name in each}
    parts = (
        (f"xi{i}", f"xi{i}_at_least", f"xi{i}_at_most") for i in range(template.problem.dims.xi)
    )
    return [name for xi, *ends in parts for name in (xi, *(ends if there & {*ends} else ()))]


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def _csv(rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue().encode()


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise ModuleNotFoundError("Parquet needs pyarrow: pip install pyarrow") from None
    content = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(rows), content)
    return content.getvalue()
