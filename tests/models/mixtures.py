"""Mixtures of members as they are: one law each."""

from typing import Any

from bocopt import Mixture
from bocopt.models import Plain


def plain(**options: Any) -> Mixture:
    """No logarithm, no heavy tails, no calibration, unless asked for."""
    return Mixture(**{"scales": [Plain()], "tails": [60.0], "calibrate": False, **options})
