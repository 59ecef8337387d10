"""Play panel.npz of a folder on the simulated device, and write what it did there."""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from bocopt.core import DeviceProblem
from bocopt.live import play_on_gpu
from bocopt.models import LightMixture
from bocopt.policies import Predictive
from bocopt.problems import Newsvendor


class Distance(Newsvendor):
    """What a Newsvendor of these prices pays beyond the demand: the distance from it."""

    @property
    def on_device(self) -> DeviceProblem:
        """Half of all outcomes are below the decision."""
        return DeviceProblem(0.5 - 1e-12, lambda found, terms: found, distance, (2.0,))


def distance(z: float, outcome: float, terms: tuple[float, ...]) -> float:
    """Twice what it is, by its terms."""
    return terms[0] * abs(z - outcome)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    given = dict(np.load(folder / "panel.npz"))
    policy = Predictive(Newsvendor(unit_cost=[1.0], price=5.0, upper=60.0), LightMixture())
    for precision in ("float64", "float32"):
        played = play_on_gpu(policy, **given, precision=precision)
        np.savez(folder / precision, **played._asdict())
    few = {
        name: array[..., :2, :] if name == "x" else array[..., :2] for name, array in given.items()
    }
    prices: dict[str, Any] = {"unit_cost": [1.0], "price": 0.0, "penalty": 2.0}
    for name, kind in (("newsvendor", Newsvendor), ("own", Distance)):
        played = play_on_gpu(Predictive(kind(**prices), LightMixture()), **few)
        np.savez(folder / name, **played._asdict())
    given["y"][2, 1] = 1e160
    try:
        play_on_gpu(policy, **given)
    except ValueError as error:
        (folder / "error.txt").write_text(str(error))
