"""The code in the digest of a case: all that runs when it is played, yours too, and no more."""

from pathlib import Path

import numpy as np
import pytest
from executed import executed
from registry import INSTANCES, STREAM, of_kind, played_on
from small_cases import changed, written

from bocopt import SampleAverage
from bocopt.app import opening
from bocopt.app.features.series import Series
from bocopt.app.playing.in_hindsight import least_costs
from bocopt.app.playing.play import play
from bocopt.imports import needed
from bocopt.sources import code_of, followed, modules_of, package


def _series(stages: int = 8) -> Series:
    """The first stages of the registry's stream; outcomes come a stage late."""
    pairs = [pair for pair, _ in zip(STREAM.stages(np.array(0)), range(stages), strict=False)]
    x, xi = (np.stack(column) for column in zip(*pairs, strict=True))
    t = np.arange(stages)
    names = tuple("abc"), ("one", "two")
    return Series(tuple(map(str, t)), x, names[0], xi, names[1], t + 2, None, t, ())


SERIES = _series()
FILES = package("bocopt")


@pytest.mark.parametrize("name", of_kind("policy"))
def test_the_digest_of_a_case_has_all_code_that_plays_its_policy(name: str) -> None:
    policy = INSTANCES[name]
    problem = played_on(policy)
    asked, _ = followed({*modules_of((policy, problem)), play.__module__})
    ran = executed(lambda: play(policy, problem, SERIES))
    assert len(ran) > 20
    assert ran <= needed(asked, FILES)


@pytest.mark.parametrize("name", of_kind("problem"))
def test_the_digest_of_a_case_has_all_code_that_solves_its_problem(name: str) -> None:
    problem = INSTANCES[name]
    policy = SampleAverage(problem, initial_decision=[0.0] * problem.dims.z)
    asked, _ = followed({*modules_of((policy, problem)), play.__module__})
    assert executed(lambda: play(policy, problem, SERIES)) <= needed(asked, FILES)
    asked, _ = followed({*modules_of(problem), least_costs.__module__})
    assert executed(lambda: least_costs(problem, SERIES)) <= needed(asked, FILES)


def test_code_that_nobody_sees_is_caught_by_the_law() -> None:
    """So that it can fail: nothing that is asked of says that a stream of the paper is drawn."""
    hidden = executed(lambda: next(STREAM.stages(np.array(0))))
    assert hidden - needed([play.__module__], FILES) == {"bocopt/streams/paper.py"}


_MINE = """
from bocopt.policies import SampleAverage
from margin import MARGIN

class Careful(SampleAverage):
    def decide(self, state, t, x):
        taken = super().decide(state, t, x)
        return taken._replace(solution=taken.solution._replace(z=MARGIN * taken.solution.z))
"""


def test_a_change_of_any_file_of_yours_that_plays_changes_the_digest(tmp_path: Path) -> None:
    """Also of a policy in a file beside the problem's, and of what is imported there."""
    path = changed(written(tmp_path), '["SampleAverage"]', '["mine:Careful"]')
    (tmp_path / "mine.py").write_text(_MINE)
    (tmp_path / "margin.py").write_text("MARGIN = 1.5\n")
    (tmp_path / "unused.py").write_text("NOTHING = 1\n")
    found = [opening.open_case(path).digest]
    for name in ("unused.py", "mine.py", "margin.py", "problem.py"):
        (tmp_path / name).write_text((tmp_path / name).read_text() + "# changed\n")
        found.append(opening.open_case(path).digest)
    assert found[0] == found[1]
    assert len(set(found)) == 4


def test_what_serves_shows_or_is_not_used_is_not_in_the_digest_of_a_case(tmp_path: Path) -> None:
    case = opening.open_case(changed(written(tmp_path), "SampleAverage", "Ensemble"))
    modules = {*modules_of((case.policies, case.problem)), play.__module__}
    asked, yours = followed(modules)
    assert not yours  # a declared program is data, and so is an ensemble
    counted = needed(asked, FILES)
    for part in ("client", "interop/", "beliefs/", "comparing", "app/page/", "app/service/"):
        assert not [file for file in counted if file.startswith(f"bocopt/{part}")]
    assert len(counted) < len(FILES) / 2


def test_all_of_the_library_counts_where_a_part_is_of_nobody_knows_where() -> None:
    nowhere = {"": code_of(["bocopt.core"]), "nowhere": code_of(["bocopt.core", "nowhere"])}
    assert len(set(nowhere.values())) == 2
    assert code_of(["bocopt.core", "numpy"]) == nowhere[""]
