"""Studies: tasks to run, a summary of their records, and how to show it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from bocopt.app.text import count

if TYPE_CHECKING:
    from bocopt_studies.report.blocks import Section
    from bocopt_studies.work.task import Record, Task

Summary = dict[str, Any]  # the content of a JSON file


class Size(NamedTuple):
    """Size of a study, by default that of table 1."""

    trials: int = 100
    horizon: int = 1000
    seed: int = 0

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of the trials, in a row from `seed` on."""
        return tuple(range(self.seed, self.seed + self.trials))

    @classmethod
    def of(cls, summary: "Summary") -> "Size":
        """Return the size that a summary was made at."""
        return cls(summary["trials"], summary["horizon"], summary["seed"])

    def part(self, one_in: int = 5, percent: int = 100) -> "Size":
        """One in so many trials, but two where there are two (one has no spread); of the stages.

        >>> Size(100).part(percent=50), Size(4).part().trials, Size(1).part().trials
        (Size(trials=20, horizon=500, seed=0), 2, 1)
        """
        trials = max(min(2, self.trials), self.trials // one_in)
        return self._replace(trials=trials, horizon=max(1, self.horizon * percent // 100))

    def __str__(self) -> str:
        """
        >>> str(Size(20, 500))
        '20 trials of 500 stages, seeds 0 to 19'
        """
        last = self.seed + self.trials - 1
        seeds = f"seed {last}" if self.trials == 1 else f"seeds {self.seed} to {last}"
        return f"{count(self.trials, 'trial')} of {count(self.horizon, 'stage')}, {seeds}"


def whole(size: Size) -> Size:
    """Return the size as it is."""
    return size


@dataclass(frozen=True)
class Study:
    """All that is to be said of a study; `catalogue.STUDIES` is the one place that lists them.

    Its code is a module with `tasks`, `summarise` and `show`, imported when it is needed.
    """

    name: str  # of its command and its files
    help: str
    group: str
    module: str
    size: Callable[[Size], Size] = whole  # when table 1 has this one

    @property
    def full(self) -> Size:
        """Size at which the study is made when table 1 has its default size."""
        return self.size(Size())

    def tasks(self, size: Size) -> Mapping[str, "Task"]:
        """Return the tasks to run; the names are those of the records."""
        tasks: Mapping[str, Task] = self._code.tasks(size)
        return tasks

    def summarise(self, size: Size, records: Mapping[str, "Record"]) -> Summary:
        """The content of the study's JSON file."""
        summary: Summary = self._code.summarise(size, records)
        return summary

    def show(self, summary: Summary) -> "Section":
        """Return the section that shows a summary."""
        section: Section = self._code.show(summary)
        return section

    @property
    def _code(self) -> Any:
        return import_module(f"bocopt_studies.{self.group}.{self.module}")
