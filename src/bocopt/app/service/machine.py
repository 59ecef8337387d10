"""A fingerprint of what the last bits of a number depend on: processor and libraries."""

import hashlib
import json
import platform
from importlib import import_module
from importlib.metadata import version

import numpy as np

from bocopt import __version__

_LIBRARIES = ("numpy", "scipy", "numba", "highspy")


def numeric_fingerprint() -> str:
    """Return a digest; where it is equal, decisions that are taken again have the same bits."""
    pools = import_module("threadpoolctl").threadpool_info()
    kernels = {f"{pool['internal_api']} {pool.get('architecture')}" for pool in pools}
    about = {
        "bocopt": __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "vectors": np.show_config("dicts")["SIMD Extensions"],
        "kernels": sorted(kernels),
        **{name: version(name) for name in _LIBRARIES},
    }
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
