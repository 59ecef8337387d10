"""The names of contexts and outcomes, as an agent comes to know them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bocopt.columns import Wanted, columns_of
from bocopt.state import CheckpointError


class RowNames(NamedTuple):
    """Names of the numbers of x (k) and xi (m); none as long as only vectors came."""

    x: tuple[str, ...] = ()
    xi: tuple[str, ...] = ()

    def read(self, owner: str, name: str, given: Any, wanted: Wanted) -> tuple[Any, "RowNames"]:
        """Numbers of x or xi in the order of their names, and all names that are known then."""
        values, names = columns_of(owner, name, given, getattr(self, name), wanted=wanted)
        return values, self._replace(**{name: names})

    def history(self, owner: str, x: Any, xi: Any) -> tuple[Any, Any, "RowNames"]:
        """The same of a history: (T, k) and (T, m), or one row of each."""
        x, known = self.read(owner, "x", x, "either")
        xi, known = known.read(owner, "xi", xi, "rows" if np.ndim(x) == 2 else "either")
        return x, xi, known

    def known(self) -> dict[str, tuple[str, ...]]:
        """Return the names of x and of xi that are known, by "x" and "xi"."""
        return {name: names for name, names in self._asdict().items() if names}


def row_names(header: Mapping[str, Any], width: int | None, dim_xi: int) -> RowNames:
    """The names that a checkpoint of contexts of this width has; checked."""
    found = RowNames(**{key: tuple(names) for key, names in header.get("names", {}).items()})
    for key, size in (("x", width), ("xi", dim_xi)):
        names = getattr(found, key)
        if names and not len({*names}) == len(names) == size:
            raise CheckpointError(f"Its names of {key} do not fit: {', '.join(map(str, names))}.")
    return found
