"""Prior from old streams, for a new one to start with: fitted once, kept in one small file."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments, checkpoint
from bocopt.core import Array, BoolArray
from bocopt.fingerprint import fingerprint
from bocopt.models import counts
from bocopt.models.fleet import Rows, fleet_prior_of
from bocopt.models.fleet_laws import FleetLaws
from bocopt.models.hierarchical import SCALES, FleetPrior
from bocopt.models.mixture_state import MixtureState
from bocopt.state import CheckpointError, flatten, rebuild

_KIND = "shared prior"
_FIRST, _JUDGES = 20, 200  # outcomes and streams by which laws are weighed


class Reach(NamedTuple):
    """Range of the outcomes of a fleet, and which components are whole numbers."""

    lowest: Array  # (m)
    highest: Array  # (m)
    whole: BoolArray  # (m) components that are whole numbers in all streams


@dataclass(frozen=True, eq=False)
class SharedPrior:
    """Prior common to streams of one kind: `SharedPrior.of` finds it, `Informed` starts there.

    >>> rng = np.random.default_rng(0)
    >>> shops = []
    >>> for level in rng.normal(10.0, 1.0, 8):
    ...     x = rng.normal(size=(50, 1))
    ...     shops.append((x, level + 2.0 * x + rng.normal(size=(50, 1))))
    >>> prior = SharedPrior.of(shops)
    >>> prior.streams, prior.outcomes, prior.dim_x, prior.dim_xi
    (8, 400, 1, 1)
    """

    fleet: tuple[FleetPrior, ...]  # on the scales of `hierarchical.SCALES`, or the first of them
    reach: Reach
    weights: Array  # (L) of the laws that start there: `fleet_laws.FleetLaws`
    streams: int
    outcomes: int

    def __post_init__(self) -> None:
        arguments.integer("SharedPrior", "streams", self.streams, "[2, inf)")
        arguments.integer("SharedPrior", "outcomes", self.outcomes, "[2, inf)")
        fleet = tuple(arguments.each("SharedPrior", "fleet", self.fleet, FleetPrior))
        object.__setattr__(self, "fleet", fleet)
        if len(fleet) not in range(1, len(SCALES) + 1):
            expected = f"those of 1 to {len(SCALES)} scales"
            raise arguments.wrong("SharedPrior", "fleet", expected, len(fleet))
        for one, scale in zip(self.fleet, SCALES, strict=False):
            template = _template(self.dim_x, self.dim_xi)
            params = scale.init((), self.dim_x, self.dim_xi)
            _check(one, template._replace(params=params), "fleet")
        arguments.kind("SharedPrior", "reach", self.reach, Reach)
        _check(self.reach, _reach(np.zeros((1, self.dim_xi))), "reach")
        laws = len(FleetLaws(fleet).tails)
        weights = arguments.array("SharedPrior", "weights", self.weights, (laws,))
        if weights.ndim != 1 or (weights <= 0).any() or not np.isclose(weights.sum(), 1.0):
            raise arguments.wrong("SharedPrior", "weights", "positive with sum 1", weights)
        object.__setattr__(self, "weights", weights)

    @classmethod
    def of(cls, streams: Iterable[Any]) -> "SharedPrior":
        """Fit two or more old streams: each its contexts and outcomes, (n, k) and (n, m).

        Or a state that holds them, as that of an `Ensemble` does (`histories_of`).
        """
        rows = _checked(streams)
        whole = np.all([(xi == np.rint(xi)).all(axis=0) for _, xi in rows], axis=0)
        spread = [(x, _jittered(xi, whole)) for x, xi in rows]
        reach = _reach(np.concatenate([xi for _, xi in rows]))._replace(whole=whole)
        scales = [scale for scale in SCALES if scale.suits(reach.lowest)]
        fleet = tuple(fleet_prior_of(scale, spread) for scale in scales)
        return cls(
            fleet=fleet,
            reach=reach,
            weights=_weights(fleet, spread),
            streams=len(rows),
            outcomes=sum(len(xi) for _, xi in rows),
        )

    @property
    def dim_x(self) -> int:
        """Length k of a context."""
        return int(self.fleet[0].centre.shape[-1])

    @property
    def dim_xi(self) -> int:
        """Length m of an outcome."""
        return int(self.fleet[0].middle.shape[-1])

    @property
    def usual_context(self) -> Array:
        """(k): the mean of all contexts."""
        return self.fleet[0].centre

    @property
    def fingerprint(self) -> str:
        """A digest of all of it: the same after it was saved and loaded."""
        return fingerprint(self)

    @property
    def _parts(self) -> tuple[Any, ...]:
        return self.fleet, self.reach, self.weights

    def save(self, path: str | Path) -> None:
        """One file, replaced at once or not at all."""
        header = {
            "kind": _KIND,
            "scales": len(self.fleet),
            "streams": self.streams,
            "outcomes": self.outcomes,
            "fingerprint": self.fingerprint,
        }
        checkpoint.save(path, header, flatten(self._parts, "prior"))

    @classmethod
    def load(cls, path: str | Path) -> "SharedPrior":
        """Return the prior that was saved; raise a `CheckpointError` if the file is not sound."""
        header, arrays = checkpoint.load(path)
        if header.get("kind") != _KIND:
            raise CheckpointError(
                f"{path} holds no shared prior. Give a file that SharedPrior.save wrote."
            )
        try:
            scales = SCALES[: int(header["scales"])]
            blank = _template(1, 1)
            fleet = tuple(blank._replace(params=scale.init((), 1, 1)) for scale in scales)
            blank_parts = fleet, _reach(np.zeros((1, 1))), np.zeros(1)
            found, reach, weights = rebuild(blank_parts, arrays, "prior")
            prior = cls(found, reach, weights, header["streams"], header["outcomes"])
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{path} holds no whole shared prior. {error}") from error
        if prior.fingerprint != header.get("fingerprint"):
            raise CheckpointError(f"{path} holds another shared prior than its header says.")
        return prior


def histories_of(state: Any) -> list[Rows]:
    """The contexts and outcomes that a state holds, one pair for each trial in it.

    It is that of a `Mixture`, or of anything that has one inside: `Predictive`, `Ensemble`.
    """
    found = _mixture_in(state)
    if found is None:
        expected = "a state with a mixture in it, as Ensemble's"
        raise arguments.wrong("histories_of", "state", expected, type(state).__name__)
    x, xi = found.x.rows, counts.cut(found.whole, found.xi.rows)
    trials = prod(xi.shape[:-2])
    x, xi = (part.reshape(trials, *part.shape[-2:]) for part in (x, xi))
    return list(zip(x, xi, strict=True))


def _mixture_in(state: Any) -> MixtureState | None:
    if isinstance(state, MixtureState):
        return state
    inside = (_mixture_in(part) for part in state) if isinstance(state, tuple) else ()
    return next((found for found in inside if found is not None), None)


def _checked(streams: Iterable[Any]) -> list[Rows]:
    owner = "SharedPrior.of"
    if not isinstance(streams, Iterable) or isinstance(streams, (str, bytes, dict)):
        raise arguments.wrong(owner, "streams", "a sequence of streams", streams)
    rows: list[Rows] = []
    for number, stream in enumerate(streams):
        name = f"streams[{number}]"
        pairs = [stream] if _is_pair(stream) else histories_of(stream)
        rows.extend(_rows(owner, name, *pair) for pair in pairs)
    if len(rows) < 2:
        expected = "two streams or more: one does not tell how far they differ"
        raise arguments.wrong(owner, "streams", expected, len(rows))
    sizes = [(x.shape[1], xi.shape[1]) for x, xi in rows]
    for number, size in enumerate(sizes):
        if size != sizes[0]:
            expected = f"of {sizes[0][0]} contexts and {sizes[0][1]} outcomes, as the first is"
            got = f"{size[0]} and {size[1]}"
            raise arguments.wrong(owner, f"streams[{number}]", expected, got)
    return rows


def _is_pair(stream: Any) -> bool:
    return isinstance(stream, tuple | list) and len(stream) == 2 and not hasattr(stream, "_fields")


def _rows(owner: str, name: str, x: ArrayLike, xi: ArrayLike) -> Rows:
    many = arguments.array(owner, name, xi, (None, None))
    seen = arguments.array(owner, name, x, (None, ...))
    for part in (seen, many):
        arguments.finite_and_squarable(owner, name, part, ...)
    if seen.ndim != 2 or many.ndim != 2 or len(seen) != len(many):
        expected = "contexts (n, k) and outcomes (n, m), as many of one as of the other"
        raise arguments.wrong(owner, name, expected, (seen.shape, many.shape))
    return seen, many


def _jittered(xi: Array, whole: BoolArray) -> Array:
    """(n, m): whole numbers over the unit above them, as the mixture looks at them."""
    seed = np.array(0)
    return np.stack([counts.jitter(whole, row, seed, t) for t, row in enumerate(xi)])


def _weights(fleet: tuple[FleetPrior, ...], streams: list[Rows]) -> Array:
    """(L): of the laws, by the first outcomes of old streams."""
    stages = min(_FIRST, *(len(xi) for _, xi in streams))
    judges = streams[:: -(-len(streams) // _JUDGES)]
    x, xi = (np.stack([part[:stages] for part in parts]) for parts in zip(*judges, strict=True))
    return FleetLaws(fleet).weights(x, xi)


def _reach(xi: Array) -> Reach:
    """(n, m)."""
    return Reach(xi.min(axis=0), xi.max(axis=0), np.ones(xi.shape[1], bool))


def _template(dim_x: int, dim_xi: int) -> FleetPrior:
    """Return a template of the shapes of a `FleetPrior`, but for its params."""
    k, m, q = np.zeros(dim_x), np.zeros(dim_xi), 1 + dim_x
    shaped = np.zeros((dim_xi, q)), np.zeros((dim_xi, q, q))
    return FleetPrior((), k, k, m, m, *shaped, m, m, np.zeros((dim_xi, dim_xi)))


def _check(found: tuple[Any, ...], wanted: tuple[Any, ...], name: str) -> None:
    """Arrays of the right shapes, without NaN, and positive where they have to be."""
    have, want = flatten(found, name), flatten(wanted, name)
    for path, array in want.items():
        if path not in have or have[path].shape != array.shape:
            got = have[path].shape if path in have else None
            raise arguments.wrong("SharedPrior", path, f"an array of shape {array.shape}", got)
        _check_values(path, have[path])
    for path, array in have.items():
        if path.endswith(("covariance", "correlation")) and (np.linalg.eigvalsh(array) <= 0).any():
            raise arguments.wrong("SharedPrior", path, "positive definite", array)


def _check_values(path: str, values: Array) -> None:
    if np.isnan(values).any():
        raise arguments.wrong("SharedPrior", path, "without NaN", values)
    if path.rpartition(".")[2] in ("width", "unit", "shape", "rate") and not (values > 0).all():
        raise arguments.wrong("SharedPrior", path, "positive", values)
