"""Defaults and checks of the settings of the exact sampler."""

from bocopt import arguments
from bocopt.beliefs.kernels import CrankNicolson, FittedCrankNicolson, Kernel, learns_shape

_PER_PARAMETER = 2  # particles that a fitted kernel needs, at least
_THRESHOLD = 0.5
_THRESHOLD_OF_A_SLIDING_POSTERIOR = 0.9  # docs/results/posterior-forgetting.md has what 0.5 does


def default_kernel(size: int, dim: int) -> Kernel:
    """Return the default kernel for so many particles and parameters."""
    return FittedCrankNicolson() if size >= _PER_PARAMETER * dim else CrankNicolson()


def default_threshold(slides: bool) -> float:
    """Return the default threshold, a share of N: higher if the posterior slides for ever."""
    return _THRESHOLD_OF_A_SLIDING_POSTERIOR if slides else _THRESHOLD


def check_forgetting(name: str, discount: float, window: int | None, switch_rate: float) -> None:
    """Check the ranges of `discount`, `window` and `switch_rate`."""
    arguments.number(name, "discount", discount, "(0, 1]")
    arguments.number(name, "switch_rate", switch_rate, "[0, 1)")
    if window is not None:
        arguments.integer(name, "window", window, "[1, inf)")


def check_moves(name: str, size: int, threshold: float, sweeps: int | None) -> None:
    """Check the ranges of `size`, `threshold` and `sweeps`, and that particles can be moved."""
    arguments.integer(name, "size", size, "[2, inf)")
    arguments.number(name, "threshold", threshold, "(0, 0.99]")
    if threshold * size <= 1:
        expected = f"more than 1 / size = {1 / size:g}: else particles are never moved"
        raise arguments.wrong(name, "threshold", expected, threshold)
    if sweeps is not None:
        arguments.integer(name, "sweeps", sweeps, "[1, inf)")


def check_chains(name: str, size: int, length: int | None, kernel: Kernel, dim: int) -> None:
    """Check that `length` divides `size`, with enough chains for kernels that learn shapes."""
    if length is None:
        return
    arguments.integer(name, "chain_length", length, "[2, inf)")
    if size % length or size == length:
        expected = f"a divisor of size = {size}, and smaller"
        raise arguments.wrong(name, "chain_length", expected, length)
    if learns_shape(kernel) and size // length < dim:
        expected = (
            f"at most size / {dim} with {type(kernel).__name__}, which needs a chain for each "
            "parameter to learn its shape from"
        )
        raise arguments.wrong(name, "chain_length", expected, length)
