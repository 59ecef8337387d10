"""Play panel.npz of a folder on the simulated device, and write what it did there."""

import sys
from pathlib import Path

import numpy as np

from bocopt.live import play_on_gpu
from bocopt.models import LightMixture
from bocopt.policies import Predictive
from bocopt.problems import Newsvendor

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    given = dict(np.load(folder / "panel.npz"))
    policy = Predictive(Newsvendor(unit_cost=[1.0], price=5.0, upper=60.0), LightMixture())
    for precision in ("float64", "float32"):
        played = play_on_gpu(policy, **given, precision=precision)
        np.savez(folder / precision, **played._asdict())
    given["y"][2, 1] = 1e160
    try:
        play_on_gpu(policy, **given)
    except ValueError as error:
        (folder / "error.txt").write_text(str(error))
