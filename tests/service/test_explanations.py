"""Why this z: said of the law that it was decided under, with names where there are some."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shop as here
from gifted import Careful, GiftedPolicy
from running import Service
from shop import shop

from bocopt import Ensemble
from bocopt.core import Status
from bocopt.paper import ConditionalOptimum
from bocopt.policies import Constant


class _Law:
    """Outcomes of one."""

    dim_noise = 1

    def sample_given(self, x: Any, u: Any) -> Any:
        return np.ones((*u.shape[:-1], 2))


LAW = _Law()
KIND = shop(
    policy=Ensemble(here.problem, prior_weight=0.5),
    shadows={"latest": here.latest},
    contexts=("rain",),
    outcomes=("north", "south"),
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Twelve decisions, drawn from both arms."""
    folder: Path = tmp_path_factory.mktemp("log")
    with Service(f"sqlite:///{folder / 'log.db'}", KIND) as found:
        rng = np.random.default_rng(0)
        for _ in range(12):
            x = [round(float(rng.normal()), 3)]
            _, body = found.ask("POST", "/v1/streams/shop/decisions", {"x": x})
            path = f"/v1/streams/shop/decisions/{body['id']}/outcome"
            found.ask("PUT", path, {"xi": rng.uniform(0.5, 1.5, 2).tolist()})
        yield found


def explained(service: Service, number: int) -> Any:
    path = f"/v1/streams/shop/decisions/{number}/explanation"
    return service.ask("GET", path)[1]


def text(service: Service, path: str) -> str:
    return re.sub(r"<[^>]+>", "", service.raw("GET", path)[2].decode()).replace("&#x27;", "'")


def test_the_arm_that_decided_is_named_with_what_it_weighed(service: Service) -> None:
    arms = set[str]()
    for number in range(1, 12):
        found = explained(service, number)
        arm, taken = found["arm"], found["candidates"][0]
        arms.add(arm["name"])
        decided = [e["z"] for e in found["candidates"] if e["name"] == arm["name"]]
        assert decided == [taken["z"]]
        assert 0.0 < arm["weight"] < 1.0
        assert found["status"] in {each.message for each in Status}
        page = text(service, f"/streams/shop/decisions/{number}")
        assert f"Decided by the arm '{arm['name']}' (weight" in page
        other = arm["name"] != "model"
        assert arm["own_scenarios"] != other
        assert ("others may be better there" in page) == other
        assert ("scenarios that z was decided under" in page) != other
        if "would bring more" in page and other:
            assert "Under the model's scenarios, these would bring more" in page
    assert arms == {"model", "running average"}


def test_contexts_and_outcomes_have_their_names(service: Service) -> None:
    page = text(service, "/streams/shop/decisions/3")
    assert re.search(r"The context x was rain = -?\d", page)
    assert re.search(r"north = [\d.]+, south = [\d.]+", page)
    stream = text(service, "/streams/shop")
    assert "north" in stream
    assert "south" in stream
    summary = service.ask("GET", "/v1/streams/shop")[1]
    assert (summary["context"], summary["outcome"]) == (["rain"], ["north", "south"])


def test_a_policy_of_yours_is_explained_by_what_it_is_able_to_do(tmp_path: Path) -> None:
    kind = shop(policy=Careful(GiftedPolicy(here.problem)), shadows={"latest": here.latest})
    with Service(f"sqlite:///{tmp_path / 'log.db'}", kind) as yours:
        _, body = yours.ask("POST", "/v1/streams/shop/decisions", {"x": [0.0]})
        found = explained(yours, body["id"])
    assert found["arm"] == {"name": "mine", "weight": 0.5, "own_scenarios": True}
    others = {(one["what"], one["name"]) for one in found["candidates"]}
    assert {("shadow", "latest"), ("arm", "mine"), ("arm", "yours")} <= others


@pytest.mark.parametrize("shadows", [{}, {"latest": here.latest}])
@pytest.mark.parametrize(
    "policy", [Constant([1, 1]), ConditionalOptimum(here.problem, LAW, scenarios=8)]
)
def test_a_policy_without_scenarios_is_not_said_to_wait_for_some(
    policy: Any, shadows: dict[str, Any], tmp_path: Path
) -> None:
    with Service(f"sqlite:///{tmp_path / 'log.db'}", shop(policy=policy, shadows=shadows)) as it:
        _, body = it.ask("POST", "/v1/streams/shop/decisions", {"x": [0.0]})
        status, found = it.ask("GET", f"/v1/streams/shop/decisions/{body['id']}/explanation")
    assert status == 409
    assert "has none" in str(found)
