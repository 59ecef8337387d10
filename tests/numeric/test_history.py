"""The append-only buffer: amortised growth, and branches that do not see each other."""

import numpy as np

from bocopt.numeric.history import empty


def test_appending_keeps_order_over_many_growths() -> None:
    history = empty((2,), 3)
    for t in range(100):
        history = history.append(np.full((2, 3), float(t)))
    assert history.rows.shape == (2, 100, 3)
    assert (history.rows[1, :, 2] == np.arange(100)).all()


def test_the_newest_state_appends_in_place() -> None:
    history = empty((), 1).append(np.zeros(1))
    assert history.append(np.ones(1)).buffer is history.buffer


def test_a_branch_copies() -> None:
    trunk = empty((), 1).append(np.zeros(1))
    left = trunk.append(np.ones(1))
    right = trunk.append(np.full(1, 2.0)).append(np.full(1, 3.0))
    left = left.append(np.full(1, 4.0))
    assert trunk.rows.ravel().tolist() == [0]
    assert left.rows.ravel().tolist() == [0, 1, 4]
    assert right.rows.ravel().tolist() == [0, 2, 3]


def test_the_oldest_rows_can_be_let_go_without_growing() -> None:
    history, longest = empty((2,), 1), 0
    for t in range(500):
        history = history.append(np.full((2, 1), float(t)))
        if t >= 10:
            history = history.without_the_oldest()
        longest = max(longest, history.buffer.shape[-2])
    assert history.rows[0, :, 0].tolist() == [float(t) for t in range(490, 500)]
    assert (history.dropped == 490).all()
    assert longest <= 32


def test_letting_go_is_not_seen_by_a_branch() -> None:
    trunk = empty((), 1).append(np.zeros(1)).append(np.ones(1))
    left = trunk.without_the_oldest().append(np.full(1, 2.0))
    right = trunk.append(np.full(1, 3.0))
    assert trunk.rows.ravel().tolist() == [0, 1]
    assert left.rows.ravel().tolist() == [1, 2]
    assert right.rows.ravel().tolist() == [0, 1, 3]
