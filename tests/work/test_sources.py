"""The code in a digest: all that a result can depend on, and not what only shows it."""

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

import bocopt
import bocopt_studies
from bocopt.numeric import noise
from bocopt.sources import digest_of, modules_of, needed, package, software
from bocopt_studies.catalogue import STUDIES
from bocopt_studies.paper.settings import Settings, tasks_of
from bocopt_studies.study import Size
from bocopt_studies.work.task import Task

SIZE = Size(trials=2, horizon=4)
TASKS = {
    type(task).__name__: task for study in STUDIES.values() for task in study.tasks(SIZE).values()
}


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """The package's sources, to be changed; digests are of these."""
    found = package("bocopt", "bocopt_studies")
    monkeypatch.setattr("bocopt.sources.package", lambda *names: found)
    yield found
    software.cache_clear()


def changing(files: dict[str, bytes], names: Iterable[str], digest: Callable[[], str]) -> set[str]:
    """Those of the files whose change changes a digest."""
    software.cache_clear()
    before, found = digest(), set()
    for name in names:
        content = files[name]
        files[name] = content + b"\n"
        software.cache_clear()
        found |= {name} if digest() != before else set()
        files[name] = content
    return found


#: In a process for each module; numpy, which all of them load, is loaded once.
_IMPORT_EACH = """
import importlib, os, sys, numpy
for module in sys.argv[1:]:
    if os.fork() == 0:
        importlib.import_module(module)
        files = (m.__file__ for name, m in sys.modules.items() if name.startswith("bocopt"))
        print(module, *files, flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def loaded_with() -> dict[str, set[str]]:
    """The files of the package that Python itself loads with each task's module."""
    modules = {type(task).__module__ for task in TASKS.values()}
    found = subprocess.run(
        [sys.executable, "-c", _IMPORT_EACH, *modules], capture_output=True, text=True, check=True
    )
    roots = [Path(str(each.__file__)).parent.parent for each in (bocopt, bocopt_studies)]
    lines = [line.split() for line in found.stdout.splitlines()]
    return {
        module: {
            Path(file).relative_to(root).as_posix()
            for file in files
            for root in roots
            if Path(file).is_relative_to(root)
        }
        for module, *files in lines
    }


def test_there_are_tasks_of_every_kind() -> None:
    assert len(TASKS) == 14


@pytest.mark.parametrize("name", TASKS)
def test_a_task_depends_on_its_own_module_and_on_all_that_it_imports(
    name: str, loaded_with: dict[str, set[str]]
) -> None:
    task = TASKS[name]
    loaded = loaded_with[type(task).__module__]
    assert loaded <= needed(modules_of(task), package("bocopt", "bocopt_studies"))
    assert any(file.startswith("bocopt_studies/") for file in loaded)


@pytest.mark.parametrize("name", TASKS)
def test_a_change_of_what_a_task_depends_on_changes_its_digest(
    name: str, files: dict[str, bytes]
) -> None:
    task = TASKS[name]
    ours = {f for f in needed(modules_of(task), files) if f.startswith("bocopt_studies/")}
    assert len(ours) > 2
    changed = ours | {"bocopt/core.py", "bocopt/beliefs/liu_west.py"}
    assert changing(files, changed, lambda: task.digest) == changed


def test_a_task_depends_on_the_modules_of_its_parts(files: dict[str, bytes]) -> None:
    def play(one_stream: bool) -> Task:
        return tasks_of(Settings(one_stream=one_stream), SIZE, ["PtO"])["PtO"]

    variants, worlds = "bocopt_studies/paper/variants.py", "bocopt_studies/learning/worlds.py"
    assert changing(files, [variants], lambda: play(one_stream=True).digest)
    assert not changing(files, [variants], lambda: play(one_stream=False).digest)
    later = STUDIES["posterior-regimes"].tasks(SIZE)["started at the change"]
    assert changing(files, [worlds], lambda: later.digest)


@pytest.mark.parametrize(
    "file",
    ["bocopt/app/page/plot.py", "bocopt_studies/report/html.py", "bocopt_studies/paper/table1.py"],
)
def test_a_task_does_not_depend_on_what_shows_it(file: str, files: dict[str, bytes]) -> None:
    assert not changing(files, [file], lambda: TASKS["Play"].digest)
    assert changing(files, [file], lambda: digest_of(files, {}))


def test_what_is_imported_in_any_way_is_found() -> None:
    files = {
        "bocopt_studies/__init__.py": b"",
        "bocopt_studies/a.py": b"def f():\n    from bocopt_studies import b\n",
        "bocopt_studies/b.py": b"import bocopt_studies.c as c",
        "bocopt_studies/c.py": b"from .d import x\nfrom . import e",
        "bocopt_studies/d.py": b"if TYPE_CHECKING:\n    import bocopt_studies.f\n",
        "bocopt_studies/e.py": b"from bocopt.app import text",
        "bocopt_studies/f.py": b"",
        "bocopt/app/text.py": b"",
        "bocopt/app/page.py": b"",
        "bocopt/core.py": b"",
    }
    found = needed(["bocopt_studies.a"], files)
    assert found == set(files) - {"bocopt_studies/f.py", "bocopt/app/page.py"}


def test_modules_are_those_of_classes_and_functions_at_any_depth() -> None:
    nested = {"x": [Settings(), (noise.normal,)]}
    assert modules_of(nested) == {"bocopt_studies.paper.settings", "bocopt.numeric.noise"}


def test_other_code_or_versions_have_other_digests() -> None:
    files, versions = {"run.py": b"1", "core.py": b"2"}, {"numpy": "2.0"}
    digests = {
        digest_of(files, versions),
        digest_of({**files, "run.py": b"3"}, versions),
        digest_of({**files, "new.py": b""}, versions),
        digest_of({"run.py": b"1", "core2.py": b"2"}, versions),
        digest_of(files, {"numpy": "2.1"}),
    }
    assert len(digests) == 5
