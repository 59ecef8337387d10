"""What a study is: tasks to run, a summary of their records, and how to show it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from bocopt.experiments.tasks import Record, Task
from bocopt.report.blocks import Section

Summary = dict[str, Any]  # the content of a JSON file


class Size(NamedTuple):
    trials: int = 100
    horizon: int = 1000
    seed: int = 0

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(range(self.seed, self.seed + self.trials))

    @classmethod
    def of(cls, summary: "Summary") -> "Size":
        return cls(summary["trials"], summary["horizon"], summary["seed"])

    def tuning(self) -> "Size":
        """The paper tunes on a fifth of the trials and half of the stages."""
        return self._replace(trials=max(1, self.trials // 5), horizon=max(1, self.horizon // 2))

    def __str__(self) -> str:
        """
        >>> str(Size(20, 500))
        '20 trials of 500 stages, seeds 0 to 19'
        """
        trials = "1 trial" if self.trials == 1 else f"{self.trials} trials"
        stages = "1 stage" if self.horizon == 1 else f"{self.horizon} stages"
        last = self.seed + self.trials - 1
        seeds = f"seed {last}" if self.trials == 1 else f"seeds {self.seed} to {last}"
        return f"{trials} of {stages}, {seeds}"


class Study(NamedTuple):
    """`tasks` name the records that `summarise` turns into a JSON file and `show` into a page."""

    name: str
    size: Callable[[Size], Size]
    tasks: Callable[[Size], Mapping[str, Task]]
    summarise: Callable[[Size, Mapping[str, Record]], Summary]
    show: Callable[[Summary], Section]
