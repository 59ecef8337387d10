"""An append-only buffer with amortised doubling, for states that keep history by definition.

States share the buffer: the newest one appends in place, an older one (a branch) copies first, so
that learning twice from one state never lets one branch see the other's rows. The oldest rows may
be let go; a full buffer is then copied without them.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray

_FIRST_CAPACITY = 16


class History(NamedTuple):
    """`size` rows of a shared buffer: as many for all trials, which may have let go of others.

    >>> old = empty((), 2).append(np.array([1.0, 2.0]))
    >>> left, right = old.append(np.array([3.0, 3.0])), old.append(np.array([4.0, 4.0]))
    >>> left.rows[-1].tolist(), right.rows[-1].tolist(), len(old.rows)
    ([3.0, 3.0], [4.0, 4.0], 1)
    """

    buffer: Array  # (..., capacity, m)
    written: IntArray  # () rows of the buffer in use by any state: shared, grows in place
    start: IntArray  # () the first row that belongs to this state
    size: IntArray  # () rows that belong to it
    dropped: IntArray  # (...) rows that came before them and were let go

    @property
    def rows(self) -> Array:
        """The rows (..., size, m) that belong to this state, read only."""
        rows = self.buffer[..., int(self.start) : int(self.start + self.size), :]
        rows.flags.writeable = False
        return rows

    def append(self, row: Array) -> "History":
        """This history with one more row (..., m)."""
        history, end = self, int(self.start + self.size)
        full = end == self.buffer.shape[-2]
        if full or end != int(self.written) or not self.buffer.flags.writeable:
            history, end = self._copied(), int(self.size)
        history.buffer[..., end, :] = row
        history.written[...] = end + 1
        return history._replace(size=self.size + 1)

    def without_the_oldest(self) -> "History":
        """This history without its first row: the buffer shrinks when it is next copied."""
        return self._replace(start=self.start + 1, size=self.size - 1, dropped=self.dropped + 1)

    def at_most(self, rows: float) -> "History":
        """This history, without its first row if there are more than so many."""
        return self.without_the_oldest() if self.size > rows else self

    def with_rows(self, rows: Array) -> "History":
        """Return this history with as many other rows (..., size, m), in a buffer of their own."""
        history = self._copied()
        history.buffer[..., : int(self.size), :] = rows
        return history

    def trimmed(self) -> "History":
        """The same rows in a buffer that has room for no more: what is worth keeping."""
        size = np.array(int(self.size))
        return self._replace(buffer=self.rows.copy(), written=size, start=np.array(0))

    def _copied(self) -> "History":
        """The same rows at the start of a buffer of their own, with room for as many again."""
        size = int(self.size)
        lead, width = self.buffer.shape[:-2], self.buffer.shape[-1]
        buffer = np.zeros((*lead, max(_FIRST_CAPACITY, 2 * size), width))
        buffer[..., :size, :] = self.rows
        return self._replace(buffer=buffer, written=np.array(size), start=np.array(0))


def of_rows(rows: Array) -> History:
    """A history of rows (..., t, m)."""
    size, none = np.array(rows.shape[-2]), np.zeros(rows.shape[:-2], np.int64)
    return History(rows.copy(), size, np.array(0), size.copy(), none)


def empty(lead: tuple[int, ...], width: int) -> History:
    """A history without rows, for leading axes `lead`."""
    none = np.zeros(lead, np.int64)
    return History(np.zeros((*lead, 0, width)), np.array(0), np.array(0), np.array(0), none)
