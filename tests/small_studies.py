"""Studies at a tiny size, run as `bocopt reproduce` runs them."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bocopt_studies import reproduce
from bocopt_studies.reproduce import StudyResult
from bocopt_studies.study import Size
from bocopt_studies.work.store import BlockStore


def results(command: str, size: Size, folder: Path) -> dict[str, StudyResult]:
    """What the studies of a command find; their files and the report are in the folder."""
    plan = reproduce.plan_of(command, size)
    work = reproduce.work_of(plan, BlockStore(folder / "blocks"))
    with ThreadPoolExecutor(1) as executor:
        work.finish(executor, lambda stages: None)
    found = reproduce.results_of(plan, work, {})
    reproduce.write(folder, found)
    return found
