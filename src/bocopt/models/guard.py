"""Members that fail: the others carry on without them, and a warning says so."""

from dataclasses import fields, is_dataclass
from warnings import warn

import numpy as np

from bocopt.core import BoolArray
from bocopt.models.design import Design
from bocopt.models.member import Fit, Member
from bocopt.numeric.stacking import UnlikeError, are_together, axes_of, is_ragged


def init(member: Member, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Fit:
    """Return a member's fit before any outcome; () if that fails, and then it cannot predict."""
    try:
        return member.init(lead, dim_x, dim_xi)
    except Exception as error:
        warn_once(f"{name_of(member)} is left out", error)
        return ()


def refit(member: Member, fit: Fit, past: Design) -> tuple[Fit, BoolArray]:
    """Return the fit to the past, from an earlier fit, and () where it failed and starts afresh."""
    lead, widths = past.regression.mean.shape[:-1], (past.x.shape[-1], past.xi.shape[-1])
    begun: Fit = ()
    try:
        begun = member.init(lead, *widths)
        found = member.refit(fit, past)
        broken = _broken(found, lead)
        if broken.any():
            axes = axes_of(lambda seeds: member.init(seeds.shape, *widths))
            found = _mended(begun, found, axes, broken)
        return found, broken
    except Exception as error:
        warn_once(f"{name_of(member)} is left out", error)
        return begun, np.ones(lead, bool)


def _broken(found: Fit, lead: tuple[int, ...]) -> BoolArray:
    """Return True () where a fit is not finite."""
    broken = np.zeros(lead, bool)
    for part in found:
        if part.shape[: len(lead)] == lead:
            finite = np.isfinite(part).reshape(*lead, -1)
            broken |= ~finite.all(axis=-1)
    return broken


def _mended(begun: Fit, found: Fit, axes: tuple[bool, ...], broken: BoolArray) -> Fit:
    """Return the fit found, with a fresh start where it is broken; what is common to all stays."""
    if is_ragged(found) and are_together():  # sizes are those of the largest
        raise UnlikeError("Streams with a broken fit are played apart.")
    mended = [
        np.where(broken.reshape(*broken.shape, *[1] * (new.ndim - broken.ndim)), old, new)
        if axis and new.shape == old.shape
        else new
        for old, new, axis in zip(begun, found, axes, strict=True)
    ]
    return type(found)(*mended) if hasattr(found, "_fields") else tuple(mended)


def name_of(member: Member) -> str:
    """The class, and what differs from its defaults."""
    if not is_dataclass(member):
        return type(member).__name__
    own = {f.name: getattr(member, f.name) for f in fields(member)}
    changed = [f"{f.name}={own[f.name]}" for f in fields(member) if own[f.name] != f.default]
    return type(member).__name__ + (f"({', '.join(changed)})" if changed else "")


def warn_once(what: str, error: Exception) -> None:
    """Warn of an error: in its own words the first time, by its type from then on.

    Its words may have numbers in them, and Python keeps the text of every warning for ever. Of
    streams that are played together, one that fails is played alone.
    """
    if are_together():
        raise error
    error_name = type(error).__name__
    words = error_name if (what, error_name) in _warned else repr(error)
    _warned.add((what, error_name))
    warn(f"{what}: {words}. The others carry on.", stacklevel=3)


_warned: set[tuple[str, str]] = set()
