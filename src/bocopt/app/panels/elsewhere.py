"""Parts of a panel that are played by workers which share neither a disk nor a table with us.

A worker is sent the rows of a part and the Python files that the case is made of. It sends back the
files that playing leaves, as bytes, and a digest of all that they depend on: they are kept here,
where the digest is the same.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from bocopt import file
from bocopt.app.case import Case
from bocopt.app.case_file import CaseSettings
from bocopt.app.features.series import Panel, Series
from bocopt.app.features.spec import Spec
from bocopt.app.opening import case_on
from bocopt.app.panels.blocks import Block, series_of_block
from bocopt.app.panels.one import Player
from bocopt.app.panels.player import PanelPlayer, Part
from bocopt.app.panels.rows import PanelRows, first_rows
from bocopt.app.toml_file import TomlFile
from bocopt.app.user_code import CASES, UserCode
from bocopt.core import Array
from bocopt.remote.answers import Planned, answered
from bocopt.remote.order import JobSpec, order
from bocopt.sources import followed, modules_of, spec_of

#: Parts on their way for each worker: they hold rows, and so are larger than other orders.
AHEAD = 2
_FEW = 3  # decisions, of which one is after an outcome
_LAST = "played.bin", "blocks"  # what says that all else of a part is there


class PlayedPart(NamedTuple):
    """Result of playing a part."""

    digest: str  # of all that it depends on
    files: Mapping[str, bytes]  # that it left, by path in the results


class Found(NamedTuple):
    """Numbers beside the contexts of one block, by policy: as a pass over all series found them."""

    digest: str
    numbers: Array  # (R, L)

    def quantiles(self, first: int, last: int) -> Array:
        """Return all of them: a worker knows the decisions of its block alone."""
        return self.numbers


@dataclass(frozen=True, kw_only=True)
class PartJob:
    """A part of a panel, with all that a worker needs to play it."""

    part: Part
    policies: tuple[str, ...]  # that play it
    settings: CaseSettings
    code: Mapping[str, bytes]  # Python files of the user, by path
    spec: Spec | None
    panel: Panel  # of the series that are played by themselves; of a block, one without rows
    rows: PanelRows | None  # of a block
    beside: Mapping[str, Found]  # of a block, by policy
    keep_every: int
    keep_seconds: float

    def run(self) -> PlayedPart:
        """Play the part in a folder of its own, and return the files that this leaves."""
        with TemporaryDirectory(prefix="bocopt-part-") as name, _written(Path(name), self.code):
            results = Path(name) / "results"
            files = UserCode(Path(name) / "code")
            case = case_on(self.settings, files, panel=self.panel, spec=self.spec)
            digest = self._played(replace(case, results=results))
            left = sorted(path for path in results.rglob("*") if path.is_file())
            found = {path.relative_to(results).as_posix(): path.read_bytes() for path in left}
            return PlayedPart(digest, found)

    def short(self) -> "PartJob":
        """Return the first decisions of a series: they need the same machine code."""
        if self.rows is not None:
            rows = first_rows(self.rows, _FEW)
            beside = {
                name: one._replace(numbers=one.numbers[: len(rows.x)])
                for name, one in self.beside.items()
            }
            return replace(self, rows=rows, beside=beside)
        [one], [at] = self.panel.series, self.panel.at
        return replace(self, panel=self.panel._replace(series=(_first(one),), at=(at[:_FEW],)))

    def _played(self, case: Case) -> str:
        rows, part = self.rows, self.part
        if rows is not None:
            assert isinstance(part, int)
            parts = part, lambda: rows, self.beside, self.keep_every, self.keep_seconds
            block = Block(case, *parts)
            block.play(self.policies)
            return block.digests(self.policies)
        assert isinstance(part, str)
        some = {name: case.policies[name] for name in self.policies}
        case = replace(case, policies=some, now=None)
        Player(case, self.keep_every, self.keep_seconds).play(part)
        return case.of_series(part).digest


def play_elsewhere(
    player: PanelPlayer,
    executor: Executor,
    size: Callable[[], int],
    advance: Callable[[int], None] = lambda stages: None,
) -> None:
    """Play what has not been played by the workers of an executor, and keep it here.

    `size` tells how many workers there are now. One with other code is refused by name.
    """
    case = player.case
    if case.source is None:
        raise ValueError("Only a case that was read from a file can be played by other processes.")
    left = dict[str, Part]()
    for part in player.parts:
        if player.is_played(part):
            advance(player.stages(part))
        else:
            left[str(part)] = part
    code, modules = code_of_user(case)
    orders = deque(
        Planned(name, partial(_order, player, part, code, modules)) for name, part in left.items()
    )
    for name, answer in answered(executor, orders, size, AHEAD):
        part, found = left[name], answer.result
        if found.digest != player.digest(part):
            raise ValueError(
                f"{answer.origin.where} played another case, so nothing of it was stored: what its "
                "Python files read beside themselves must be the same there and here, and at the "
                "same path."
            )
        _keep(case.results, found.files)
        advance(player.stages(part))


def _order(
    player: PanelPlayer, part: Part, code: Mapping[str, bytes], modules: frozenset[str]
) -> JobSpec:
    """Return the order of a part, with no more of the case than it needs."""
    case, whole = player.case, player.panel
    assert case.source is not None
    rows = player.block(part).rows if isinstance(part, int) else None
    some = [] if isinstance(part, int) else [whole.names.index(part)]
    first = whole.series[0]
    nothing = _first(first, 0)._replace(featuriser=None, state=None)
    panel = whole._replace(
        names=tuple(whole.names[i] for i in some),
        series=tuple(whole.series[i] for i in some) or (nothing,),
        notes=(),
        time=(),
        at=tuple(whole.at[i] for i in some),
        keys=tuple(whole.keys[i] for i in some),
        clock=None,
    )
    job = PartJob(
        part=part,
        policies=tuple(player.in_rows if rows is not None else player.one_by_one),
        settings=_shown(case),
        code=code,
        spec=case.spec,
        panel=panel,
        rows=rows,
        beside={} if not isinstance(part, int) else _beside(player, part),
        keep_every=player.keep_every,
        keep_seconds=player.keep_seconds,
    )
    return order(job, modules, f"{case.name} {sorted(code.items())} {job.policies}")


def _beside(player: PanelPlayer, number: int) -> Mapping[str, Found]:
    """Return what policies see beside the contexts of a block: of passes that were made here."""
    ends = series_of_block(player.panel, number)
    return {name: Found(one.digest, one.quantiles(*ends)) for name, one in player.passes.items()}


def _first(one: Series, many: int = _FEW) -> Series:
    """Return the first decisions of a series."""
    return one._replace(
        time=one.time[:many],
        x=one.x[:many],
        xi=one.xi[:many],
        arrives=np.minimum(one.arrives[:many], min(many, len(one.x))),
        now=None if one.now is None else one.now[:many],
        lines=one.lines[:many],
        notes=(),
    )


def _shown(case: Case) -> CaseSettings:
    """Return what a worker may know: not where the data are, which may hold a password."""
    settings, panel = case.source, case.panel
    assert settings is not None
    assert panel is not None
    part = settings.part
    empty = replace(part, file=TomlFile(part.file.path, "", {}), found={})
    policies = settings.policies_for(len(panel.names), case.problem.dims.xi)
    return replace(settings, part=empty, data=None, reading={}, spec=None, policies=policies)


def code_of_user(case: Case) -> tuple[Mapping[str, bytes], frozenset[str]]:
    """Return the user's Python files by path, and the modules of the library that are needed."""
    assert case.source is not None
    references = [case.source.problem, *case.source.policies, *case.source.guarantees]
    homes = {r.rpartition(":")[0] for r in (*references, case.source.now)} - {""}
    named = {f"{CASES}.{home}" for home in homes}
    asked, yours = followed({*modules_of((case.everyone, case.problem, case.guarantees)), *named})
    found = {f"code/{_path(name)}": content for name, content in yours.items()}
    ours = {Block.__module__, Player.__module__, PartJob.__module__}
    return found, asked | ours


def _path(module: str) -> PurePosixPath:
    """Return where the file of a module stands below the folder of a case."""
    place = PurePosixPath(*module.removeprefix(f"{CASES}.").split("."))
    spec = spec_of(module)
    is_package = spec is not None and Path(spec.origin or "").stem == "__init__"
    return place / "__init__.py" if is_package else place.with_suffix(".py")


@contextmanager
def _written(folder: Path, code: Mapping[str, bytes]) -> Iterator[None]:
    """Write Python files below a folder; what is imported of them is forgotten in the end."""
    for name, content in code.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "code").mkdir(exist_ok=True)
    before, paths = dict(sys.modules), list(sys.path)
    for name in _modules(code):
        sys.modules.pop(name, None)
    sys.path.insert(0, str(folder / "code"))
    try:
        yield
    finally:
        sys.path[:] = paths
        for name in set(sys.modules) - set(before):
            if name.startswith(f"{CASES}.") or name in _modules(code):
                del sys.modules[name]
        sys.modules |= {name: one for name, one in before.items() if name not in sys.modules}


def _modules(code: Mapping[str, bytes]) -> Sequence[str]:
    """Return the names by which files beside each other import themselves."""
    parts = [PurePosixPath(name).with_suffix("").parts[1:] for name in code]
    return [".".join(each[:-1] if each[-1] == "__init__" else each) for each in parts]


def _keep(results: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a part; those by which it counts as played come last."""
    for name in sorted(files, key=lambda name: any(part in _LAST for part in Path(name).parts)):
        path = results / name
        path.parent.mkdir(parents=True, exist_ok=True)
        file.replace(path, files[name])
