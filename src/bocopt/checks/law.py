"""The words of all laws: what is expected, of whom, and what counts as the same."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bocopt.wrappers import forgotten, has


class LawError(AssertionError):
    """A class does not keep a law."""


def expect(kept: bool, who: str, what: str) -> None:
    """Raise a LawError where something is not kept."""
    if not kept:
        raise LawError(f"Expected of {who}: {what}.")


def expect_error(call: Callable[[], object], who: str, what: str) -> None:
    """Raise a LawError where a call raises no ValueError."""
    try:
        call()
    except ValueError:
        return
    raise LawError(f"Expected of {who}: a ValueError for {what}.")


def expect_given_on(wrapper: Any, *abilities: type) -> None:
    """Expect of a wrapper that it gives on the abilities of its fields that have one of these."""
    for name, inner in sorted(getattr(wrapper, "__dict__", {}).items()):
        if not any(has(inner, ability) for ability in abilities):
            continue
        missing = ", ".join(forgotten(wrapper, inner))
        what = f"to give on what its '{name}' has ({missing}), by `inner`, `parts` or `withholds`"
        expect(not missing, type(wrapper).__name__, f"{what}: see bocopt.wrappers")


def same_bits(left: Any, right: Any) -> bool:
    """Bit for bit, NaN equal to NaN."""
    if isinstance(left, tuple | list):
        pairs = zip(left, right, strict=True)
        return all(same_bits(one, other) for one, other in pairs)
    return np.shape(left) == np.shape(right) and bool(
        np.array_equal(left, right, equal_nan=np.asarray(left).dtype.kind == "f")
    )
