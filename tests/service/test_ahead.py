"""Streams that are asked at once: one stacked call, and the log that one by one has."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shop as here
from shop import assert_is_its_log, engine, random_command, shop

from bocopt.app.service.commands import Command, Create, Decide, Observe, RefusedError
from bocopt.app.service.stores import EventRow, open_store
from bocopt.live.stacked import StackedFold

NAMES = [f"shop-{i}" for i in range(9)]


def commands() -> list[list[Command]]:
    """Batches of decisions and outcomes of all shops, and some that are late, doubled or wrong."""
    rng, batches = np.random.default_rng(0), list[list[Command]]()
    for stage in range(5):
        asked = [Decide(name, [round(float(rng.normal()), 2)], f"{name}-{stage}") for name in NAMES]
        told = [Observe(name, stage, rng.uniform(0.5, 1.5, 2).round(2).tolist()) for name in NAMES]
        batches += [[*asked, asked[0]], [*told, told[1]]]
        batches.append([random_command(rng, 8, name) for name in NAMES for _ in range(2)])
    bad: list[Command] = [Decide(NAMES[0], [0.1, 0.2]), Observe(NAMES[1], 3, [np.nan, 1.0])]
    return [*batches, [*bad, Decide("nobody", [0.1]), *(Decide(name, [0.3]) for name in NAMES)]]


def played(folder: Path, at_once: bool, policy: Any) -> tuple[list[EventRow], list[Any]]:
    store = open_store("sqlite:///log.db", folder)
    ours = engine(store, shop(policy=policy), clock=lambda: 7.0)
    ours.step([Create(name, "shop") for name in NAMES])
    answers = []
    for batch in commands():
        for some in [batch] if at_once else [[command] for command in batch]:
            answers += ours.step(some)
    for name in NAMES:
        assert_is_its_log(ours, store, name)
    rows = [row for name in NAMES for row in store.tail(name)]
    store.close()
    return rows, [str(a) if isinstance(a, RefusedError) else a for a in answers]


@pytest.mark.parametrize("policy", [here.policy, here.learner], ids=["average", "learner"])
def test_the_log_is_that_of_one_by_one(
    tmp_path: Path, policy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stacked, decide = list[int](), StackedFold._decided

    def counted(self: StackedFold[Any], pairs: Any) -> Any:
        stacked.append(len(pairs))
        return decide(self, pairs)

    monkeypatch.setattr(StackedFold, "_decided", counted)
    for name in ("one", "all"):
        (tmp_path / name).mkdir()
    alone = played(tmp_path / "one", at_once=False, policy=policy)
    assert stacked == []
    assert played(tmp_path / "all", at_once=True, policy=policy) == alone
    assert max(stacked) == len(NAMES)  # it was not done alone after all
