"""What is known of each series beside its agent: what makes its contexts, and what it waits for."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bocopt import checkpoint
from bocopt.app.case import Case
from bocopt.app.features.many_states import packed, unpacked
from bocopt.app.features.panel_rows import PanelFeaturiser, SeriesState
from bocopt.app.panels.asked import AskedRow
from bocopt.core import Array
from bocopt.state import CheckpointError


class PanelMemory:
    """States of the featurisers of all series, and the times of decisions without an outcome."""

    def __init__(
        self,
        featuriser: PanelFeaturiser,
        known: dict[str, SeriesState],
        waits: dict[str, dict[float, int]] | None = None,
    ) -> None:
        self.featuriser, self.known = featuriser, known
        self.waits = waits or {}  # by series: the stages of decisions by their time

    @classmethod
    def of(cls, case: Case) -> "PanelMemory":
        """Return what is known after the table of a case."""
        panel = case.panel
        assert panel is not None
        pairs = zip(panel.names, panel.series, strict=True)
        known = {
            name: SeriesState(one.featuriser, one.state)
            for name, one in pairs
            if one.featuriser is not None and one.state is not None
        }
        return cls(panel.featuriser, known)

    def is_past(self, asked: AskedRow) -> bool:
        """Return whether a row is of a time up to the latest of its series."""
        found = self.known.get(asked.name)
        return found is not None and bool(asked.time <= float(found.state.time))

    def stage(self, asked: AskedRow) -> int | None:
        """Return the stage of a decision that waits for its outcome; None where there is none."""
        return self.waits.get(asked.name, {}).get(asked.time)

    def decide(self, asked: AskedRow) -> tuple[int, Array]:
        """Return the stage of a row and its context (k), and wait for its outcome."""
        found = self.known.get(asked.name)
        if found is None:
            alone = self.featuriser.first(asked.row.fields)
            found = SeriesState(alone, alone.begin())
        stage = int(found.state.t)
        state, x = found.featuriser.decide(found.state, asked.row.fields)
        self.known[asked.name] = found._replace(state=state)
        self.waits.setdefault(asked.name, {})[asked.time] = stage
        return stage, x

    def learn(self, asked: AskedRow, stage: int) -> None:
        """Take over the outcome of a decision, which is waited for no more."""
        found = self.known[asked.name]
        came = asked.row.came
        state = found.featuriser.learn(found.state, stage, asked.row.xi, came)
        self.known[asked.name] = found._replace(state=state)
        waits = self.waits[asked.name]
        del waits[asked.time]
        if not waits:
            del self.waits[asked.name]

    def save(self, path: Path) -> None:
        """Write all of it to a file."""
        names = list(self.known)
        header: dict[str, Any] = {
            "panel": self.featuriser.to_json(),
            "names": names,
            "origins": [self.known[name].featuriser.origin for name in names],
            "waits": [[name, [*waits.items()]] for name, waits in self.waits.items()],
        }
        checkpoint.save(path, header, packed([self.known[name].state for name in names]))

    @classmethod
    def load(cls, path: Path) -> "PanelMemory":
        """Read what `save` wrote; an error says to play the case first."""
        if not path.is_file():
            raise ValueError(f"{path} is not there: play the case first, by `bocopt backtest`.")
        header, arrays = checkpoint.load(path)
        try:
            featuriser = PanelFeaturiser.from_json(header["panel"])
            names: Sequence[str] = header["names"]
            states = unpacked(featuriser.alone(0).begin(), arrays, len(names))
            origins: Sequence[float] = header["origins"]
            alike = {origin: featuriser.alone(origin) for origin in {*origins}}
            parts = zip(names, origins, states, strict=True)
            known = {name: SeriesState(alike[origin], state) for name, origin, state in parts}
            waits: Mapping[str, Any] = dict(header["waits"])
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{path} does not fit. {error}") from error
        return cls(featuriser, known, {name: dict(pairs) for name, pairs in waits.items()})


def outcomes_of(asked: Sequence[AskedRow]) -> Array:
    """Return the outcomes (n, m) of rows; NaN in all of one that is not whole."""
    xi = np.array([one.row.xi for one in asked])
    xi[np.isnan(xi).any(axis=1)] = np.nan
    return xi
