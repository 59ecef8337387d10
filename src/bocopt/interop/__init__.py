"""Bridges to other libraries: their parts as ours, and ours as theirs."""

from bocopt.interop.episodes import environment
from bocopt.interop.frames import to_frame
from bocopt.interop.incremental import Incremental
from bocopt.interop.linear_costs import FromPyepo, from_pyepo
from bocopt.interop.online import FromRiver, from_river
from bocopt.interop.regressor import FromSklearn, from_sklearn

__all__ = [
    "FromPyepo",
    "FromRiver",
    "FromSklearn",
    "Incremental",
    "environment",
    "from_pyepo",
    "from_river",
    "from_sklearn",
    "to_frame",
]
