"""A whole backtest by the command, from its table to its report, on two processes."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from panel_made import written

from panel_parts.command import took

POLICIES = 4  # the default of panels, the running average, a rule, and what is done now


def measured(before: Any, small: bool) -> Iterator[dict[str, Any]]:
    """Yield what the command took."""
    series, days = (30, 60) if small else (1000, 1000)
    with tempfile.TemporaryDirectory() as name:
        path = written(Path(name), series, days)
        found = took("backtest", path, "--jobs", "2")
        left = sum(file.stat().st_size for file in (Path(name) / "results").rglob("*.*"))
    yield {"series": series, "days": days, "policies": POLICIES, **found, "bytes written": left}
