"""A feasible integer decision is made better by small moves: of one column, or of two."""

import time

import numpy as np

from bocopt.core import Array
from bocopt.problems.program.form import Task
from bocopt.problems.program.ways.assembly import Columns
from bocopt.problems.program.ways.bigm import need
from bocopt.problems.program.ways.bounds import inequalities

_WORK = 20_000_000  # products that moves may take in all
_CHUNK = 500_000  # products at a time


def improved(task: Task, z: Array) -> Array:
    """The decision after moves that the judge accepts, or the same."""
    form = task.form
    if len(form.lower) != form.size or not form.integer.all() or not form.uncertain.many:
        return z
    value = task.judge(z).value
    size = max(task.w.size * form.uncertain.many, 1)
    moves = _moves(task)
    left, at, since = _WORK // size, 0, 0
    step = max(1, _CHUNK // size)
    while left > 0 and since < len(moves) and not _late(task):
        some = moves[at : at + step]
        left -= len(some)
        since += len(some)
        at = (at + step) % len(moves) if at + step < len(moves) else 0
        for move in some[_possible(task, z, some)]:
            further, less = _along(task, z, value, move)
            if less < value:
                z, value, since = further, less, 0
    return z


def _along(task: Task, z: Array, value: float, move: Array) -> tuple[Array, float]:
    """The same move for as long as the judge accepts it and it pays."""
    while True:
        judged = task.judge(z + move)
        if not judged.met or judged.value >= value:
            return z, value
        z, value = z + move, judged.value


def _late(task: Task) -> bool:
    deadline = task.limits.deadline
    return deadline is not None and time.perf_counter() >= deadline


def _moves(task: Task) -> Array:
    """All moves by 1 that lower the expected cost, the best first: (m, d)."""
    d = task.form.size
    steps = np.concatenate([np.eye(d), -np.eye(d)])
    first, second = np.triu_indices(2 * d, 1)
    pairs = steps[first] + steps[second]
    moves = np.concatenate([steps, pairs[np.abs(pairs).sum(axis=1) == 2]])
    gain = moves @ (task.w @ np.broadcast_to(task.form.cost, (len(task.w), d)))
    order = gain.argsort(kind="stable")
    return moves[order[gain[order] < 0]]


def _possible(task: Task, z: Array, moves: Array) -> Columns:
    """Places of the moves that stay in the box and hold in enough weight."""
    form, rows = task.form, inequalities(task.form.uncertain)
    after = z + moves
    inside = np.flatnonzero(np.all((after >= form.lower) & (after <= form.upper), axis=1))
    spare = rows.limit - rows.matrix @ z  # (s, r)
    change = rows.matrix @ moves[inside].T  # (s or 1, r, m)
    holds = (change <= spare[..., None]).all(axis=1)  # (s, m)
    enough = task.w @ np.broadcast_to(holds, (len(task.w), len(inside))) >= need(task) - 1e-9
    return inside[enough]
