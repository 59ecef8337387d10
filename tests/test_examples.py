"""Every example runs as its first lines say, and its program keeps the laws."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bocopt.checks import check_problem
from bocopt.problems.program import Program

EXAMPLES = sorted(
    path
    for path in (Path(__file__).parents[1] / "examples").glob("*.py")
    if path.stem != "service_client"  # it needs a service: tests/service
)


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda path: path.stem)
def example(request: pytest.FixtureRequest) -> dict[str, Any]:
    return runpy.run_path(str(request.param))


def test_it_runs_and_prints_a_line_for_each_of_two_ways(
    example: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    example["main"](30)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert not any("nan" in line for line in lines)


def test_its_program_keeps_the_laws(example: dict[str, Any]) -> None:
    (problem,) = (thing for thing in example.values() if isinstance(thing, Program))
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 0.2, (3, problem.dims.x or 0))
    check_problem(problem, x, rng.uniform(1, 9, (3, problem.dims.xi)))


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 5
