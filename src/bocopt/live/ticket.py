"""The answer of an agent: a decision to act on."""

from typing import NamedTuple

from bocopt.core import Array, Status

_SHOWN = 6  # numbers of a decision, in its representation


class Ticket(NamedTuple):
    """A decision to act on; its outcome is reported under its id.

    >>> import numpy as np
    >>> ticket = Ticket(3, np.array([12.0, 0.5]), Status.OPTIMAL, ("order", "more"))
    >>> ticket
    <Ticket 3: order = 12, more = 0.5; OPTIMAL>
    >>> ticket.named
    {'order': 12.0, 'more': 0.5}
    """

    id: int
    z: Array  # (d) read only
    status: Status
    names: tuple[str, ...] = ()  # (d) of its numbers: those of a declared program, or z0, z1, ...

    @property
    def named(self) -> dict[str, float]:
        """The numbers of the decision by name, as "order" or "start[0]"."""
        names = self.names or tuple(f"z{i}" for i in range(len(self.z)))
        return dict(zip(names, self.z.tolist(), strict=True))

    def __repr__(self) -> str:
        """Return its number, the decision, and its status."""
        shown = ", ".join(f"{name} = {value:.6g}" for name, value in [*self.named.items()][:_SHOWN])
        left = len(self.z) - _SHOWN
        more = f" and {left} more" if left > 0 else ""
        return f"<Ticket {self.id}: {shown}{more}; {self.status.name}>"
