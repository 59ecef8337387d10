"""The code in a digest: all that a result can depend on, and not what only shows it."""

from collections.abc import Callable, Iterable, Iterator

import pytest
from executed import executed

from bocopt.imports import needed
from bocopt.numeric import noise
from bocopt.sources import digest_of, modules_of, package, software
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


def test_there_are_tasks_of_every_kind() -> None:
    assert len(TASKS) == 14


@pytest.mark.parametrize("name", TASKS)
def test_a_task_depends_on_all_code_that_runs_in_it(name: str) -> None:
    task = TASKS[name].short()
    found = needed(modules_of(task), package("bocopt", "bocopt_studies"))
    ran = executed(task.run)
    assert ran <= found
    assert any(file.startswith("bocopt_studies/") for file in ran)


@pytest.mark.parametrize("name", TASKS)
def test_a_change_of_what_a_task_depends_on_changes_its_digest(
    name: str, files: dict[str, bytes]
) -> None:
    task = TASKS[name]
    ours = {f for f in needed(modules_of(task), files) if f.startswith("bocopt_studies/")}
    assert len(ours) > 2
    changed = ours | {"bocopt/core.py"}
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
    [
        *("bocopt/app/page/plot.py", "bocopt/client.py", "bocopt/interop/frames.py"),
        *("bocopt/guarantees/vote.py", "bocopt/models/remembering.py"),
        *("bocopt_studies/report/html.py", "bocopt_studies/paper/table1.py"),
    ],
)
def test_a_task_does_not_depend_on_what_others_use_or_what_shows_it(
    file: str, files: dict[str, bytes]
) -> None:
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
    assert found == set(files) - {"bocopt_studies/f.py", "bocopt/app/page.py", "bocopt/core.py"}


def test_of_a_package_that_gives_on_names_those_that_are_asked_count() -> None:
    files = {
        "shop/__init__.py": b"'''Names.'''\nfrom shop.a import one\nfrom .b import two as second",
        "shop/a.py": b"",
        "shop/b.py": b"from shop.deep import inner",
        "shop/deep/__init__.py": b"from shop.deep.c import inner, other\n__all__ = ['inner']",
        "shop/deep/c.py": b"import shop.d as d, shop.e\nd.use(shop.e)",
        "shop/d.py": b"",
        "shop/e.py": b"",
        "shop/coded/__init__.py": b"from shop.coded.f import f\nf()",
        "shop/coded/f.py": b"",
    }
    root, deep = {"shop/__init__.py"}, {"shop/deep/__init__.py", "shop/deep/c.py"}
    assert needed(["shop.one"], files) == root | {"shop/a.py"}
    second = root | deep | {"shop/b.py", "shop/d.py", "shop/e.py"}
    assert needed(["shop.second"], files) == second  # c.py uses nothing of `shop` but its e
    below = second | {"shop/a.py"}
    assert needed(["shop"], files) == needed(["shop.*"], files) == below
    assert needed(["shop.coded.nothing"], files) >= {"shop/coded/f.py"}  # it runs on import
    for user in (b"import shop\nshop.one", b"import shop as s\ns.one", b"from shop import one"):
        assert needed(["user"], files | {"user.py": user}) == root | {"user.py", "shop/a.py"}
    for user in (b"import shop\nf(shop)", b"from shop import *"):
        assert needed(["user"], files | {"user.py": user}) == below | {"user.py"}
    user = b"from shop import coded\ncoded.f.go()"
    assert needed(["user"], {"user.py": user, **files}) >= {"shop/coded/f.py"}


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
