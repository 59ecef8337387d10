"""Summaries of stages as JSON: a few numbers of the policy that charts are drawn from."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bocopt.app.service import compared
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.core import Array
from bocopt.live.record import Live
from bocopt.live.sales import Sales, Suspicion, suspicions
from bocopt.loop import Stage

_MOST = 20  # names, or components of an outcome
_LEAST = 0.0005  # of a weight that is told


def stage_summary(
    template: StreamTemplate, live: Live, stage: Stage, questions: Sales | tuple[()] = ()
) -> str:
    """Return weights by name, levels of the outcome in its forecast and shadows, as JSON.

    Beside these, which components of outcomes look like sales.
    """
    found: dict[str, Any] = {
        what: weights
        for what, names in template.weighed.items()
        if (weights := _weights(names, stage.info.get(_LEAVES[what])))
    }
    levels = stage.info.get("probability")
    if levels is not None and levels.ndim == 1 and np.isfinite(levels).all():
        found["levels"] = levels[:_MOST].round(4).tolist()
    if isinstance(questions, Sales) and (asked := suspicions(questions)):
        found["sales"] = asked[:_MOST]
    return json.dumps(found | compared.shown(template, live), separators=(",", ":"))


def sales_questions(names: Sequence[str], told: Mapping[str, Any]) -> list[str]:
    """Return what is asked about outcomes that look like sales, in words."""
    return [Suspicion(*each).words(names) for each in told.get("sales", ())]


_LEAVES = {"arms": "arm_weights", "members": "weights"}  # what a policy calls them


def _weights(names: Sequence[str], given: Array | None) -> dict[str, float]:
    """The largest, by name, as shares; nothing where they are not weights of what has names."""
    if given is None or given.shape != (len(names),) or not np.isfinite(given).all():
        return {}
    if (given < 0).any() or abs(given.sum() - 1.0) > 1e-6:
        return {}
    sums: dict[str, float] = {}
    for name, weight in zip(names, given.tolist(), strict=True):
        sums[name] = sums.get(name, 0.0) + weight
    largest = sorted(sums, key=lambda name: -sums[name])[:_MOST]
    return {name: round(sums[name], 4) for name in sums if name in largest and sums[name] >= _LEAST}


def read(text: str) -> Mapping[str, Any]:
    """Return a summary from its JSON text; empty if it cannot be read."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
