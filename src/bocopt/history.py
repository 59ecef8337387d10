"""An append-only buffer with amortised doubling, for states that keep history by definition.

States share the buffer: the newest one appends in place, an older one (a branch) copies first, so
that learning twice from one state never lets one branch see the other's rows.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray

_FIRST_CAPACITY = 16


class History(NamedTuple):
    """The first `size` rows of a shared buffer.

    >>> old = empty((), 2).append(np.array([1.0, 2.0]))
    >>> left, right = old.append(np.array([3.0, 3.0])), old.append(np.array([4.0, 4.0]))
    >>> left.rows[-1].tolist(), right.rows[-1].tolist(), len(old.rows)
    ([3.0, 3.0], [4.0, 4.0], 1)
    """

    buffer: Array  # (..., capacity, m)
    written: IntArray  # () rows of the buffer in use by any state: shared, grows in place
    size: IntArray  # () rows that belong to this state

    @property
    def rows(self) -> Array:
        """(..., size, m), read only."""
        rows = self.buffer[..., : int(self.size), :]
        rows.flags.writeable = False
        return rows

    def append(self, row: Array) -> "History":
        """This history with one more row (..., m)."""
        size, capacity = int(self.size), self.buffer.shape[-2]
        history = self
        if size == capacity or size != int(self.written):
            lead, width = self.buffer.shape[:-2], self.buffer.shape[-1]
            buffer = np.zeros((*lead, max(_FIRST_CAPACITY, 2 * size), width))
            buffer[..., :size, :] = self.rows
            history = History(buffer, np.array(size), self.size)
        history.buffer[..., size, :] = row
        history.written[...] = size + 1
        return history._replace(size=np.array(size + 1))


def empty(lead: tuple[int, ...], width: int) -> History:
    """A history without rows, for leading axes `lead`."""
    return History(np.zeros((*lead, 0, width)), np.array(0), np.array(0))
