"""One series of a panel, played by every policy of its case, and kept once it is whole."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree

from bocopt import checkpoint
from bocopt.app.backtesting import forget, play_all
from bocopt.app.case import Case
from bocopt.app.features.series import Panel
from bocopt.app.findings import Played
from bocopt.app.kept_features import save_features
from bocopt.app.playing.kept import Kept
from bocopt.core import Array
from bocopt.state import CheckpointError

_NUMBERS = ("z", "cost", "feasible", "hindsight", "status")


@dataclass(frozen=True)
class Player:
    """Player of the series of a case, one at a time."""

    case: Case
    keep_every: int = 200
    keep_seconds: float = 5.0

    @property
    def panel(self) -> Panel:
        """Return the panel of the case, which must have one."""
        assert self.case.panel is not None
        return self.case.panel

    def play(
        self, name: str, advance: Callable[[int], None] = lambda stages: None
    ) -> Mapping[str, Played]:
        """Play a series from where it stopped, by policy; one that is whole is not played again."""
        one = self.case.of_series(name)
        digest = one.digest
        found = _loaded(_file(one), digest)
        if found is not None:
            advance(one.stages_to_play)
            return found
        costs = replace(one.kept_costs, seconds=self.keep_seconds)
        played, agents = play_all(one, self._kept_of(one), costs, advance=advance)
        (one.results / "agents").mkdir(parents=True, exist_ok=True)
        for policy, agent in agents.items():
            if policy in one.policies:
                agent.save(one.saved(policy))
            agent.close()
        save_features(one)
        played = {policy: each._replace(info={}) for policy, each in played.items()}
        _save(_file(one), digest, played)
        rmtree(one.results / "progress", ignore_errors=True)  # all of it is in what was saved
        return played

    def is_played(self, name: str) -> bool:
        """Return whether the results of a series are kept."""
        one = self.case.of_series(name)
        return _loaded(_file(one), one.digest) is not None

    def far(self, name: str) -> int:
        """Count the stages that are kept of a series that is not whole, of all policies."""
        kept = self._kept_of(self.case.of_series(name))
        return sum(kept(policy).far() for policy in self.case.everyone)

    def forget(self, name: str) -> None:
        """Delete all that is kept of a series, so that it is played again."""
        one = self.case.of_series(name)
        _file(one).unlink(missing_ok=True)
        forget(one)

    def _kept_of(self, one: Case) -> Callable[[str], Kept]:
        """Return where its progress is kept until it is whole: most series are short."""
        return lambda name: replace(one.kept(name, self.keep_every, self.keep_seconds), end=False)


def _file(one: Case) -> Path:
    return one.results / "played.bin"


def _save(path: Path, digest: str, played: Mapping[str, Played]) -> None:
    arrays: dict[str, Array] = {}
    for number, found in enumerate(played.values()):
        arrays |= {f"{number}.{name}": getattr(found, name) for name in _NUMBERS}
    said = {name: list(found.said) for name, found in played.items()}
    checkpoint.save(path, {"digest": digest, "said": said}, arrays)


def _loaded(path: Path, digest: str) -> Mapping[str, Played] | None:
    """Return the results kept of this series; None if there are none, or of other data."""
    try:
        header, arrays = checkpoint.load(path)
    except (CheckpointError, OSError):
        return None
    if header.get("digest") != digest:
        return None
    return {
        name: Played(
            **{part: arrays[f"{number}.{part}"] for part in _NUMBERS}, info={}, said=tuple(said)
        )
        for number, (name, said) in enumerate(header["said"].items())
    }
